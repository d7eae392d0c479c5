//! What the files of a sandbox that live in memory may use, on one set of counters.
//!
//! Bytes and files are reserved before they are used and given back exactly, in one atomic step each: there is no
//! moment between a check and an act. Every `MemFs` of a sandbox shares one quota.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::error::{Errno, Result};
use crate::limits::{Exceeded, Limit, Limits};

/// Bytes and files in use, and how many are allowed.
#[derive(Debug)]
pub struct Quota {
    disk: Counter,
    inodes: Counter,
    file: u64,
    /// The first limit that was hit since someone asked.
    exceeded: Mutex<Option<Exceeded>>,
}

#[derive(Debug)]
struct Counter {
    used: AtomicU64,
    allowed: u64,
}

impl Quota {
    /// A quota with the disk, inode and file limits of `limits`, nothing used.
    pub fn new(limits: &Limits) -> Quota {
        let counter = |allowed| Counter { used: AtomicU64::new(0), allowed };
        Quota {
            disk: counter(limits.disk),
            inodes: counter(limits.inodes),
            file: limits.file,
            exceeded: Mutex::new(None),
        }
    }

    /// Bytes in use.
    pub fn bytes_used(&self) -> u64 {
        self.disk.used.load(Ordering::Relaxed)
    }

    /// Files, directories and links in use; a second name of a file counts as a file.
    pub fn inodes_used(&self) -> u64 {
        self.inodes.used.load(Ordering::Relaxed)
    }

    /// The limit that refused something since the last call, if one did: the guest saw only an errno, and the
    /// answer to a command should name the limit.
    pub fn take_exceeded(&self) -> Option<Exceeded> {
        self.exceeded.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Reserves `bytes`, all or none.
    pub(super) fn reserve_bytes(&self, bytes: u64) -> Result<()> {
        if self.disk.reserve(bytes) { Ok(()) } else { self.refuse(Limit::Disk, self.disk.allowed, Errno::NoSpace) }
    }

    /// Gives `bytes` back.
    pub(super) fn release_bytes(&self, bytes: u64) {
        self.disk.release(bytes);
    }

    /// Reserves one inode or name.
    pub(super) fn reserve_inode(&self) -> Result<()> {
        if self.inodes.reserve(1) { Ok(()) } else { self.refuse(Limit::Inodes, self.inodes.allowed, Errno::NoSpace) }
    }

    /// Gives `count` inodes or names back.
    pub(super) fn release_inodes(&self, count: u64) {
        self.inodes.release(count);
    }

    /// How many bytes of a write of `len` bytes at `offset` still fit in one file: as with a file size limit of
    /// POSIX, a write that reaches the limit is cut short, and one that starts there is refused.
    pub(super) fn fit_file(&self, offset: u64, len: u64) -> Result<u64> {
        let room = self.file.saturating_sub(offset);
        if room == 0 && len > 0 { self.refuse(Limit::File, self.file, Errno::FileTooLarge) } else { Ok(len.min(room)) }
    }

    /// Refuses a file of `len` bytes if that is over the limit.
    pub(super) fn check_file(&self, len: u64) -> Result<()> {
        if len <= self.file { Ok(()) } else { self.refuse(Limit::File, self.file, Errno::FileTooLarge) }
    }

    fn refuse<T>(&self, kind: Limit, value: u64, errno: Errno) -> Result<T> {
        let mut exceeded = self.exceeded.lock().unwrap_or_else(PoisonError::into_inner);
        exceeded.get_or_insert(Exceeded { kind, value });
        Err(errno)
    }
}

impl Counter {
    fn reserve(&self, amount: u64) -> bool {
        let add = |used: u64| used.checked_add(amount).filter(|sum| *sum <= self.allowed);
        self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
    }

    fn release(&self, amount: u64) {
        let before = self.used.fetch_sub(amount, Ordering::Relaxed);
        debug_assert!(before >= amount, "more given back than was reserved");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_remembered_once_and_reserves_nothing() {
        let mut limits = Limits::default();
        (limits.disk, limits.inodes, limits.file) = (100, 1, 10);
        let quota = Quota::new(&limits);
        assert_eq!(quota.reserve_bytes(100), Ok(()));
        assert_eq!(quota.reserve_bytes(1), Err(Errno::NoSpace));
        assert_eq!(quota.reserve_bytes(u64::MAX), Err(Errno::NoSpace));
        assert_eq!(quota.fit_file(10, 1), Err(Errno::FileTooLarge));
        assert_eq!(quota.take_exceeded(), Some(Exceeded { kind: Limit::Disk, value: 100 }));
        assert_eq!(quota.take_exceeded(), None);
        quota.release_bytes(40);
        assert_eq!((quota.bytes_used(), quota.reserve_bytes(40)), (60, Ok(())));
        assert_eq!((quota.fit_file(4, 20), quota.fit_file(10, 0)), (Ok(6), Ok(0)));
        assert_eq!((quota.reserve_inode(), quota.reserve_inode()), (Ok(()), Err(Errno::NoSpace)));
        assert_eq!(quota.take_exceeded(), Some(Exceeded { kind: Limit::Inodes, value: 1 }));
    }
}
