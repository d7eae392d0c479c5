//! The shell: the bash language on the kernel's processes.
//!
//! # Layout
//!
//! - `syntax`: source text to tree, with `escape`, `quote`, `text` and `hash`: a crate of its own, which the host has too
//! - `arith`, `pattern`, `regex`: pieces of the language
//! - `state`: variables, functions, options, open files, jobs, traps
//! - `expand`: words to strings
//! - `exec`: trees to code, code to effects; processes
//! - `builtins`: one file each
//! - `startup`, `input`: arguments, and where commands come from

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
