//! Numbers of any length in decimal, and the two calculators on them.
//!
//! # Layout
//! - `limbs`: whole numbers of any length
//! - `number`: numbers with a scale, as POSIX bc defines their arithmetic
//! - `print`: numbers as text, in any base, in lines of limited length
//! - `functions`: sine, logarithm and the like
//! - `bc`, `dc`: the languages

pub(crate) mod bc;
pub(crate) mod dc;
mod functions;
mod limbs;
mod number;
mod print;
