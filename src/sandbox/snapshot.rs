//! Snapshots: the files of a sandbox at one moment. They can be forked, saved and loaded.

use std::io::{Read, Write};
use std::sync::Arc;

use super::tree;
use super::{BuildError, Sandbox, Settings};
use crate::error::Errno;
use crate::kernel::{Kernel, ProgramPolicy};
use crate::limits::Limits;
use crate::vfs::{self, ArchiveError, Digest, MemSnapshot, Quota};

/// The files of a sandbox at one moment, with its limits and its environment. Taking a snapshot and forking it copies no
/// file.
///
/// It holds the files in memory and the changes of overlays. It does not hold directories of the host: a fork sees and
/// changes the same ones. It does not hold processes. If a command runs while it is taken, it may hold only a part
/// of the command's changes.
pub struct Snapshot(Origin);

enum Origin {
    /// Of a sandbox.
    Live { files: vfs::Snapshot, limits: Limits, policy: ProgramPolicy, settings: Arc<Settings> },
    /// From a file.
    Saved(MemSnapshot),
}

impl Snapshot {
    pub(super) fn of(sandbox: &Sandbox) -> Snapshot {
        Snapshot(Origin::Live {
            files: sandbox.kernel.vfs().snapshot(),
            limits: sandbox.kernel.limits().clone(),
            policy: sandbox.kernel.policy().clone(),
            settings: Arc::clone(&sandbox.settings),
        })
    }

    /// Makes a sandbox with these files, and with the limits, the environment and the mounts of the original sandbox. A
    /// loaded snapshot has the defaults of [`Sandbox::builder`].
    pub fn fork(&self) -> Result<Sandbox, BuildError> {
        let Origin::Live { files, limits, policy, settings } = &self.0 else {
            return Sandbox::builder().snapshot(self).build();
        };
        let quota = Arc::new(Quota::new(limits));
        let vfs = files.fork(&quota)?;
        let kernel = Kernel::new(vfs, quota, limits.clone()).with_policy(policy.clone());
        Ok(Sandbox { kernel: Arc::new(kernel), settings: Arc::clone(settings) })
    }

    /// Writes the files as a tar in zstd, followed by its digest, and returns the digest. Mounts of the host are left out,
    /// except for overlays, which are saved with their changes.
    pub fn save(&self, to: impl Write) -> Result<Digest, ArchiveError> {
        match &self.0 {
            Origin::Live { files, limits, .. } => files.save(to, limits.disk),
            Origin::Saved(root) => {
                let files = root.fork(Arc::new(Quota::unlimited())).and_then(|root| tree::alone(&root));
                let files = files.map_err(|errno| ArchiveError::Files { path: "/".to_owned(), errno })?;
                files.snapshot().save(to, root.bytes())
            }
        }
    }

    /// Reads a snapshot that [`save`](Snapshot::save) wrote, and returns it with its digest. With `expected`, a snapshot of
    /// another digest is refused. The input is not trusted: damage, another format than that of `save`, and more files than
    /// these limits allow are errors.
    pub fn load(
        from: impl Read,
        limits: &Limits,
        expected: Option<&Digest>,
    ) -> Result<(Snapshot, Digest), ArchiveError> {
        let (root, digest) = MemSnapshot::load(from, limits, expected)?;
        Ok((Snapshot(Origin::Saved(root)), digest))
    }

    /// The sandbox's own files, without mounts.
    pub(super) fn root(&self) -> Result<&MemSnapshot, Errno> {
        match &self.0 {
            Origin::Live { files, .. } => files.root().ok_or(Errno::NotSupported),
            Origin::Saved(root) => Ok(root),
        }
    }
}
