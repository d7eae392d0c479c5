//! Listing a directory of a `MemFs` piece by piece.

use crate::vfs::{Attempt, DirEntry, DirStream};

use super::inode::Directory;
use super::names::{Entry, Place};

/// A directory as it was when it was opened, and how far it has been listed.
pub(super) struct MemStream {
    directory: Directory,
    place: Place,
    /// What shows through, which comes after the directory's own names.
    below: Option<Box<dyn DirStream>>,
}

impl MemStream {
    pub(super) fn new(directory: Directory, below: Option<Box<dyn DirStream>>) -> MemStream {
        MemStream { directory, place: Place::default(), below }
    }
}

impl DirStream for MemStream {
    fn next(&mut self, max: usize) -> Attempt<Vec<DirEntry>> {
        let names = &self.directory.names;
        let entry = |(name, entry): (&str, Entry)| match entry {
            Entry::Inode(inode, kind) => Some(DirEntry { name: name.to_owned(), kind, inode }),
            Entry::Gone => None,
        };
        let entries: Vec<DirEntry> = names.after(&mut self.place).filter_map(entry).take(max).collect();
        if !entries.is_empty() {
            return Ok(entries);
        }
        let Some(below) = &mut self.below else { return Ok(Vec::new()) };
        loop {
            let mut entries = below.next(max)?;
            let is_end = entries.is_empty();
            entries.retain(|entry| names.get(&entry.name).is_none());
            if is_end || !entries.is_empty() {
                return Ok(entries);
            }
        }
    }
}
