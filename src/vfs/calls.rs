//! The calls of the VFS: POSIX calls on guest paths, with the errors that Linux gives.

use std::sync::Arc;

use crate::error::{Errno, Result};
use crate::limits::{PATH_BYTES, SYMLINKS};
use crate::path::{End, GuestPath};

use super::listing::OpenDirectory;
use super::mount::{Mount, MountTable};
use super::open_file::OpenFile;
use super::place::Place;
use super::{
    AtomicWrite, Attempt, DirEntry, Kind, Listing, Node, OpenHow, Opened, Overlay, SetTime, Stat, Stop, VfsBuilder,
};

/// The tree of names of a sandbox.
pub struct Vfs {
    pub(super) table: MountTable,
}

impl Vfs {
    /// Starts a tree.
    pub fn builder() -> VfsBuilder {
        VfsBuilder::default()
    }

    pub(super) fn new(table: MountTable) -> Vfs {
        Vfs { table }
    }

    /// The overlays that are mounted, and where.
    pub fn overlays(&self) -> impl Iterator<Item = (&GuestPath, Overlay)> {
        let overlay = |mount: &'_ Mount| mount.fs.overlay();
        self.table.mounts().filter_map(move |mount| Some((&mount.at, overlay(mount)?)))
    }

    /// Whether something is mounted here that comes with every sandbox, and that a search for someone's files leaves out.
    pub fn is_furniture(&self, path: &GuestPath) -> bool {
        self.table.mounts().any(|mount| mount.at == *path && mount.fs.is_furniture())
    }

    /// Opens a file, a directory or a descriptor.
    pub fn open(&self, path: &GuestPath, how: &OpenHow) -> Result<Opened> {
        if how.create && how.directory {
            return Err(Errno::Invalid);
        }
        self.resolve(path, |place| {
            let must_be_dir = place.path.must_be_dir();
            if how.create && must_be_dir {
                return Err(refuse_create(place, how)?.into());
            }
            let mut how = OpenHow {
                directory: how.directory || must_be_dir,
                nofollow: how.nofollow && !must_be_dir,
                mode: how.mode & 0o7777,
                ..*how
            };
            place.guard_open(&mut how)?;
            let node = if place.is_virtual() { open_virtual(&how)? } else { place.mount.fs.open(place.sub, &how)? };
            Ok(match node {
                Node::File(file) => Opened::File(Arc::new(OpenFile::new(file, place.mount, &how)?)),
                Node::Directory => Opened::Directory(place.path.without_tail()),
                Node::Descriptor(number) => Opened::Descriptor(number),
            })
        })
    }

    /// Replaces the content of a file in one step, or makes the file; a link at its end is followed. Whoever reads it
    /// sees the old content or the new one, also after a crash of the host's process, and never a part. Answers what
    /// the file is now. A file that is there keeps its mode, but is a new file: other names of the old one keep
    /// the old content.
    pub fn write_atomic(&self, path: &GuestPath, bytes: &[u8], how: &AtomicWrite) -> Result<Stat> {
        let how = AtomicWrite { mode: how.mode & 0o7777, ..*how };
        self.resolve(path, |place| {
            if place.path.must_be_dir() || place.is_pinned() {
                return stat(place, true).and(Err(Errno::IsDirectory.into()));
            }
            place.guard_open(&mut OpenHow { write: true, create: true, ..OpenHow::default() })?;
            let stat = place.mount.fs.write_atomic(place.sub, bytes, &how)?;
            Ok(Stat { device: place.mount.device, ..stat })
        })
    }

    /// What the path names; with `follow`, what a link at its end leads to.
    pub fn stat(&self, path: &GuestPath, follow: bool) -> Result<Stat> {
        self.resolve(path, |place| stat(place, follow))
    }

    /// The names in a directory, in the order of their bytes, without `.` and `..`.
    pub fn read_dir(&self, path: &GuestPath) -> Result<Vec<DirEntry>> {
        self.resolve(path, |place| place.read_dir())
    }

    /// A directory, to be listed piece by piece: for one that may hold more names than should be in memory at once.
    pub fn open_dir(&self, path: &GuestPath) -> Result<OpenDirectory> {
        self.resolve(path, |place| place.open_dir())
    }

