//! Replacing the content of a file in one step.

use crate::error::{Errno, Result};

use super::Stat;

/// How to replace a file: see [`Vfs::write_atomic`](super::Vfs::write_atomic).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtomicWrite {
    /// Permission bits of a file that is new. One that is there keeps its own.
    pub mode: u32,
    /// Return only when the host's disk has it, name and all. A sync that fails is an error.
    pub durable: bool,
    /// What has to be there.
    pub expected: Expected,
}

/// What an atomic write expects to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Anything, or nothing.
    Anything,
    /// Nothing; else the answer is [`Exist`](Errno::Exist).
    Nothing,
    /// The very file that was looked at, unchanged since; else the answer is [`Again`](Errno::Again). So of two who
    /// read a file, change it and write it back, one wins and the other learns of it.
    Version(Version),
}

/// What tells one version of a file from the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    inode: u64,
    size: u64,
    modified: u64,
    changed: u64,
}

impl Default for AtomicWrite {
    fn default() -> AtomicWrite {
        AtomicWrite { mode: 0o644, durable: false, expected: Expected::Anything }
    }
}

impl Stat {
    /// The version of the file that this was told about.
    pub fn version(&self) -> Version {
        Version { inode: self.inode, size: self.size, modified: self.modified, changed: self.changed }
    }
}

impl Expected {
    /// Checks what was found, at a moment when nobody can change it.
    pub(super) fn check(self, found: Option<&Stat>) -> Result<()> {
        match (self, found) {
            (Expected::Anything, _) | (Expected::Nothing, None) => Ok(()),
            (Expected::Nothing, Some(_)) => Err(Errno::Exist),
            (Expected::Version(version), Some(stat)) if stat.version() == version => Ok(()),
            (Expected::Version(_), _) => Err(Errno::Again),
        }
    }
}
