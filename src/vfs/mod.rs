//! The virtual file system: one tree of names for a sandbox, made of mounted file systems.
//!
//! # Layout
//! A call goes from top to bottom:
//! ```text
//!  calls        Vfs: POSIX calls on guest paths, with POSIX errors
//!    │ resolve        follows symbolic links and `..`, in one loop
//!    │ mount          mount table: the longest mounted prefix of a path selects the file system
//!    │ mounted_path   a path and its mount: mount points and the rules of read-only mounts
//!    │ open_file      an open file and its rights
//!    ▼
//!  FileSystem   the trait of one mounted file system
//!    ├─ mem_fs        files in memory
//!    ├─ host_dir      a directory of the host
//!    ├─ overlay       a MemFs over a directory of the host or a snapshot: copy-on-write
//!    ├─ protect       a layer over another file system that refuses changes of some paths
//!    └─ dev, proc, programs, library: files that the host makes up
//! ```
//! - `quota` counts the bytes and files of a sandbox, in memory and in directories of the host.
//! - `snapshot` keeps a tree in memory. Snapshot and original share everything until one of them changes. `archive`
//!   writes a snapshot to one file with a digest, and reads it.
//! - `atomic` replaces the content of a file in one step. On the host it uses temporary names, which `reserved` hides
//!   from guests.
//! - `listing` reads a directory in pieces. `fold` compares names as a case-insensitive host would.
//!
//! # Path resolution
//! The longest mounted prefix of a path selects the file system. That file system *attempts* the call on the rest of
//! the path. **A file system never follows a symbolic link.** If a link is in the way, the attempt returns
//! [`Stop::Link`]. The loop in `resolve` then replaces the link by its target and tries again, at most
//! [`SYMLINKS`](crate::limits::SYMLINKS) times. An absolute target starts at the root of the sandbox. This rule has
//! four consequences:
//! - One loop handles links, nested mounts and the root of the sandbox. A link in a mounted directory reaches a mount
//!   nested in that directory; a directory that followed its own links would miss it.
//! - The path of a successful attempt holds no link and no `..`, so it is canonical. Resolving a `..` costs one attempt
//!   on the path before it.
//! - The kernel of the host is never asked to follow a link, so no link can lead out of a mounted directory.
//! - A path without links, which is the common case, costs one attempt.
//!
//! # Not enforced
//! [`MemFs`] and the mount table store and show permission bits, but do not enforce them. The sandbox has one user, who
//! owns everything; the sandbox is the boundary, not the modes. One exception: the kernel checks the mode of a file
//! before it executes it. In a [`HostDir`] the kernel of the host enforces modes as always. A read does not update the
//! access time, because every read would then be a write.
//!
//! # Locks
//! Locks are taken from top to bottom only:
//! ```text
//!  Protect  rename_lock        shared by every change, exclusive for a rename
//!   └─ MemFs  state            held while an overlay reads its lower file system, and during a commit
//!       ├─ MemFs  state        of the lower file system
//!       └─ HostFile  appends   append mode of one open file
//!           └─ Ledger  gate    shared to open, create and resize; exclusive to remove a name and to count
//!               └─ HardLinks  created
//!                   └─ Ledger  open_files
//!                       └─ length of one open file
//!  under any of them: Lease  active · Quota  exceeded · free list of chunks
//! ```
//! No lock is held across an `.await`: nothing here is async, and a host call is microseconds of synchronous work.

use std::sync::Arc;

use bytes::Bytes;

use crate::error::Result;
use crate::path::GuestPath;

mod archive;
mod atomic;
mod calls;
mod clock;
mod dev;
mod file_system;
mod fold;
mod host_dir;
mod library;
mod listing;
mod mem_fs;
mod mount;
mod mounted_path;
mod open_file;
mod overlay;
mod proc;
mod programs;
mod protect;
mod quota;
mod reserved;
mod resolve;
mod snapshot;
#[cfg(test)]
mod tests;
mod text_file;

pub use archive::{ArchiveError, Digest};
pub use atomic::{AtomicWrite, Expected, Version};
pub use calls::Vfs;
pub use dev::Dev;
use dev::descriptor_number;
pub use file_system::{Attempt, FileSystem, Node, Stop};
pub use host_dir::{ChargePolicy, HostDir};
pub use library::Library;
pub use listing::{DirStream, OpenDirectory};
pub use mem_fs::{MemFs, MemSnapshot};
pub use mount::{MountInfo, MountKind, VfsBuilder};
pub use overlay::{Change, ChangeKind, CommitError, Diff, Overlay};
pub use proc::{Proc, ProcFacts};
pub use programs::{PROGRAM_MAGIC, Programs};
pub use protect::{Protect, Rules};
pub use quota::Quota;
pub use reserved::RESERVED;
pub use snapshot::{FrozenFs, Snapshot};

