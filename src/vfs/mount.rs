//! The mount table: which file system serves a path.
//!
//! It is a tree of the mount points and the directories that lead to them. A mounted path therefore never vanishes:
//! where the file system below has no such directory (or no longer has it, when the host removed it), the table shows
//! one of its own, and nothing is written to the host for that.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::{Errno, Result};
use crate::path::GuestPath;

use super::place::Place;
use super::{FileSystem, GROUP, Kind, Stat, Stop, USER, Vfs, clock};

/// Collects mounts and makes a [`Vfs`] of them.
#[derive(Default)]
pub struct VfsBuilder {
    mounts: Vec<(GuestPath, Arc<dyn FileSystem>, bool)>,
}

impl VfsBuilder {
    /// Mounts `fs` at `at`. Below a read-only mount nothing can be changed, whatever `fs` allows.
    pub fn mount(mut self, at: GuestPath, fs: Arc<dyn FileSystem>, read_only: bool) -> VfsBuilder {
        self.mounts.push((at, fs, read_only));
        self
    }

    /// Makes the tree. There has to be a mount at `/`, none twice, and none on what is not a directory.
    pub fn build(mut self) -> Result<Vfs> {
        // Outer mounts first, so that each finds the file system it stands in.
        self.mounts.sort_by_key(|(at, ..)| at.depth());
        let mut mounts = self.mounts.into_iter();
        let (root, fs, read_only) = mounts.next().ok_or(Errno::Invalid)?;
        if !root.is_root() {
            return Err(Errno::Invalid);
        }
        let mut devices = vec![Arc::clone(&fs)];
        let root = Point { mount: Some(0), ..Point::new(1) };
        let mut table = MountTable {
            mounts: vec![Mount { fs, read_only, device: 1, depth: 0, at: GuestPath::root() }],
            root,
            points: 1,
        };
        for (at, fs, read_only) in mounts {
            // One file system mounted twice is one device, as with a bind mount: a file keeps its identity.
            let known = devices.iter().position(|device| Arc::ptr_eq(device, &fs));
            let device = known.unwrap_or(devices.len()) as u64 + 1;
            if known.is_none() {
                devices.push(Arc::clone(&fs));
            }
            table.add(&at, Mount { fs, read_only, device, depth: at.depth(), at: at.clone() })?;
        }
        Ok(Vfs::new(table))
    }
}

/// A file system and where it stands.
pub(super) struct Mount {
    pub(super) fs: Arc<dyn FileSystem>,
    pub(super) read_only: bool,
    /// Number of the file system in this table, from 1.
    pub(super) device: u64,
    /// Number of components of the mount point.
    pub(super) depth: usize,
    /// The mount point.
    pub(super) at: GuestPath,
}

/// A mount point, or a directory that leads to one.
pub(super) struct Point {
    /// Index of what is mounted here.
    mount: Option<usize>,
    pub(super) below: BTreeMap<String, Point>,
    /// Inode number and time of the directory that the table shows if the file system has none.
    pub(super) inode: u64,
    made: u64,
}

pub(super) struct MountTable {
    /// The first stands at `/`.
    mounts: Vec<Mount>,
    root: Point,
    points: u64,
}

impl MountTable {
    /// Where `path`, which holds no `..`, is to be looked for.
    pub(super) fn place<'a>(&'a self, path: &'a GuestPath) -> Place<'a> {
        let (mut point, mut mount) = (Some(&self.root), 0);
        for name in path.components() {
            point = point.and_then(|point| point.below.get(name));
            match point {
                Some(found) => mount = found.mount.unwrap_or(mount),
                None => break,
            }
        }
        let mount = &self.mounts[mount];
        Place::new(path, mount, point)
    }

    /// Every mount, outer ones first.
    pub(super) fn mounts(&self) -> impl Iterator<Item = &Mount> {
        self.mounts.iter()
    }

    fn add(&mut self, at: &GuestPath, mount: Mount) -> Result<()> {
        if at.components().any(|component| component == "..") {
            return Err(Errno::Invalid);
        }
        let place = self.place(at);
        let errno = |stop| match stop {
            Stop::Errno(errno) => errno,
            Stop::Link { .. } => Errno::NotDirectory,
        };
        place.mount.fs.make_mount_point(place.sub).map_err(errno)?;
        for depth in place.mount.depth..at.depth() {
            let ancestor = at.prefix(depth + 1);
            match self.place(&ancestor).stat_in_fs(false) {
                Ok(stat) if stat.kind == Kind::Directory => {}
                Ok(_) => return Err(Errno::NotDirectory),
                Err(Stop::Errno(Errno::NoEntry)) => break,
                Err(stop) => return Err(errno(stop)),
            }
        }
        let mut point = &mut self.root;
        for name in at.components() {
            point = point.below.entry(name.to_owned()).or_insert_with(|| {
                self.points += 1;
                Point::new(self.points)
            });
        }
        if point.mount.is_some() {
            return Err(Errno::Busy);
        }
        point.mount = Some(self.mounts.len());
        self.mounts.push(mount);
        Ok(())
    }
}

impl Point {
    fn new(inode: u64) -> Point {
        Point { mount: None, below: BTreeMap::new(), inode, made: clock::now() }
    }

    /// Whether a file system is mounted right here.
    pub(super) fn is_mounted(&self) -> bool {
        self.mount.is_some()
    }

    /// The directory that the table shows.
    pub(super) fn stat(&self) -> Stat {
        Stat {
            kind: Kind::Directory,
            mode: 0o755,
            uid: USER,
            gid: GROUP,
            size: 0,
            links: 2 + self.below.len() as u64,
            // No mounted file system has the number 0.
            device: 0,
            inode: self.inode,
            accessed: self.made,
            modified: self.made,
            changed: self.made,
        }
    }
}
