//! The programs that turn text, numbers and dates into other text.
//!
//! # Layout
//! - `lines`, `pattern`, `random`: inputs line by line, regular expressions, random numbers
//! - `directive`: `printf`'s conversions
//! - `time`: moments, zones and dates
//! - `programs`: the programs, one file or directory each

mod directive;
mod lines;
mod pattern;
mod programs;
mod random;
mod time;

isopod_gnu::component!(programs::PROGRAMS);
