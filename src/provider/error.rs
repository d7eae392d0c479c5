//! Why a provider did not do what it was asked to.

use std::io;

use super::SandboxId;
use crate::backend::BackendError;
use crate::sandbox::BuildError;
use crate::vfs::ArchiveError;

/// The result of a provider.
pub type Result<T> = std::result::Result<T, ProviderError>;

/// Why a provider did not do what it was asked to. No text holds a path of the host.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// Not the form of an id. What it was is not repeated: it may be anything.
    #[error("not the id of a sandbox: expected eight digits of 0-9 and a-f")]
    InvalidId,
    /// A name of a thread or of a user, or metadata, that is not taken.
    #[error("{what} {fault}")]
    InvalidName {
        /// What of.
        what: &'static str,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// There is no such sandbox.
    #[error("no such sandbox: {0}")]
    NotFound(SandboxId),
    /// It is leased, here or by another process, or about to be released or deleted.
    #[error("sandbox {0} is in use")]
    InUse(SandboxId),
    /// It is not leased here.
    #[error("sandbox {0} is not leased here")]
    NotLeased(SandboxId),
    /// Another thread or user has the sandbox with this id.
    #[error("sandbox {0} belongs to another thread")]
    OtherOwner(SandboxId),
    /// There are as many as there may be, and none of them can go.
    #[error("all {0} sandboxes are leased: release one, or raise max_count")]
    AllLeased(usize),
    /// The provider was shut down.
    #[error("the provider is shut down")]
    ShutDown,
    /// What is on disk is not what a provider writes.
    #[error("sandbox {id} is damaged: {reason}")]
    Damaged {
        /// Which one.
        id: SandboxId,
        /// What is wrong with it.
        reason: String,
    },
    /// The sandbox could not be made.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The backend over it could not be made.
    #[error(transparent)]
    Backend(#[from] BackendError),
    /// Its files could not be saved.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// Its files could not be copied.
    #[error("cannot copy the files: {0}")]
    Copy(String),
    /// The host refused something.
    #[error("cannot {what}: {error}")]
    Host {
        /// What was tried.
        what: &'static str,
        /// What the host said.
        error: io::Error,
    },
}

impl ProviderError {
    /// What the host says of a part of a sandbox that should be there. A file that is missing, or is something else, is
    /// damage; a host that is out of handles, say, is not: nobody should delete a sandbox for that.
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

    /// A refusal of the host.
    pub(super) fn host(what: &'static str, error: impl Into<io::Error>) -> ProviderError {
        ProviderError::Host { what, error: error.into() }
    }
}
