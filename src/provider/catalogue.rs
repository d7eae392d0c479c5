//! What is known of the sandboxes of a root.

use super::record::{Info, Listing, Metadata, Record, State};
use super::root::Glance;
use super::transitions::Shared;
use super::{ProviderError, Result, SandboxId};

/// Sandboxes of a page of a list.
const PAGE: usize = 100;

impl Shared {
    /// A page of the sandboxes on disk.
    pub(super) fn list(&self, cursor: Option<SandboxId>) -> Result<Listing> {
        let mut ids = self.root.ids()?;
        ids.drain(..ids.partition_point(|id| Some(*id) <= cursor));
        let has_more = ids.len() > PAGE;
        ids.truncate(PAGE);
        let glances = self.root.look(&ids)?;
        let items = ids.iter().zip(glances).filter_map(|(id, glance)| Some(self.describe(*id, glance?)));
        Ok(Listing { items: items.collect(), cursor: ids.last().copied().filter(|_| has_more) })
    }

    /// What is known of one sandbox.
    pub(super) fn info(&self, id: SandboxId) -> Result<Info> {
        match self.root.look(&[id])?.pop().flatten() {
            Some(glance) => Ok(self.describe(id, glance)),
            None => Err(ProviderError::NotFound(id)),
        }
    }

    fn describe(&self, id: SandboxId, glance: Glance) -> Info {
        let table = self.table();
        let lease = table.get(id).ok().map(|leased| leased.lease.last_used());
        let state = match glance.is_held || lease.is_some() {
            true => State::Leased,
            false if table.is_warm(id) => State::Warm,
            false => State::Stored,
        };
        drop(table);
        let last_used = lease.unwrap_or(0).max(glance.last_used);
        let (record, damage) = match glance.record {
            Ok(record) => (record, None),
            Err(ProviderError::Damaged { reason, .. }) => (Record::default(), Some(reason)),
            Err(error) => (Record::default(), Some(error.to_string())),
        };
        let Record { owner, created, metadata } = record;
        let (thread, user) = owner.map(|owner| (owner.thread, owner.user)).unzip();
        Info { id, state, thread, user: user.flatten(), created, last_used, metadata, damage }
    }

    /// Replaces the metadata of what is leased here.
    pub(super) fn set_metadata(&self, id: SandboxId, metadata: Metadata) -> Result<()> {
        let (home, _) = self.borrow(id)?;
        let Record { owner, created, .. } = home.record()?;
        self.root.rewrite(&home, &Record::new(owner, created, metadata)?)
    }
}
