//! A path where it meets a file system.

use crate::error::{Errno, Result};
use crate::path::{GuestPath, Subpath};

use super::listing::{Listed, OpenDirectory};
use super::mount::{Mount, Point};
use super::{Attempt, DirEntry, Kind, OpenHow, Stat, Stop};

/// A path and the file system that serves it. What it answers is what a guest sees there: the file system's own
/// answer, with the mount points put in and the read-only mounts kept from changes. **Every refusal of a change on a
/// read-only mount is decided here** (and for files already open, in `open_file`).
pub(super) struct Place<'a> {
    pub(super) path: &'a GuestPath,
    pub(super) mount: &'a Mount,
    /// The path below the mount.
    pub(super) sub: Subpath<'a>,
    /// Set if the path is a mount point or leads to one.
    point: Option<&'a Point>,
}

impl<'a> Place<'a> {
    pub(super) fn new(path: &'a GuestPath, mount: &'a Mount, point: Option<&'a Point>) -> Place<'a> {
        Place { path, mount, sub: path.below(mount.depth), point }
    }

    /// How many components of the path the first `names` names below the mount reach to.
    pub(super) fn depth(&self, names: usize) -> usize {
        self.mount.depth + names
    }

    /// Whether the path is a mount point or leads to one, and so can be neither made nor removed nor moved.
    pub(super) fn is_pinned(&self) -> bool {
        self.point.is_some()
    }

    /// Whether the path is a directory that only the mount table has.
    pub(super) fn is_virtual(&self) -> bool {
        self.point.is_some_and(|point| !point.is_mounted())
            && !matches!(self.stat_in_fs(false), Ok(Stat { kind: Kind::Directory, .. }))
    }

    pub(super) fn stat(&self, follow: bool) -> Attempt<Stat> {
        match self.point {
            Some(point) if self.is_virtual() => Ok(point.stat()),
            _ => self.stat_in_fs(follow),
        }
    }

    pub(super) fn read_dir(&self) -> Attempt<Vec<DirEntry>> {
        let mut entries = if self.is_virtual() { Vec::new() } else { self.mount.fs.read_dir(self.sub)? };
        if let Some(point) = self.point {
            entries.retain(|entry| !point.below.contains_key(&entry.name));
            entries.extend(self.points());
        }
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// The directory, to be listed piece by piece.
    pub(super) fn open_dir(&self) -> Attempt<OpenDirectory> {
        let stream =
            if self.is_virtual() { Box::new(Listed::new(Vec::new())) } else { self.mount.fs.open_dir(self.sub)? };
        let points = self.points();
        let hidden = points.iter().map(|entry| entry.name.clone()).collect();
        Ok(OpenDirectory { stream, points, hidden, lists_descriptors: self.lists_descriptors() })
    }

    /// Whether the directory lists the descriptors of whoever asks.
    pub(super) fn lists_descriptors(&self) -> bool {
        !self.is_pinned() && self.mount.fs.lists_descriptors(self.sub)
    }

    /// The mount points in the directory. The number is that of the covered directory, not of what is mounted: so it is
    /// on Linux, too.
    fn points(&self) -> Vec<DirEntry> {
        let entry = |(name, below): (&String, &Point)| DirEntry {
            name: name.clone(),
            kind: Kind::Directory,
            inode: below.inode,
        };
        self.point.map_or(Vec::new(), |point| point.below.iter().map(entry).collect())
    }

    /// Refuses an open that would change a read-only mount; what is left makes and truncates nothing. A device is no
    /// part of the file system it stands in, so it can be written to; `OpenFile::new` looks again at what was opened.
    pub(super) fn guard_open(&self, how: &mut OpenHow) -> Attempt<()> {
        if !self.mount.read_only || !(how.writes() || how.create || how.truncate) {
            return Ok(());
        }
        let exclusive = how.create && how.exclusive;
        let refusal = match self.stat(!(how.nofollow || exclusive)) {
            Ok(_) if exclusive => Some(Errno::Exist),
            Ok(Stat { kind: Kind::Directory, .. }) => Some(Errno::IsDirectory),
            Ok(_) if how.directory => Some(Errno::NotDirectory),
            Ok(Stat { kind: Kind::Symlink, .. }) => Some(Errno::Loop),
            Ok(Stat { kind: Kind::File, .. }) if how.writes() || how.truncate => Some(Errno::ReadOnly),
            Ok(_) => None,
            Err(Stop::Errno(Errno::NoEntry)) if how.create => {
                return self.parent().and(Err(Errno::ReadOnly.into()));
            }
            Err(stop) => return Err(stop),
        };
        (how.create, how.truncate) = (false, false);
        refusal.map_or(Ok(()), |errno| Err(errno.into()))
    }

    /// Refuses a change on a read-only mount, without a look at what is there.
    pub(super) fn guard_write(&self) -> Result<()> {
        if self.mount.read_only { Err(Errno::ReadOnly) } else { Ok(()) }
    }

    /// Refuses to make or remove this name on a read-only mount. If the name is there, the answer is `existing`.
    pub(super) fn guard_name(&self, existing: Errno) -> Attempt<()> {
        if !self.mount.read_only {
            return Ok(());
        }
        match self.stat_in_fs(false) {
            Ok(_) => Err(existing.into()),
            Err(Stop::Errno(Errno::NoEntry)) => self.parent().and(Err(Errno::ReadOnly.into())),
            Err(stop) => Err(stop),
        }
    }

    /// Refuses to change attributes on a read-only mount.
    pub(super) fn guard_attributes(&self, follow: bool) -> Attempt<()> {
        if self.mount.read_only || self.is_virtual() {
            self.stat(follow).and(Err(Errno::ReadOnly.into()))
        } else {
            Ok(())
        }
    }

    /// Checks that the directory that the last name stands in is there.
    pub(super) fn parent(&self) -> Attempt<()> {
        let Some((parent, _)) = self.sub.split() else {
            return Ok(());
        };
        match self.mount.fs.stat(parent, true)?.kind {
            Kind::Directory => Ok(()),
            _ => Err(Errno::NotDirectory.into()),
        }
    }

    /// What the file system itself says, without the mount points.
    pub(super) fn stat_in_fs(&self, follow: bool) -> Attempt<Stat> {
        self.mount.fs.stat(self.sub, follow).map(|stat| Stat { device: self.mount.device, ..stat })
    }
}
