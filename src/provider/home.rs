//! The directory of one sandbox, while its lease is held.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, Timespec, Timestamps, UTIME_OMIT};

use super::record::Record;
use super::{ProviderError, Result, SandboxId};

/// The file whose lock is the lease.
pub(super) const LEASE: &str = "lease";
/// The file with the record.
pub(super) const RECORD: &str = "record";
/// The directory with the files.
pub(super) const FILES: &str = "files";

/// Bytes of a record: what a provider writes is shorter, whatever JSON makes of it.
const RECORD_BYTES: u64 = 1 << 20;

/// The directory of a sandbox whose lease is held. The lease lasts as long as anyone has a part of it.
#[derive(Clone)]
pub(super) struct Home {
    pub(super) id: SandboxId,
    pub(super) dir: Arc<Dir>,
    pub(super) lock: Arc<LeaseFile>,
}

/// The file whose lock is the lease.
pub(super) struct LeaseFile(Locked);

/// A file with a lock, or about to have one. The host's kernel drops the lock when the file is closed, also for a process
/// that died. But a child of this process that has not yet executed its program has the file open too, so the lock is given
/// back in so many words.
pub(super) struct Locked(pub(super) OwnedFd);

impl Drop for Locked {
    fn drop(&mut self) {
        let _ = rustix::fs::flock(&self.0, FlockOperation::Unlock);
    }
}

impl AsFd for Locked {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Which sandbox it is and how many leases it has had: if both are the same, nobody else had it meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    inode: u64,
    leases: u64,
}

impl LeaseFile {
    /// Makes the file of a sandbox that nobody knows yet, and takes the lease.
    pub(super) fn make(dir: &Dir) -> Result<LeaseFile> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let refused = |error| ProviderError::host("make a lease", error);
        let file = rustix::fs::openat(dir, LEASE, flags, Mode::RUSR | Mode::WUSR).map_err(refused)?;
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(refused)?;
        Ok(LeaseFile(Locked(file)))
    }

    /// Opens the file; nothing is locked yet.
    pub(super) fn open(dir: &Dir) -> rustix::io::Result<LeaseFile> {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        rustix::fs::openat(dir, LEASE, flags, Mode::empty()).map(|file| LeaseFile(Locked(file)))
    }

    /// Takes the lease, if nobody has it.
    pub(super) fn take(&self) -> Result<bool> {
        locked(rustix::fs::flock(&self.0, FlockOperation::NonBlockingLockExclusive))
    }

    /// Whether someone has the lease. For a moment it is held shared: only whoever has the root's lock alone may ask.
    pub(super) fn is_held(&self) -> Result<bool> {
        locked(rustix::fs::flock(&self.0, FlockOperation::NonBlockingLockShared)).map(|is_free| !is_free)
    }
}

fn locked(answer: rustix::io::Result<()>) -> Result<bool> {
    match answer {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(ProviderError::host("take a lease", error)),
    }
}

impl Home {
    /// The files of the sandbox.
    pub(super) fn files(&self) -> Result<Dir> {
        self.dir.open_dir_nofollow(FILES).map_err(|error| ProviderError::part(self.id, FILES, error))
    }

    /// What is written down about it.
    pub(super) fn record(&self) -> Result<Record> {
        read_record(self.id, &self.dir)
    }

    /// When it was last used.
    pub(super) fn last_used(&self) -> Result<u64> {
        last_used(self.id, &self.dir)
    }

    /// Which one it is, and how many leases it has had.
    pub(super) fn stamp(&self) -> Result<Stamp> {
        let refused = |error| ProviderError::host("read a lease", error);
        let mut leases = [0; 8];
        // A file without content is one of a sandbox that was never leased.
        rustix::io::pread(&self.lock.0, &mut leases, 0).map_err(refused)?;
        let inode = rustix::fs::fstat(&self.lock.0).map_err(refused)?.st_ino;
        Ok(Stamp { inode, leases: u64::from_le_bytes(leases) })
    }

    /// Counts one more lease. Not brought to the disk: what is compared with this number is gone with the machine.
    pub(super) fn count_lease(&self) -> Result<Stamp> {
        let Stamp { inode, leases } = self.stamp()?;
        let leases = leases.wrapping_add(1);
        rustix::io::pwrite(&self.lock.0, &leases.to_le_bytes(), 0)
            .map_err(|error| ProviderError::host("write a lease", error))?;
        Ok(Stamp { inode, leases })
    }

    /// Writes down that it was used. Never for less than is written there: a clock that was set back and is right again
    /// would have it expire at once.
    pub(super) fn touch(&self, time: u64) -> Result<()> {
        self.set_last_used(time.max(self.last_used()?))
    }

    /// Writes down when it was last used.
    pub(super) fn set_last_used(&self, time: u64) -> Result<()> {
        const SECOND: u64 = 1_000_000_000;
        let time = Timespec { tv_sec: (time / SECOND).cast_signed(), tv_nsec: (time % SECOND).cast_signed() };
        let keep = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
        let times = Timestamps { last_access: keep, last_modification: time };
        rustix::fs::futimens(&self.lock.0, &times).map_err(|error| ProviderError::host("write a lease", error))
    }
}

/// Reads the record of a sandbox, which whoever has no lease may do as well: it is replaced whole.
pub(super) fn read_record(id: SandboxId, dir: &Dir) -> Result<Record> {
    let refused = |error| ProviderError::part(id, RECORD, error);
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(dir, RECORD, flags, Mode::empty()).map_err(|error| refused(error.into()))?;
    let mut text = Vec::new();
    std::fs::File::from(file).take(RECORD_BYTES).read_to_end(&mut text).map_err(refused)?;
    serde_json::from_slice(&text).map_err(|error| refused(io::Error::new(io::ErrorKind::InvalidData, error)))
}

/// When a sandbox was last used, for whoever has no lease as well.
pub(super) fn last_used(id: SandboxId, dir: &Dir) -> Result<u64> {
    let stat = rustix::fs::statat(dir, LEASE, AtFlags::SYMLINK_NOFOLLOW)
        .map_err(|error| ProviderError::part(id, LEASE, error))?;
    let seconds = u64::try_from(stat.st_mtime).unwrap_or_default();
    Ok(seconds.saturating_mul(1_000_000_000).saturating_add(stat.st_mtime_nsec as u64))
}
