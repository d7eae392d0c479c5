//! The directory of one sandbox, while its lease is held.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, Timespec, Timestamps, UTIME_OMIT};
use tokio::sync::Notify;

use super::record::Record;
use super::{ProviderError, Result, SandboxId};
use crate::limits::server::provider::RECORD_BYTES;

/// The file whose lock is the lease.
pub(super) const LEASE: &str = "lease";
/// The file with the record.
pub(super) const RECORD: &str = "record";
/// The directory with the files.
pub(super) const FILES: &str = "files";

/// The directory of a sandbox whose lease is held. Clones share the lease.
#[derive(Clone)]
pub(super) struct SandboxDir {
    pub(super) id: SandboxId,
    pub(super) dir: Arc<Dir>,
    pub(super) lock: LeaseLock,
}

/// A share of a lease. The lease ends when the last share is dropped. Each drop sends a notification.
#[derive(Clone)]
pub(super) struct LeaseLock {
    /// Declared before `dropped`, so that the share is gone when the notification is sent.
    file: Arc<LeaseFile>,
    dropped: NotifyOnDrop,
}

/// Sends a notification when it is dropped.
#[derive(Clone)]
pub(super) struct NotifyOnDrop(pub(super) Arc<Notify>);

impl Drop for NotifyOnDrop {
    fn drop(&mut self) {
        self.0.notify_waiters();
    }
}

impl LeaseLock {
    pub(super) fn new(file: LeaseFile) -> LeaseLock {
        LeaseLock { file: Arc::new(file), dropped: NotifyOnDrop(Arc::default()) }
    }

    /// Returns whether there is no other share.
    pub(super) fn is_only_share(&self) -> bool {
        Arc::strong_count(&self.file) == 1
    }

    /// Returns the notification of a dropped share.
    pub(super) fn share_dropped(&self) -> Arc<Notify> {
        self.dropped.0.clone()
    }
}

/// The file whose lock is the lease.
pub(super) struct LeaseFile(LockedFile);

/// A file that is locked, or about to be. The host's kernel drops the lock when the file is closed, also for a process
/// that died. A child of this process that has not yet executed its program has the file open too, so the lock is given
/// back explicitly.
pub(super) struct LockedFile(pub(super) OwnedFd);

impl Drop for LockedFile {
    fn drop(&mut self) {
        let _ = rustix::fs::flock(&self.0, FlockOperation::Unlock);
    }
}

impl AsFd for LockedFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The identity of a sandbox and the number of its leases. If both are unchanged, no other process has leased
/// the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Generation {
    inode: u64,
    leases: u64,
}

impl LeaseFile {
    /// Creates the file of a sandbox that is not published yet, and takes the lease.
    pub(super) fn make(dir: &Dir) -> Result<LeaseFile> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let refused = |error| ProviderError::host("make a lease", error);
        let file = rustix::fs::openat(dir, LEASE, flags, Mode::RUSR | Mode::WUSR).map_err(refused)?;
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(refused)?;
        Ok(LeaseFile(LockedFile(file)))
    }

    /// Opens the file without locking it.
    pub(super) fn open(dir: &Dir) -> rustix::io::Result<LeaseFile> {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        rustix::fs::openat(dir, LEASE, flags, Mode::empty()).map(|file| LeaseFile(LockedFile(file)))
    }

    /// Takes the lease, if it is free. Returns whether it was.
    pub(super) fn take(&self) -> Result<bool> {
        locked(rustix::fs::flock(&self.0, FlockOperation::NonBlockingLockExclusive))
    }

    /// Returns whether the lease is held. The test takes a shared lock for a moment, so the caller must hold the root's
    /// lock exclusively.
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

impl SandboxDir {
    /// Opens the directory of the files.
    pub(super) fn files(&self) -> Result<Dir> {
        self.dir.open_dir_nofollow(FILES).map_err(|error| ProviderError::part(self.id, FILES, error))
    }

    /// Reads the record.
    pub(super) fn record(&self) -> Result<Record> {
        read_record(self.id, &self.dir)
    }

    /// Returns the time of the last use.
    pub(super) fn last_used(&self) -> Result<u64> {
        last_used(self.id, &self.dir)
    }

    /// Returns the identity of the sandbox and the number of its leases.
    pub(super) fn generation(&self) -> Result<Generation> {
        let refused = |error| ProviderError::host("read a lease", error);
        let mut leases = [0; 8];
        // An empty file is that of a sandbox that was never leased.
        rustix::io::pread(&self.lock.file.0, &mut leases, 0).map_err(refused)?;
        let inode = rustix::fs::fstat(&self.lock.file.0).map_err(refused)?.st_ino;
        Ok(Generation { inode, leases: u64::from_le_bytes(leases) })
    }

    /// Counts one more lease. The file is not synced: the memory that is compared with this number does not survive a
    /// crash of the machine either.
    pub(super) fn count_lease(&self) -> Result<Generation> {
        let Generation { inode, leases } = self.generation()?;
        let leases = leases.wrapping_add(1);
        rustix::io::pwrite(&self.lock.file.0, &leases.to_le_bytes(), 0)
            .map_err(|error| ProviderError::host("write a lease", error))?;
        Ok(Generation { inode, leases })
    }

    /// Records a use. The recorded time never goes back: after the host's clock was set back and corrected, the sandbox
    /// would expire at once.
    pub(super) fn touch(&self, time: u64) -> Result<()> {
        self.set_last_used(time.max(self.last_used()?))
    }

    /// Sets the time of the last use.
    pub(super) fn set_last_used(&self, time: u64) -> Result<()> {
        const SECOND: u64 = 1_000_000_000;
        let time = Timespec { tv_sec: (time / SECOND).cast_signed(), tv_nsec: (time % SECOND).cast_signed() };
        let keep = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
        let times = Timestamps { last_access: keep, last_modification: time };
        rustix::fs::futimens(&self.lock.file.0, &times).map_err(|error| ProviderError::host("write a lease", error))
    }
}

/// Reads the record of a sandbox. This needs no lease, because a record is replaced by one rename.
pub(super) fn read_record(id: SandboxId, dir: &Dir) -> Result<Record> {
    let refused = |error| ProviderError::part(id, RECORD, error);
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(dir, RECORD, flags, Mode::empty()).map_err(|error| refused(error.into()))?;
    let mut text = Vec::new();
    std::fs::File::from(file).take(RECORD_BYTES).read_to_end(&mut text).map_err(refused)?;
    serde_json::from_slice(&text).map_err(|error| refused(io::Error::new(io::ErrorKind::InvalidData, error)))
}

/// Returns the time of a sandbox's last use. This needs no lease.
pub(super) fn last_used(id: SandboxId, dir: &Dir) -> Result<u64> {
    let stat = rustix::fs::statat(dir, LEASE, AtFlags::SYMLINK_NOFOLLOW)
        .map_err(|error| ProviderError::part(id, LEASE, error))?;
    let seconds = u64::try_from(stat.st_mtime).unwrap_or_default();
    Ok(seconds.saturating_mul(1_000_000_000).saturating_add(stat.st_mtime_nsec as u64))
}
