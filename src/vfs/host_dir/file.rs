//! An open file of the host.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use rustix::fs::{Mode, OFlags, Timespec, Timestamps};

use crate::error::{Errno, Result};
use crate::vfs::mem_fs::content::block_before;
use crate::vfs::{File, SetTime, Stat};

use super::errors::errno;
use super::ledger::Charge;
use super::stat::HostStat;
use super::walk::Device;

/// A regular file by its handle. The handle may still have `O_NONBLOCK` from the open, which has no effect on a regular
/// file.
pub(super) struct HostFile {
    file: cap_std::fs::File,
    /// The device of the mounted directory.
    device: Device,
    /// Its charge, if there is a quota.
    pub(super) charge: Option<Charge>,
    /// True while the handle has `O_APPEND` set. With the flag a write finds the end and writes in one step, even
    /// beside other processes; without it a write goes to its offset. The lock keeps the two apart.
    appends: Mutex<bool>,
    /// An error if the times must not be set: a file linked from outside can be open for reading.
    pub(super) changeable: Result<()>,
}

impl HostFile {
    pub(super) fn new(file: cap_std::fs::File, device: Device) -> HostFile {
        HostFile { file, device, charge: None, appends: Mutex::new(false), changeable: Ok(()) }
    }

    pub(super) fn set_mode(&self, mode: u32) -> Result<()> {
        rustix::fs::fchmod(&self.file, Mode::from_raw_mode(mode)).map_err(errno)
    }

    fn pwrite(&self, offset: u64, bytes: &[u8]) -> Result<usize> {
        rustix::io::retry_on_intr(|| rustix::io::pwrite(&self.file, bytes, offset)).map_err(errno)
    }

    /// Writes all bytes at the end, with `O_APPEND` set, and returns the new end.
    fn write_to_end(&self, bytes: &[u8]) -> Result<u64> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let written = rustix::io::retry_on_intr(|| rustix::io::write(&self.file, rest)).map_err(errno)?;
            rest = &rest[written..];
        }
        // Nothing else moves the offset of this handle, and the write left it at its end.
        rustix::fs::tell(&self.file).map_err(errno)
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
        let max = max.min(room(offset));
        if max == 0 {
            return Ok(Bytes::new());
        }
        let mut bytes = Vec::with_capacity(max);
        rustix::io::retry_on_intr(|| rustix::io::pread(&self.file, rustix::buffer::spare_capacity(&mut bytes), offset))
            .map_err(errno)?;
        // A short read must not keep the whole buffer alive in a queue.
        Ok(if bytes.len() < max / 2 { Bytes::copy_from_slice(&bytes) } else { Bytes::from(bytes) })
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<usize> {
        let bytes = &bytes[..bytes.len().min(room(offset))];
        if room(offset) == 0 {
            return Err(Errno::FileTooLarge);
        }
        let _kept = self.lock(false)?;
        let Some(charge) = &self.charge else {
            return self.pwrite(offset, bytes);
        };
        let quota = charge.ledger().quota();
        let mut fit = quota.fit_file(offset, bytes.len() as u64)?;
        if fit == 0 {
            return Ok(0);
        }
        let (_gate, mut len) = charge.hold(offset + fit)?;
        // If there is space for a part only, that part is written in whole blocks, as in memory.
        while let Err(errno) = charge.grow(*len, offset + fit) {
            let end = block_before(offset + fit).min(block_before(charge.farthest(*len) + 1));
            fit = end.saturating_sub(offset);
            if fit == 0 {
                return Err(errno);
            }
        }
        let reserved = (*len).max(offset + fit);
        let written = self.pwrite(offset, &bytes[..fit as usize]);
        let end = written.map_or(0, |written| offset + written as u64);
        *len = (*len).max(end);
        charge.shrink(reserved, *len);
        written
    }

    fn append(&self, bytes: &[u8]) -> Result<u64> {
        let _kept = self.lock(true)?;
        if bytes.is_empty() {
            return Ok(self.stat()?.size);
        }
        let Some(charge) = &self.charge else {
            return self.write_to_end(bytes);
        };
        let _gate = charge.ledger().growth()?;
        let mut len = charge.len();
        let reserved = len.saturating_add(bytes.len() as u64);
        charge.ledger().quota().check_file(reserved)?;
        charge.grow(*len, reserved)?;
        let end = self.write_to_end(bytes);
        // Bytes written before an error count, and the host may have moved the end meanwhile.
        *len = end.or_else(|_| self.stat().map(|stat| stat.size))?;
        charge.shrink(reserved, *len);
        end
    }

    fn stat(&self) -> Result<Stat> {
        Ok(self.device.stat(&HostStat::of(&self.file)?))
    }

    fn set_len(&self, len: u64) -> Result<()> {
        if i64::try_from(len).is_err() {
            return Err(Errno::FileTooLarge);
        }
        let truncate = || rustix::fs::ftruncate(&self.file, len).map_err(errno);
        let Some(charge) = &self.charge else {
            return truncate();
        };
        charge.ledger().quota().check_file(len)?;
        let (_gate, mut old) = charge.hold(len)?;
        charge.grow(*old, len)?;
        let result = truncate();
        let new = if result.is_ok() { len } else { *old };
        charge.shrink((*old).max(len), new);
        *old = new;
        result
    }

    fn set_times(&self, accessed: SetTime, modified: SetTime) -> Result<()> {
        self.changeable?;
        rustix::fs::futimens(&self.file, &timestamps(accessed, modified)).map_err(errno)
    }

    fn sync(&self) -> Result<()> {
        rustix::fs::fsync(&self.file).map_err(errno)
    }
}

/// Returns the bytes that fit behind an offset. The host refuses reads and writes beyond the largest offset.
fn room(offset: u64) -> usize {
    usize::try_from((i64::MAX as u64).saturating_sub(offset)).unwrap_or(usize::MAX)
}

/// Converts the two times for the host.
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
