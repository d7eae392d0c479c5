//! The shell: the bash language on the kernel's processes.
//!
//! # Layout
//!
//! - `syntax`: source text to tree; knows nothing of what follows
//! - `arith`, `pattern`, `regex`, `escape`, `quote`, `text`: pieces of the language that stand alone
//! - `state`: variables, functions, options, open files, jobs, traps
//! - `expand`: words to strings
//! - `exec`: trees to code, code to effects; processes
//! - `builtins`: one file each
//! - `startup`, `input`: arguments, and where commands come from

pub mod arith;
pub mod builtins;
pub mod escape;
pub mod exec;
pub mod expand;
pub mod hash;
mod input;
pub mod order;
pub mod pattern;
pub mod quote;
pub mod regex;
mod startup;
pub mod state;
pub mod syntax;
pub mod text;

pub use startup::main;
