//! The routes, a file a subject.

pub(super) mod aio;
pub(super) mod execute;
pub(super) mod files;
pub(super) mod provisioner;
pub(super) mod sandboxes;
pub(super) mod server;
pub(super) mod sessions;
pub(super) mod snapshots;

use std::sync::Arc;
use std::time::Duration;

use super::Shared;
use super::error::{ApiError, Kind, Result};
use crate::backend::Encoding;
use crate::provider::{Lease, ProviderError, SandboxId};

/// How often, and how long in between, a sandbox is asked for that is on its way from one state to the next.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(10);

impl Shared {
    /// The sandbox of this id, leased.
    pub(super) async fn lease(&self, id: SandboxId) -> Result<Arc<Lease>> {
        if self.crew.is_some() {
            // A route that nobody sends to the worker: better an error than a guest in this process.
            return Err(ApiError::new(Kind::Internal, "the sandbox is in a process of its own"));
        }
        for _ in 0..TRIES {
            match self.provider.get_or_create(Some(id)).await {
                Err(ProviderError::InUse(_) | ProviderError::NotLeased(_)) => tokio::time::sleep(PAUSE).await,
                answer => return Ok(answer?),
            }
        }
        Err(ProviderError::InUse(id).into())
    }
}

/// Decodes a text of a request.
fn decode(encoding: Encoding, text: String) -> Result<Vec<u8>> {
    encoding.read(text).ok_or_else(|| ApiError::new(Kind::BadRequest, "this is not base64"))
}
