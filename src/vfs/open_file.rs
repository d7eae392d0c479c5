//! The rights of an open file, checked once for every file system.

use std::sync::Arc;

use bytes::Bytes;

use crate::error::{Errno, Result};
use crate::limits::TRANSFER_BYTES;

use super::mount::Mount;
use super::{File, Kind, OpenHow, SetTime, Stat};

/// A file with the rights it was opened with and the device of its mount. The checks are here, so no file system can
/// forget one, and an open file cannot do more than its mount allows.
pub(super) struct OpenFile {
    file: Arc<dyn File>,
    device: u64,
    reads: bool,
    writes: bool,
    read_only: bool,
}

impl OpenFile {
    /// Wraps an opened file. On a read-only mount only a device may be open for writing. The path was checked before
    /// the open, for the right error. The opened file is checked again, because a directory of the host can change in
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

    /// `ftruncate` has its own error for a file that is open for reading only.
    fn set_len(&self, len: u64) -> Result<()> {
        if self.writes { self.file.set_len(len) } else { Err(Errno::Invalid) }
    }

    /// As on Linux, this needs a writable mount but no right to write.
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
