//! Listing of a `MemFs` directory in pieces.

use crate::vfs::{Attempt, DirEntry, DirStream};

use super::inode::Directory;
use super::names::{Cursor, Entry};

/// A directory as it was at the open, and the position of the listing.
pub(super) struct MemStream {
    directory: Directory,
    cursor: Cursor,
    /// The listing of the lower directory, which follows the names of this one.
    below: Option<Box<dyn DirStream>>,
}

impl MemStream {
    pub(super) fn new(directory: Directory, below: Option<Box<dyn DirStream>>) -> MemStream {
        MemStream { directory, cursor: Cursor::default(), below }
    }
}

impl DirStream for MemStream {
    fn next(&mut self, max: usize) -> Attempt<Vec<DirEntry>> {
        let names = &self.directory.names;
        let entry = |(name, entry): (&str, Entry)| match entry {
            Entry::Inode(inode, kind) => Some(DirEntry { name: name.to_owned(), kind, inode }),
            Entry::Whiteout => None,
        };
        let entries: Vec<DirEntry> = names.iter_from(&mut self.cursor).filter_map(entry).take(max).collect();
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
