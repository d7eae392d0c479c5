//! What a directory of the host is charged to the sandbox's quota.
//!
//! A file is charged its length, in whole blocks, not what the host stores of it: a hole costs what it could become,
//! and the charge does not depend on how the host's file system packs its data. Each name is charged as an inode.
//!
//! # What counts
//! [`Count::Whole`]: everything in the directory, whoever made it. It is counted when something is first to grow, and
//! not when the directory is opened: a sandbox that only reads pays nothing. Counting costs about 1.5 microseconds a
//! file and stops at the number of files that the quota allows, so it takes 0.2 seconds at most with the default
//! limits. A directory with more files than that, or with any that cannot be counted, is full until it is opened again,
//! whatever is removed meanwhile: how much is in it is not known, so nothing may grow.
//!
//! [`Count::Growth`]: what the sandbox added, less what it removed, never below nothing. Nothing is counted, so
//! even the largest tree costs nothing; each time the directory is opened the sandbox may grow it again.
//!
//! What other programs do to the directory meanwhile is not seen; the next count sees it.
//!
//! # Locks
//! `gate` first: shared by whatever opens or makes a file or changes its length, held alone by whatever removes a name
//! and by the count, so that what is learnt about a name stays true until the name is gone. Then the length of one
//! file, under which it is written to; then the list of open files. The gate is never taken twice.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use cap_std::fs::Dir;
use rustix::fs::FileType;

use crate::error::Result;
use crate::vfs::mem_fs::content::blocks;
use crate::vfs::reserved::RESERVED;
use crate::vfs::{Kind, Quota};

use super::scan::{Then, scan};
use super::stat::{Facts, Identity};

/// Bytes that are counted at most. No disk has as many, yet sparse files can say they do, and the sums of some
/// directories must not overflow.
const COUNTABLE: u64 = 1 << 56;

/// Which files of a directory of the host count against a quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// All that are there, also from before. For a directory that is the sandbox's own.
    Whole,
    /// What the sandbox adds. For a directory that is someone's, and may be larger than any quota.
    Growth,
}

/// The account of one directory.
pub(super) struct Ledger {
    root: Dir,
    quota: Arc<Quota>,
    count: Count,
    /// What this directory has of the quota.
    bytes: AtomicU64,
    inodes: AtomicU64,
    /// Whether what was there has been counted.
    gate: RwLock<bool>,
    /// Set if there was more than could be counted.
    is_full: AtomicBool,
    /// The files that the sandbox has open. They are few, and a sorted map finds one of few before a hash is made.
    open: Mutex<BTreeMap<Identity, Open>>,
}

/// A file that the sandbox has open.
struct Open {
    handles: u64,
    len: Arc<Mutex<u64>>,
    names: Names,
}

/// What is to be given back with the last handle of a file.
#[derive(PartialEq)]
enum Names {
    /// Nothing: it has a name.
    Some,
    /// Nothing: it lost its last name before anything was counted, and has not grown since.
    NoneUncounted,
    /// Its length, and this many inodes.
    None(u64),
}

/// One handle of an open file.
pub(super) struct Charge {
    ledger: Arc<Ledger>,
    file: Identity,
    len: Arc<Mutex<u64>>,
}

/// The gate, shared with others.
pub(super) type Shared<'a> = RwLockReadGuard<'a, bool>;
/// The gate, held alone.
pub(super) type Alone<'a> = RwLockWriteGuard<'a, bool>;

impl Ledger {
    pub(super) fn new(root: Dir, quota: Arc<Quota>, count: Count) -> Ledger {
        Ledger {
            root,
            quota,
            count,
            bytes: AtomicU64::new(0),
            inodes: AtomicU64::new(0),
            gate: RwLock::new(count == Count::Growth),
            is_full: AtomicBool::new(false),
            open: Mutex::default(),
        }
    }

    pub(super) fn count(&self) -> Count {
        self.count
    }

    pub(super) fn quota(&self) -> &Quota {
        &self.quota
    }

