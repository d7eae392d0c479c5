//! An open file of a `MemFs`.

use std::sync::Arc;

use bytes::Bytes;

use crate::error::{Errno, Result};
use crate::vfs::{File, SetTime, Stat};

use super::Shared;
use super::content::{self, Content};
use super::inode::{Body, Inode};
use super::table::{Number, Table};

/// A handle that keeps its inode alive.
pub(super) struct MemFile {
    shared: Arc<Shared>,
    number: Number,
}

impl MemFile {
    /// A handle that the inode has already counted.
    pub(super) fn new(shared: Arc<Shared>, number: Number) -> MemFile {
        MemFile { shared, number }
    }

    fn content<'a>(&self, table: &'a Table) -> Result<&'a Content> {
        match &table.get(self.number)?.body {
            Body::File(content) => Ok(content),
            _ => Err(Errno::Io),
        }
    }

    /// Writes what fits under the quota, at `offset`.
    fn write(&self, table: &mut Table, offset: u64, bytes: &[u8]) -> Result<()> {
        let growth = self.content(table)?.growth(offset, bytes.len() as u64);
        self.shared.quota.reserve_bytes(growth)?;
        let inode = table.get_mut(self.number)?;
        if let Body::File(content) = &mut inode.body {
            content.write(offset, bytes);
        }
        inode.touch();
        Ok(())
    }
}

impl File for MemFile {
    fn read_at(&self, offset: u64, max: usize) -> Result<Bytes> {
        Ok(self.content(&self.shared.read())?.read(offset, max))
    }

    /// A disk that has room for a part takes that part, to the block, as a disk does.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<usize> {
        let mut len = self.shared.quota.fit_file(offset, bytes.len() as u64)?;
        if len == 0 {
            return Ok(0);
        }
        let mut table = self.shared.write();
        loop {
            match self.write(&mut table, offset, &bytes[..len as usize]) {
                Ok(()) => return Ok(len as usize),
                Err(errno) => {
                    len = content::block_before(offset + len).saturating_sub(offset);
                    if len == 0 {
                        return Err(errno);
                    }
                }
            }
        }
    }

    fn append(&self, bytes: &[u8]) -> Result<u64> {
        let mut table = self.shared.write();
        let offset = self.content(&table)?.len();
        let end = offset.saturating_add(bytes.len() as u64);
        if !bytes.is_empty() {
            self.shared.quota.check_file(end)?;
            self.write(&mut table, offset, bytes)?;
        }
        Ok(end)
    }

    fn stat(&self) -> Result<Stat> {
        Ok(self.shared.read().get(self.number)?.stat(self.number))
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.shared.quota.check_file(len)?;
        let mut table = self.shared.write();
        let inode: &mut Inode = table.get_mut(self.number)?;
        if let Body::File(content) = &mut inode.body {
            self.shared.quota.release_bytes(content.set_len(len));
        }
        inode.touch();
        Ok(())
    }

    fn set_times(&self, accessed: SetTime, modified: SetTime) -> Result<()> {
        self.shared.write().get_mut(self.number)?.set_times(accessed, modified);
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}

impl Drop for MemFile {
    fn drop(&mut self) {
        let mut table = self.shared.write();
        if let Ok(inode) = table.get_mut(self.number) {
            inode.handles -= 1;
        }
        // The inode is there: this handle has kept it.
        let _ = self.shared.free_unused(&mut table, self.number);
    }
}
