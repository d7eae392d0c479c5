//! Creates a sandbox with the files of another one or of a snapshot, and saves a snapshot.
//!
//! `cp` makes the copy, in a sandbox of its own: it follows no link out of the tree and stays within the limits, and no
//! second program has to know how to copy a tree. The new sandbox gets its name when the copy is complete.

use std::io::Write;
use std::sync::Arc;

use super::record::Metadata;
use super::sandbox_dir::SandboxDir;
use super::transitions::{LeaseTarget, PendingLease, ProviderState, WORKSPACE, blocking};
use super::{ProviderError, Result, SandboxId};
use crate::limits::server::provider::COPY_TIME;
use crate::sandbox::{Command, MountAccess, Sandbox, SandboxBuilder, Snapshot};
use crate::vfs::{ChargePolicy, Digest, Rules};

/// The mount points during a copy. No snapshot has files there.
const FROM: &str = "/.isopod-copy/from";
const TO: &str = "/.isopod-copy/to";

/// A sandbox to read from. It was leased for the copy, or is leased here anyway.
struct CopySource {
    dir: SandboxDir,
    sandbox: Sandbox,
    /// Declared after the others, which hold shares of the lease too.
    _lease: Option<PendingLease>,
}

impl ProviderState {
    /// Creates a sandbox with a copy of another one's files.
    pub(super) async fn fork(self: &Arc<ProviderState>, id: SandboxId, metadata: Metadata) -> Result<SandboxId> {
        let source = self.source(id).await?;
        let builder = Sandbox::builder().mount_dir(source.dir.files()?, FROM, MountAccess::ReadOnly);
        self.fill(builder, FROM, metadata).await
    }

    /// Creates a sandbox with the files of a snapshot.
    pub(super) async fn create_from(
        self: &Arc<ProviderState>,
        snapshot: &Snapshot,
        metadata: Metadata,
    ) -> Result<SandboxId> {
        self.fill(Sandbox::builder().snapshot(snapshot), WORKSPACE, metadata).await
    }

    /// Saves the files of a sandbox.
    pub(super) async fn snapshot(
        self: &Arc<ProviderState>,
        id: SandboxId,
        to: impl Write + Send + 'static,
    ) -> Result<Digest> {
        let source = self.source(id).await?;
        blocking(self, move |shared| {
            let files = source.dir.files()?;
            // A mounted directory of the host is not part of a snapshot. An overlay is, with all files that show
            // through it.
            let shown = Sandbox::builder()
                .limits(shared.config.limits.clone())
                .snapshot(&source.sandbox.snapshot())
                .mount_dir(files, WORKSPACE, MountAccess::Overlay)
                .build()?;
            Ok(shown.snapshot().save(to)?)
        })
        .await
    }

    async fn source(self: &Arc<ProviderState>, id: SandboxId) -> Result<CopySource> {
        let pending = match self.borrow(id) {
            Ok((dir, sandbox)) => return Ok(CopySource { dir, sandbox, _lease: None }),
            Err(ProviderError::NotLeased(_)) => {
                blocking(self, move |shared| shared.acquire(id, LeaseTarget::Existing)).await?
            }
            Err(error) => return Err(error),
        };
        let (dir, sandbox) = self.borrow(id)?;
        Ok(CopySource { dir, sandbox, _lease: Some(pending) })
    }

    /// Creates a sandbox and copies a directory into it. `builder` makes the sandbox that has the directory.
    async fn fill(
        self: &Arc<ProviderState>,
        builder: SandboxBuilder,
        from: &str,
        metadata: Metadata,
    ) -> Result<SandboxId> {
        let record = self.record(None, metadata)?;
        let unpublished = blocking(self, |shared| {
            let mut id = SandboxId::random()?;
            while shared.root.last_used(id)?.is_some() {
                id = SandboxId::random()?;
            }
            shared.root.begin_sandbox(id)
        })
        .await?;
        let mut limits = self.config.limits.clone();
        (limits.wall, limits.wall_max) = (COPY_TIME, COPY_TIME);
        // Protected files have to be copied too.
        let builder = builder.limits(limits).protect(Rules::none());
        let sandbox =
            builder.mount_dir(unpublished.files()?, TO, MountAccess::ReadWrite(ChargePolicy::Whole)).build()?;
        let copy = Command::program(["cp", "-a", "--", &format!("{from}/."), TO]);
        let copied = sandbox.execute(copy).await.map_err(|error| ProviderError::Copy(error.to_string()))?;
        if copied.exit_code != 0 {
            let stderr = String::from_utf8_lossy(&copied.stderr).into_owned();
            return Err(ProviderError::Copy(stderr.lines().next().unwrap_or("cp failed").to_owned()));
        }
        drop(sandbox);
        let dir = blocking(self, move |_| unpublished.sync_files().and_then(|()| unpublished.publish(&record))).await?;
        match dir {
            Some(dir) => Ok(dir.id),
            None => Err(ProviderError::Copy("another sandbox has just got the same id: try again".to_owned())),
        }
    }
}
