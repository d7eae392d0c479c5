//! The syntax tree: what the parser makes, the compiler reads and a subshell gets by post.
//!
//! Nodes that the machine holds on to while they run are behind `Rc`, so that compiling copies nothing.

mod command;
mod word;

pub use command::*;
pub use word::*;
