//! An overlay: a writable file system over a lower one that stays unchanged until a commit.
//!
//! The lower file system (a directory of the host, or a snapshot) shows through. Changes are stored in memory and
//! charged to the quota; nothing is written to the lower file system. The changes can be shown ([`Overlay::diff`]),
//! written to the directory of the host ([`Overlay::commit`]) or discarded ([`Overlay::discard`]).
//!
//! # POSIX behaviour
//! An overlay is a [`MemFs`] whose inodes may stand for lower files, so it behaves like a `MemFs`; the differential
//! test makes no exception for it. In particular, and unlike the overlay of Linux:
//! - A file that is open for reading sees later writes, and a file keeps its inode number when it is changed.
//! - Names of one file stay names of one file: a change through one of them shows under the others.
//! - A directory can be renamed in one step, whatever its content.
//!
//! Cost: a change of attributes or a rename copies no content; a write copies the 64 KiB chunk that it changes. Every
//! changed file or directory, and the directories above it, are charged as an inode each. A removed name is stored but
//! not charged: there are never more of them than lower names.
//!
//! Other programs must not change the lower file system while the overlay is in use. If they do, the overlay stays
//! confined, and its own changes stay consistent, but it may show the old or the new state of everything else. Special
//! files of the host can be seen and removed, but not renamed.

use std::sync::Arc;

use crate::error::Result;

use super::protect::ProtectedPaths;
use super::{FileSystem, HostDir, MemFs, MemSnapshot, Quota};

mod commit;
mod diff;
mod patch;

pub use commit::CommitError;
pub use diff::{Change, ChangeKind, Diff};

/// A handle to an overlay. Clones are handles to the same one.
#[derive(Clone)]
pub struct Overlay {
    files: MemFs,
    /// Paths that must not be committed, if a protecting layer stands on the overlay.
    protected: Option<Arc<ProtectedPaths>>,
}

impl Overlay {
    /// Creates an overlay over a directory of the host. Its changes are charged to `quota`.
    pub fn over_host(dir: HostDir, quota: Arc<Quota>) -> Result<Overlay> {
        Ok(Overlay::new(MemFs::over_host(dir, quota)?))
    }

    /// Creates an overlay over a snapshot, which must not be of an overlay. Its changes are charged to `quota`.
    pub fn over_snapshot(snapshot: &MemSnapshot, quota: Arc<Quota>) -> Result<Overlay> {
        Ok(Overlay::new(MemFs::over_snapshot(snapshot, quota)?))
    }

    pub(super) fn new(files: MemFs) -> Overlay {
        Overlay { files, protected: None }
    }

    /// Returns the same overlay, whose commit refuses the paths of `list`. The calls of a guest are checked when they
    /// are made; this check covers a file with a second name on the host, through which it can be changed.
    pub(super) fn protected(self, list: Arc<ProtectedPaths>) -> Overlay {
        Overlay { protected: Some(list), ..self }
    }

    /// Returns the file system to mount.
    pub fn files(&self) -> Arc<dyn FileSystem> {
        Arc::new(self.files.clone())
    }

    /// Returns true for an overlay over a directory of the host, which can be committed.
    pub fn is_over_host(&self) -> bool {
        self.files.is_over_host()
    }

    /// Returns the current differences from the lower file system.
    pub fn diff(&self) -> Result<Diff> {
        Diff::of(self.files.snapshot())
    }

    /// Writes the changes to the directory of the host. Afterwards the overlay has no changes. Each file is written
    /// under a temporary name and renamed, so that no reader sees a part of it. All new content is on the host before
    /// anything is replaced or removed, so a full disk changes nothing.
    ///
    /// A commit is refused while a file is open ([`Busy`](crate::error::Errno::Busy)), for an overlay over a snapshot
    /// ([`NotSupported`](crate::error::Errno::NotSupported)), and if it would change a path that
    /// [`Protect`](super::Protect) protects ([`NotPermitted`](crate::error::Errno::NotPermitted)). If it fails midway,
    /// the completed part stays, the overlay keeps its changes, and the commit can be repeated. If names of a
    /// hard-linked file of the host changed, those names are committed as names of one new file.
    pub fn commit(&self) -> std::result::Result<(), CommitError> {
        self.files.drain_changes(|snapshot, host| commit::apply(snapshot, host, self.protected.as_deref()))
    }

    /// Discards the changes. Refused while a file is open ([`Busy`](crate::error::Errno::Busy)).
    pub fn discard(&self) -> Result<()> {
        self.files.drain_changes(|_, _| Ok(()))
    }
}
