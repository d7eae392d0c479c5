//! The virtual file system: one tree of names for a sandbox, made of mounted file systems.
//!
//! # Layout
//! - [`Vfs`] (`calls`) is what the kernel calls: POSIX calls on guest paths, with POSIX errors.
//! - `mount` is the mount table, `resolve` the one loop that follows links. `place` decides what may be done to a path
//!   and `open_file` what to an open file: between them lies every check of a read-only mount.
//! - [`FileSystem`] is one mounted file system: [`MemFs`], [`HostDir`], [`Dev`], [`Programs`], [`Library`] and `proc`; and on
//!   top of another, `overlay` (copy-on-write over a directory or a snapshot) and `protect` (what a guest may not change in a
//!   directory of the host).
//! - `snapshot` and `archive` keep a tree: in memory, shared until written, or in one file with a digest.
//! - `atomic` replaces a file whole, under names of `reserved`; `listing` reads a directory piece by piece.
//! - [`Quota`] counts bytes and files, in memory and in a directory that is charged to it.
//!
//! # How a path is resolved
//! The longest mounted prefix of the path chooses the file system, and that file system *attempts* the call on the
//! rest of the path. **A file system never follows a symbolic link**: a link that is in the way is an answer
//! ([`Stop::Link`]), and the loop in `resolve` puts the link's target in its place and tries again, an absolute
//! target at the sandbox's root, at most [`SYMLINKS`](crate::limits::SYMLINKS) times. What follows from that one rule:
//! - links, nested mounts and the sandbox's root meet in one place. A link in a mounted directory reaches a mount
//!   nested in that directory, which it would miss if the directory followed its own links;
//! - a path that an attempt succeeded on holds no link and no `..`: it *is* canonical, and `..` is resolved
//!   physically for the price of one attempt on what stands before it;
//! - the host's kernel is never asked to follow a link, so none can lead it out of a mounted directory;
//! - the common case, a path without links, costs one attempt.
//!
//! # What is deliberately not here
//! Permission bits are kept and shown, but [`MemFs`] and the mount table do not enforce them: the sandbox has one
//! user, who owns everything, and the boundary is the sandbox and not its modes. Whether a file may be *executed* is
//! decided by its mode, where the kernel spawns. In a [`HostDir`] the host's kernel enforces what it always does.
//! Reading does not move a file's access time: it would make every read a write.
//!
//! # Locks
//! In this order, and each is left before one that stands before it is taken:
//! 1. `moving` of [`Protect`], shared by every change and held alone by a rename, while the file system below is called;
//! 2. the table of a [`MemFs`]; an overlay calls what it stands on while it holds it, but only to read;
//! 3. in a [`HostDir`] the append mode of an open file, then the ledger's `gate`, then the length of an open file or the
//!    turn to give and take names (`second_names`), then the ledger's list of open files;
//! 4. leaves: the lease of a [`HostDir`] and [`Quota`]'s note of what was exceeded.
//!
//! No lock is held across an `.await`: nothing here is async, a host call is microseconds of synchronous work.

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
mod open_file;
mod overlay;
mod place;
mod proc;
mod programs;
mod protect;
mod quota;
mod reserved;
mod resolve;
mod snapshot;
#[cfg(test)]
mod tests;
mod text;

pub use archive::{ArchiveError, Digest};
pub use atomic::{AtomicWrite, Expected, Version};
pub use calls::Vfs;
pub use dev::Dev;
use dev::descriptor_number;
pub use file_system::{Attempt, FileSystem, Node, Stop};
pub use host_dir::{Count, HostDir};
pub use library::Library;
pub use listing::{DirStream, OpenDirectory};
pub use mem_fs::{MemFs, MemSnapshot};
pub use mount::VfsBuilder;
pub use overlay::{Change, CommitError, Diff, Overlay, What};
pub use proc::{Proc, ProcFacts};
pub use programs::{PROGRAM_MAGIC, Programs};
pub use protect::{Protect, Rules};
pub use quota::Quota;
pub use reserved::RESERVED;
pub use snapshot::{Frozen, Snapshot};

