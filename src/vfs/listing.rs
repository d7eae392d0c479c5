//! Listing a directory piece by piece.
//!
//! A directory can hold more names than a call should put into memory at once, and a guest can have many of them open.
//! So an open directory keeps a place in it and not its names: in memory the directory as it was, which costs nothing as
//! long as it does not change, on the host a handle.

use std::collections::BTreeSet;

use crate::error::Result;

use super::{Attempt, DirEntry};

/// The names of one directory of a file system, in any order, each once.
pub trait DirStream: Send {
    /// At most `max` names more; none at all is the end. What is made or removed after it was opened may show or not;
    /// everything else shows.
    fn next(&mut self, max: usize) -> Attempt<Vec<DirEntry>>;
}

/// A directory that is being listed, with the mount points in it.
pub struct OpenDirectory {
    pub(super) stream: Box<dyn DirStream>,
    /// What is mounted here, and hides what the file system has under such a name.
    pub(super) points: Vec<DirEntry>,
    pub(super) hidden: BTreeSet<String>,
    pub(super) lists_descriptors: bool,
}

impl OpenDirectory {
    /// A directory of just these entries.
    pub fn of(entries: Vec<DirEntry>) -> OpenDirectory {
        OpenDirectory {
            stream: Box::new(Listed::new(entries)),
            points: Vec::new(),
            hidden: BTreeSet::new(),
            lists_descriptors: false,
        }
    }

    /// Whether its names are the caller's own descriptors, which only the kernel knows: then there are none here.
    pub fn lists_descriptors(&self) -> bool {
        self.lists_descriptors
    }

    /// At most `max` names more, without `.` and `..`; none at all is the end. Names come in no order, each once.
    pub fn next(&mut self, max: usize) -> Result<Vec<DirEntry>> {
        if max == 0 {
            return Ok(Vec::new());
        }
        if !self.points.is_empty() {
            let rest = self.points.split_off(max.min(self.points.len()));
            return Ok(std::mem::replace(&mut self.points, rest));
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
pub(super) struct Listed(std::vec::IntoIter<DirEntry>);

impl Listed {
    pub(super) fn new(entries: Vec<DirEntry>) -> Listed {
        Listed(entries.into_iter())
    }
}

impl DirStream for Listed {
    fn next(&mut self, max: usize) -> Attempt<Vec<DirEntry>> {
        Ok(self.0.by_ref().take(max).collect())
    }
}
