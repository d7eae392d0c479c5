//! The programs that may be started.
//!
//! The kernel asks the policy where it makes a process, about the program that would run. That program is found by the
//! content of its file, so `eval`, `sh -c`, `xargs`, a copy under another name and a `#!` line all come to this
//! question. A policy is a set of names: the kernel makes no exception for any of them.

use std::collections::BTreeSet;

/// The programs that may be started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ProgramPolicy {
    /// Every program.
    #[default]
    All,
    /// These programs and no other.
    Only(BTreeSet<String>),
    /// Every program but these.
    Except(BTreeSet<String>),
}

impl ProgramPolicy {
    /// Returns true if the program of this name in /bin may be started.
    pub fn allows(&self, program: &str) -> bool {
        match self {
            ProgramPolicy::All => true,
            ProgramPolicy::Only(allowed) => allowed.contains(program),
            ProgramPolicy::Except(denied) => !denied.contains(program),
        }
    }
}
