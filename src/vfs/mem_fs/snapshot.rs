//! The state of a `MemFs` at one moment.

use std::sync::Arc;

use crate::error::Result;
use crate::vfs::quota::Account;
use crate::vfs::{FileSystem, FrozenFs, Quota};

use super::MemFs;
use super::state::FsState;
use super::table::Table;

/// The state of a [`MemFs`] at one moment. It takes no more memory than a pointer until the file system changes, and
/// then only for the changes. Clones are the same snapshot.
#[derive(Clone)]
pub struct MemSnapshot {
    pub(super) table: Table,
    bytes: u64,
    inodes: u64,
}

impl MemSnapshot {
    /// Takes a snapshot. The cost is a lookup for each open file without a name.
    pub(super) fn of(state: &FsState) -> MemSnapshot {
        let mut snapshot =
            MemSnapshot { table: state.table.clone(), bytes: state.account.bytes(), inodes: state.account.inodes() };
        for (number, inode) in state.nameless() {
            snapshot.bytes -= inode.body.charged();
            snapshot.inodes -= inode.charged;
            snapshot.table.remove(number);
        }
        snapshot
    }

    /// Creates a new file system from this snapshot, charged to `quota` in one step.
    pub fn fork(&self, quota: Arc<Quota>) -> Result<MemFs> {
        let account = Account::with(quota, self.bytes, self.inodes)?;
        Ok(MemFs::with_table(self.table.clone(), account))
    }

    /// Returns the bytes that a fork is charged.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the files, directories and links that a fork is charged.
    pub fn inodes(&self) -> u64 {
        self.inodes
    }
}

impl FrozenFs for MemSnapshot {
    fn thaw(&self, quota: &Arc<Quota>) -> Result<Arc<dyn FileSystem>> {
        Ok(Arc::new(self.fork(Arc::clone(quota))?))
    }

    fn memory(&self) -> Option<&MemSnapshot> {
        Some(self)
    }
}
