//! An open file of the host.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use cap_std::fs::Metadata;
use rustix::fs::{Mode, OFlags, Timespec, Timestamps};

use crate::error::{Errno, Result};
use crate::vfs::{File, SetTime, Stat};

use super::errors::errno;

/// A regular file, by its handle.
pub(super) struct HostFile {
    file: cap_std::fs::File,
    /// Whether the handle has `O_APPEND` set just now. With it a write goes to the end in one step with finding the
    /// end, even beside other processes; without it a write goes where it is told. The lock keeps the two apart.
    appends: Mutex<bool>,
    /// Whether its times may be set: a file from outside can be open for reading.
    pub(super) changeable: Result<()>,
}

impl HostFile {
    pub(super) fn new(file: cap_std::fs::File) -> HostFile {
        HostFile { file, appends: Mutex::new(false), changeable: Ok(()) }
    }

    pub(super) fn metadata(&self) -> Result<Metadata> {
        self.file.metadata().map_err(errno)
    }

    pub(super) fn set_mode(&self, mode: u32) -> Result<()> {
        rustix::fs::fchmod(&self.file, Mode::from_raw_mode(mode)).map_err(errno)
    }

    /// Makes reads and writes wait again, as they do for a regular file anyway.
    pub(super) fn set_blocking(&self) -> Result<()> {
        rustix::fs::fcntl_setfl(&self.file, OFlags::empty()).map_err(errno)
    }

    /// Takes the lock and sets or clears `O_APPEND`.
    fn lock(&self, appends: bool) -> Result<MutexGuard<'_, bool>> {
        let mut current = self.appends.lock().unwrap_or_else(PoisonError::into_inner);
        if *current != appends {
            let flags = if appends { OFlags::APPEND } else { OFlags::empty() };
            rustix::fs::fcntl_setfl(&self.file, flags).map_err(errno)?;
            *current = appends;
        }
        Ok(current)
    }
}

impl AsFd for HostFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl File for HostFile {
    fn read_at(&self, offset: u64, max: usize) -> Result<Bytes> {
        if i64::try_from(offset).is_err() {
            return Ok(Bytes::new());
        }
        let mut bytes = Vec::with_capacity(max);
        rustix::io::retry_on_intr(|| rustix::io::pread(&self.file, rustix::buffer::spare_capacity(&mut bytes), offset))
            .map_err(errno)?;
        // A short read must not keep the whole buffer alive in whatever queue it ends up in.
        Ok(if bytes.len() < max / 2 { Bytes::copy_from_slice(&bytes) } else { Bytes::from(bytes) })
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<usize> {
        if i64::try_from(offset).is_err() {
            return Err(Errno::FileTooLarge);
        }
        let _kept = self.lock(false)?;
        rustix::io::retry_on_intr(|| rustix::io::pwrite(&self.file, bytes, offset)).map_err(errno)
    }

    fn append(&self, bytes: &[u8]) -> Result<u64> {
        let _kept = self.lock(true)?;
        let mut rest = bytes;
        while !rest.is_empty() {
            let written = rustix::io::retry_on_intr(|| rustix::io::write(&self.file, rest)).map_err(errno)?;
            rest = &rest[written..];
        }
        // Nobody else moves the offset of this handle, and the write left it at its end.
        if bytes.is_empty() { Ok(self.stat()?.size) } else { rustix::fs::tell(&self.file).map_err(errno) }
    }

    fn stat(&self) -> Result<Stat> {
        Ok(super::stat(&self.metadata()?))
    }

    fn set_len(&self, len: u64) -> Result<()> {
        if i64::try_from(len).is_err() {
            return Err(Errno::FileTooLarge);
        }
        rustix::fs::ftruncate(&self.file, len).map_err(errno)
    }

    fn set_times(&self, accessed: SetTime, modified: SetTime) -> Result<()> {
        self.changeable?;
        rustix::fs::futimens(&self.file, &timestamps(accessed, modified)).map_err(errno)
    }

    fn sync(&self) -> Result<()> {
        rustix::fs::fsync(&self.file).map_err(errno)
    }
}

/// The two times as the host takes them.
pub(super) fn timestamps(accessed: SetTime, modified: SetTime) -> Timestamps {
    Timestamps { last_access: timespec(accessed), last_modification: timespec(modified) }
}

fn timespec(time: SetTime) -> Timespec {
    match time {
        SetTime::Keep => Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_OMIT },
        SetTime::Now => Timespec { tv_sec: 0, tv_nsec: rustix::fs::UTIME_NOW },
        SetTime::At(time) => Timespec { tv_sec: (time / NANOS) as i64, tv_nsec: (time % NANOS) as _ },
    }
}

const NANOS: u64 = 1_000_000_000;
