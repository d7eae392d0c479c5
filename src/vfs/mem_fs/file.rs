//! An open file of a `MemFs`.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use crate::error::{Errno, Result};
use crate::vfs::{File, SetTime, Stat};

use super::Shared;
use super::content::{self, Content};
use super::inode::Body;
use super::lower;
use super::state::FsState;
use super::table::{Number, Table};

/// A handle that keeps its inode alive.
pub(super) struct MemFile {
    shared: Arc<Shared>,
    number: Number,
    /// The lower file that shows through, if any. Opened at the first use.
    below: OnceLock<Arc<dyn File>>,
    /// Path of the lower file, if it had no inode at the open.
    origin: Option<Box<str>>,
}

impl MemFile {
    /// Creates a handle that is already counted.
    pub(super) fn new(shared: Arc<Shared>, number: Number) -> MemFile {
        MemFile { shared, number, below: OnceLock::new(), origin: None }
    }

    /// Creates a handle, already counted, of a lower file without an inode. It uses the inode as soon as there is one.
    pub(super) fn of_lower(shared: Arc<Shared>, number: Number, below: Arc<dyn File>, origin: String) -> MemFile {
        MemFile { shared, number, below: below.into(), origin: Some(origin.into()) }
    }

    fn content<'a>(&self, table: &'a Table) -> Result<&'a Content> {
        match &table.get(self.number)?.body {
            Body::File(content) => Ok(content),
            _ => Err(Errno::Io),
        }
    }

    /// Returns the lower file that shows through `content`.
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
    fn write(&self, state: &mut FsState, offset: u64, bytes: &[u8]) -> Result<()> {
        let content = self.content(&state.table)?;
        let below = self.below(&state.table, content)?;
        let growth = content.growth(offset, bytes.len() as u64);
        state.account.reserve_bytes(growth)?;
        let inode = state.table.get_mut(self.number)?;
        if let Body::File(content) = &mut inode.body {
            let before = content.charged();
            let result = content.write(offset, bytes, below);
            let unused = growth - (content.charged() - before);
            state.account.release_bytes(unused);
            result?;
        }
        inode.touch();
        Ok(())
    }
}

impl File for MemFile {
    fn read_at(&self, offset: u64, max: usize) -> Result<Bytes> {
        let state = self.shared.read();
        match (state.table.peek(self.number), self.below.get()) {
            (None, Some(below)) => below.read_at(offset, max),
            _ => {
                let content = self.content(&state.table)?;
                content.read(offset, max, self.below(&state.table, content)?)
            }
        }
    }

    /// If there is space for a part only, that part is written in whole blocks, as a disk does.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<usize> {
        let mut len = self.shared.quota.fit_file(offset, bytes.len() as u64)?;
        if len == 0 {
            return Ok(0);
        }
        let mut state = self.shared.write();
        loop {
            match self.write(&mut state, offset, &bytes[..len as usize]) {
                Ok(()) => return Ok(len as usize),
                Err(Errno::NoSpace) => {
                    let shorter = content::block_before(offset + len).saturating_sub(offset);
                    let room = self.shared.quota.room();
                    len = self.content(&state.table)?.fit(offset, shorter, room);
                    if len == 0 {
                        return Err(Errno::NoSpace);
                    }
                }
                Err(errno) => return Err(errno),
            }
        }
    }

    fn append(&self, bytes: &[u8]) -> Result<u64> {
        let mut state = self.shared.write();
        let offset = self.content(&state.table)?.len();
        let end = offset.saturating_add(bytes.len() as u64);
        if !bytes.is_empty() {
            self.shared.quota.check_file(end)?;
            self.write(&mut state, offset, bytes)?;
        }
        Ok(end)
    }

    fn stat(&self) -> Result<Stat> {
        let state = self.shared.read();
        match (state.table.peek(self.number), self.below.get()) {
            (None, Some(below)) => Ok(lower::with_lower_bit(below.stat()?)),
            _ => Ok(state.table.get(self.number)?.stat(self.number)),
        }
    }

    fn set_len(&self, len: u64) -> Result<()> {
        self.shared.quota.check_file(len)?;
        let mut state = self.shared.write();
        let state = &mut *state;
        let inode = state.table.get_mut(self.number)?;
        if let Body::File(content) = &mut inode.body {
            state.account.release_bytes(content.set_len(len));
        }
        inode.touch();
        Ok(())
    }

    fn set_times(&self, accessed: SetTime, modified: SetTime) -> Result<()> {
        let mut state = self.shared.write();
        if let (None, Some(origin), Some(below)) = (state.table.peek(self.number), &self.origin, self.below.get()) {
            let stat = lower::with_lower_bit(below.stat()?);
            let adopted = state.adopt_nameless(origin, &stat);
            adopted.map_err(|_| Errno::NoSpace)?;
        }
        let inode = state.table.get_mut(self.number)?;
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
