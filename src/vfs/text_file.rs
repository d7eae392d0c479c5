//! Read-only files whose text the host makes up.

use std::sync::Arc;

use bytes::Bytes;

use crate::error::{Errno, Result};

use super::{Attempt, File, Kind, Node, OpenHow, SetTime, Stat};

/// An open file. The text is fixed at the open, so that it can be read in pieces.
pub(super) struct TextFile {
    pub(super) text: Bytes,
    pub(super) stat: Stat,
}

impl TextFile {
    /// Opens the result of a lookup in a tree of such files: a file, none for a directory, or an error.
    pub(super) fn open(found: Result<Option<TextFile>>, how: &OpenHow) -> Attempt<Node> {
        let found = match found {
            Ok(_) if how.create && how.exclusive => return Err(Errno::Exist.into()),
            Err(Errno::NoEntry) if how.create => return Err(Errno::ReadOnly.into()),
            found => found?,
        };
        match found {
            None if how.writes() || how.create || how.truncate => Err(Errno::IsDirectory.into()),
            None => Ok(Node::Directory),
            Some(_) if how.directory => Err(Errno::NotDirectory.into()),
            Some(_) if how.writes() || how.truncate => Err(Errno::ReadOnly.into()),
            Some(file) => Ok(Node::File(Arc::new(file))),
        }
    }
}

/// Returns the attributes of a file that comes with the sandbox. It belongs to root and has no date.
pub(super) fn builtin_stat(kind: Kind, mode: u32, inode: u64, size: u64) -> Stat {
    let links = if kind == Kind::Directory { 2 } else { 1 };
    Stat { kind, mode, uid: 0, gid: 0, size, links, device: 0, inode, accessed: 0, modified: 0, changed: 0 }
}

impl File for TextFile {
    fn read_at(&self, offset: u64, max: usize) -> Result<Bytes> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.text.len());
        let end = start.saturating_add(max).min(self.text.len());
        Ok(self.text.slice(start..end))
    }

    fn write_at(&self, _offset: u64, _bytes: &[u8]) -> Result<usize> {
        Err(Errno::ReadOnly)
    }

    fn append(&self, _bytes: &[u8]) -> Result<u64> {
        Err(Errno::ReadOnly)
    }

    fn stat(&self) -> Result<Stat> {
        Ok(self.stat)
    }

    fn set_len(&self, _len: u64) -> Result<()> {
        Err(Errno::ReadOnly)
    }

    fn set_times(&self, _accessed: SetTime, _modified: SetTime) -> Result<()> {
        Err(Errno::ReadOnly)
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}
