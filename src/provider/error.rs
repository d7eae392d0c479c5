//! The errors of a provider.

use std::io;

use super::SandboxId;
use crate::backend::BackendError;
use crate::sandbox::BuildError;
use crate::vfs::ArchiveError;

/// The result of a provider.
pub type Result<T> = std::result::Result<T, ProviderError>;

/// The reason why a call of a provider failed. No text holds a path of the host.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// The text does not have the form of an id. It is not repeated, because it may be anything.
    #[error("not the id of a sandbox: expected eight digits of 0-9 and a-f")]
    InvalidId,
    /// The name of a thread or a user, or the metadata, is not valid.
    #[error("{what} {fault}")]
    InvalidName {
        /// The name or the metadata.
        what: &'static str,
        /// Its fault.
        fault: &'static str,
    },
    /// The sandbox does not exist.
    #[error("no such sandbox: {0}")]
    NotFound(SandboxId),
    /// The sandbox is leased, here or by another process, or is changing its state.
    #[error("sandbox {0} is in use")]
    InUse(SandboxId),
    /// The sandbox is not leased here.
    #[error("sandbox {0} is not leased here")]
    NotLeased(SandboxId),
    /// The sandbox of this id belongs to another thread or user.
    #[error("sandbox {0} belongs to another thread")]
    OtherOwner(SandboxId),
    /// There are `max_count` sandboxes in memory, and none of them may be dropped.
    #[error("all {0} sandboxes are leased: release one, or raise max_count")]
    AllLeased(usize),
    /// The provider was shut down.
    #[error("the provider is shut down")]
    ShutDown,
    /// The files on disk are not those of a provider.
    #[error("sandbox {id} is damaged: {reason}")]
    Damaged {
        /// The sandbox.
        id: SandboxId,
        /// The damage.
        reason: String,
    },
    /// The sandbox could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The backend of the sandbox could not be made.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// The files could not be saved.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// The files could not be copied.
    #[error("cannot copy the files: {0}")]
    Copy(String),
    /// The host refused an operation.
    #[error("cannot {what}: {error}")]
    Host {
        /// The operation.
        what: &'static str,
        /// The host's error.
        error: io::Error,
    },
}

impl ProviderError {
    /// Classifies an error about a part of a sandbox that should exist. A file that is missing, or of another kind, is
    /// damage. Other errors, such as too many open files, are not: they are no reason to delete a sandbox.
    pub(super) fn part(id: SandboxId, part: &str, error: impl Into<io::Error>) -> ProviderError {
        use io::ErrorKind as Kind;
        let error = error.into();
        let is_damage =
            matches!(error.kind(), Kind::NotFound | Kind::NotADirectory | Kind::IsADirectory | Kind::InvalidData);
        match is_damage || error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
            true => ProviderError::Damaged { id, reason: format!("{part}: {error}") },
            false => ProviderError::host("open a sandbox", error),
        }
    }

    /// Makes an error of a host's refusal.
    pub(super) fn host(what: &'static str, error: impl Into<io::Error>) -> ProviderError {
        ProviderError::Host { what, error: error.into() }
    }
}
