//! The charge of a directory of the host to the quota of the sandbox.
//!
//! A file is charged its length in whole blocks, not its stored size: a hole costs as much as data, and the charge does
//! not depend on how the file system of the host packs data. Each name is charged as an inode.
//!
//! # Counting
//! [`ChargePolicy::Whole`] charges everything in the directory. The files are counted before the first growth, not at
//! the open, so a sandbox that only reads pays nothing. Counting takes about 1.5 microseconds a file and stops at the
//! inode limit, so at most 0.2 seconds with the default limits. A directory with more files, or with files that cannot
//! be counted, is full until it is opened again, even if files are removed: its usage is unknown, so nothing may grow.
//!
//! [`ChargePolicy::Growth`] charges the growth: added files less removed ones, never below zero. Nothing is counted, so
//! even the largest tree costs nothing. Each time the directory is opened the sandbox may grow it again.
//!
//! Changes by other programs are not seen until the next count.
//!
//! # Locks
//! `gate` comes first. It is shared by calls that open or create a file or change its length. It is exclusive for the
//! removal of a name and for the count, so that the attributes of a name stay true until the name is gone. The list of
//! open files follows, then the length of one file, which is held during a write. The gate is never taken twice.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use cap_std::fs::Dir;
use rustix::fs::FileType;

use crate::error::Result;
use crate::vfs::mem_fs::content::blocks;
use crate::vfs::reserved::RESERVED;
use crate::vfs::{Kind, Quota};

use super::scan::{ScanAction, scan};
use super::stat::{HostStat, Identity};

/// Maximum of counted bytes. No disk has as many, but sparse files can claim them, and the sum of several directories
/// must not overflow.
const COUNTABLE: u64 = 1 << 56;

/// The files of a directory of the host that count against a quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChargePolicy {
    /// All files, including existing ones. For a directory that belongs to the sandbox.
    Whole,
    /// The growth. For a directory of the user, which may be larger than any quota.
    Growth,
}

/// The account of one directory.
pub(super) struct Ledger {
    root: Dir,
    quota: Arc<Quota>,
    policy: ChargePolicy,
    /// The share of this directory in the quota.
    bytes: AtomicU64,
    inodes: AtomicU64,
    /// True once the existing files have been counted.
    gate: RwLock<bool>,
    /// Set if there were more files than could be counted.
    is_full: AtomicBool,
    /// The files that the sandbox has open. They are few, and a sorted map of few entries is faster than hashing.
    open_files: Mutex<BTreeMap<Identity, OpenFile>>,
}

/// A file that the sandbox has open.
struct OpenFile {
    handles: u64,
    len: Arc<Mutex<u64>>,
    names: NameState,
}

/// The release that is due with the last handle of a file.
#[derive(PartialEq)]
enum NameState {
    /// Nothing: the file has a name.
    Named,
    /// Nothing: the file lost its last name before the count and has not grown since.
    UnlinkedUncounted,
    /// Its length, and this many inodes.
    Unlinked(u64),
}

/// One handle of an open file.
pub(super) struct Charge {
    ledger: Arc<Ledger>,
    file: Identity,
    len: Arc<Mutex<u64>>,
}

/// The gate, shared.
pub(super) type GateShared<'a> = RwLockReadGuard<'a, bool>;
/// The gate, exclusive.
pub(super) type GateExclusive<'a> = RwLockWriteGuard<'a, bool>;

impl Ledger {
    pub(super) fn new(root: Dir, quota: Arc<Quota>, policy: ChargePolicy) -> Ledger {
        Ledger {
            root,
            quota,
            policy,
            bytes: AtomicU64::new(0),
            inodes: AtomicU64::new(0),
            gate: RwLock::new(policy == ChargePolicy::Growth),
            is_full: AtomicBool::new(false),
            open_files: Mutex::default(),
        }
    }

    pub(super) fn policy(&self) -> ChargePolicy {
        self.policy
    }

    pub(super) fn quota(&self) -> &Quota {
        &self.quota
    }

