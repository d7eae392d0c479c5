//! The programs that turn text, numbers and dates into other text.
//!
//! # Layout
//! - `lines`, `pattern`, `random`: inputs line by line, regular expressions, random numbers
//! - `directive`: `printf`'s conversions
//! - `programs`: the programs, one file or directory each

mod directive;
mod lines;
mod pattern;
mod programs;
mod random;

isopod_gnu::component!(programs::PROGRAMS);
