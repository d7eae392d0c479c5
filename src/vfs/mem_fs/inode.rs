//! An inode: what a file is, apart from its names.

use std::collections::BTreeMap;

use crate::vfs::{GROUP, Kind, SetTime, Stat, USER, clock};

use super::content::{self, Content};
use super::table::Number;

/// What `stat` shows as the size of a directory: that of a small one on ext4, which scripts are used to.
const DIRECTORY_SIZE: u64 = 4096;

pub(super) struct Inode {
    pub(super) body: Body,
    pub(super) mode: u32,
    pub(super) uid: u32,
    pub(super) gid: u32,
    /// Names; for a directory as `stat` shows them.
    pub(super) links: u64,
    /// Open files that keep the inode alive.
    pub(super) handles: u64,
    pub(super) accessed: u64,
    pub(super) modified: u64,
    pub(super) changed: u64,
}

pub(super) enum Body {
    File(Content),
    Directory(BTreeMap<String, Number>),
    Symlink(String),
}

impl Inode {
    pub(super) fn new(mode: u32, body: Body) -> Inode {
        let now = clock::now();
        let links = if matches!(body, Body::Directory(_)) { 2 } else { 1 };
        Inode { body, mode, uid: USER, gid: GROUP, links, handles: 0, accessed: now, modified: now, changed: now }
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

    /// Notes that the content changed.
    pub(super) fn touch(&mut self) {
        self.modified = clock::now();
        self.changed = self.modified;
    }

    pub(super) fn set_times(&mut self, accessed: SetTime, modified: SetTime) {
        self.accessed = accessed.applied_to(self.accessed);
        self.modified = modified.applied_to(self.modified);
        self.changed = clock::now();
    }

    /// How many inodes this one and its names are charged as: a second name is charged, a handle is not.
    pub(super) fn names_charged(&self) -> u64 {
        if self.is_dir() { 1 } else { self.links.max(1) }
    }
}

impl Body {
    pub(super) fn directory() -> Body {
        Body::Directory(BTreeMap::new())
    }

    /// Bytes that this is charged as. Names and attributes come with the inode.
    pub(super) fn charged(&self) -> u64 {
        match self {
            Body::File(content) => content.charged(),
            Body::Directory(_) => 0,
            Body::Symlink(target) => content::blocks(target.len() as u64),
        }
    }
}
