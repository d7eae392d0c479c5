//! What the files of a sandbox may use, in memory and in directories of the host, on one set of counters.
//!
//! Bytes and files are reserved before they are used and given back exactly, in one atomic step each: there is no
//! moment between a check and an act. Every file system of a sandbox that can be written to shares one quota.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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
            // No offset of POSIX is larger, and no sum of one and a length can overflow.
            file: limits.file.min(i64::MAX as u64),
            exceeded: Mutex::new(None),
        }
    }

    /// A quota without limits, for what is only read.
    pub(crate) fn unlimited() -> Quota {
        let mut limits = Limits::default();
        (limits.disk, limits.inodes, limits.file) = (u64::MAX, u64::MAX, u64::MAX);
        Quota::new(&limits)
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

    /// Reserves `count` inodes or names, all or none.
    pub(super) fn reserve_inodes(&self, count: u64) -> Result<()> {
        if self.inodes.reserve(count) { Ok(()) } else { self.refuse_inodes() }
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

    /// How many more bytes there is room for just now.
    pub(super) fn room(&self) -> u64 {
        self.disk.allowed.saturating_sub(self.bytes_used())
    }

    /// How many more files there is room for just now.
    pub(super) fn inodes_room(&self) -> u64 {
        self.inodes.allowed.saturating_sub(self.inodes_used())
    }

    /// Refuses a file of `len` bytes if that is over the limit.
    pub(super) fn check_file(&self, len: u64) -> Result<()> {
        if len <= self.file { Ok(()) } else { self.refuse(Limit::File, self.file, Errno::FileTooLarge) }
    }

    /// Charges what is there already, be it more than is allowed: then nothing more can be reserved.
    pub(super) fn charge(&self, bytes: u64, inodes: u64) {
        self.disk.used.fetch_add(bytes, Ordering::Relaxed);
        self.inodes.used.fetch_add(inodes, Ordering::Relaxed);
    }

    /// How many inodes and names are allowed.
    pub(super) fn inodes_allowed(&self) -> u64 {
        self.inodes.allowed
    }

    /// Refuses for want of inodes.
    pub(super) fn refuse_inodes(&self) -> Result<()> {
        self.refuse(Limit::Inodes, self.inodes.allowed, Errno::NoSpace)
    }

    fn refuse<T>(&self, kind: Limit, value: u64, errno: Errno) -> Result<T> {
        let mut exceeded = self.exceeded.lock().unwrap_or_else(PoisonError::into_inner);
        exceeded.get_or_insert(Exceeded { kind, value });
        Err(errno)
    }
}

/// What one file system has of a quota. It is given back when the file system goes.
#[derive(Debug)]
pub(super) struct Account {
    quota: Arc<Quota>,
    bytes: u64,
    inodes: u64,
}

impl Account {
    /// An account of nothing.
    pub(super) fn new(quota: Arc<Quota>) -> Account {
        Account { quota, bytes: 0, inodes: 0 }
    }

    /// An account of this much, or a refusal.
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

    /// Gives `bytes` back.
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

    /// Gives `count` inodes or names back.
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
