//! What an open file may do, decided once for every file system.

use std::sync::Arc;

use bytes::Bytes;

use crate::error::{Errno, Result};
use crate::limits::TRANSFER_BYTES;

use super::mount::Mount;
use super::{File, Kind, OpenHow, SetTime, Stat};

/// A file of some file system, with the rights it was opened with and the device it is on. A file system cannot
/// forget a check here, and an open file cannot do more than its mount allows.
pub(super) struct OpenFile {
    file: Arc<dyn File>,
    device: u64,
    reads: bool,
    writes: bool,
    read_only: bool,
}

impl OpenFile {
    /// On a read-only mount nothing but a device is open for writing. That was checked before the file was opened,
    /// for the right error; it is checked again on what was opened, because a directory of the host can change in
    /// between.
    pub(super) fn new(file: Arc<dyn File>, mount: &Mount, how: &OpenHow) -> Result<OpenFile> {
        let (writes, read_only) = (how.writes(), mount.read_only);
        if writes && read_only && file.stat()?.kind != Kind::Device {
            return Err(Errno::ReadOnly);
        }
        Ok(OpenFile { file, device: mount.device, reads: how.read, writes, read_only })
    }

    fn check(allowed: bool) -> Result<()> {
        if allowed { Ok(()) } else { Err(Errno::BadDescriptor) }
    }
}

impl File for OpenFile {
    fn read_at(&self, offset: u64, max: usize) -> Result<Bytes> {
        OpenFile::check(self.reads)?;
        self.file.read_at(offset, max.min(TRANSFER_BYTES))
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<usize> {
        OpenFile::check(self.writes)?;
        self.file.write_at(offset, bytes)
    }

    fn append(&self, bytes: &[u8]) -> Result<u64> {
        OpenFile::check(self.writes)?;
        self.file.append(bytes)
    }

    fn stat(&self) -> Result<Stat> {
        Ok(Stat { device: self.device, ..self.file.stat()? })
    }

    /// `ftruncate` has an error of its own for a file that is open for reading only.
    fn set_len(&self, len: u64) -> Result<()> {
        if self.writes { self.file.set_len(len) } else { Err(Errno::Invalid) }
    }

    /// As on Linux this needs no right to write, only a mount that can be written to.
    fn set_times(&self, accessed: SetTime, modified: SetTime) -> Result<()> {
        if self.read_only { Err(Errno::ReadOnly) } else { self.file.set_times(accessed, modified) }
    }

    fn sync(&self) -> Result<()> {
        self.file.sync()
    }

    fn seekable(&self) -> bool {
        self.file.seekable()
    }
}
