//! The kernel of a sandbox: the state that all its processes share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::memory::MemoryAccount;
use super::policy::ProgramPolicy;
use super::table::{JobId, Table};
use crate::error::{Errno, Result};
use crate::limits::Limits;
use crate::path::GuestPath;
use crate::vfs::{Kind, Quota, Vfs};

/// The kernel of a sandbox.
pub struct Kernel {
    vfs: Vfs,
    limits: Limits,
    table: Table,
    memory: Arc<MemoryAccount>,
    quota: Arc<Quota>,
    policy: ProgramPolicy,
    jobs: AtomicU64,
}

impl Kernel {
    /// Makes a kernel without processes. `quota` is the quota of the files in memory.
    pub fn new(vfs: Vfs, quota: Arc<Quota>, limits: Limits) -> Kernel {
        let memory = Arc::new(MemoryAccount::new(limits.sandbox_memory));
        let table = Table::new(limits.processes);
        Kernel { vfs, quota, table, limits, memory, policy: ProgramPolicy::All, jobs: AtomicU64::new(0) }
    }

    /// Restricts the programs that may be started.
    pub fn with_policy(self, policy: ProgramPolicy) -> Kernel {
        Kernel { policy, ..self }
    }

    /// The programs that may be started.
    pub fn policy(&self) -> &ProgramPolicy {
        &self.policy
    }

    /// The files of the sandbox.
    pub fn vfs(&self) -> &Vfs {
        &self.vfs
    }

    /// The limits of the sandbox.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The memory account of all processes together.
    pub fn memory(&self) -> &Arc<MemoryAccount> {
        &self.memory
    }

    /// The quota of the files in memory.
    pub fn quota(&self) -> &Quota {
        &self.quota
    }

    /// Parses the path of a directory, relative to `base`, and returns it without links.
    pub fn directory(&self, base: &GuestPath, text: &str) -> Result<GuestPath> {
        let path = self.vfs.canonical(&GuestPath::parse(base, text)?)?;
        match self.vfs.stat(&path, true)?.kind {
            Kind::Directory => Ok(path),
            _ => Err(Errno::NotDirectory),
        }
    }

    /// The number of live processes.
    pub fn processes(&self) -> usize {
        self.table.len()
    }

    /// Waits until no process lives.
    pub async fn wait_idle(&self) {
        self.table.wait_empty().await;
    }

    pub(super) fn table(&self) -> &Table {
        &self.table
    }

    /// Returns a number for a new job.
    pub(super) fn next_job(&self) -> JobId {
        self.jobs.fetch_add(1, Ordering::Relaxed)
    }
}
