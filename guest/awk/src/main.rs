//! `awk`: a program for each line of a text.
//!
//! # Layout
//! - `command`: options and operands, and how a run starts and ends
//! - `syntax`: text to tree; `compile`: tree to steps; `code`: the steps
//! - `machine`: what runs them; `functions`: the built-in functions
//! - `value`, `array`, `number`, `text`: what programs work on
//! - `record`, `split`, `input`: records and fields; `streams`: files and commands by name
//! - `pattern`, `printf`: regular expressions and formats, as awk has them

mod array;
mod code;
mod command;
mod compile;
mod functions;
mod input;
mod machine;
mod number;
mod pattern;
mod printf;
mod record;
mod split;
mod streams;
mod syntax;
mod text;
mod value;

isopod_gnu::component!(command::PROGRAMS);
