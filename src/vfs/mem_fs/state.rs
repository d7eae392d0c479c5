//! The state of a `MemFs`: inodes, the handles that keep them alive, and their charge.

use std::collections::HashMap;

use crate::error::{Errno, Result};
use crate::path::Subpath;
use crate::vfs::quota::Account;
use crate::vfs::{Attempt, Kind, Stat, Stop, clock};

use super::content::Content;
use super::inode::{Body, Directory, Inode};
use super::lower::LOWER_BIT;
use super::names::Entry;
use super::table::{NodeRef, Number, ROOT, Table, join};

/// The data under the lock of a `MemFs`.
pub(super) struct FsState {
    pub(super) table: Table,
    /// Number of open files of each inode, lower files included. They are not part of the table, because a snapshot has
    /// none.
    handles: HashMap<Number, u64>,
    pub(super) account: Account,
}

impl FsState {
    pub(super) fn new(table: Table, account: Account) -> FsState {
        FsState { table, handles: HashMap::new(), account }
    }

    /// Puts a new inode under a free name.
    pub(super) fn make(&mut self, parent: Number, name: &str, inode: Inode) -> Result<Number> {
        let number = self.make_nameless(inode)?;
        self.table.enter(parent, name, number)?;
        Ok(number)
    }

    /// Creates an inode that will get a name.
    pub(super) fn make_nameless(&mut self, inode: Inode) -> Result<Number> {
        self.charge(&inode)?;
        Ok(self.table.insert(inode))
    }

    /// Removes an inode that did not get a name.
    pub(super) fn unmake(&mut self, number: Number) {
        if let Some(inode) = self.table.remove(number) {
            self.account.release_bytes(inode.body.charged());
            self.account.release_inodes(inode.charged);
        }
    }

    /// Returns the inode of a path for a change. A lower file becomes an inode, and so do the directories that lead to
    /// it. This is the copy of copy-on-write, and it copies no content.
    pub(super) fn claim(&mut self, path: Subpath<'_>, found: NodeRef) -> Attempt<Number> {
        match found {
            // An inode from the lower file system is claimed under this name as well, or the change of the name would
            // not show.
            NodeRef::Inode(number) if number & LOWER_BIT == 0 => return Ok(number),
            _ => {}
        }
        let mut parent = ROOT;
        for name in path.names() {
            let directory = self.table.directory(parent)?;
            parent = match (directory.names.get(name), &directory.origin) {
                (Some(Entry::Inode(number, _)), _) => number,
                (None, Some(origin)) => {
                    let origin = join(origin, name);
                    let lower = self.table.lower.as_ref().ok_or(Errno::Io)?;
                    let stat = lower.stat(&origin, false)?;
                    self.adopt(parent, name, origin, &stat)?
                }
                // It existed a moment ago, and the lock was held since.
                _ => return Err(Errno::Io.into()),
            };
        }
        Ok(parent)
    }

    /// Returns the inode of the directory of the last name of `path`, for a change.
    pub(super) fn claim_parent(&mut self, path: Subpath<'_>, parent: NodeRef) -> Attempt<Number> {
        let (directory, _) = path.split().ok_or(Errno::Busy)?;
        self.claim(directory, parent)
    }

    /// Creates the inode of a lower file, under its name.
    fn adopt(&mut self, parent: Number, name: &str, below: String, stat: &Stat) -> Attempt<Number> {
        let number = stat.inode;
        if self.table.peek(number).is_none() {
            let inode = self.adoptable(below, stat)?;
            self.table.adopt(number, inode);
        }
        if let Body::Directory(directory) = &mut self.table.get_mut(parent)?.body {
            directory.names.insert(name, Entry::Inode(number, stat.kind));
        }
        Ok(number)
    }

    /// Creates the inode of a lower file that is changed through a handle. Its names find it by its number.
    pub(super) fn adopt_nameless(&mut self, below: &str, stat: &Stat) -> Attempt<()> {
        let inode = self.adoptable(below.to_owned(), stat)?;
        self.table.adopt_nameless(stat.inode, inode);
        Ok(())
    }

