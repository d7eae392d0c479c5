//! Replacing the content of a file in one step.

use crate::error::{Errno, Result};

use super::Stat;

/// Options of [`Vfs::write_atomic`](super::Vfs::write_atomic).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtomicWrite {
    /// Permission bits of a new file. An existing file keeps its own.
    pub mode: u32,
    /// Returns only when content and name are on the disk of the host. A failed sync is an error.
    pub durable: bool,
    /// Precondition of the write.
    pub expected: Expected,
}

/// The precondition of an atomic write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// None: the file may exist or not.
    Anything,
    /// The file must not exist; otherwise the error is [`Exist`](Errno::Exist).
    Nothing,
    /// The file must be this version; otherwise the error is [`Again`](Errno::Again). If two callers read a file,
    /// change it and write it back, one succeeds and the other gets the error.
    Version(Version),
}

/// The identity of one version of a file.
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
    /// Returns the version of the file at the time of this `stat`.
    pub fn version(&self) -> Version {
        Version { inode: self.inode, size: self.size, modified: self.modified, changed: self.changed }
    }
}

impl Expected {
    /// Checks the precondition. The caller holds a lock under which the file cannot change.
    pub(super) fn check(self, found: Option<&Stat>) -> Result<()> {
        match (self, found) {
            (Expected::Anything, _) | (Expected::Nothing, None) => Ok(()),
            (Expected::Nothing, Some(_)) => Err(Errno::Exist),
            (Expected::Version(version), Some(stat)) if stat.version() == version => Ok(()),
            (Expected::Version(_), _) => Err(Errno::Again),
        }
    }
}
