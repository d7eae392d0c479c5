//! Decimal numbers of any length, and the two calculators.
//!
//! # Layout
//! - `number`: numbers with a scale, as POSIX bc defines their arithmetic, on `isopod_gnu::natural`
//! - `print`: numbers as text, in any base, in lines of limited length
//! - `functions`: sine, logarithm and the like
//! - `bc`, `dc`: the languages

pub(crate) mod bc;
pub(crate) mod dc;
mod functions;
mod number;
mod print;
