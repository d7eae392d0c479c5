//! The calls of the VFS: POSIX calls on guest paths, with the errors that Linux gives.

use std::sync::Arc;

use crate::error::{Errno, Result};
use crate::limits::{PATH_BYTES, SYMLINKS};
use crate::path::{End, GuestPath};

use super::listing::OpenDirectory;
use super::mount::{Mount, MountTable};
use super::mounted_path::MountedPath;
use super::open_file::OpenFile;
use super::{
    AtomicWrite, Attempt, DirEntry, Kind, Listing, MountInfo, Node, OpenHow, Opened, Overlay, SetTime, Stat, Stop,
    VfsBuilder,
};

/// The tree of names of a sandbox.
pub struct Vfs {
    pub(super) table: MountTable,
}

impl Vfs {
    /// Returns a builder for a tree.
    pub fn builder() -> VfsBuilder {
        VfsBuilder::default()
    }

    pub(super) fn new(table: MountTable) -> Vfs {
        Vfs { table }
    }

    /// Returns the mounted overlays and their mount points.
    pub fn overlays(&self) -> impl Iterator<Item = (&GuestPath, Overlay)> {
        let overlay = |mount: &'_ Mount| mount.fs.overlay();
        self.table.mounts().filter_map(move |mount| Some((&mount.at, overlay(mount)?)))
    }

    /// Returns every mount, in the order in which they were mounted.
    pub fn mounts(&self) -> Vec<MountInfo> {
        self.table.in_mount_order().into_iter().map(Mount::info).collect()
    }

    /// Opens a file, a directory or a descriptor.
    pub fn open(&self, path: &GuestPath, how: &OpenHow) -> Result<Opened> {
        if how.create && how.directory {
            return Err(Errno::Invalid);
        }
        self.resolve(path, |mounted| {
            let must_be_dir = mounted.path.must_be_dir();
            if how.create && must_be_dir {
                return Err(refuse_create(mounted, how)?.into());
            }
            let mut how = OpenHow {
                directory: how.directory || must_be_dir,
                nofollow: how.nofollow && !must_be_dir,
                mode: how.mode & 0o7777,
                ..*how
            };
            mounted.guard_open(&mut how)?;
            let node =
                if mounted.is_virtual() { open_virtual(&how)? } else { mounted.mount.fs.open(mounted.sub, &how)? };
            Ok(match node {
                Node::File(file) => Opened::File(Arc::new(OpenFile::new(file, mounted.mount, &how)?)),
                Node::Directory => Opened::Directory(mounted.path.without_tail()),
                Node::Descriptor(number) => Opened::Descriptor(number),
            })
        })
    }

    /// Replaces the content of a file in one step, or creates the file. A link at the end of the path is followed. A
    /// reader sees the old content or the new content, never a mixture, even after a crash of the host process. Returns
    /// the new attributes. An existing file keeps its mode but becomes a new file: other names of the old file keep the
    /// old content.
    pub fn write_atomic(&self, path: &GuestPath, bytes: &[u8], how: &AtomicWrite) -> Result<Stat> {
        let how = AtomicWrite { mode: how.mode & 0o7777, ..*how };
        self.resolve(path, |mounted| {
            if mounted.path.must_be_dir() || mounted.is_pinned() {
                return stat(mounted, true).and(Err(Errno::IsDirectory.into()));
            }
            mounted.guard_open(&mut OpenHow { write: true, create: true, ..OpenHow::default() })?;
            let stat = mounted.mount.fs.write_atomic(mounted.sub, bytes, &how)?;
            Ok(Stat { device: mounted.mount.device, ..stat })
        })
    }

    /// Returns the attributes of the file that the path names. With `follow`, a link at the end is followed.
    pub fn stat(&self, path: &GuestPath, follow: bool) -> Result<Stat> {
        self.resolve(path, |mounted| stat(mounted, follow))
    }

    /// Returns the entries of a directory in byte order, without `.` and `..`.
    pub fn read_dir(&self, path: &GuestPath) -> Result<Vec<DirEntry>> {
        self.resolve(path, |mounted| mounted.read_dir())
    }

    /// Opens a directory for listing in pieces, for directories with more names than should be in memory at once.
    pub fn open_dir(&self, path: &GuestPath) -> Result<OpenDirectory> {
        self.resolve(path, |mounted| mounted.open_dir())
    }

    /// Lists a directory like `read_dir`, but distinguishes a directory of the caller's descriptors.
    pub fn list(&self, path: &GuestPath) -> Result<Listing> {
        self.resolve(path, |mounted| {
            let entries = mounted.read_dir()?;
            Ok(if mounted.lists_descriptors() { Listing::Descriptors } else { Listing::Names(entries) })
        })
    }

