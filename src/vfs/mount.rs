//! The mount table: maps a path to the file system that serves it.
//!
//! The table is a tree of the mount points and the directories that lead to them. A mount point therefore always
//! exists: where the file system around it has no such directory, or the host has removed it, the table shows a
//! directory of its own. Nothing is written to the host for that.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::{Errno, Result};
use crate::path::GuestPath;

use super::mounted_path::MountedPath;
use super::{FileSystem, GROUP, Kind, Stat, Stop, USER, Vfs, clock};

/// Collects mounts and builds a [`Vfs`] from them.
#[derive(Default)]
pub struct VfsBuilder {
    mounts: Vec<(GuestPath, Arc<dyn FileSystem>, bool)>,
}

impl VfsBuilder {
    /// Mounts `fs` at `at`. Below a read-only mount nothing can be changed, even if `fs` allows it.
    pub fn mount(mut self, at: GuestPath, fs: Arc<dyn FileSystem>, read_only: bool) -> VfsBuilder {
        self.mounts.push((at, fs, read_only));
        self
    }

    /// Builds the tree. There must be a mount at `/`, at most one at each path, and each mount point must be a
    /// directory.
    pub fn build(self) -> Result<Vfs> {
        let mut requests: Vec<_> = self.mounts.into_iter().enumerate().collect();
        // Outer mounts first, so that each finds the file system it stands in.
        requests.sort_by_key(|(_, (at, ..))| at.depth());
        let mut table = MountTable { mounts: Vec::new(), root: MountNode::new(1), node_count: 1 };
        let mut devices: Vec<Arc<dyn FileSystem>> = Vec::new();
        for (order, (at, fs, read_only)) in requests {
            // One file system mounted twice is one device, as with a bind mount: a file keeps its identity.
            let known = devices.iter().position(|device| Arc::ptr_eq(device, &fs));
            let device = known.unwrap_or(devices.len()) as u64 + 1;
            if known.is_none() {
                devices.push(Arc::clone(&fs));
            }
            let (kind, depth) = (fs.mount_kind(), at.depth());
            let mount = Mount { fs, read_only, kind, order, device, depth, at: at.clone() };
            if table.mounts.is_empty() {
                table.set_root(mount)?;
            } else {
                table.add(&at, mount)?;
            }
        }
        if table.mounts.is_empty() {
            return Err(Errno::Invalid);
        }
        let vfs = Vfs::new(table);
        let mounts = vfs.mounts();
        devices.iter().for_each(|fs| fs.set_mounts(&mounts));
        Ok(vfs)
    }
}

/// One mount of a tree, as [`Vfs::mounts`] reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MountInfo {
    /// The mount point: an absolute path without links.
    pub path: String,
    /// The kind of the file system.
    pub kind: MountKind,
    /// Nothing below the mount point can be changed.
    pub is_read_only: bool,
}

/// The kind of a mounted file system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MountKind {
    /// Files in memory, which belong to the sandbox.
    Memory,
    /// A directory of the host. Changes are changes on the host.
    Host,
    /// Changes in memory over a directory of the host.
    Overlay,
    /// The programs of the sandbox, a file each.
    Programs,
    /// The library of an interpreter.
    Library,
    /// `/dev`.
    Devices,
    /// `/proc`.
    Proc,
    /// A file system that this module does not define.
    Other,
}

impl MountKind {
    /// Returns the type that `/proc/mounts` and `df` show.
    pub fn name(self) -> &'static str {
        match self {
            MountKind::Memory => "tmpfs",
            MountKind::Host => "host",
            MountKind::Overlay => "overlay",
            MountKind::Programs => "programs",
            MountKind::Library => "library",
            MountKind::Devices => "devtmpfs",
            MountKind::Proc => "proc",
            MountKind::Other => "none",
        }
    }

    /// Returns true for a mount that every sandbox has and that holds no files of its user.
    pub fn is_builtin(self) -> bool {
        matches!(self, MountKind::Programs | MountKind::Library | MountKind::Devices | MountKind::Proc)
    }
}

