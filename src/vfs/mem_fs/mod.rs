//! A file system in memory: inodes in a table, names in directories, content in chunks.
//!
//! # Snapshots
//! The inode table, the names of a directory and the chunks of a file are maps whose copies share everything until one
//! side changes it (`radix`, `shared_map`). A [`MemSnapshot`] is therefore the clone of one pointer, whatever its size,
//! and a fork costs memory only for its changes. Both sides are charged in full for shared data: the quota of a sandbox
//! must not depend on other sandboxes.
//!
//! # Overlays
//! A file system may be a layer over another one, its `lower`, which it only reads ([`Overlay`](super::Overlay)). Each
//! directory then knows its lower directory, and files that are not in the table show through. Before a change a lower
//! file is *claimed*: it gets an inode that represents the lower file, and so do the directories that lead to it. A
//! rename moves that inode like any other, and the content of a renamed directory moves with it.
//!
//! # Locks
//! One lock guards the whole table. A call is a few lookups, and a single lock makes `rename` atomic without a lock
//! order among inodes. The lower file system is called while the lock is held.
//!
//! A file that has lost its last name stays alive, and stays charged, until its last open handle is dropped.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::error::{Errno, Result};

use super::quota::Account;
use super::{HostDir, Quota};
use lower::Lower;
use state::FsState;
use table::Table;

pub use snapshot::MemSnapshot;

mod calls;
mod chunk;
pub(in crate::vfs) mod compare;
pub(in crate::vfs) mod content;
mod file;
mod inode;
mod lower;
mod names;
mod radix;
mod shared_map;
mod snapshot;
mod state;
mod stream;
mod table;

/// A file system in memory, charged to a quota. Clones are handles to the same one.
#[derive(Clone)]
pub struct MemFs {
    shared: Arc<Shared>,
}

/// State shared by the file system and its open files.
struct Shared {
    /// Guards every inode with its names, attributes and content, and the open handles.
    state: RwLock<FsState>,
    quota: Arc<Quota>,
}

impl MemFs {
    /// Creates an empty file system. Its root is not charged, so this cannot fail.
    pub fn new(quota: Arc<Quota>) -> MemFs {
        MemFs::with_table(Table::new(), Account::new(quota))
    }

    /// Creates a file system over a directory of the host, which it only reads.
    pub(in crate::vfs) fn over_host(dir: HostDir, quota: Arc<Quota>) -> Result<MemFs> {
        let table = Table::over(Lower::host(dir))?;
        Ok(MemFs::with_table(table, Account::new(quota)))
    }

    /// Creates a file system over a snapshot of another one, which must not be an overlay.
    pub(in crate::vfs) fn over_snapshot(snapshot: &MemSnapshot, quota: Arc<Quota>) -> Result<MemFs> {
        if snapshot.table.lower.is_some() {
            return Err(Errno::NotSupported);
        }
        let below = snapshot.fork(Arc::new(Quota::unlimited()))?;
        let table = Table::over(Lower::memory(below))?;
        Ok(MemFs::with_table(table, Account::new(quota)))
    }

    /// Returns true for an overlay.
    pub(in crate::vfs) fn is_overlay(&self) -> bool {
        self.shared.read().table.lower.is_some()
    }

    /// Returns true for an overlay over a directory of the host.
    pub(in crate::vfs) fn is_over_host(&self) -> bool {
        self.shared.read().table.lower.as_ref().is_some_and(|lower| lower.host_dir().is_some())
    }

    /// Calls `apply` with the current state and the lower directory of the host, then discards every change. The lock
    /// is held, so nothing can change during the call. No file may be open.
    pub(in crate::vfs) fn drain_changes<E: From<Errno>>(
        &self,
        apply: impl FnOnce(&MemSnapshot, Option<&HostDir>) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut state = self.shared.write();
        let Some(lower) = state.table.lower.clone() else {
            return Err(Errno::NotSupported.into());
        };
        if state.is_in_use() {
            return Err(Errno::Busy.into());
        }
        apply(&MemSnapshot::of(&state), lower.host_dir())?;
        let account = Account::new(Arc::clone(&self.shared.quota));
        *state = FsState::new(Table::over(lower)?, account);
        Ok(())
    }

    fn with_table(table: Table, account: Account) -> MemFs {
        let quota = Arc::clone(account.quota());
        let state = RwLock::new(FsState::new(table, account));
        MemFs { shared: Arc::new(Shared { state, quota }) }
    }

    /// Returns a snapshot of the current state. Open files without a name are not part of it.
    pub fn snapshot(&self) -> MemSnapshot {
        MemSnapshot::of(&self.shared.read())
    }

    /// Creates a new file system with the current state, charged to `quota`.
    pub fn fork(&self, quota: Arc<Quota>) -> Result<MemFs> {
        self.snapshot().fork(quota)
    }
}

impl Shared {
    fn read(&self) -> RwLockReadGuard<'_, FsState> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, FsState> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}
