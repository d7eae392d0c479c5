//! The files of a sandbox at one moment, sandboxes that start from there, and the way to a file and back.

use std::io::{Read, Write};
use std::sync::Arc;

use super::tree;
use super::{BuildError, Sandbox, Settings};
use crate::error::Errno;
use crate::kernel::{Kernel, ProgramPolicy};
use crate::limits::Limits;
use crate::vfs::{self, ArchiveError, Digest, MemSnapshot, Quota};

/// The files of a sandbox as they were, with its limits and its environment. Taking one and forking from it copies no
/// file, whatever their number and size.
///
/// What is the sandbox's own is kept: its files in memory, and the changes of overlays. Directories of the host are not:
/// a fork sees and changes the same ones. Processes are no part of it. A command that runs meanwhile may be seen halfway
/// through what it does.
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

    /// A sandbox of its own that starts with these files, with the limits, the environment and the mounts of the sandbox
    /// that the snapshot is of. One that was loaded starts as [`Sandbox::builder`] would make it.
    pub fn fork(&self) -> Result<Sandbox, BuildError> {
        let Origin::Live { files, limits, policy, settings } = &self.0 else {
            return Sandbox::builder().snapshot(self).build();
        };
        let quota = Arc::new(Quota::new(limits));
        let vfs = files.fork(&quota)?;
        let kernel = Kernel::new(vfs, quota, limits.clone()).with_policy(policy.clone());
        Ok(Sandbox { kernel: Arc::new(kernel), settings: Arc::clone(settings) })
    }

    /// Writes the files as a tar in zstd, with its digest behind it, and answers the digest. What is mounted from the
    /// host is not in it, except for the overlays, which are saved as they show.
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

    /// Reads what [`save`](Snapshot::save) wrote, and answers its digest as well. With `expected`, only the snapshot of
    /// this digest will do. It trusts nothing that it reads: what is damaged, or not as `save` writes it, or larger than
    /// a sandbox of these limits may be, is an error.
    pub fn load(
        from: impl Read,
        limits: &Limits,
        expected: Option<&Digest>,
    ) -> Result<(Snapshot, Digest), ArchiveError> {
        let (root, digest) = MemSnapshot::load(from, limits, expected)?;
        Ok((Snapshot(Origin::Saved(root)), digest))
    }

    /// The sandbox's own files, without what is mounted in them.
    pub(super) fn root(&self) -> Result<&MemSnapshot, Errno> {
        match &self.0 {
            Origin::Live { files, .. } => files.root().ok_or(Errno::NotSupported),
            Origin::Saved(root) => Ok(root),
        }
    }
}