    /// Takes the gate for changing lengths and creating names, after the count.
    pub(super) fn growth(&self) -> Result<GateShared<'_>> {
        loop {
            let gate = self.shared();
            if *gate {
                return Ok(gate);
            }
            drop(gate);
            let mut gate = self.exclusive();
            if !*gate {
                self.count_all()?;
                *gate = true;
            }
        }
    }

    /// Takes the gate for calls without growth. No name is removed while it is held.
    pub(super) fn shared(&self) -> GateShared<'_> {
        self.gate.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the gate for removing names. This needs no count: a removed name is not counted later.
    pub(super) fn exclusive(&self) -> GateExclusive<'_> {
        self.gate.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if there is room for a new file at the moment.
    pub(super) fn has_room(&self) -> bool {
        !self.is_full.load(Ordering::Relaxed) && self.quota.room() > 0 && self.quota.inodes_room() > 0
    }

    /// Reserves bytes and inodes for a new file.
    pub(super) fn reserve(&self, bytes: u64, inodes: u64) -> Result<()> {
        if self.is_full.load(Ordering::Relaxed) {
            return self.quota.refuse_inodes();
        }
        self.quota.reserve_bytes(bytes)?;
        if let Err(errno) = self.quota.reserve_inodes(inodes) {
            self.quota.release_bytes(bytes);
            return Err(errno);
        }
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.inodes.fetch_add(inodes, Ordering::Relaxed);
        Ok(())
    }

    /// Releases bytes and inodes, at most the share of this directory.
    pub(super) fn release(&self, bytes: u64, inodes: u64) {
        self.quota.release_bytes(take(&self.bytes, bytes));
        self.quota.release_inodes(take(&self.inodes, inodes));
    }

    /// Records that a name was removed, and the file with it if that was its last name and it is not open. The
    /// `attributes` were read before the removal.
    pub(super) fn removed(&self, gate: &GateExclusive<'_>, attributes: &HostStat) {
        let is_counted = **gate;
        let release = |bytes| {
            if is_counted {
                self.release(bytes, 1)
            }
        };
        if attributes.kind() == Kind::Directory || attributes.links() > 1 {
            return release(0);
        }
        match self.open_files().get_mut(&attributes.identity()) {
            Some(open) => open.names = if is_counted { NameState::Unlinked(1) } else { NameState::UnlinkedUncounted },
            None => release(blocks(attributes.size())),
        }
    }

    /// Records an opened file and returns its charge.
    pub(super) fn opened(self: &Arc<Self>, attributes: &HostStat) -> Charge {
        let file = attributes.identity();
        let mut files = self.open_files();
        let open = files.entry(file).or_insert_with(|| OpenFile {
            handles: 0,
            len: Arc::new(Mutex::new(attributes.size())),
            // The host may have removed the name during the open.
            names: if attributes.links() == 0 { NameState::Unlinked(0) } else { NameState::Named },
        });
        open.handles += 1;
        Charge { ledger: Arc::clone(self), file, len: Arc::clone(&open.len) }
    }

    /// Counts the existing files.
    fn count_all(&self) -> Result<()> {
        let (mut bytes, mut inodes) = (0_u64, 0_u64);
        let mut linked = HashSet::new();
        let allowed = self.quota.inodes_allowed();
        let is_all = scan(&self.root, |file| {
            // Temporary files are charged by the call that creates them.
            if file.name.to_str().is_ok_and(|name| name.starts_with(RESERVED)) {
                return ScanAction::Skip;
            }
            inodes += 1;
            if matches!(file.kind, FileType::RegularFile | FileType::Symlink)
                && let Some(stat) = file.stat()
                // A file with several names is one file.
                && (stat.st_nlink <= 1 || linked.insert((stat.st_dev, stat.st_ino)))
            {
                bytes = bytes.saturating_add(blocks(stat.st_size as u64));
            }
            if inodes <= allowed { ScanAction::Enter } else { ScanAction::Stop }
        })?;
        // Open files without a name exist as well.
        for open in self.open_files().values_mut().filter(|open| open.names == NameState::UnlinkedUncounted) {
            let len = *open.len.lock().unwrap_or_else(PoisonError::into_inner);
            (bytes, inodes) = (bytes.saturating_add(blocks(len)), inodes + 1);
            open.names = NameState::Unlinked(1);
        }
        if !is_all || bytes > COUNTABLE {
            self.is_full.store(true, Ordering::Relaxed);
        }
        let bytes = bytes.min(COUNTABLE);
        self.quota.charge(bytes, inodes);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.inodes.fetch_add(inodes, Ordering::Relaxed);
        Ok(())
    }

    fn open_files(&self) -> MutexGuard<'_, BTreeMap<Identity, OpenFile>> {
        self.open_files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        self.quota.release_bytes(*self.bytes.get_mut());
        self.quota.release_inodes(*self.inodes.get_mut());
    }
}

impl Charge {
    pub(super) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Takes the gate and the length of the file for making the file end at `end`. Both are held during the write.
    /// Without growth no count is needed.
    pub(super) fn hold(&self, end: u64) -> Result<(GateShared<'_>, MutexGuard<'_, u64>)> {
        let (gate, len) = (self.ledger.shared(), self.len());
        if *gate || end <= *len {
            return Ok((gate, len));
        }
        drop((len, gate));
        let gate = self.ledger.growth()?;
        Ok((gate, self.len()))
    }

    /// Locks the length of the file.
    pub(super) fn len(&self) -> MutexGuard<'_, u64> {
        self.len.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the largest length that a file of length `from` could reach with the free quota.
    pub(super) fn farthest(&self, from: u64) -> u64 {
        let room = if self.ledger.is_full.load(Ordering::Relaxed) { 0 } else { self.ledger.quota.room() };
        blocks(from).saturating_add(room)
    }

    /// Reserves the growth of a file from length `from` to length `to`.
    pub(super) fn grow(&self, from: u64, to: u64) -> Result<()> {
        match blocks(to).saturating_sub(blocks(from)) {
            0 => Ok(()),
            growth => self.ledger.reserve(growth, 0),
        }
    }

    /// Releases the difference when a file of length `from` has been shortened to `to`.
    pub(super) fn shrink(&self, from: u64, to: u64) {
        self.ledger.release(blocks(from).saturating_sub(blocks(to)), 0);
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        let mut files = self.ledger.open_files();
        let Some(open) = files.get_mut(&self.file) else {
            return;
        };
        open.handles -= 1;
        if open.handles == 0
            && let Some(open) = files.remove(&self.file)
            && let NameState::Unlinked(inodes) = open.names
        {
            let len = *open.len.lock().unwrap_or_else(PoisonError::into_inner);
            self.ledger.release(blocks(len), inodes);
        }
    }
}

/// Subtracts at most `wanted` from a counter and returns the amount.
fn take(counter: &AtomicU64, wanted: u64) -> u64 {
    let less = |value: u64| Some(value.saturating_sub(wanted));
    let before = counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    before.unwrap_or_else(|value| value).min(wanted)
}