    /// Returns the path without links and `..`. The path must exist.
    pub fn canonical(&self, path: &GuestPath) -> Result<GuestPath> {
        self.resolve(path, |mounted| stat(mounted, true).map(|_| mounted.path.without_tail()))
    }

    /// Returns the target of a link.
    pub fn read_link(&self, path: &GuestPath) -> Result<String> {
        self.resolve(path, |mounted| {
            if mounted.path.must_be_dir() || mounted.is_pinned() {
                return stat(mounted, true).and(Err(Errno::Invalid.into()));
            }
            mounted.mount.fs.read_link(mounted.sub)
        })
    }

    /// Creates a directory.
    pub fn mkdir(&self, path: &GuestPath, mode: u32) -> Result<()> {
        self.make(path, |mounted| mounted.mount.fs.mkdir(mounted.sub, mode & 0o7777))
    }

    /// Creates a link to `target`, which need not exist.
    pub fn symlink(&self, target: &str, path: &GuestPath) -> Result<()> {
        if target.is_empty() {
            return Err(Errno::NoEntry);
        }
        if target.contains('\0') {
            return Err(Errno::Invalid);
        }
        if target.len() >= PATH_BYTES {
            return Err(Errno::NameTooLong);
        }
        self.make(path, |mounted| {
            if mounted.path.must_be_dir() {
                let errno = if exists(mounted)? { Errno::Exist } else { Errno::NoEntry };
                return Err(errno.into());
            }
            mounted.mount.fs.symlink(target, mounted.sub)
        })
    }

    /// Removes an empty directory.
    pub fn rmdir(&self, path: &GuestPath) -> Result<()> {
        match path.end() {
            End::Name => self.remove(path, |mounted| mounted.mount.fs.rmdir(mounted.sub)),
            End::Root => Err(Errno::Busy),
            End::Dot => self.directory(path).and(Err(Errno::Invalid)),
            End::DotDot => self.directory(path).and(Err(Errno::NotEmpty)),
        }
    }

    /// Removes a name of a file that is not a directory.
    pub fn unlink(&self, path: &GuestPath) -> Result<()> {
        if path.end() != End::Name {
            return self.directory(path).and(Err(Errno::IsDirectory));
        }
        self.remove(path, |mounted| {
            if mounted.path.must_be_dir() {
                let is_dir = mounted.stat(false)?.kind == Kind::Directory;
                return Err(if is_dir { Errno::IsDirectory } else { Errno::NotDirectory }.into());
            }
            mounted.mount.fs.unlink(mounted.sub)
        })
    }

    /// Renames `from` to `to` in one step, replacing the file that has the name `to`.
    pub fn rename(&self, from: &GuestPath, to: &GuestPath) -> Result<()> {
        self.on_two_names(|| {
            let (old, new) = (self.resolve_parent(from)?, self.resolve_parent(to)?);
            let (old, new) = (self.table.lookup(&old), self.table.lookup(&new));
            self.check_same_mount(old.path, new.path)?;
            if from.end() != End::Name || to.end() != End::Name || old.is_pinned() || new.is_pinned() {
                return Err(Errno::Busy.into());
            }
            old.guard_write()?;
            if (from.must_be_dir() || to.must_be_dir()) && old.stat(false)?.kind != Kind::Directory {
                return Err(Errno::NotDirectory.into());
            }
            old.mount.fs.rename(old.sub, new.sub)
        })
    }

    /// Gives the file `from` the second name `to`. With `follow`, a link at the end of `from` is followed.
    pub fn link(&self, from: &GuestPath, to: &GuestPath, follow: bool) -> Result<()> {
        self.on_two_names(|| {
            let follow = follow || from.must_be_dir() || from.end() != End::Name;
            let old = if follow { self.canonical(from)? } else { self.resolve_parent(from)? };
            let (old, old_stat) = (self.table.lookup(&old), self.stat(&old, false)?);
            let new = self.resolve_parent(to)?;
            let new = self.table.lookup(&new);
            if exists(&new)? {
                return Err(Errno::Exist.into());
            }
            if to.must_be_dir() {
                return Err(Errno::NoEntry.into());
            }
            self.check_same_mount(old.path, new.path)?;
            if old_stat.kind == Kind::Directory {
                return Err(Errno::NotPermitted.into());
            }
            new.guard_write()?;
            old.mount.fs.link(old.sub, new.sub)
        })
    }

    /// Sets the permission bits.
    pub fn chmod(&self, path: &GuestPath, mode: u32, follow: bool) -> Result<()> {
        self.change(path, follow, |mounted, follow| mounted.mount.fs.chmod(mounted.sub, mode & 0o7777, follow))
    }

