//! Disk quota: bytes and files of a sandbox, in memory and in directories of the host, on one set of counters.
//!
//! Bytes and files are reserved before they are used and released exactly, each in one atomic step, so there is no gap
//! between check and use. All writable file systems of a sandbox share one quota.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Errno, Result};
use crate::limits::{Exceeded, Limit, Limits};

/// Bytes and files in use, and the limits.
#[derive(Debug)]
pub struct Quota {
    disk: Counter,
    inodes: Counter,
    file: u64,
    /// The first exceeded limit since the last call of [`Quota::take_exceeded`].
    exceeded: Mutex<Option<Exceeded>>,
}

#[derive(Debug)]
struct Counter {
    used: AtomicU64,
    allowed: u64,
}

impl Quota {
    /// Creates an empty quota with the disk, inode and file limits of `limits`.
    pub fn new(limits: &Limits) -> Quota {
        let counter = |allowed| Counter { used: AtomicU64::new(0), allowed };
        Quota {
            disk: counter(limits.disk),
            inodes: counter(limits.inodes),
            // No offset of POSIX is larger, and no sum of one and a length can overflow.
            file: limits.file.min(i64::MAX as u64),
            exceeded: Mutex::new(None),
        }
    }

    /// Creates a quota without limits, for files that are only read.
    pub(crate) fn unlimited() -> Quota {
        let mut limits = Limits::default();
        (limits.disk, limits.inodes, limits.file) = (u64::MAX, u64::MAX, u64::MAX);
        Quota::new(&limits)
    }

    /// Returns the bytes in use.
    pub fn bytes_used(&self) -> u64 {
        self.disk.used.load(Ordering::Relaxed)
    }

    /// Returns the files, directories and links in use. A second name of a file counts as a file.
    pub fn inodes_used(&self) -> u64 {
        self.inodes.used.load(Ordering::Relaxed)
    }

    /// Returns the first limit that refused a call since the last time, if any. The guest saw only an errno; the result
    /// of the command names the limit.
    pub fn take_exceeded(&self) -> Option<Exceeded> {
        self.exceeded.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Reserves `bytes`, all or none.
    pub(super) fn reserve_bytes(&self, bytes: u64) -> Result<()> {
        if self.disk.reserve(bytes) { Ok(()) } else { self.refuse(Limit::Disk, self.disk.allowed, Errno::NoSpace) }
    }

    /// Releases `bytes`.
    pub(super) fn release_bytes(&self, bytes: u64) {
        self.disk.release(bytes);
    }

    /// Reserves `count` inodes or names, all or none.
    pub(super) fn reserve_inodes(&self, count: u64) -> Result<()> {
        if self.inodes.reserve(count) { Ok(()) } else { self.refuse_inodes() }
    }

    /// Releases `count` inodes or names.
    pub(super) fn release_inodes(&self, count: u64) {
        self.inodes.release(count);
    }

    /// Returns how many bytes of a write of `len` bytes at `offset` fit into one file. As with the POSIX file size
    /// limit, a write across the limit is shortened, and a write at the limit is refused.
    pub(super) fn fit_file(&self, offset: u64, len: u64) -> Result<u64> {
        let room = self.file.saturating_sub(offset);
        if room == 0 && len > 0 { self.refuse(Limit::File, self.file, Errno::FileTooLarge) } else { Ok(len.min(room)) }
    }

    /// Returns the bytes that are free at the moment.
    pub(super) fn room(&self) -> u64 {
        self.disk.allowed.saturating_sub(self.bytes_used())
    }

    /// Returns the files that are free at the moment.
    pub(super) fn inodes_room(&self) -> u64 {
        self.inodes.allowed.saturating_sub(self.inodes_used())
    }

    /// Refuses a file of `len` bytes if that exceeds the limit.
    pub(super) fn check_file(&self, len: u64) -> Result<()> {
        if len <= self.file { Ok(()) } else { self.refuse(Limit::File, self.file, Errno::FileTooLarge) }
    }

    /// Charges existing files, even beyond the limit. Nothing more can be reserved then.
    pub(super) fn charge(&self, bytes: u64, inodes: u64) {
        self.disk.used.fetch_add(bytes, Ordering::Relaxed);
        self.inodes.used.fetch_add(inodes, Ordering::Relaxed);
    }

    /// Returns the limit of inodes and names.
    pub(super) fn inodes_allowed(&self) -> u64 {
        self.inodes.allowed
    }

    /// Refuses a call because of the inode limit.
    pub(super) fn refuse_inodes(&self) -> Result<()> {
        self.refuse(Limit::Inodes, self.inodes.allowed, Errno::NoSpace)
    }

    fn refuse<T>(&self, kind: Limit, value: u64, errno: Errno) -> Result<T> {
        let mut exceeded = self.exceeded.lock().unwrap_or_else(PoisonError::into_inner);
        exceeded.get_or_insert(Exceeded { kind, value });
        Err(errno)
    }
}

/// The share of one file system in a quota. It is released when the file system is dropped.
#[derive(Debug)]
pub(super) struct Account {
    quota: Arc<Quota>,
    bytes: u64,
    inodes: u64,
}

impl Account {
    /// Creates an empty account.
    pub(super) fn new(quota: Arc<Quota>) -> Account {
        Account { quota, bytes: 0, inodes: 0 }
    }

    /// Creates an account with this charge, or fails.
    pub(super) fn with(quota: Arc<Quota>, bytes: u64, inodes: u64) -> Result<Account> {
        let mut account = Account::new(quota);
        account.reserve_bytes(bytes)?;
        account.reserve_inodes(inodes)?;
        Ok(account)
    }

    pub(super) fn quota(&self) -> &Arc<Quota> {
        &self.quota
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn inodes(&self) -> u64 {
        self.inodes
    }

    /// Reserves `bytes`, all or none.
    pub(super) fn reserve_bytes(&mut self, bytes: u64) -> Result<()> {
        if bytes > 0 {
            self.quota.reserve_bytes(bytes)?;
            self.bytes += bytes;
        }
        Ok(())
    }

    /// Releases `bytes`.
    pub(super) fn release_bytes(&mut self, bytes: u64) {
        if bytes > 0 {
            self.bytes -= bytes;
            self.quota.release_bytes(bytes);
        }
    }

    /// Reserves one inode or name.
    pub(super) fn reserve_inode(&mut self) -> Result<()> {
        self.reserve_inodes(1)
    }

    /// Releases `count` inodes or names.
    pub(super) fn release_inodes(&mut self, count: u64) {
        self.inodes -= count;
        self.quota.release_inodes(count);
    }

    fn reserve_inodes(&mut self, count: u64) -> Result<()> {
        self.quota.reserve_inodes(count)?;
        self.inodes += count;
        Ok(())
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.quota.release_bytes(self.bytes);
        self.quota.release_inodes(self.inodes);
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
        assert_eq!((quota.reserve_inodes(1), quota.reserve_inodes(1)), (Ok(()), Err(Errno::NoSpace)));
        assert_eq!(quota.take_exceeded(), Some(Exceeded { kind: Limit::Inodes, value: 1 }));
    }
}
