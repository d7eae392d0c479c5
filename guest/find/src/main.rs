//! Programs that look for files and tell their types, in one component.
//!
//! # Layout
//! - `find`, `xargs`, `tree`, `file`: the programs, a directory each; `which`, `locate`: a file each
//! - `messages`: quotes around names in the messages of findutils

mod file;
mod find;
mod locate;
mod messages;
mod tree;
mod which;
mod xargs;

use isopod_gnu::program::Program;

/// The programs, sorted by name.
const PROGRAMS: &[&Program] =
    &[&file::PROGRAM, &find::PROGRAM, &locate::PROGRAM, &tree::PROGRAM, &which::PROGRAM, &xargs::PROGRAM];

isopod_gnu::component!(PROGRAMS);
