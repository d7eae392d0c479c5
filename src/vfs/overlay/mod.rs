//! An overlay: a file system that can be changed, over one that stays as it is until someone says so.
//!
//! What is below (a directory of the host, or a snapshot) shows through; what is changed is kept in memory and charged
//! to the quota, and nothing is written below. Afterwards one can look at the changes ([`Overlay::diff`]), write them
//! to the directory of the host ([`Overlay::commit`]) or forget them ([`Overlay::discard`]).
//!
//! # As close to POSIX as the file systems it is made of
//! It is a [`MemFs`] whose inodes may stand for something below, so it answers as a `MemFs` does; the differential test
//! knows no exception for it. In particular, and unlike Linux's own overlay:
//! - a file that is open for reading sees what is written to it later, and a file keeps its inode number when it is
//!   changed;
//! - names of one file stay names of one file: a change by one of them shows under the others;
//! - a directory can be renamed, whatever is in it, in one step.
//!
//! What costs: a change of attributes or a rename copies no content, a write copies the 64 KiB it falls into. Every file
//! and directory that is changed, and the directories above it, are charged as an inode each. A name that was removed
//! is remembered but not charged: there are never more of them than there are names below.
//!
//! What is below must not be changed by others as long as the overlay is in use. If it is, the overlay stays confined
//! and consistent in its own changes, but may show the old or the new state of anything else. Special files of the host
//! can be seen and removed, but not renamed.

use std::sync::Arc;

use crate::error::Result;

use super::protect::List;
use super::{FileSystem, HostDir, MemFs, MemSnapshot, Quota};

mod commit;
mod diff;
mod patch;

pub use commit::CommitError;
pub use diff::{Change, Diff, What};

/// A handle to an overlay. Clones are handles to the same one.
#[derive(Clone)]
pub struct Overlay {
    files: MemFs,
    /// What must not be committed, if a layer that protects it stands on the overlay.
    protected: Option<Arc<List>>,
}

impl Overlay {
    /// An overlay over a directory of the host; its changes are charged to `quota`.
    pub fn over_host(dir: HostDir, quota: Arc<Quota>) -> Result<Overlay> {
        Ok(Overlay::new(MemFs::over_host(dir, quota)?))
    }

    /// An overlay over a snapshot, which must not be one of an overlay; its changes are charged to `quota`.
    pub fn over_snapshot(snapshot: &MemSnapshot, quota: Arc<Quota>) -> Result<Overlay> {
        Ok(Overlay::new(MemFs::over_snapshot(snapshot, quota)?))
    }

    pub(super) fn new(files: MemFs) -> Overlay {
        Overlay { files, protected: None }
    }

    /// The same overlay, which commits nothing that `list` protects. The calls of a guest are checked as they are made;
    /// this is for a file that the host gave a second name, by which it can be changed.
    pub(super) fn protected(self, list: Arc<List>) -> Overlay {
        Overlay { protected: Some(list), ..self }
    }

    /// The file system to mount.
    pub fn files(&self) -> Arc<dyn FileSystem> {
        Arc::new(self.files.clone())
    }

    /// Whether it stands on a directory of the host, and can be committed.
    pub fn is_over_host(&self) -> bool {
        self.files.is_over_host()
    }

    /// What is different from what is below, at this moment.
    pub fn diff(&self) -> Result<Diff> {
        Diff::of(self.files.snapshot())
    }

    /// Writes the changes to the directory of the host, after which there are none. Each file is written under another
    /// name and renamed, so that nobody ever sees a part of one, and all new content is on the host before anything is
    /// replaced or removed: a disk that is full changes nothing.
    ///
    /// It is refused while a file is open ([`Busy`](crate::error::Errno::Busy)), and for an overlay over a snapshot
    /// ([`NotSupported`](crate::error::Errno::NotSupported)). If it fails midway, what is done is done, the changes are
    /// still here, and it can be tried again. It is also refused if it would change what [`Protect`](super::Protect)
    /// protects ([`NotPermitted`](crate::error::Errno::NotPermitted)). Of hard links that the host has, the names that changed are committed
    /// as names of one new file.
    pub fn commit(&self) -> std::result::Result<(), CommitError> {
        self.files.settle(|snapshot, host| commit::apply(snapshot, host, self.protected.as_deref()))
    }

    /// Forgets the changes. It is refused while a file is open ([`Busy`](crate::error::Errno::Busy)).
    pub fn discard(&self) -> Result<()> {
        self.files.settle(|_, _| Ok(()))
    }
}
