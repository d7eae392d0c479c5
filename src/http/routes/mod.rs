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

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::AppState;
use super::error::{ApiError, Kind, Result};
use crate::backend::profile;
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

/// The encoding of bytes in JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub(super) enum Encoding {
    /// Text.
    #[default]
    #[serde(rename = "utf-8")]
    Utf8,
    /// RFC 4648 base64, with padding.
    #[serde(rename = "base64")]
    Base64,
}

impl Encoding {
    /// Returns the encoding that suits all of these: text if all are UTF-8.
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
                profile::from_base64(&text).ok_or_else(|| ApiError::new(Kind::BadRequest, "not valid base64"))
            }
        }
    }
}
