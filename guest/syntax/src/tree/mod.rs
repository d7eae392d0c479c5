//! The syntax tree, which the parser makes and the compiler reads. A subshell gets parts of it in its payload.
//!
//! Nodes that the machine refers to while they run are behind `Rc`, so that compiling copies nothing.

mod command;
mod word;

pub use command::*;
pub use word::*;