/// The user that owns a file by default.
pub const USER: u32 = 1000;
/// The group of a file by default.
pub const GROUP: u32 = 1000;

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A device of `/dev`, or a special file of the host that can be seen but not opened.
    Device,
    /// A pipe. The VFS has none; the pipes of the kernel use this kind.
    Pipe,
}

impl Kind {
    /// Returns the word for this kind in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Kind::File => "file",
            Kind::Directory => "directory",
            Kind::Symlink => "symlink",
            Kind::Device | Kind::Pipe => "special",
        }
    }
}

/// The attributes of a file, as `stat` returns them. Times are nanoseconds since 1970; an earlier time shows as 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// The kind of the file.
    pub kind: Kind,
    /// Permission bits, `0` to `0o7777`.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Size in bytes; of a link, the length of its target.
    pub size: u64,
    /// Number of names. For a directory: 2, and one for each directory in it.
    pub links: u64,
    /// Number of the file system. Together with `inode` it identifies the file within a sandbox.
    pub device: u64,
    /// Number of the file in its file system.
    pub inode: u64,
    /// Time of the last read, if the file system records it.
    pub accessed: u64,
    /// Time of the last change of content.
    pub modified: u64,
    /// Time of the last change of content or attributes.
    pub changed: u64,
}

/// The flags of `open(2)`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenHow {
    /// Reading is allowed.
    pub read: bool,
    /// Writing is allowed.
    pub write: bool,
    /// Writing is allowed and the kernel writes through [`File::append`].
    pub append: bool,
    /// Creates the file if there is none.
    pub create: bool,
    /// With `create`: refuses an existing file, and a link whatever its target.
    pub exclusive: bool,
    /// Truncates the file.
    pub truncate: bool,
    /// Refuses a link at the end of the path.
    pub nofollow: bool,
    /// Refuses anything but a directory.
    pub directory: bool,
    /// Permission bits of a new file, after the umask of the caller.
    pub mode: u32,
}

impl OpenHow {
    /// Returns true if the open file may be written to.
    pub fn writes(&self) -> bool {
        self.write || self.append
    }
}

/// The result of [`Vfs::open`].
pub enum Opened {
    /// A file or a device.
    File(Arc<dyn File>),
    /// A directory, by its canonical path: no links and no `..`.
    Directory(GuestPath),
    /// The descriptor `N` of the caller, from a path such as `/dev/fd/N`. Only the kernel knows the descriptors.
    Descriptor(u32),
}

/// An open file. It has no offset; the offset belongs to the descriptor of the kernel.
pub trait File: Send + Sync {
    /// Reads at most `max` bytes at `offset`. An empty result is the end of the file; a short one is not.
    fn read_at(&self, offset: u64, max: usize) -> Result<Bytes>;
    /// Writes at `offset`, even if the file was opened for appending. Returns the number of bytes written.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<usize>;
    /// Writes all bytes at the end of the file and returns the new end. Finding the end and writing are one step. In
    /// memory either all bytes are written or none; on a host whose disk is full, a part may be written before the
    /// error.
    fn append(&self, bytes: &[u8]) -> Result<u64>;
    /// Returns the attributes of the file.
    fn stat(&self) -> Result<Stat>;
    /// Truncates the file, or extends it with zeros.
    fn set_len(&self, len: u64) -> Result<()>;
    /// Sets the access and the modification time.
    fn set_times(&self, accessed: SetTime, modified: SetTime) -> Result<()>;
    /// Makes written data durable, if the file system can.
    fn sync(&self) -> Result<()>;
    /// Returns true if the file has offsets; a device has none.
    fn seekable(&self) -> bool {
        true
    }
}

/// A new value for a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetTime {
    /// Keeps the time.
    Keep,
    /// The current time.
    Now,
    /// Nanoseconds since 1970.
    At(u64),
}

/// The content of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listing {
    /// Names in byte order, without `.` and `..`.
    Names(Vec<DirEntry>),
    /// The descriptor numbers of the caller, which only the kernel knows.
    Descriptors,
}

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// The name.
    pub name: String,
    /// The kind of the file. A link is not followed.
    pub kind: Kind,
    /// Number of the file in its file system.
    pub inode: u64,
}
