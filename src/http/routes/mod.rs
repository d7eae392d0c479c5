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

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Shared;
use super::error::{ApiError, Kind, Result};
use crate::backend::profile;
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

/// How bytes are written in JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(super) enum Encoding {
    /// As they are.
    #[default]
    #[serde(rename = "utf-8")]
    Utf8,
    /// As base64.
    #[serde(rename = "base64")]
    Base64,
}

impl Encoding {
    /// What can write all of these as they are, or base64.
    fn of(all: &[&[u8]]) -> Encoding {
        match all.iter().all(|bytes| std::str::from_utf8(bytes).is_ok()) {
            true => Encoding::Utf8,
            false => Encoding::Base64,
        }
    }

    fn write(self, bytes: Vec<u8>) -> String {
        match self {
            Encoding::Utf8 => String::from_utf8(bytes).unwrap_or_else(|error| profile::base64(error.as_bytes())),
            Encoding::Base64 => profile::base64(&bytes),
        }
    }

    fn read(self, text: String) -> Result<Vec<u8>> {
        match self {
            Encoding::Utf8 => Ok(text.into_bytes()),
            Encoding::Base64 => {
                profile::from_base64(&text).ok_or_else(|| ApiError::new(Kind::BadRequest, "this is not base64"))
            }
        }
    }
}
