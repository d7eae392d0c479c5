//! One mounted file system, as the mount table sees it.

use std::sync::Arc;

use crate::error::Errno;
use crate::path::Subpath;

use super::listing::Listed;
use super::{AtomicWrite, DirEntry, DirStream, File, Frozen, OpenHow, Overlay, SetTime, Stat};

/// Why an attempt did not do what it was asked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// It failed.
    Errno(Errno),
    /// A symbolic link is in the way: the mount table resolves it and tries again.
    Link {
        /// How many names of the path lead to the link, its own among them.
        names: usize,
        /// What the link holds.
        target: String,
    },
}

impl From<Errno> for Stop {
    fn from(errno: Errno) -> Stop {
        Stop::Errno(errno)
    }
}

impl Stop {
    /// The errno, or `other` if it is a link, for a path that should have held none.
    pub(super) fn errno_or(self, other: Errno) -> Errno {
        match self {
            Stop::Errno(errno) => errno,
            Stop::Link { .. } => other,
        }
    }
}

/// The outcome of an attempt.
pub type Attempt<T> = std::result::Result<T, Stop>;

/// What a file system opened.
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
/// The rules, which let one loop serve them all:
/// - a path holds plain names only, and no path is ever followed through a link: a link before the last name is
///   always [`Stop::Link`]; a link *as* the last name is one where a call says that it follows, and is itself what
///   the call is about where it does not;
/// - a file system knows neither mounts nor rights: whether it may be written to is decided above it, and
///   [`Stat::device`] is filled in above it;
/// - what cannot be changed at all need not implement the changing calls: they answer
///   [`ReadOnly`](Errno::ReadOnly).
pub trait FileSystem: Send + Sync {
    /// Opens a file, or makes it. Follows, unless `how.nofollow` (then a link is [`Loop`](Errno::Loop)) or
    /// `how.exclusive` (then it is [`Exist`](Errno::Exist)). A directory opened for writing or with `create` is
    /// [`IsDirectory`](Errno::IsDirectory). What `how.directory` refuses is refused before it is truncated.
    fn open(&self, path: Subpath<'_>, how: &OpenHow) -> Attempt<Node>;

    /// What the path names.
    fn stat(&self, path: Subpath<'_>, follow: bool) -> Attempt<Stat>;

    /// The names in a directory, in any order. Follows.
    fn read_dir(&self, path: Subpath<'_>) -> Attempt<Vec<DirEntry>>;

    /// The names in a directory, piece by piece. Follows.
    fn open_dir(&self, path: Subpath<'_>) -> Attempt<Box<dyn DirStream>> {
        Ok(Box::new(Listed::new(self.read_dir(path)?)))
    }

    /// What a link holds; [`Invalid`](Errno::Invalid) for anything else.
    fn read_link(&self, path: Subpath<'_>) -> Attempt<String>;

    /// Makes a directory.
    fn mkdir(&self, path: Subpath<'_>, mode: u32) -> Attempt<()> {
        let _ = (path, mode);
        Err(Errno::ReadOnly.into())
    }

    /// Removes an empty directory.
    fn rmdir(&self, path: Subpath<'_>) -> Attempt<()> {
        let _ = path;
        Err(Errno::ReadOnly.into())
    }

    /// Removes a name of anything but a directory.
    fn unlink(&self, path: Subpath<'_>) -> Attempt<()> {
        let _ = path;
        Err(Errno::ReadOnly.into())
    }

    /// Gives what `from` names the name `to`, in one step. Neither path holds a link but as its last name; if one has
    /// got there meanwhile, the answer is the link as ever, and the mount table starts over.
    fn rename(&self, from: Subpath<'_>, to: Subpath<'_>) -> Attempt<()> {
        let _ = (from, to);
        Err(Errno::ReadOnly.into())
    }

    /// Gives a file a second name; a link at the end of `from` is not followed. Links on the way as for `rename`.
    fn link(&self, from: Subpath<'_>, to: Subpath<'_>) -> Attempt<()> {
        let _ = (from, to);
        Err(Errno::ReadOnly.into())
    }

    /// Makes a link that holds `target`.
    fn symlink(&self, target: &str, path: Subpath<'_>) -> Attempt<()> {
        let _ = (target, path);
        Err(Errno::ReadOnly.into())
    }

    /// Sets the permission bits.
    fn chmod(&self, path: Subpath<'_>, mode: u32, follow: bool) -> Attempt<()> {
        let _ = (path, mode, follow);
        Err(Errno::ReadOnly.into())
    }

    /// Sets owner and group.
    fn chown(&self, path: Subpath<'_>, uid: Option<u32>, gid: Option<u32>, follow: bool) -> Attempt<()> {
        let _ = (path, uid, gid, follow);
        Err(Errno::ReadOnly.into())
    }

    /// Sets the access and the modification time.
    fn set_times(&self, path: Subpath<'_>, accessed: SetTime, modified: SetTime, follow: bool) -> Attempt<()> {
        let _ = (path, accessed, modified, follow);
        Err(Errno::ReadOnly.into())
    }

    /// Replaces the content of a file in one step, or makes the file, and answers what it is then. Whoever has the old
    /// file open keeps it. Follows.
    fn write_atomic(&self, path: Subpath<'_>, bytes: &[u8], how: &AtomicWrite) -> Attempt<Stat> {
        let _ = (path, bytes, how);
        Err(Errno::ReadOnly.into())
    }

    /// Makes the directory that something is going to be mounted on, with its parents. A file system that is not
    /// to be written to for that (a directory of the host) does nothing, and the mount table shows the directory.
    fn make_mount_point(&self, path: Subpath<'_>) -> Attempt<()> {
        let _ = path;
        Ok(())
    }

    /// Whether a directory lists the descriptors of whoever asks: `/dev/fd` and its like, whose names only the kernel knows.
    fn lists_descriptors(&self, path: Subpath<'_>) -> bool {
        let _ = path;
        false
    }

    /// Whether it comes with every sandbox, and holds files of nobody who uses one.
    fn is_furniture(&self) -> bool {
        false
    }

    /// The overlay that this file system is, if it is one.
    fn overlay(&self) -> Option<Overlay> {
        None
    }

    /// What a snapshot of the sandbox keeps of this file system; none if a fork can use the very same one.
    fn freeze(&self) -> Option<Arc<dyn Frozen>> {
        None
    }
}
