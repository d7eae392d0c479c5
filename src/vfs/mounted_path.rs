//! A path and the mount that serves it.

use crate::error::{Errno, Result};
use crate::path::{GuestPath, Subpath};

use super::listing::{OpenDirectory, VecStream};
use super::mount::{Mount, MountNode};
use super::{Attempt, DirEntry, Kind, OpenHow, Stat, Stop};

/// A path and the mount that serves it. Its methods return the view of the guest: the answer of the file system, plus
/// the mount points, minus changes of read-only mounts. **Every change of a read-only mount is refused here**, and for
/// files that are already open, in `open_file`.
pub(super) struct MountedPath<'a> {
    pub(super) path: &'a GuestPath,
    pub(super) mount: &'a Mount,
    /// The path below the mount.
    pub(super) sub: Subpath<'a>,
    /// Set if the path is a mount point or leads to one.
    node: Option<&'a MountNode>,
}

impl<'a> MountedPath<'a> {
    pub(super) fn new(path: &'a GuestPath, mount: &'a Mount, node: Option<&'a MountNode>) -> MountedPath<'a> {
        MountedPath { path, mount, sub: path.below(mount.depth), node }
    }

    /// Returns the number of path components up to the first `names` names below the mount.
    pub(super) fn depth(&self, names: usize) -> usize {
        self.mount.depth + names
    }

    /// Returns true if the path is a mount point or leads to one. Such a path cannot be created, removed or moved.
    pub(super) fn is_pinned(&self) -> bool {
        self.node.is_some()
    }

    /// Returns true if the path is a directory that exists only in the mount table.
    pub(super) fn is_virtual(&self) -> bool {
        self.node.is_some_and(|node| !node.is_mounted())
            && !matches!(self.stat_in_fs(false), Ok(Stat { kind: Kind::Directory, .. }))
    }

    pub(super) fn stat(&self, follow: bool) -> Attempt<Stat> {
        match self.node {
            Some(node) if self.is_virtual() => Ok(node.stat()),
            _ => self.stat_in_fs(follow),
        }
    }

    pub(super) fn read_dir(&self) -> Attempt<Vec<DirEntry>> {
        let mut entries = if self.is_virtual() { Vec::new() } else { self.mount.fs.read_dir(self.sub)? };
        if let Some(node) = self.node {
            entries.retain(|entry| !node.children.contains_key(&entry.name));
            entries.extend(self.mount_points());
        }
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// Opens the directory for listing in pieces.
    pub(super) fn open_dir(&self) -> Attempt<OpenDirectory> {
        let stream =
            if self.is_virtual() { Box::new(VecStream::new(Vec::new())) } else { self.mount.fs.open_dir(self.sub)? };
        let mount_points = self.mount_points();
        let hidden = mount_points.iter().map(|entry| entry.name.clone()).collect();
        Ok(OpenDirectory { stream, mount_points, hidden, lists_descriptors: self.lists_descriptors() })
    }

    /// Returns true if the directory lists the descriptors of the caller.
    pub(super) fn lists_descriptors(&self) -> bool {
        !self.is_pinned() && self.mount.fs.lists_descriptors(self.sub)
    }

    /// Returns the mount points in the directory. The inode is that of the covered directory, not of the mounted root,
    /// as on Linux.
    fn mount_points(&self) -> Vec<DirEntry> {
        let entry = |(name, children): (&String, &MountNode)| DirEntry {
            name: name.clone(),
            kind: Kind::Directory,
            inode: children.inode,
        };
        self.node.map_or(Vec::new(), |node| node.children.iter().map(entry).collect())
    }

    /// Refuses an open that would change a read-only mount, and clears the flags that create or truncate. A device is
    /// not part of the file system that holds its name, so it can be written to; `OpenFile::new` checks the opened file
    /// again.
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

    /// Refuses a change on a read-only mount, without looking up the path.
    pub(super) fn guard_write(&self) -> Result<()> {
        if self.mount.read_only { Err(Errno::ReadOnly) } else { Ok(()) }
    }

    /// Refuses to create or remove this name on a read-only mount. If the name exists, the error is `existing`.
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

    /// Checks that the directory of the last name exists.
    pub(super) fn parent(&self) -> Attempt<()> {
        let Some((parent, _)) = self.sub.split() else {
            return Ok(());
        };
        match self.mount.fs.stat(parent, true)?.kind {
            Kind::Directory => Ok(()),
            _ => Err(Errno::NotDirectory.into()),
        }
    }

    /// Returns the attributes from the file system itself, without the mount points.
    pub(super) fn stat_in_fs(&self, follow: bool) -> Attempt<Stat> {
        self.mount.fs.stat(self.sub, follow).map(|stat| Stat { device: self.mount.device, ..stat })
    }
}
