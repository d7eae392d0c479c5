//! The programs that turn text, numbers and dates into other text.
//!
//! # Layout
//! - `lines`, `pattern`, `random`: inputs line by line, regular expressions, random numbers
//! - `extended`, `directive`: numbers as C's `long double`, and `printf`'s conversions
//! - `programs`: the programs, one file or directory each

mod directive;
mod extended;
mod lines;
mod pattern;
mod programs;
mod random;

use isopod_gnu::program::main_of;

fn main() {
    main_of(programs::PROGRAMS)
}
