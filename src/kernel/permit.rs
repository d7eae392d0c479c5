//! Which programs may be started.
//!
//! It is asked where a process is made, about the program that would run, found by the content of its file: `eval`,
//! `sh -c`, `xargs`, a copy under another name and a `#!` line all come through here. A shell may always be started,
//! since it can do nothing with programs but start them, and what is built into it is no program.

use std::collections::BTreeSet;

/// Shells: without one there are no subshells, and a permit for the rest would be worth nothing.
const SHELLS: [&str; 3] = ["bash", "dash", "sh"];

/// Which programs may be started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Permit {
    /// Every one.
    #[default]
    All,
    /// These.
    Only(BTreeSet<String>),
    /// All but these.
    AllBut(BTreeSet<String>),
}

impl Permit {
    /// Whether the program of this name in /bin may be started.
    pub fn allows(&self, program: &str) -> bool {
        match self {
            Permit::All => true,
            Permit::Only(allowed) => allowed.contains(program) || SHELLS.contains(&program),
            Permit::AllBut(denied) => !denied.contains(program),
        }
    }
}
