//! The shell: the bash language on the kernel's processes.
//!
//! # Layout
//!
//! - `syntax`: source text to tree, with `escape`, `quote`, `text` and `hash`: a crate of its own, shared with the host
//! - `arith`, `pattern`, `regex`: expressions and patterns
//! - `state`: variables, functions, options, open files, jobs, traps
//! - `expand`: words to strings
//! - `exec`: trees to code, code to effects; processes
//! - `builtins`: one file each
//! - `startup`, `input`: arguments, and the sources of commands

pub mod arith;
pub mod builtins;
pub mod exec;
pub mod expand;
mod input;
pub mod order;
pub mod pattern;
pub mod regex;
mod startup;
pub mod state;

pub use isopod_syntax as syntax;
use isopod_syntax::{escape, hash, quote, text};
pub use startup::main;