    /// Leave to change lengths and to make names, after the count.
    pub(super) fn growth(&self) -> Result<Shared<'_>> {
        loop {
            let gate = self.shared();
            if *gate {
                return Ok(gate);
            }
            drop(gate);
            let mut gate = self.alone();
            if !*gate {
                self.count_all()?;
                *gate = true;
            }
        }
    }

    /// Leave to do what makes nothing grow; no name changes hands meanwhile.
    pub(super) fn shared(&self) -> Shared<'_> {
        self.gate.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leave to remove names. It needs no count: what is gone before that is not counted.
    pub(super) fn alone(&self) -> Alone<'_> {
        self.gate.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether something could be made just now.
    pub(super) fn has_room(&self) -> bool {
        !self.is_full.load(Ordering::Relaxed) && self.quota.room() > 0 && self.quota.inodes_room() > 0
    }

    /// Reserves for something that is to be made.
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

    /// Gives back, but no more than this directory has.
    pub(super) fn release(&self, bytes: u64, inodes: u64) {
        self.quota.release_bytes(take(&self.bytes, bytes));
        self.quota.release_inodes(take(&self.inodes, inodes));
    }

    /// Notes that a name is gone, and the file with it if that was its last one and nobody has it open. `facts` are
    /// from before.
    pub(super) fn removed(&self, gate: &Alone<'_>, facts: &Facts) {
        let is_counted = **gate;
        let release = |bytes| {
            if is_counted {
                self.release(bytes, 1)
            }
        };
        if facts.kind() == Kind::Directory || facts.links() > 1 {
            return release(0);
        }
        match self.open().get_mut(&facts.identity()) {
            Some(open) => open.names = if is_counted { Names::None(1) } else { Names::NoneUncounted },
            None => release(blocks(facts.size())),
        }
    }

    /// A handle of a file that was just opened.
    pub(super) fn opened(self: &Arc<Self>, facts: &Facts) -> Charge {
        let file = facts.identity();
        let mut files = self.open();
        let open = files.entry(file).or_insert_with(|| Open {
            handles: 0,
            len: Arc::new(Mutex::new(facts.size())),
            // The host may have taken its name away while it was opened.
            names: if facts.links() == 0 { Names::None(0) } else { Names::Some },
        });
        open.handles += 1;
        Charge { ledger: Arc::clone(self), file, len: Arc::clone(&open.len) }
    }

    /// Counts what is there.
    fn count_all(&self) -> Result<()> {
        let (mut bytes, mut inodes) = (0_u64, 0_u64);
        let mut linked = HashSet::new();
        let allowed = self.quota.inodes_allowed();
        let is_all = scan(&self.root, |seen| {
            // What is ours is charged by whoever makes it.
            if seen.name.to_str().is_ok_and(|name| name.starts_with(RESERVED)) {
                return Then::Pass;
            }
            inodes += 1;
            if matches!(seen.kind, FileType::RegularFile | FileType::Symlink)
                && let Some(stat) = seen.stat()
                // A file with several names is one file.
                && (stat.st_nlink <= 1 || linked.insert((stat.st_dev, stat.st_ino)))
            {
                bytes = bytes.saturating_add(blocks(stat.st_size as u64));
            }
            if inodes <= allowed { Then::Enter } else { Then::Stop }
        })?;
        // What the sandbox still has open without a name is there as well.
        for open in self.open().values_mut().filter(|open| open.names == Names::NoneUncounted) {
            let len = *open.len.lock().unwrap_or_else(PoisonError::into_inner);
            (bytes, inodes) = (bytes.saturating_add(blocks(len)), inodes + 1);
            open.names = Names::None(1);
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

    fn open(&self) -> MutexGuard<'_, BTreeMap<Identity, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Leave to make the file end at `end`, and its length, to be held while it is written to. What does not grow needs
    /// no count.
    pub(super) fn hold(&self, end: u64) -> Result<(Shared<'_>, MutexGuard<'_, u64>)> {
        let (gate, len) = (self.ledger.shared(), self.len());
        if *gate || end <= *len {
            return Ok((gate, len));
        }
        drop((len, gate));
        let gate = self.ledger.growth()?;
        Ok((gate, self.len()))
    }

    /// The length of the file.
    pub(super) fn len(&self) -> MutexGuard<'_, u64> {
        self.len.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a file of length `from` would end if it took all the room there is.
    pub(super) fn farthest(&self, from: u64) -> u64 {
        let room = if self.ledger.is_full.load(Ordering::Relaxed) { 0 } else { self.ledger.quota.room() };
        blocks(from).saturating_add(room)
    }

    /// Reserves what a file of length `from` needs to become one of length `to`.
    pub(super) fn grow(&self, from: u64, to: u64) -> Result<()> {
        match blocks(to).saturating_sub(blocks(from)) {
            0 => Ok(()),
            growth => self.ledger.reserve(growth, 0),
        }
    }

    /// Gives back what a file of length `from` no longer needs when it has become one of length `to`.
    pub(super) fn shrink(&self, from: u64, to: u64) {
        self.ledger.release(blocks(from).saturating_sub(blocks(to)), 0);
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        let mut files = self.ledger.open();
        let Some(open) = files.get_mut(&self.file) else {
            return;
        };
        open.handles -= 1;
        if open.handles == 0
            && let Some(open) = files.remove(&self.file)
            && let Names::None(inodes) = open.names
        {
            let len = *open.len.lock().unwrap_or_else(PoisonError::into_inner);
            self.ledger.release(blocks(len), inodes);
        }
    }
}

/// Takes at most `wanted` off a counter and answers how much it was.
fn take(counter: &AtomicU64, wanted: u64) -> u64 {
    let less = |value: u64| Some(value.saturating_sub(wanted));
    let before = counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    before.unwrap_or_else(|value| value).min(wanted)
}
