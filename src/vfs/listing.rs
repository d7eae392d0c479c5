//! Listing of a directory in pieces.
//!
//! A directory can hold more names than one call should put into memory, and a guest can have many directories open. An
//! open directory therefore stores a position instead of names: in memory the directory as it was at the open, which
//! costs nothing until it changes; on the host a handle.

use std::collections::BTreeSet;

use crate::error::Result;

use super::{Attempt, DirEntry};

/// The entries of one directory of a file system, in any order, each once.
pub trait DirStream: Send {
    /// Returns at most `max` further entries; none at the end. Entries created or removed after the open may or may not
    /// show; all others do.
    fn next(&mut self, max: usize) -> Attempt<Vec<DirEntry>>;
}

/// A directory that is being listed, with the mount points in it.
pub struct OpenDirectory {
    pub(super) stream: Box<dyn DirStream>,
    /// The mount points in the directory. They hide entries of the file system with the same name.
    pub(super) mount_points: Vec<DirEntry>,
    pub(super) hidden: BTreeSet<String>,
    pub(super) lists_descriptors: bool,
}

impl OpenDirectory {
    /// Creates a directory of exactly these entries.
    pub fn of(entries: Vec<DirEntry>) -> OpenDirectory {
        OpenDirectory {
            stream: Box::new(VecStream::new(entries)),
            mount_points: Vec::new(),
            hidden: BTreeSet::new(),
            lists_descriptors: false,
        }
    }

    /// Returns true if the directory lists the descriptors of the caller. Only the kernel knows them, so no names
    /// follow.
    pub fn lists_descriptors(&self) -> bool {
        self.lists_descriptors
    }

    /// Returns at most `max` further entries in any order, each once, without `.` and `..`; none at the end.
    pub fn next(&mut self, max: usize) -> Result<Vec<DirEntry>> {
        if max == 0 {
            return Ok(Vec::new());
        }
        if !self.mount_points.is_empty() {
            let rest = self.mount_points.split_off(max.min(self.mount_points.len()));
            return Ok(std::mem::replace(&mut self.mount_points, rest));
        }
        loop {
            let stop = |stop: super::Stop| stop.errno_or(crate::error::Errno::Io);
            let mut entries = self.stream.next(max).map_err(stop)?;
            let is_end = entries.is_empty();
            entries.retain(|entry| !self.hidden.contains(&entry.name));
            if is_end || !entries.is_empty() {
                return Ok(entries);
            }
        }
    }
}

/// A listing that was small enough to be made at once.
pub(super) struct VecStream(std::vec::IntoIter<DirEntry>);

impl VecStream {
    pub(super) fn new(entries: Vec<DirEntry>) -> VecStream {
        VecStream(entries.into_iter())
    }
}

impl DirStream for VecStream {
    fn next(&mut self, max: usize) -> Attempt<Vec<DirEntry>> {
        Ok(self.0.by_ref().take(max).collect())
    }
}
