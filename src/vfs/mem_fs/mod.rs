//! A file system in memory: inodes in a table, names in directories, content in chunks.
//!
//! # Snapshots
//! The table, the names of a directory and the chunks of a file are maps whose copies share everything until one side
//! changes it (`radix`, `shared_map`). So a [`MemSnapshot`] is a clone of one pointer whatever the file system holds, and a
//! fork of it costs memory only for what it changes. Both sides are charged in full for what they share: what a
//! sandbox may use must not depend on what others do.
//!
//! # Overlays
//! A file system may stand on another one, its `lower`, which it only reads ([`Overlay`](super::Overlay)). Then a
//! directory knows which directory below it stands for, and what is not in the table shows through. What is changed is
//! first *claimed*: it becomes an inode that stands for what is below, with the directories on the way. A rename
//! moves that inode like any other, and what is below a renamed directory goes with it.
//!
//! # Locks
//! One lock guards the whole table: a call is a few lookups, and a single lock makes `rename` atomic without an
//! order among inodes. The file system below is called while it is held.
//!
//! A file that has lost its last name lives, and stays charged, until its last open handle is dropped.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::error::{Errno, Result};

use super::quota::Account;
use super::{HostDir, Quota};
use live::Live;
use lower::Lower;
use table::Table;

pub use snapshot::MemSnapshot;

mod calls;
mod chunk;
pub(in crate::vfs) mod compare;
pub(in crate::vfs) mod content;
mod file;
mod inode;
mod live;
mod lower;
mod names;
mod radix;
mod shared_map;
mod snapshot;
mod stream;
mod table;

/// A file system in memory, charged to a quota. Clones are handles to the same one.
#[derive(Clone)]
pub struct MemFs {
    shared: Arc<Shared>,
}

/// What the file system and its open files have in common.
struct Shared {
    /// Every inode, its names, attributes and content, and who has it open.
    live: RwLock<Live>,
    quota: Arc<Quota>,
}

impl MemFs {
    /// An empty file system. Its root is not charged, so making one cannot fail.
    pub fn new(quota: Arc<Quota>) -> MemFs {
        MemFs::with_table(Table::new(), Account::new(quota))
    }

    /// A file system that stands on a directory of the host, which it only reads.
    pub(in crate::vfs) fn over_host(dir: HostDir, quota: Arc<Quota>) -> Result<MemFs> {
        let table = Table::over(Lower::host(dir))?;
        Ok(MemFs::with_table(table, Account::new(quota)))
    }

    /// A file system that stands on a snapshot of another one, which must not be an overlay itself.
    pub(in crate::vfs) fn over_snapshot(snapshot: &MemSnapshot, quota: Arc<Quota>) -> Result<MemFs> {
        if snapshot.table.lower.is_some() {
            return Err(Errno::NotSupported);
        }
        let below = snapshot.fork(Arc::new(Quota::unlimited()))?;
        let table = Table::over(Lower::memory(below))?;
        Ok(MemFs::with_table(table, Account::new(quota)))
    }

    /// Whether it stands on another one.
    pub(in crate::vfs) fn is_overlay(&self) -> bool {
        self.shared.read().table.lower.is_some()
    }

    /// Forgets every change to what is below, after `apply` has used them: it gets what is here and the directory of the
    /// host below. Nobody can change anything meanwhile, and no file may be open.
    pub(in crate::vfs) fn settle<E: From<Errno>>(
        &self,
        apply: impl FnOnce(&MemSnapshot, Option<&HostDir>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut live = self.shared.write();
        let Some(lower) = live.table.lower.clone() else {
            return Err(Errno::NotSupported.into());
        };
        if live.is_in_use() {
            return Err(Errno::Busy.into());
        }
        apply(&MemSnapshot::of(&live), lower.host_dir())?;
        let account = Account::new(Arc::clone(&self.shared.quota));
        *live = Live::new(Table::over(lower)?, account);
        Ok(())
    }

    fn with_table(table: Table, account: Account) -> MemFs {
        let quota = Arc::clone(account.quota());
        let live = RwLock::new(Live::new(table, account));
        MemFs { shared: Arc::new(Shared { live, quota }) }
    }

    /// What the file system holds now, for ever. Files that are open without a name are no part of it.
    pub fn snapshot(&self) -> MemSnapshot {
        MemSnapshot::of(&self.shared.read())
    }

    /// A file system of its own that starts as this one is now, charged to `quota`.
    pub fn fork(&self, quota: Arc<Quota>) -> Result<MemFs> {
        self.snapshot().fork(quota)
    }
}

impl Shared {
    fn read(&self) -> RwLockReadGuard<'_, Live> {
        self.live.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Live> {
        self.live.write().unwrap_or_else(PoisonError::into_inner)
    }
}
