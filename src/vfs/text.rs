//! A file whose text is made up: nobody wrote it, and nobody can.

use bytes::Bytes;

use crate::error::{Errno, Result};

use super::{File, SetTime, Stat};

/// An open file: its text as it was when it was opened, so that it can be read piece by piece.
pub(super) struct TextFile {
    pub(super) text: Bytes,
    pub(super) stat: Stat,
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
