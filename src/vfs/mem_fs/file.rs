//! An open file of a `MemFs`.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use crate::error::{Errno, Result};
use crate::vfs::{File, SetTime, Stat};

use super::Shared;
use super::content::{self, Content};
use super::inode::Body;
use super::live::Live;
use super::lower;
use super::table::{Number, Table};

/// A handle that keeps its inode alive.
pub(super) struct MemFile {
    shared: Arc<Shared>,
    number: Number,
    /// The file below that shows through, if one does; opened when it is first needed.
    below: OnceLock<Arc<dyn File>>,
    /// Its path, if there was no inode when it was opened.
    origin: Option<Box<str>>,
}

impl MemFile {
    /// A handle that has been counted.
    pub(super) fn new(shared: Arc<Shared>, number: Number) -> MemFile {
        MemFile { shared, number, below: OnceLock::new(), origin: None }
    }

    /// A handle, counted as well, of a file below that has no inode yet. It will see the inode when there is one.
    pub(super) fn of_below(shared: Arc<Shared>, number: Number, below: Arc<dyn File>, origin: String) -> MemFile {
        MemFile { shared, number, below: below.into(), origin: Some(origin.into()) }
    }

    fn content<'a>(&self, table: &'a Table) -> Result<&'a Content> {
        match &table.get(self.number)?.body {
            Body::File(content) => Ok(content),
            _ => Err(Errno::Io),
        }
    }

    /// The file that shows through `content`.
    fn below(&self, table: &Table, content: &Content) -> Result<Option<&dyn File>> {
        let (Some(origin), Some(lower)) = (content.origin(), &table.lower) else {
            return Ok(None);
        };
        if let Some(file) = self.below.get() {
            return Ok(Some(&**file));
        }
        let file = lower.open(origin)?;
        Ok(Some(&**self.below.get_or_init(|| file)))
    }

    /// Writes all of `bytes` at `offset`, or nothing.
    fn write(&self, live: &mut Live, offset: u64, bytes: &[u8]) -> Result<()> {
        let content = self.content(&live.table)?;
        let below = self.below(&live.table, content)?;
        let growth = content.growth(offset, bytes.len() as u64);
        live.account.reserve_bytes(growth)?;
        let inode = live.table.get_mut(self.number)?;
        if let Body::File(content) = &mut inode.body {
            let before = content.charged();
            let result = content.write(offset, bytes, below);
            let unused = growth - (content.charged() - before);
            live.account.release_bytes(unused);
            result?;
        }
        inode.touch();
        Ok(())
    }
}

impl File for MemFile {
    fn read_at(&self, offset: u64, max: usize) -> Result<Bytes> {
        let live = self.shared.read();
        match (live.table.peek(self.number), self.below.get()) {
            (None, Some(below)) => below.read_at(offset, max),
            _ => {
                let content = self.content(&live.table)?;
                content.read(offset, max, self.below(&live.table, content)?)
            }
        }
    }

    /// A disk that has room for a part takes that part, to the block, as a disk does.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<usize> {
        let mut len = self.shared.quota.fit_file(offset, bytes.len() as u64)?;
        if len == 0 {
            return Ok(0);
        }
        let mut live = self.shared.write();
        loop {
            match self.write(&mut live, offset, &bytes[..len as usize]) {
                Ok(()) => return Ok(len as usize),
                Err(Errno::NoSpace) => {
                    let shorter = content::block_before(offset + len).saturating_sub(offset);
                    let room = self.shared.quota.room();
                    len = self.content(&live.table)?.fit(offset, shorter, room);
                    if len == 0 {
                        return Err(Errno::NoSpace);
                    }
                }
                Err(errno) => return Err(errno),
            }
        }
    }

    fn append(&self, bytes: &[u8]) -> Result<u64> {
        let mut live = self.shared.write();
        let offset = self.content(&live.table)?.len();
        let end = offset.saturating_add(bytes.len() as u64);
        if !bytes.is_empty() {
            self.shared.quota.check_file(end)?;
            self.write(&mut live, offset, bytes)?;
        }
        Ok(end)
    }

    fn stat(&self) -> Result<Stat> {
        let live = self.shared.read();
        match (live.table.peek(self.number), self.below.get()) {
            (None, Some(below)) => Ok(lower::numbered(below.stat()?)),
            _ => Ok(live.table.get(self.number)?.stat(self.number)),
        }
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.shared.quota.check_file(len)?;
        let mut live = self.shared.write();
        let live = &mut *live;
        let inode = live.table.get_mut(self.number)?;
        if let Body::File(content) = &mut inode.body {
            live.account.release_bytes(content.set_len(len));
        }
        inode.touch();
        Ok(())
    }

    fn set_times(&self, accessed: SetTime, modified: SetTime) -> Result<()> {
        let mut live = self.shared.write();
        if let (None, Some(origin), Some(below)) = (live.table.peek(self.number), &self.origin, self.below.get()) {
            let stat = lower::numbered(below.stat()?);
            let adopted = live.adopt_nameless(origin, &stat);
            adopted.map_err(|_| Errno::NoSpace)?;
        }
        let inode = live.table.get_mut(self.number)?;
        inode.set_times(accessed, modified);
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        Ok(())
    }
}

impl Drop for MemFile {
    fn drop(&mut self) {
        self.shared.write().drop_handle(self.number);
    }
}
