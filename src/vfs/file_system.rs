//! The trait of one mounted file system.

use std::sync::Arc;

use crate::error::Errno;
use crate::path::Subpath;

use super::listing::VecStream;
use super::{AtomicWrite, DirEntry, DirStream, File, FrozenFs, MountInfo, MountKind, OpenHow, Overlay, SetTime, Stat};

/// The reason why an attempt did not complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// The call failed.
    Errno(Errno),
    /// A symbolic link is in the way. The mount table resolves it and tries again.
    Link {
        /// Number of names of the path up to the link, including its own.
        names: usize,
        /// The target of the link.
        target: String,
    },
}

impl From<Errno> for Stop {
    fn from(errno: Errno) -> Stop {
        Stop::Errno(errno)
    }
}

impl Stop {
    /// Returns the errno, or `other` for a link, on a path that should hold none.
    pub(super) fn errno_or(self, other: Errno) -> Errno {
        match self {
            Stop::Errno(errno) => errno,
            Stop::Link { .. } => other,
        }
    }
}

/// The result of an attempt.
pub type Attempt<T> = std::result::Result<T, Stop>;

/// The result of opening a path in one file system.
pub enum Node {
    /// A file or a device.
    File(Arc<dyn File>),
    /// A directory. It needs no handle: the kernel keeps its path.
    Directory,
    /// The caller's own descriptor of this number.
    Descriptor(u32),
}

/// A file system that can be mounted.
///
/// The rules that let one loop serve all file systems:
/// - A path holds plain names only. No link is ever followed: a link before the last name is always [`Stop::Link`]. A
///   link *as* the last name is [`Stop::Link`] if the call follows links; otherwise the call applies to the link
///   itself.
/// - A file system knows neither mounts nor rights. Read-only mounts are checked above it, and [`Stat::device`] is
///   filled in above it.
/// - A file system that cannot be changed need not implement the changing calls; they return
///   [`ReadOnly`](Errno::ReadOnly).
pub trait FileSystem: Send + Sync {
    /// Opens a file, or creates it. Follows a link, unless `how.nofollow` (a link is [`Loop`](Errno::Loop)) or
    /// `how.exclusive` (a link is [`Exist`](Errno::Exist)). A directory opened for writing or with `create` is
    /// [`IsDirectory`](Errno::IsDirectory). A file that `how.directory` refuses is not truncated.
    fn open(&self, path: Subpath<'_>, how: &OpenHow) -> Attempt<Node>;

    /// Returns the attributes of the file that the path names.
    fn stat(&self, path: Subpath<'_>, follow: bool) -> Attempt<Stat>;

    /// Returns the entries of a directory, in any order. Follows a link.
    fn read_dir(&self, path: Subpath<'_>) -> Attempt<Vec<DirEntry>>;

    /// Opens a directory for listing in pieces. Follows a link.
    fn open_dir(&self, path: Subpath<'_>) -> Attempt<Box<dyn DirStream>> {
        Ok(Box::new(VecStream::new(self.read_dir(path)?)))
    }

    /// Returns the target of a link; [`Invalid`](Errno::Invalid) for any other file.
    fn read_link(&self, path: Subpath<'_>) -> Attempt<String>;

    /// Creates a directory.
    fn mkdir(&self, path: Subpath<'_>, mode: u32) -> Attempt<()> {
        let _ = (path, mode);
        Err(Errno::ReadOnly.into())
    }

    /// Removes an empty directory.
    fn rmdir(&self, path: Subpath<'_>) -> Attempt<()> {
        let _ = path;
        Err(Errno::ReadOnly.into())
    }

    /// Removes a name of a file that is not a directory.
    fn unlink(&self, path: Subpath<'_>) -> Attempt<()> {
        let _ = path;
        Err(Errno::ReadOnly.into())
    }

    /// Renames `from` to `to` in one step. Neither path holds a link except as its last name. If a link was created in
    /// between, the result is [`Stop::Link`] and the mount table starts over.
    fn rename(&self, from: Subpath<'_>, to: Subpath<'_>) -> Attempt<()> {
        let _ = (from, to);
        Err(Errno::ReadOnly.into())
    }

    /// Gives a file a second name. A link at the end of `from` is not followed. Other links are handled as in `rename`.
    fn link(&self, from: Subpath<'_>, to: Subpath<'_>) -> Attempt<()> {
        let _ = (from, to);
        Err(Errno::ReadOnly.into())
    }

    /// Creates a link to `target`.
    fn symlink(&self, target: &str, path: Subpath<'_>) -> Attempt<()> {
        let _ = (target, path);
        Err(Errno::ReadOnly.into())
    }

    /// Sets the permission bits.
    fn chmod(&self, path: Subpath<'_>, mode: u32, follow: bool) -> Attempt<()> {
        let _ = (path, mode, follow);
        Err(Errno::ReadOnly.into())
    }

    /// Sets the owner and the group.
    fn chown(&self, path: Subpath<'_>, uid: Option<u32>, gid: Option<u32>, follow: bool) -> Attempt<()> {
        let _ = (path, uid, gid, follow);
        Err(Errno::ReadOnly.into())
    }

    /// Sets the access and the modification time.
    fn set_times(&self, path: Subpath<'_>, accessed: SetTime, modified: SetTime, follow: bool) -> Attempt<()> {
        let _ = (path, accessed, modified, follow);
        Err(Errno::ReadOnly.into())
    }

    /// Replaces the content of a file in one step, or creates the file, and returns the new attributes. Open handles of
    /// the old file keep the old content. Follows a link.
    fn write_atomic(&self, path: Subpath<'_>, bytes: &[u8], how: &AtomicWrite) -> Attempt<Stat> {
        let _ = (path, bytes, how);
        Err(Errno::ReadOnly.into())
    }

    /// Creates the directory of a future mount point, with its parents. A file system that must not be written to for
    /// that, such as a directory of the host, does nothing; the mount table then shows a directory of its own.
    fn make_mount_point(&self, path: Subpath<'_>) -> Attempt<()> {
        let _ = path;
        Ok(())
    }

    /// Returns true for a directory that lists the descriptors of the caller, such as `/dev/fd`. Only the kernel knows
    /// them.
    fn lists_descriptors(&self, path: Subpath<'_>) -> bool {
        let _ = path;
        false
    }

    /// Returns the kind that [`Vfs::mounts`](super::Vfs::mounts) and `/proc/mounts` show.
    fn mount_kind(&self) -> MountKind {
        MountKind::Other
    }

    /// Receives the finished mount table of each tree that this file system becomes a part of. Only `/proc` uses it.
    fn set_mounts(&self, mounts: &[MountInfo]) {
        let _ = mounts;
    }

    /// Returns a handle to the overlay, if this file system is one.
    fn overlay(&self) -> Option<Overlay> {
        None
    }

    /// Returns the state that a snapshot of the sandbox stores; none if a fork can share this file system itself.
    fn freeze(&self) -> Option<Arc<dyn FrozenFs>> {
        None
    }
}
