//! The handlers of the routes, one file for each subject.

pub(super) mod aio;
pub(super) mod execute;
pub(super) mod files;
pub(super) mod provisioner;
pub(super) mod sandboxes;
pub(super) mod server;
pub(super) mod sessions;
pub(super) mod snapshots;

use std::sync::Arc;

use super::AppState;
use super::error::{ApiError, Kind, Result};
use crate::backend::Encoding;
use crate::limits::server::http::LEASE_WAIT;
use crate::provider::{Lease, SandboxId};

impl AppState {
    /// Leases a sandbox, or returns its lease.
    pub(super) async fn lease(&self, id: SandboxId) -> Result<Arc<Lease>> {
        if self.workers.is_some() {
            // A route that is missing in `isolate`: better an error than a guest in this process.
            return Err(ApiError::new(Kind::Internal, "the sandbox is in a process of its own"));
        }
        Ok(self.provider.lease_within(id, LEASE_WAIT).await?)
    }
}

/// Decodes a text of a request.
fn decode(encoding: Encoding, text: String) -> Result<Vec<u8>> {
    encoding.read(text).ok_or_else(|| ApiError::new(Kind::BadRequest, "not valid base64"))
}