    /// Creates an inode, already charged, that represents a lower file.
    fn adoptable(&mut self, below: String, stat: &Stat) -> Attempt<Inode> {
        let lower = self.table.lower.as_ref().ok_or(Errno::Io)?;
        let body = match stat.kind {
            Kind::File => Body::File(Content::below(below.into(), stat.size)),
            Kind::Directory => Body::Directory(Directory { origin: Some(below.into()), ..Directory::default() }),
            Kind::Symlink => Body::Symlink(lower.read_link(&below)?.into()),
            // A `MemFs` cannot represent a special file of the host.
            Kind::Device | Kind::Pipe => return Err(Errno::NotPermitted.into()),
        };
        let inode = Inode::adopted(stat, body);
        self.charge(&inode)?;
        Ok(inode)
    }

    /// Removes a name, and the inode if that was its last name and it is not open.
    pub(super) fn remove_name(&mut self, path: Subpath<'_>, parent: NodeRef, found: NodeRef) -> Attempt<()> {
        let (directory, name) = path.split().ok_or(Errno::Busy)?;
        let number = match found {
            NodeRef::Inode(number) => Some(number),
            // The lower file stays. It needs an inode only if its missing name can be observed.
            NodeRef::Lower(ref below, stat) => {
                let is_seen = self.handles.contains_key(&stat.inode);
                if stat.kind != Kind::Directory && (is_seen || stat.links > 1) {
                    let inode = self.adoptable(below.clone(), &stat)?;
                    self.table.adopt(stat.inode, inode);
                    Some(stat.inode)
                } else {
                    None
                }
            }
        };
        let parent = self.claim(directory, parent)?;
        self.table.leave(parent, name)?;
        if let Some(number) = number {
            self.forget_name(number)?;
        }
        Ok(())
    }

    /// Records that an inode lost a name.
    fn forget_name(&mut self, number: Number) -> Result<()> {
        let inode = self.table.get_mut(number)?;
        inode.changed = clock::now();
        inode.links = if inode.is_dir() { 0 } else { inode.links - 1 };
        if inode.links > 0 && inode.charged > 1 {
            inode.charged -= 1;
            self.account.release_inodes(1);
        }
        self.free_unused(number)
    }

    /// Frees an inode that has neither a name nor a handle.
    fn free_unused(&mut self, number: Number) -> Result<()> {
        if self.table.get(number)?.links > 0 || self.handles.contains_key(&number) {
            return Ok(());
        }
        self.unmake(number);
        Ok(())
    }

    /// Counts an open file.
    pub(super) fn add_handle(&mut self, number: Number) {
        *self.handles.entry(number).or_default() += 1;
    }

    /// Records that an open file was closed.
    pub(super) fn drop_handle(&mut self, number: Number) {
        if let Some(count) = self.handles.get_mut(&number) {
            *count -= 1;
            if *count == 0 {
                self.handles.remove(&number);
                // An unchanged lower file has no inode to free.
                let _ = self.free_unused(number);
            }
        }
    }

    /// Returns true if any file is open.
    pub(super) fn is_in_use(&self) -> bool {
        !self.handles.is_empty()
    }

    /// Returns the inodes that only a handle keeps alive.
    pub(super) fn nameless(&self) -> impl Iterator<Item = (Number, &Inode)> {
        let inode = |number: &Number| self.table.peek(*number).map(|inode| (*number, inode));
        self.handles.keys().filter_map(inode).filter(|(_, inode)| inode.links == 0)
    }

    fn charge(&mut self, inode: &Inode) -> Result<()> {
        self.account.reserve_inode()?;
        self.account.reserve_bytes(inode.body.charged()).inspect_err(|_| self.account.release_inodes(1))
    }
}

/// Returns [`Stop::Link`] if the last name of `path` is a link.
pub(super) fn follow(table: &Table, path: Subpath<'_>, found: &NodeRef) -> Attempt<()> {
    let target = match found {
        NodeRef::Inode(number) => match &table.get(*number)?.body {
            Body::Symlink(target) => target.to_string(),
            _ => return Ok(()),
        },
        NodeRef::Lower(below, stat) if stat.kind == Kind::Symlink => {
            let lower = table.lower.as_ref().ok_or(Errno::Io)?;
            lower.read_link(below)?
        }
        NodeRef::Lower(..) => return Ok(()),
    };
    Err(Stop::Link { names: path.names().count(), target })
}
