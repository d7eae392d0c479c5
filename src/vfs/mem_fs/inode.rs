//! An inode: a file apart from its names.

use std::sync::Arc;

use crate::vfs::{GROUP, Kind, SetTime, Stat, USER, clock};

use super::content::{self, Content};
use super::names::Names;
use super::table::Number;

/// Size of a directory in `stat`: that of a small one on ext4, which scripts expect.
const DIRECTORY_SIZE: u64 = 4096;

/// An inode. A copy is cheap, because its large parts are shared.
#[derive(Clone)]
pub(super) struct Inode {
    pub(super) body: Body,
    pub(super) mode: u32,
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// Number of names. For a directory, the value that `stat` shows.
    pub(super) links: u64,
    /// Number of inodes charged: one for the inode, and one for each name beyond the first.
    pub(super) charged: u64,
    pub(super) accessed: u64,
    pub(super) modified: u64,
    pub(super) changed: u64,
}

#[derive(Clone)]
pub(super) enum Body {
    File(Content),
    Directory(Directory),
    Symlink(Arc<str>),
}

/// A directory: its own names, and in an overlay the lower directory that it covers.
#[derive(Clone, Default)]
pub(super) struct Directory {
    pub(super) names: Names,
    /// Path of the lower directory whose names show through. A rename does not change it.
    pub(super) origin: Option<Arc<str>>,
}

impl Inode {
    pub(super) fn new(mode: u32, body: Body) -> Inode {
        let now = clock::now();
        let links = if matches!(body, Body::Directory(_)) { 2 } else { 1 };
        Inode { body, mode, uid: USER, gid: GROUP, links, charged: 1, accessed: now, modified: now, changed: now }
    }

    /// Creates an inode that represents a lower file.
    pub(super) fn adopted(stat: &Stat, body: Body) -> Inode {
        Inode {
            body,
            mode: stat.mode,
            uid: stat.uid,
            gid: stat.gid,
            links: stat.links,
            charged: 1,
            accessed: stat.accessed,
            modified: stat.modified,
            changed: stat.changed,
        }
    }

    pub(super) fn kind(&self) -> Kind {
        match self.body {
            Body::File(_) => Kind::File,
            Body::Directory(_) => Kind::Directory,
            Body::Symlink(_) => Kind::Symlink,
        }
    }

    pub(super) fn is_dir(&self) -> bool {
        matches!(self.body, Body::Directory(_))
    }

    pub(super) fn stat(&self, number: Number) -> Stat {
        Stat {
            kind: self.kind(),
            mode: self.mode,
            uid: self.uid,
            gid: self.gid,
            size: match &self.body {
                Body::File(content) => content.len(),
                Body::Directory(_) => DIRECTORY_SIZE,
                Body::Symlink(target) => target.len() as u64,
            },
            links: self.links,
            device: 0,
            inode: number,
            accessed: self.accessed,
            modified: self.modified,
            changed: self.changed,
        }
    }

    /// Records a change of the content.
    pub(super) fn touch(&mut self) {
        self.modified = clock::now();
        self.changed = self.modified;
    }

    pub(super) fn set_times(&mut self, accessed: SetTime, modified: SetTime) {
        self.accessed = accessed.applied_to(self.accessed);
        self.modified = modified.applied_to(self.modified);
        self.changed = clock::now();
    }
}

impl Body {
    pub(super) fn directory() -> Body {
        Body::Directory(Directory::default())
    }

    /// Returns the bytes charged. Names and attributes are part of the inode.
    pub(super) fn charged(&self) -> u64 {
        match self {
            Body::File(content) => content.charged(),
            Body::Directory(_) => 0,
            Body::Symlink(target) => content::blocks(target.len() as u64),
        }
    }
}