/// A file system and its mount point.
pub(super) struct Mount {
    pub(super) fs: Arc<dyn FileSystem>,
    pub(super) read_only: bool,
    kind: MountKind,
    /// Position among the mounts in the order in which the caller mounted them.
    order: usize,
    /// Number of the file system in this table, from 1.
    pub(super) device: u64,
    /// Number of components of the mount point.
    pub(super) depth: usize,
    /// The mount point.
    pub(super) at: GuestPath,
}

impl Mount {
    pub(super) fn info(&self) -> MountInfo {
        MountInfo { path: self.at.to_string(), kind: self.kind, is_read_only: self.read_only }
    }
}

/// A mount point, or a directory that leads to one.
pub(super) struct MountNode {
    /// Index of the file system that is mounted here.
    mount: Option<usize>,
    pub(super) children: BTreeMap<String, MountNode>,
    /// Inode number and time of the directory that the table shows if the file system has none.
    pub(super) inode: u64,
    made: u64,
}

pub(super) struct MountTable {
    /// The first is mounted at `/`.
    mounts: Vec<Mount>,
    root: MountNode,
    node_count: u64,
}

impl MountTable {
    /// Returns the mount that serves `path`, which holds no `..`.
    pub(super) fn lookup<'a>(&'a self, path: &'a GuestPath) -> MountedPath<'a> {
        let (mut node, mut mount) = (Some(&self.root), 0);
        for name in path.components() {
            node = node.and_then(|node| node.children.get(name));
            match node {
                Some(found) => mount = found.mount.unwrap_or(mount),
                None => break,
            }
        }
        let mount = &self.mounts[mount];
        MountedPath::new(path, mount, node)
    }

    /// Every mount, outer ones first.
    pub(super) fn mounts(&self) -> impl Iterator<Item = &Mount> {
        self.mounts.iter()
    }

    /// Every mount, in the order in which the caller mounted them.
    pub(super) fn in_mount_order(&self) -> Vec<&Mount> {
        let mut mounts: Vec<&Mount> = self.mounts.iter().collect();
        mounts.sort_by_key(|mount| mount.order);
        mounts
    }

    fn set_root(&mut self, mount: Mount) -> Result<()> {
        if !mount.at.is_root() {
            return Err(Errno::Invalid);
        }
        self.root.mount = Some(0);
        self.mounts.push(mount);
        Ok(())
    }

    fn add(&mut self, at: &GuestPath, mount: Mount) -> Result<()> {
        if at.components().any(|component| component == "..") {
            return Err(Errno::Invalid);
        }
        let mounted = self.lookup(at);
        let errno = |stop| match stop {
            Stop::Errno(errno) => errno,
            Stop::Link { .. } => Errno::NotDirectory,
        };
        mounted.mount.fs.make_mount_point(mounted.sub).map_err(errno)?;
        for depth in mounted.mount.depth..at.depth() {
            let ancestor = at.prefix(depth + 1);
            match self.lookup(&ancestor).stat_in_fs(false) {
                Ok(stat) if stat.kind == Kind::Directory => {}
                Ok(_) => return Err(Errno::NotDirectory),
                Err(Stop::Errno(Errno::NoEntry)) => break,
                Err(stop) => return Err(errno(stop)),
            }
        }
        let mut node = &mut self.root;
        for name in at.components() {
            node = node.children.entry(name.to_owned()).or_insert_with(|| {
                self.node_count += 1;
                MountNode::new(self.node_count)
            });
        }
        if node.mount.is_some() {
            return Err(Errno::Busy);
        }
        node.mount = Some(self.mounts.len());
        self.mounts.push(mount);
        Ok(())
    }
}

impl MountNode {
    fn new(inode: u64) -> MountNode {
        MountNode { mount: None, children: BTreeMap::new(), inode, made: clock::now() }
    }

    /// Returns true if a file system is mounted at this path itself.
    pub(super) fn is_mounted(&self) -> bool {
        self.mount.is_some()
    }

    /// Returns the attributes of the directory that the table shows.
    pub(super) fn stat(&self) -> Stat {
        Stat {
            kind: Kind::Directory,
            mode: 0o755,
            uid: USER,
            gid: GROUP,
            size: 0,
            links: 2 + self.children.len() as u64,
            // The number 0 belongs to no mounted file system.
            device: 0,
            inode: self.inode,
            accessed: self.made,
            modified: self.made,
            changed: self.made,
        }
    }
}