/// The user that owns every file unless someone says otherwise.
pub const USER: u32 = 1000;
/// The group of every file unless someone says otherwise.
pub const GROUP: u32 = 1000;

/// What a file is.
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
    /// A pipe. The VFS has none; the kernel's pipes use the word.
    Pipe,
}

impl Kind {
    /// The word for it, in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Kind::File => "file",
            Kind::Directory => "directory",
            Kind::Symlink => "symlink",
            Kind::Device | Kind::Pipe => "special",
        }
    }
}

/// What `stat` tells about a file. Times are nanoseconds since 1970; what is earlier shows as 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    /// What the file is.
    pub kind: Kind,
    /// Permission bits, `0` to `0o7777`.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Size in bytes; of a link, the length of its target.
    pub size: u64,
    /// Names of the file; of a directory, 2 and one for each directory in it.
    pub links: u64,
    /// Number of the file system. Together with `inode` it identifies the file within a sandbox.
    pub device: u64,
    /// Number of the file in its file system.
    pub inode: u64,
    /// Time of the last read, as far as it is kept.
    pub accessed: u64,
    /// Time of the last change of content.
    pub modified: u64,
    /// Time of the last change of content or attributes.
    pub changed: u64,
}

/// How to open a file: the flags of `open(2)`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenHow {
    /// Reading is allowed.
    pub read: bool,
    /// Writing is allowed.
    pub write: bool,
    /// Writing is allowed and the kernel writes through [`File::append`].
    pub append: bool,
    /// Make the file if there is none.
    pub create: bool,
    /// With `create`: refuse a file that exists, and a link whatever it points to.
    pub exclusive: bool,
    /// Empty the file.
    pub truncate: bool,
    /// Refuse a link at the end of the path.
    pub nofollow: bool,
    /// Refuse what is not a directory.
    pub directory: bool,
    /// Permission bits of a file that is made; the caller has applied its umask.
    pub mode: u32,
}

impl OpenHow {
    /// Whether the open file may be written to.
    pub fn writes(&self) -> bool {
        self.write || self.append
    }
}

/// What [`Vfs::open`] found.
pub enum Opened {
    /// A file or a device.
    File(Arc<dyn File>),
    /// A directory, by its canonical path: no links and no `..`.
    Directory(GuestPath),
    /// `/dev/fd/N` and its like: the caller's own descriptor `N`, which only the kernel knows.
    Descriptor(u32),
}

/// An open file. It has no offset: that belongs to the kernel's descriptor.
pub trait File: Send + Sync {
    /// Reads at most `max` bytes at `offset`; fewer is no sign of the end, none at all is.
    fn read_at(&self, offset: u64, max: usize) -> Result<Bytes>;
    /// Writes at `offset`, whatever the file was opened for, and answers how many bytes it took.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<usize>;
    /// Writes all bytes at the end, in one step with finding it, and answers where the end is now. Memory refuses all
    /// of them or none; a host whose disk fills up midway has taken a part when it says so.
    fn append(&self, bytes: &[u8]) -> Result<u64>;
    /// What the file is.
    fn stat(&self) -> Result<Stat>;
    /// Cuts the file or extends it with zeros.
    fn set_len(&self, len: u64) -> Result<()>;
    /// Sets the access and the modification time.
    fn set_times(&self, accessed: SetTime, modified: SetTime) -> Result<()>;
    /// Makes what was written durable, where that means anything.
    fn sync(&self) -> Result<()>;
    /// Whether an offset means anything; it does not for a device.
    fn seekable(&self) -> bool {
        true
    }
}

/// What to do to a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetTime {
    /// Leave it.
    Keep,
    /// Set it to now.
    Now,
    /// Set it to nanoseconds since 1970.
    At(u64),
}

/// What a directory lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listing {
    /// Names, in the order of their bytes, without `.` and `..`.
    Names(Vec<DirEntry>),
    /// The numbers of the caller's descriptors, which only the kernel knows.
    Descriptors,
}

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// The name.
    pub name: String,
    /// What it names; a link is not followed.
    pub kind: Kind,
    /// Number of the file in its file system.
    pub inode: u64,
}
