//! The states of the sandboxes in this process.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::sandbox_dir::{Generation, SandboxDir};
use super::{Lease, ProviderError, Result, SandboxId};
use crate::sandbox::Sandbox;

/// The sandboxes in the memory of this process, at most `max_count` of them.
#[derive(Default)]
pub(super) struct Table {
    entries: HashMap<SandboxId, Entry>,
    /// The warm sandboxes by the time of their last use. The first one is dropped first.
    warm: BTreeSet<(u64, SandboxId)>,
    is_shut: bool,
}

enum Entry {
    /// A transition is under way.
    Busy,
    Leased(LeasedSandbox),
    Warm(WarmSandbox),
}

/// A sandbox that is leased here.
pub(super) struct LeasedSandbox {
    pub(super) lease: Arc<Lease>,
    pub(super) dir: SandboxDir,
    pub(super) sandbox: Sandbox,
    /// The generation when this lease began.
    pub(super) generation: Generation,
}

/// A sandbox in memory that is not leased.
pub(super) struct WarmSandbox {
    pub(super) sandbox: Sandbox,
    /// The generation when its last lease here ended.
    pub(super) generation: Generation,
    pub(super) last_used: u64,
}

impl Table {
    /// Marks a sandbox as busy in order to lease it. Returns the warm sandbox of this id, and the one that was evicted
    /// for it. The caller drops the latter without the table's lock, because that closes files.
    pub(super) fn begin_lease(
        &mut self,
        id: SandboxId,
        most: usize,
    ) -> Result<(Option<WarmSandbox>, Option<WarmSandbox>)> {
        self.check_open()?;
        match self.entries.get(&id) {
            Some(Entry::Busy | Entry::Leased(_)) => return Err(ProviderError::InUse(id)),
            Some(Entry::Warm(_)) => return Ok((self.make_busy(id), None)),
            None => {}
        }
        let evicted = match self.entries.len() < most {
            true => None,
            false => Some(self.oldest().ok_or(ProviderError::AllLeased(most))?),
        };
        self.entries.insert(id, Entry::Busy);
        Ok((None, evicted))
    }

    /// Marks a sandbox that is not leased as busy in order to remove it. Returns the warm sandbox of this id.
    pub(super) fn begin_removal(&mut self, id: SandboxId) -> Result<Option<WarmSandbox>> {
        self.check_open()?;
        match self.entries.get(&id) {
            Some(Entry::Busy | Entry::Leased(_)) => Err(ProviderError::InUse(id)),
            Some(Entry::Warm(_)) | None => Ok(self.make_busy(id)),
        }
    }

    /// Marks a leased sandbox as busy in order to end its lease.
    pub(super) fn begin_release(&mut self, id: SandboxId) -> Result<LeasedSandbox> {
        match self.entries.remove(&id) {
            Some(Entry::Leased(leased)) => {
                self.entries.insert(id, Entry::Busy);
                Ok(leased)
            }
            other => {
                if let Some(other) = other {
                    self.entries.insert(id, other);
                }
                self.check_open()?;
                Err(ProviderError::NotLeased(id))
            }
        }
    }

    /// Makes a busy sandbox leased, unless the provider was shut down in between.
    pub(super) fn end_leased(&mut self, id: SandboxId, leased: LeasedSandbox) -> Result<()> {
        self.entries.remove(&id);
        self.check_open()?;
        self.entries.insert(id, Entry::Leased(leased));
        Ok(())
    }

    /// Makes a busy sandbox warm, unless the provider is shut down.
    pub(super) fn end_warm(&mut self, id: SandboxId, warm: WarmSandbox) {
        self.entries.remove(&id);
        if !self.is_shut {
            self.warm.insert((warm.last_used, id));
            self.entries.insert(id, Entry::Warm(warm));
        }
    }

    /// Removes the entry of a busy sandbox, which is then only on disk.
    pub(super) fn forget(&mut self, id: SandboxId) {
        if let Some(Entry::Busy) = self.entries.get(&id) {
            self.entries.remove(&id);
        }
    }

    /// Returns a leased sandbox.
    pub(super) fn get(&self, id: SandboxId) -> Result<&LeasedSandbox> {
        self.check_open()?;
        match self.entries.get(&id) {
            Some(Entry::Leased(leased)) => Ok(leased),
            _ => Err(ProviderError::NotLeased(id)),
        }
    }

    /// Returns whether a transition of a sandbox is under way.
    pub(super) fn is_busy(&self, id: SandboxId) -> bool {
        matches!(self.entries.get(&id), Some(Entry::Busy))
    }

    /// Returns whether a sandbox is warm.
    pub(super) fn is_warm(&self, id: SandboxId) -> bool {
        matches!(self.entries.get(&id), Some(Entry::Warm(_)))
    }

    /// Removes and returns the warm sandboxes whose time of last use satisfies `is_over`.
    pub(super) fn take_idle(&mut self, is_over: impl Fn(u64) -> bool) -> Vec<WarmSandbox> {
        let mut idle = Vec::new();
        while self.warm.first().is_some_and(|(last_used, _)| is_over(*last_used)) {
            idle.extend(self.oldest());
        }
        idle
    }

    /// Returns all leases.
    pub(super) fn leases(&self) -> Vec<Arc<Lease>> {
        let leased = |entry: &Entry| match entry {
            Entry::Leased(leased) => Some(leased.lease.clone()),
            _ => None,
        };
        self.entries.values().filter_map(leased).collect()
    }

    /// Returns the directories of the leased sandboxes, with the time of last use of each.
    pub(super) fn leased_dirs(&self) -> Vec<(SandboxDir, u64)> {
        let leased = |entry: &Entry| match entry {
            Entry::Leased(leased) => Some((leased.dir.clone(), leased.lease.last_used())),
            _ => None,
        };
        self.entries.values().filter_map(leased).collect()
    }

    /// Returns the numbers of leased or busy sandboxes and of warm ones.
    pub(super) fn count(&self) -> (usize, usize) {
        (self.entries.len() - self.warm.len(), self.warm.len())
    }

    /// Refuses everything but releases from now on. Removes and returns the warm sandboxes.
    pub(super) fn shut(&mut self) -> Vec<WarmSandbox> {
        self.is_shut = true;
        self.take_idle(|_| true)
    }

    fn check_open(&self) -> Result<()> {
        if self.is_shut { Err(ProviderError::ShutDown) } else { Ok(()) }
    }

    fn make_busy(&mut self, id: SandboxId) -> Option<WarmSandbox> {
        match self.entries.insert(id, Entry::Busy) {
            Some(Entry::Warm(warm)) => {
                self.warm.remove(&(warm.last_used, id));
                Some(warm)
            }
            _ => None,
        }
    }

    /// Removes and returns the least recently used warm sandbox.
    fn oldest(&mut self) -> Option<WarmSandbox> {
        let (_, id) = self.warm.pop_first()?;
        match self.entries.remove(&id) {
            Some(Entry::Warm(warm)) => Some(warm),
            _ => None,
        }
    }
}
