//! The state of a file system in memory at one moment.

use std::sync::Arc;

use crate::error::Result;
use crate::vfs::quota::Account;
use crate::vfs::{FileSystem, Frozen, Quota};

use super::MemFs;
use super::live::Live;
use super::table::Table;

/// What a [`MemFs`] held when it was taken. It takes no more memory than a pointer until the file system changes, and
/// then only for what has changed. Clones are the same snapshot.
#[derive(Clone)]
pub struct MemSnapshot {
    pub(super) table: Table,
    bytes: u64,
    inodes: u64,
}

impl MemSnapshot {
    /// It costs a look at each file that is open without a name, and nothing for the rest.
    pub(super) fn of(live: &Live) -> MemSnapshot {
        let mut snapshot =
            MemSnapshot { table: live.table.clone(), bytes: live.account.bytes(), inodes: live.account.inodes() };
        for (number, inode) in live.nameless() {
            snapshot.bytes -= inode.body.charged();
            snapshot.inodes -= inode.charged;
            snapshot.table.remove(number);
        }
        snapshot
    }

    /// A file system of its own that starts as this snapshot, charged to `quota` in one step.
    pub fn fork(&self, quota: Arc<Quota>) -> Result<MemFs> {
        let account = Account::with(quota, self.bytes, self.inodes)?;
        Ok(MemFs::with_table(self.table.clone(), account))
    }

    /// Bytes that a fork is charged.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Files, directories and links that a fork is charged.
    pub fn inodes(&self) -> u64 {
        self.inodes
    }
}

impl Frozen for MemSnapshot {
    fn thaw(&self, quota: &Arc<Quota>) -> Result<Arc<dyn FileSystem>> {
        Ok(Arc::new(self.fork(Arc::clone(quota))?))
    }

    fn memory(&self) -> Option<&MemSnapshot> {
        Some(self)
    }
}