    /// Sets the owner and the group.
    pub fn chown(&self, path: &GuestPath, uid: Option<u32>, gid: Option<u32>, follow: bool) -> Result<()> {
        self.change(path, follow, |mounted, follow| mounted.mount.fs.chown(mounted.sub, uid, gid, follow))
    }

    /// Sets the access and the modification time.
    pub fn set_times(&self, path: &GuestPath, accessed: SetTime, modified: SetTime, follow: bool) -> Result<()> {
        self.change(path, follow, |mounted, follow| mounted.mount.fs.set_times(mounted.sub, accessed, modified, follow))
    }

    /// Runs a call that creates a name.
    fn make(&self, path: &GuestPath, call: impl Fn(&MountedPath<'_>) -> Attempt<()>) -> Result<()> {
        if path.end() != End::Name {
            return self.directory(path).and(Err(Errno::Exist));
        }
        self.resolve(path, |mounted| {
            if mounted.is_pinned() {
                return Err(Errno::Exist.into());
            }
            mounted.guard_name(Errno::Exist)?;
            call(mounted)
        })
    }

    /// Runs a call that removes a name.
    fn remove(&self, path: &GuestPath, call: impl Fn(&MountedPath<'_>) -> Attempt<()>) -> Result<()> {
        self.resolve(path, |mounted| {
            if mounted.is_pinned() {
                return Err(Errno::Busy.into());
            }
            mounted.guard_name(Errno::ReadOnly)?;
            call(mounted)
        })
    }

    /// Runs a call that changes attributes.
    fn change(
        &self,
        path: &GuestPath,
        follow: bool,
        call: impl Fn(&MountedPath<'_>, bool) -> Attempt<()>,
    ) -> Result<()> {
        self.resolve(path, |mounted| {
            let must_be_dir = mounted.path.must_be_dir();
            if must_be_dir {
                stat(mounted, true)?;
            }
            mounted.guard_attributes(follow || must_be_dir)?;
            call(mounted, follow || must_be_dir)
        })
    }

    /// Runs a call on two names whose directories are resolved before the file system is called. If the file system
    /// still meets a link, the link was created in between and the call starts over.
    fn on_two_names(&self, call: impl Fn() -> Attempt<()>) -> Result<()> {
        for _ in 0..=SYMLINKS {
            match call() {
                Ok(()) => return Ok(()),
                Err(Stop::Errno(errno)) => return Err(errno),
                Err(Stop::Link { .. }) => {}
            }
        }
        Err(Errno::Loop)
    }

    /// Refuses two names whose directories are in different mounts.
    fn check_same_mount(&self, a: &GuestPath, b: &GuestPath) -> Result<()> {
        let parent = |path: &GuestPath| path.parent().unwrap_or_else(GuestPath::root);
        let (a, b) = (parent(a), parent(b));
        if std::ptr::eq(self.table.lookup(&a).mount, self.table.lookup(&b).mount) {
            Ok(())
        } else {
            Err(Errno::CrossDevice)
        }
    }
}

fn stat(mounted: &MountedPath<'_>, follow: bool) -> Attempt<Stat> {
    let must_be_dir = mounted.path.must_be_dir();
    let stat = mounted.stat(follow || must_be_dir)?;
    if must_be_dir && stat.kind != Kind::Directory {
        return Err(Errno::NotDirectory.into());
    }
    Ok(stat)
}

/// Returns true if the name exists, even as a link to a missing file.
fn exists(mounted: &MountedPath<'_>) -> Attempt<bool> {
    match mounted.stat(false) {
        Ok(_) => Ok(true),
        Err(Stop::Errno(Errno::NoEntry)) => Ok(false),
        Err(stop) => Err(stop),
    }
}

/// Returns the error of an open with `create` whose path must be a directory.
fn refuse_create(mounted: &MountedPath<'_>, how: &OpenHow) -> Attempt<Errno> {
    if mounted.path.end() == End::Name {
        mounted.parent()?;
        return Ok(Errno::IsDirectory);
    }
    stat(mounted, true)?;
    Ok(if how.exclusive { Errno::Exist } else { Errno::IsDirectory })
}

/// Opens a directory that exists only in the mount table.
fn open_virtual(how: &OpenHow) -> Result<Node> {
    match how {
        OpenHow { create: true, exclusive: true, .. } => Err(Errno::Exist),
        OpenHow { create: true, .. } => Err(Errno::IsDirectory),
        _ if how.writes() || how.truncate => Err(Errno::IsDirectory),
        _ => Ok(Node::Directory),
    }
}
