//! Fills a new sandbox with the files of another, or of a snapshot, and saves one.
//!
//! The copy is made by `cp` in a sandbox of its own: it follows no link out, stays within the limits, and there is no
//! second program that knows how to copy a tree. The new sandbox gets its name when all of it is there.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use super::home::Home;
use super::record::Metadata;
use super::transitions::{Claim, Shared, WORKSPACE, Want, blocking};
use super::{ProviderError, Result, SandboxId};
use crate::sandbox::{Command, MountAccess, Sandbox, SandboxBuilder, Snapshot};
use crate::vfs::{ChargePolicy, Digest, Rules};

/// How long a copy may take: what a gigabyte needs on a slow disk.
const COPY_TIME: Duration = Duration::from_secs(600);
/// Where the files are while they are copied: no name that a snapshot would have.
const FROM: &str = "/.isopod-copy/from";
const TO: &str = "/.isopod-copy/to";

/// A sandbox to read from. It was leased for that, or is leased here anyway.
struct Source {
    home: Home,
    sandbox: Sandbox,
    /// After the others, which hold the lock too.
    _claim: Option<Claim>,
}

impl Shared {
    /// A new sandbox with a copy of another one's files.
    pub(super) async fn fork(self: &Arc<Shared>, id: SandboxId, metadata: Metadata) -> Result<SandboxId> {
        let source = self.source(id).await?;
        let builder = Sandbox::builder().mount_dir(source.home.files()?, FROM, MountAccess::ReadOnly);
        self.fill(builder, FROM, metadata).await
    }

    /// A new sandbox with the files of a snapshot.
    pub(super) async fn create_from(self: &Arc<Shared>, snapshot: &Snapshot, metadata: Metadata) -> Result<SandboxId> {
        self.fill(Sandbox::builder().snapshot(snapshot), WORKSPACE, metadata).await
    }

    /// Saves the files of a sandbox.
    pub(super) async fn snapshot(self: &Arc<Shared>, id: SandboxId, to: impl Write + Send + 'static) -> Result<Digest> {
        let source = self.source(id).await?;
        blocking(self, move |shared| {
            let files = source.home.files()?;
            // A directory of the host is no part of a snapshot, but an overlay is, with all that shows through it.
            let shown = Sandbox::builder()
                .limits(shared.config.limits.clone())
                .snapshot(&source.sandbox.snapshot())
                .mount_dir(files, WORKSPACE, MountAccess::Overlay)
                .build()?;
            Ok(shown.snapshot().save(to)?)
        })
        .await
    }

    async fn source(self: &Arc<Shared>, id: SandboxId) -> Result<Source> {
        let claim = match self.borrow(id) {
            Ok((home, sandbox)) => return Ok(Source { home, sandbox, _claim: None }),
            Err(ProviderError::NotLeased(_)) => {
                blocking(self, move |shared| shared.acquire(id, Want::Existing)).await?
            }
            Err(error) => return Err(error),
        };
        let (home, sandbox) = self.borrow(id)?;
        Ok(Source { home, sandbox, _claim: Some(claim) })
    }

    /// Copies a directory of the sandbox that is to be built into a new one.
    async fn fill(self: &Arc<Shared>, builder: SandboxBuilder, from: &str, metadata: Metadata) -> Result<SandboxId> {
        let record = self.record(None, metadata)?;
        let draft = blocking(self, |shared| {
            let mut id = SandboxId::random()?;
            while shared.root.last_used(id)?.is_some() {
                id = SandboxId::random()?;
            }
            shared.root.draft(id)
        })
        .await?;
        let mut limits = self.config.limits.clone();
        (limits.wall, limits.wall_max) = (COPY_TIME, COPY_TIME);
        // What is protected in the one is to be in the other as well.
        let builder = builder.limits(limits).protect(Rules::none());
        let sandbox = builder.mount_dir(draft.files()?, TO, MountAccess::ReadWrite(ChargePolicy::Whole)).build()?;
        let copy = Command::program(["cp", "-a", "--", &format!("{from}/."), TO]);
        let copied = sandbox.execute(copy).await.map_err(|error| ProviderError::Copy(error.to_string()))?;
        if copied.exit_code != 0 {
            let stderr = String::from_utf8_lossy(&copied.stderr).into_owned();
            return Err(ProviderError::Copy(stderr.lines().next().unwrap_or("cp failed").to_owned()));
        }
        drop(sandbox);
        let home = blocking(self, move |_| draft.sync_files().and_then(|()| draft.publish(&record))).await?;
        match home {
            Some(home) => Ok(home.id),
            None => Err(ProviderError::Copy("another sandbox has just got the same id: try again".to_owned())),
        }
    }
}
