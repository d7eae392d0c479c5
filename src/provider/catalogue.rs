//! Descriptions of the sandboxes of a root.

use super::record::{Listing, Metadata, Record, SandboxInfo, SandboxState};
use super::root::Inspection;
use super::transitions::ProviderState;
use super::{ProviderError, Result, SandboxId};
use crate::limits::server::provider::LISTING_PAGE;

impl ProviderState {
    /// Returns a page of the sandboxes on disk.
    pub(super) fn list(&self, cursor: Option<SandboxId>) -> Result<Listing> {
        let mut ids = self.root.ids()?;
        ids.drain(..ids.partition_point(|id| Some(*id) <= cursor));
        let has_more = ids.len() > LISTING_PAGE;
        ids.truncate(LISTING_PAGE);
        let inspections = self.root.inspect(&ids)?;
        let items = ids.iter().zip(inspections).filter_map(|(id, inspection)| Some(self.describe(*id, inspection?)));
        Ok(Listing { items: items.collect(), cursor: ids.last().copied().filter(|_| has_more) })
    }

    /// Returns the description of one sandbox.
    pub(super) fn info(&self, id: SandboxId) -> Result<SandboxInfo> {
        match self.root.inspect(&[id])?.pop().flatten() {
            Some(inspection) => Ok(self.describe(id, inspection)),
            None => Err(ProviderError::NotFound(id)),
        }
    }

    fn describe(&self, id: SandboxId, inspection: Inspection) -> SandboxInfo {
        let table = self.table();
        let lease = table.get(id).ok().map(|leased| leased.lease.last_used());
        let state = match inspection.is_held || lease.is_some() {
            true => SandboxState::Leased,
            false if table.is_warm(id) => SandboxState::Warm,
            false => SandboxState::Stored,
        };
        drop(table);
        let last_used = lease.unwrap_or(0).max(inspection.last_used);
        let (record, damage) = match inspection.record {
            Ok(record) => (record, None),
            Err(ProviderError::Damaged { reason, .. }) => (Record::default(), Some(reason)),
            Err(error) => (Record::default(), Some(error.to_string())),
        };
        let Record { owner, created, metadata } = record;
        let (thread, user) = owner.map(|owner| (owner.thread, owner.user)).unzip();
        SandboxInfo { id, state, thread, user: user.flatten(), created, last_used, metadata, damage }
    }

    /// Replaces the metadata of a sandbox that is leased here.
    pub(super) fn set_metadata(&self, id: SandboxId, metadata: Metadata) -> Result<()> {
        let (dir, _) = self.borrow(id)?;
        let Record { owner, created, .. } = dir.record()?;
        self.root.rewrite(&dir, &Record::new(owner, created, metadata)?)
    }
}