    /// As `read_dir`, where the answer may be that the names are the caller's own descriptors.
    pub fn list(&self, path: &GuestPath) -> Result<Listing> {
        self.resolve(path, |place| {
            let entries = place.read_dir()?;
            Ok(if place.lists_descriptors() { Listing::Descriptors } else { Listing::Names(entries) })
        })
    }

    /// The path without links and `..`. It has to exist.
    pub fn canonical(&self, path: &GuestPath) -> Result<GuestPath> {
        self.resolve(path, |place| stat(place, true).map(|_| place.path.without_tail()))
    }

    /// What a link holds.
    pub fn read_link(&self, path: &GuestPath) -> Result<String> {
        self.resolve(path, |place| {
            if place.path.must_be_dir() || place.is_pinned() {
                return stat(place, true).and(Err(Errno::Invalid.into()));
            }
            place.mount.fs.read_link(place.sub)
        })
    }

    /// Makes a directory.
    pub fn mkdir(&self, path: &GuestPath, mode: u32) -> Result<()> {
        self.make(path, |place| place.mount.fs.mkdir(place.sub, mode & 0o7777))
    }

    /// Makes a link that holds `target`, which need not lead anywhere.
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
        self.make(path, |place| {
            if place.path.must_be_dir() {
                let errno = if exists(place)? { Errno::Exist } else { Errno::NoEntry };
                return Err(errno.into());
            }
            place.mount.fs.symlink(target, place.sub)
        })
    }

    /// Removes an empty directory.
    pub fn rmdir(&self, path: &GuestPath) -> Result<()> {
        match path.end() {
            End::Name => self.remove(path, |place| place.mount.fs.rmdir(place.sub)),
            End::Root => Err(Errno::Busy),
            End::Dot => self.directory(path).and(Err(Errno::Invalid)),
            End::DotDot => self.directory(path).and(Err(Errno::NotEmpty)),
        }
    }

    /// Removes a name of anything but a directory.
    pub fn unlink(&self, path: &GuestPath) -> Result<()> {
        if path.end() != End::Name {
            return self.directory(path).and(Err(Errno::IsDirectory));
        }
        self.remove(path, |place| {
            if place.path.must_be_dir() {
                let is_dir = place.stat(false)?.kind == Kind::Directory;
                return Err(if is_dir { Errno::IsDirectory } else { Errno::NotDirectory }.into());
            }
            place.mount.fs.unlink(place.sub)
        })
    }

    /// Renames, replacing what `to` names, in one step.
    pub fn rename(&self, from: &GuestPath, to: &GuestPath) -> Result<()> {
        self.twice_named(|| {
            let (old, new) = (self.named(from)?, self.named(to)?);
            let (old, new) = (self.table.place(&old), self.table.place(&new));
            self.same_mount(old.path, new.path)?;
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

    /// Gives the file `from` the second name `to`; with `follow`, the file that a link at the end of `from` leads to.
    pub fn link(&self, from: &GuestPath, to: &GuestPath, follow: bool) -> Result<()> {
        self.twice_named(|| {
            let follow = follow || from.must_be_dir() || from.end() != End::Name;
            let old = if follow { self.canonical(from)? } else { self.named(from)? };
            let (old, old_stat) = (self.table.place(&old), self.stat(&old, false)?);
            let new = self.named(to)?;
            let new = self.table.place(&new);
            if exists(&new)? {
                return Err(Errno::Exist.into());
            }
            if to.must_be_dir() {
                return Err(Errno::NoEntry.into());
            }
            self.same_mount(old.path, new.path)?;
            if old_stat.kind == Kind::Directory {
                return Err(Errno::NotPermitted.into());
            }
            new.guard_write()?;
            old.mount.fs.link(old.sub, new.sub)
        })
    }

    /// Sets the permission bits.
    pub fn chmod(&self, path: &GuestPath, mode: u32, follow: bool) -> Result<()> {
        self.change(path, follow, |place, follow| place.mount.fs.chmod(place.sub, mode & 0o7777, follow))
    }

    /// Sets owner and group.
    pub fn chown(&self, path: &GuestPath, uid: Option<u32>, gid: Option<u32>, follow: bool) -> Result<()> {
        self.change(path, follow, |place, follow| place.mount.fs.chown(place.sub, uid, gid, follow))
    }

    /// Sets the access and the modification time.
    pub fn set_times(&self, path: &GuestPath, accessed: SetTime, modified: SetTime, follow: bool) -> Result<()> {
        self.change(path, follow, |place, follow| place.mount.fs.set_times(place.sub, accessed, modified, follow))
    }

    /// A call that makes a name.
    fn make(&self, path: &GuestPath, call: impl Fn(&Place<'_>) -> Attempt<()>) -> Result<()> {
        if path.end() != End::Name {
            return self.directory(path).and(Err(Errno::Exist));
        }
        self.resolve(path, |place| {
            if place.is_pinned() {
                return Err(Errno::Exist.into());
            }
            place.guard_name(Errno::Exist)?;
            call(place)
        })
    }

    /// A call that removes a name.
    fn remove(&self, path: &GuestPath, call: impl Fn(&Place<'_>) -> Attempt<()>) -> Result<()> {
        self.resolve(path, |place| {
            if place.is_pinned() {
                return Err(Errno::Busy.into());
            }
            place.guard_name(Errno::ReadOnly)?;
            call(place)
        })
    }

    /// A call that changes attributes.
    fn change(&self, path: &GuestPath, follow: bool, call: impl Fn(&Place<'_>, bool) -> Attempt<()>) -> Result<()> {
        self.resolve(path, |place| {
            let must_be_dir = place.path.must_be_dir();
            if must_be_dir {
                stat(place, true)?;
            }
            place.guard_attributes(follow || must_be_dir)?;
            call(place, follow || must_be_dir)
        })
    }

    /// A call on two names, whose directories are resolved before the file system is asked. If it meets a link
    /// nevertheless, someone put it there meanwhile, and the call starts over.
    fn twice_named(&self, call: impl Fn() -> Attempt<()>) -> Result<()> {
        for _ in 0..=SYMLINKS {
            match call() {
                Ok(()) => return Ok(()),
                Err(Stop::Errno(errno)) => return Err(errno),
                Err(Stop::Link { .. }) => {}
            }
        }
        Err(Errno::Loop)
    }

    /// Refuses two names in directories of different mounts.
    fn same_mount(&self, a: &GuestPath, b: &GuestPath) -> Result<()> {
        let parent = |path: &GuestPath| path.parent().unwrap_or_else(GuestPath::root);
        let (a, b) = (parent(a), parent(b));
        if std::ptr::eq(self.table.place(&a).mount, self.table.place(&b).mount) {
            Ok(())
        } else {
            Err(Errno::CrossDevice)
        }
    }
}

fn stat(place: &Place<'_>, follow: bool) -> Attempt<Stat> {
    let must_be_dir = place.path.must_be_dir();
    let stat = place.stat(follow || must_be_dir)?;
    if must_be_dir && stat.kind != Kind::Directory {
        return Err(Errno::NotDirectory.into());
    }
    Ok(stat)
}

/// Whether the name is there, be it a link that leads nowhere.
fn exists(place: &Place<'_>) -> Attempt<bool> {
    match place.stat(false) {
        Ok(_) => Ok(true),
        Err(Stop::Errno(Errno::NoEntry)) => Ok(false),
        Err(stop) => Err(stop),
    }
}

/// The error of an open that is to make a file where the path says there is a directory.
fn refuse_create(place: &Place<'_>, how: &OpenHow) -> Attempt<Errno> {
    if place.path.end() == End::Name {
        place.parent()?;
        return Ok(Errno::IsDirectory);
    }
    stat(place, true)?;
    Ok(if how.exclusive { Errno::Exist } else { Errno::IsDirectory })
}

/// Opens a directory that only the mount table has.
fn open_virtual(how: &OpenHow) -> Result<Node> {
    match how {
        OpenHow { create: true, exclusive: true, .. } => Err(Errno::Exist),
        OpenHow { create: true, .. } => Err(Errno::IsDirectory),
        _ if how.writes() || how.truncate => Err(Errno::IsDirectory),
        _ => Ok(Node::Directory),
    }
}
