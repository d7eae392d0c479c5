//! Who has what in this process.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::home::{Home, Stamp};
use super::{Lease, ProviderError, Result, SandboxId};
use crate::sandbox::Sandbox;

/// The sandboxes that are in the memory of this process, of which there are at most as many as there may be.
#[derive(Default)]
pub(super) struct Table {
    slots: HashMap<SandboxId, Slot>,
    /// The warm ones by the time of their last use: the first is the one to go.
    warm: BTreeSet<(u64, SandboxId)>,
    is_shut: bool,
}

enum Slot {
    /// Someone takes it from one state to the next. Nobody waits for that.
    Busy,
    Leased(Leased),
    Warm(Warm),
}

/// A sandbox that is leased here.
pub(super) struct Leased {
    pub(super) lease: Arc<Lease>,
    pub(super) home: Home,
    pub(super) sandbox: Sandbox,
    /// How it was when this lease began.
    pub(super) stamp: Stamp,
}

/// A sandbox that waits in memory for its thread.
pub(super) struct Warm {
    pub(super) sandbox: Sandbox,
    /// How it was when its last lease here ended.
    pub(super) stamp: Stamp,
    pub(super) last_used: u64,
}

impl Table {
    /// Makes a sandbox busy in order to lease it. Answers what was warm of it, and what had to go to make room: dropping
    /// that closes files, which nobody should do with the table in hand.
    pub(super) fn begin_lease(&mut self, id: SandboxId, most: usize) -> Result<(Option<Warm>, Option<Warm>)> {
        self.check_open()?;
        match self.slots.get(&id) {
            Some(Slot::Busy | Slot::Leased(_)) => return Err(ProviderError::InUse(id)),
            Some(Slot::Warm(_)) => return Ok((self.make_busy(id), None)),
            None => {}
        }
        let evicted = match self.slots.len() < most {
            true => None,
            false => Some(self.oldest().ok_or(ProviderError::AllLeased(most))?),
        };
        self.slots.insert(id, Slot::Busy);
        Ok((None, evicted))
    }

    /// Makes a sandbox busy that nobody has, in order to remove it; answers what was warm of it.
    pub(super) fn begin_removal(&mut self, id: SandboxId) -> Result<Option<Warm>> {
        self.check_open()?;
        match self.slots.get(&id) {
            Some(Slot::Busy | Slot::Leased(_)) => Err(ProviderError::InUse(id)),
            Some(Slot::Warm(_)) | None => Ok(self.make_busy(id)),
        }
    }

    /// Makes a leased sandbox busy in order to end its lease.
    pub(super) fn begin_release(&mut self, id: SandboxId) -> Result<Leased> {
        match self.slots.remove(&id) {
            Some(Slot::Leased(leased)) => {
                self.slots.insert(id, Slot::Busy);
                Ok(leased)
            }
            other => {
                if let Some(other) = other {
                    self.slots.insert(id, other);
                }
                self.check_open()?;
                Err(ProviderError::NotLeased(id))
            }
        }
    }

    /// What was busy is leased now, unless the provider was shut down meanwhile.
    pub(super) fn leased(&mut self, id: SandboxId, leased: Leased) -> Result<()> {
        self.slots.remove(&id);
        self.check_open()?;
        self.slots.insert(id, Slot::Leased(leased));
        Ok(())
    }

    /// What was busy is warm now, unless the provider is shut down.
    pub(super) fn warmed(&mut self, id: SandboxId, warm: Warm) {
        self.slots.remove(&id);
        if !self.is_shut {
            self.warm.insert((warm.last_used, id));
            self.slots.insert(id, Slot::Warm(warm));
        }
    }

    /// What was busy is in nobody's hands.
    pub(super) fn forget(&mut self, id: SandboxId) {
        if let Some(Slot::Busy) = self.slots.get(&id) {
            self.slots.remove(&id);
        }
    }

    /// A sandbox that is leased.
    pub(super) fn get(&self, id: SandboxId) -> Result<&Leased> {
        self.check_open()?;
        match self.slots.get(&id) {
            Some(Slot::Leased(leased)) => Ok(leased),
            _ => Err(ProviderError::NotLeased(id)),
        }
    }

    /// Whether a sandbox is warm.
    pub(super) fn is_warm(&self, id: SandboxId) -> bool {
        matches!(self.slots.get(&id), Some(Slot::Warm(_)))
    }

    /// Takes out the warm ones that were last used at a time of which `is_over` says so.
    pub(super) fn take_idle(&mut self, is_over: impl Fn(u64) -> bool) -> Vec<Warm> {
        let mut idle = Vec::new();
        while self.warm.first().is_some_and(|(last_used, _)| is_over(*last_used)) {
            idle.extend(self.oldest());
        }
        idle
    }

    /// The leases that are there.
    pub(super) fn leases(&self) -> Vec<Arc<Lease>> {
        let leased = |slot: &Slot| match slot {
            Slot::Leased(leased) => Some(leased.lease.clone()),
            _ => None,
        };
        self.slots.values().filter_map(leased).collect()
    }

    /// The directories of those that are leased, and when each was last used.
    pub(super) fn homes(&self) -> Vec<(Home, u64)> {
        let leased = |slot: &Slot| match slot {
            Slot::Leased(leased) => Some((leased.home.clone(), leased.lease.last_used())),
            _ => None,
        };
        self.slots.values().filter_map(leased).collect()
    }

    /// How many are leased, or about to be something else, and how many are warm.
    pub(super) fn count(&self) -> (usize, usize) {
        (self.slots.len() - self.warm.len(), self.warm.len())
    }

    /// Refuses everything but the end of leases, and takes out what is warm.
    pub(super) fn shut(&mut self) -> Vec<Warm> {
        self.is_shut = true;
        self.take_idle(|_| true)
    }

    fn check_open(&self) -> Result<()> {
        if self.is_shut { Err(ProviderError::ShutDown) } else { Ok(()) }
    }

    fn make_busy(&mut self, id: SandboxId) -> Option<Warm> {
        match self.slots.insert(id, Slot::Busy) {
            Some(Slot::Warm(warm)) => {
                self.warm.remove(&(warm.last_used, id));
                Some(warm)
            }
            _ => None,
        }
    }

    /// Takes out the warm one that was not used for the longest time.
    fn oldest(&mut self) -> Option<Warm> {
        let (_, id) = self.warm.pop_first()?;
        match self.slots.remove(&id) {
            Some(Slot::Warm(warm)) => Some(warm),
            _ => None,
        }
    }
}
