//! The table in use: inodes with the handles that keep them alive and what they are charged to.

use std::collections::HashMap;

use crate::error::{Errno, Result};
use crate::path::Subpath;
use crate::vfs::quota::Account;
use crate::vfs::{Attempt, Kind, Stat, Stop, clock};

use super::content::Content;
use super::inode::{Body, Directory, Inode};
use super::lower::BELOW;
use super::names::Entry;
use super::table::{Found, Number, ROOT, Table, join};

/// What the lock of a `MemFs` guards.
pub(super) struct Live {
    pub(super) table: Table,
    /// Open files of each inode, of what is below too. They are no part of the table: a snapshot has none.
    handles: HashMap<Number, u64>,
    pub(super) account: Account,
}

impl Live {
    pub(super) fn new(table: Table, account: Account) -> Live {
        Live { table, handles: HashMap::new(), account }
    }

    /// Puts a new inode under a name that is free.
    pub(super) fn make(&mut self, parent: Number, name: &str, inode: Inode) -> Result<Number> {
        let number = self.make_nameless(inode)?;
        self.table.enter(parent, name, number)?;
        Ok(number)
    }

    /// A new inode that is going to get a name.
    pub(super) fn make_nameless(&mut self, inode: Inode) -> Result<Number> {
        self.charge(&inode)?;
        Ok(self.table.insert(inode))
    }

    /// Takes back an inode that did not get a name.
    pub(super) fn unmake(&mut self, number: Number) {
        if let Some(inode) = self.table.remove(number) {
            self.account.release_bytes(inode.body.charged());
            self.account.release_inodes(inode.charged);
        }
    }

    /// The inode of what a path leads to, to be changed. What is below becomes an inode, and the directories on the way
    /// to it do: this is the copy of copy-on-write, and it copies no content.
    pub(super) fn claim(&mut self, path: Subpath<'_>, found: Found) -> Attempt<Number> {
        match found {
            // One from below is claimed under this name, too, or it would not be seen that the name has changed.
            Found::Inode(number) if number & BELOW == 0 => return Ok(number),
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
                // It was there a moment ago, and the lock was not given up since.
                _ => return Err(Errno::Io.into()),
            };
        }
        Ok(parent)
    }

    /// The inode of the directory that the last name of `path` stands in, to be changed.
    pub(super) fn claim_parent(&mut self, path: Subpath<'_>, parent: Found) -> Attempt<Number> {
        let (directory, _) = path.split().ok_or(Errno::Busy)?;
        self.claim(directory, parent)
    }

    /// Makes an inode of what is below, under the name that it has there.
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

    /// Makes an inode of a file below that is changed by a handle: its names are found by its number.
    pub(super) fn adopt_nameless(&mut self, below: &str, stat: &Stat) -> Attempt<()> {
        let inode = self.adoptable(below.to_owned(), stat)?;
        self.table.adopt_nameless(stat.inode, inode);
        Ok(())
    }

    /// An inode, charged, that stands for what is below.
    fn adoptable(&mut self, below: String, stat: &Stat) -> Attempt<Inode> {
        let lower = self.table.lower.as_ref().ok_or(Errno::Io)?;
        let body = match stat.kind {
            Kind::File => Body::File(Content::below(below.into(), stat.size)),
            Kind::Directory => Body::Directory(Directory { origin: Some(below.into()), ..Directory::default() }),
            Kind::Symlink => Body::Symlink(lower.read_link(&below)?.into()),
            // There is nothing here that could stand for a special file of the host.
            Kind::Device | Kind::Pipe => return Err(Errno::NotPermitted.into()),
        };
        let inode = Inode::adopted(stat, body);
        self.charge(&inode)?;
        Ok(inode)
    }

    /// Takes a name away, and the inode with it if that was its last one and nobody has it open.
    pub(super) fn remove_name(&mut self, path: Subpath<'_>, parent: Found, found: Found) -> Attempt<()> {
        let (directory, name) = path.split().ok_or(Errno::Busy)?;
        let number = match found {
            Found::Inode(number) => Some(number),
            // What is below stays there. It needs an inode only if someone can still tell that it lost a name.
            Found::Below(ref below, stat) => {
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

    /// Notes that an inode lost a name.
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

    /// Notes that an open file was closed.
    pub(super) fn drop_handle(&mut self, number: Number) {
        if let Some(count) = self.handles.get_mut(&number) {
            *count -= 1;
            if *count == 0 {
                self.handles.remove(&number);
                // What is below and was never changed has no inode to free.
                let _ = self.free_unused(number);
            }
        }
    }

    /// Whether any file is open.
    pub(super) fn is_in_use(&self) -> bool {
        !self.handles.is_empty()
    }

    /// The inodes that only a handle keeps alive.
    pub(super) fn nameless(&self) -> impl Iterator<Item = (Number, &Inode)> {
        let inode = |number: &Number| self.table.peek(*number).map(|inode| (*number, inode));
        self.handles.keys().filter_map(inode).filter(|(_, inode)| inode.links == 0)
    }

    fn charge(&mut self, inode: &Inode) -> Result<()> {
        self.account.reserve_inode()?;
        self.account.reserve_bytes(inode.body.charged()).inspect_err(|_| self.account.release_inodes(1))
    }
}

/// Answers the link if the last name of `path` is one that is to be followed.
pub(super) fn follow(table: &Table, path: Subpath<'_>, found: &Found) -> Attempt<()> {
    let target = match found {
        Found::Inode(number) => match &table.get(*number)?.body {
            Body::Symlink(target) => target.to_string(),
            _ => return Ok(()),
        },
        Found::Below(below, stat) if stat.kind == Kind::Symlink => {
            let lower = table.lower.as_ref().ok_or(Errno::Io)?;
            lower.read_link(below)?
        }
        Found::Below(..) => return Ok(()),
    };
    Err(Stop::Link { names: path.names().count(), target })
}
