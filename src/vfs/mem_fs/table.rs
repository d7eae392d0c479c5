//! The inode table and path lookup.

use std::sync::Arc;

use crate::error::{Errno, Result};
use crate::path::Subpath;
use crate::vfs::{Attempt, DirEntry, Kind, Stat, Stop};

use super::inode::{Body, Directory, Inode};
use super::lower::{LOWER_BIT, Lower};
use super::names::Entry;
use super::radix::Radix;
use super::shared_map::SharedMap;

/// Number of an inode. Numbers are not reused, so an open file cannot become another one.
pub(super) type Number = u64;

/// The root directory. Linux does not use 1 either, and some programs treat 0 as "none".
pub(super) const ROOT: Number = 2;

/// All inodes by number. A copy shares every inode until one side changes it, which makes a snapshot free.
#[derive(Clone)]
pub(super) struct Table {
    /// Inodes created here, with numbers assigned in order.
    inodes: Radix<Arc<Inode>>,
    /// Inodes that stand for lower files, with the numbers of the lower file system.
    adopted: SharedMap<Number, Arc<Inode>>,
    next: Number,
    /// The file system that shows through where there is no inode.
    pub(super) lower: Option<Lower>,
    /// Set if a file may have changed under a name that no directory of the table holds.
    pub(super) has_hidden_changes: bool,
}

/// The result of a path lookup.
pub(super) enum NodeRef {
    /// An inode of the table.
    Inode(Number),
    /// An unchanged lower file: its lower path and its attributes. The inode number is the one that it will have as an
    /// inode.
    Lower(String, Stat),
}

/// A name in an existing directory. The name itself need not exist.
pub(super) struct Slot<'a> {
    pub(super) parent: NodeRef,
    pub(super) name: &'a str,
    pub(super) found: Option<NodeRef>,
}

impl Table {
    pub(super) fn new() -> Table {
        Table::with_root(Inode::new(0o755, Body::directory()), None)
    }

    /// Creates a table in which the whole lower file system shows through.
    pub(super) fn over(lower: Lower) -> Result<Table> {
        let stat = match lower.stat("", false) {
            Ok(stat) if stat.kind == Kind::Directory => stat,
            Ok(_) | Err(Stop::Link { .. }) => return Err(Errno::NotDirectory),
            Err(Stop::Errno(errno)) => return Err(errno),
        };
        let directory = Directory { origin: Some("".into()), ..Directory::default() };
        let root = Inode::adopted(&stat, Body::Directory(directory));
        Ok(Table::with_root(root, Some(lower)))
    }

    fn with_root(root: Inode, lower: Option<Lower>) -> Table {
        let mut inodes = Radix::default();
        inodes.insert(ROOT, Arc::new(root));
        Table { inodes, adopted: SharedMap::default(), next: ROOT + 1, lower, has_hidden_changes: false }
    }

    /// Returns an inode. A missing number is a fault of this module: the guest sees an I/O error and the host
    /// continues.
    pub(super) fn get(&self, number: Number) -> Result<&Inode> {
        self.peek(number).ok_or(Errno::Io)
    }

    /// Returns an inode, or none if the number belongs to an unclaimed lower file.
    pub(super) fn peek(&self, number: Number) -> Option<&Inode> {
        let inode = match number & LOWER_BIT {
            0 => self.inodes.get(number),
            _ => self.adopted.get(&number),
        };
        inode.map(|inode| &**inode)
    }

    pub(super) fn get_mut(&mut self, number: Number) -> Result<&mut Inode> {
        let inode = match number & LOWER_BIT {
            0 => self.inodes.get_mut(number),
            _ => self.adopted.get_mut(&number),
        };
        Ok(Arc::make_mut(inode.ok_or(Errno::Io)?))
    }

    pub(super) fn insert(&mut self, inode: Inode) -> Number {
        let number = self.next;
        self.next += 1;
        self.inodes.insert(number, Arc::new(inode));
        number
    }

    /// Inserts the inode of a lower file under its number. A file with several lower names changes under all of them,
    /// even after it has lost the name through which it was changed.
    pub(super) fn adopt(&mut self, number: Number, inode: Inode) {
        self.has_hidden_changes |= !inode.is_dir() && inode.links > 1;
        self.adopted.insert(number, Arc::new(inode));
    }

    /// Inserts an inode like `adopt`, for a change that used no name.
    pub(super) fn adopt_nameless(&mut self, number: Number, inode: Inode) {
        self.adopt(number, inode);
        self.has_hidden_changes = true;
    }

    pub(super) fn remove(&mut self, number: Number) -> Option<Arc<Inode>> {
        match number & LOWER_BIT {
            0 => self.inodes.remove(number),
            _ => self.adopted.remove(&number),
        }
    }

    pub(super) fn directory(&self, number: Number) -> Result<&Directory> {
        match &self.get(number)?.body {
            Body::Directory(directory) => Ok(directory),
            _ => Err(Errno::NotDirectory),
        }
    }

    /// Looks up a path.
    pub(super) fn find(&self, path: Subpath<'_>, follow: bool) -> Attempt<NodeRef> {
        let mut inode = self.get(ROOT)?;
        let mut number = ROOT;
        let mut names = path.names().enumerate().peekable();
        while let Some((index, name)) = names.next() {
            let Body::Directory(directory) = &inode.body else {
                return Err(Errno::NotDirectory.into());
            };
            number = match (directory.names.get(name), &directory.origin) {
                (Some(Entry::Inode(number, _)), _) => number,
                (None, Some(origin)) => return self.find_in_lower(path, index, origin, follow),
                _ => return Err(Errno::NoEntry.into()),
            };
            inode = self.get(number)?;
            let is_last = names.peek().is_none();
            if let (Body::Symlink(target), true) = (&inode.body, follow || !is_last) {
                return Err(Stop::Link { names: index + 1, target: target.to_string() });
            }
        }
        Ok(NodeRef::Inode(number))
    }

    /// Looks up the names of `path` from `index` on in the lower directory `origin`. None of the directories on the way
    /// is in the table: a changed directory is an entry of its parent.
    fn find_in_lower(&self, path: Subpath<'_>, index: usize, origin: &str, follow: bool) -> Attempt<NodeRef> {
        let lower = self.lower.as_ref().ok_or(Errno::Io)?;
        let below = join(origin, path.after(index));
        match lower.stat(&below, follow) {
            // A file with several names may have been changed under another one.
            Ok(stat) if self.peek(stat.inode).is_some() => Ok(NodeRef::Inode(stat.inode)),
            Ok(stat) => Ok(NodeRef::Lower(below, stat)),
            Err(Stop::Link { names, target }) => {
                Err(Stop::Link { names: names - Subpath::trusted(origin).names().count() + index, target })
            }
            Err(stop) => Err(stop),
        }
    }

    /// Looks up the directory of the last name of a path, and the name in it.
    pub(super) fn slot<'a>(&self, path: Subpath<'a>) -> Attempt<Slot<'a>> {
        // The root has no name to create or remove; the mount table refuses such calls.
        let (parent, name) = path.split().ok_or(Errno::Busy)?;
        let parent = self.find(parent, true)?;
        let found = match &parent {
            NodeRef::Inode(number) => {
                let directory = self.directory(*number)?;
                match (directory.names.get(name), &directory.origin) {
                    (Some(Entry::Inode(number, _)), _) => Some(NodeRef::Inode(number)),
                    (None, Some(origin)) => self.look_up_in_lower(origin, name)?,
                    _ => None,
                }
            }
            NodeRef::Lower(below, stat) if stat.kind == Kind::Directory => self.look_up_in_lower(below, name)?,
            NodeRef::Lower(..) => return Err(Errno::NotDirectory.into()),
        };
        Ok(Slot { parent, name, found })
    }

    /// Looks up a name in a lower directory.
    fn look_up_in_lower(&self, directory: &str, name: &str) -> Attempt<Option<NodeRef>> {
        let lower = self.lower.as_ref().ok_or(Errno::Io)?;
        let below = join(directory, name);
        match lower.stat(&below, false) {
            Ok(stat) if self.peek(stat.inode).is_some() => Ok(Some(NodeRef::Inode(stat.inode))),
            Ok(stat) => Ok(Some(NodeRef::Lower(below, stat))),
            Err(Stop::Errno(Errno::NoEntry)) => Ok(None),
            Err(stop) => Err(stop),
        }
    }

    pub(super) fn stat(&self, found: &NodeRef) -> Result<Stat> {
        match found {
            NodeRef::Inode(number) => Ok(self.get(*number)?.stat(*number)),
            NodeRef::Lower(_, stat) => Ok(*stat),
        }
    }

    /// Returns the entries of a directory, in no order.
    pub(super) fn list(&self, directory: &Directory) -> Attempt<Vec<DirEntry>> {
        let entry = |(name, entry): (&str, Entry)| match entry {
            Entry::Inode(inode, kind) => Some(DirEntry { name: name.to_owned(), kind, inode }),
            Entry::Whiteout => None,
        };
        let mut list: Vec<DirEntry> = directory.names.iter().filter_map(entry).collect();
        if let (Some(origin), Some(lower)) = (&directory.origin, &self.lower) {
            let below = lower.read_dir(origin)?.into_iter();
            list.extend(below.filter(|entry| directory.names.get(&entry.name).is_none()));
        }
        Ok(list)
    }

    /// Returns true if a directory has no entries.
    pub(super) fn is_empty(&self, found: &NodeRef) -> Attempt<bool> {
        let (own, below) = match found {
            NodeRef::Inode(number) => {
                let directory = self.directory(*number)?;
                (Some(&directory.names), directory.origin.as_deref())
            }
            NodeRef::Lower(path, _) => (None, Some(path.as_str())),
        };
        if own.is_some_and(|own| own.iter().any(|(_, entry)| entry != Entry::Whiteout)) {
            return Ok(false);
        }
        let (Some(below), Some(lower)) = (below, &self.lower) else {
            return Ok(true);
        };
        // In pieces: the first name of a directory of a million shows that it is not empty.
        let mut stream = lower.open_dir(below)?;
        loop {
            match stream.next(64) {
                Ok(entries) if entries.is_empty() => return Ok(true),
                Ok(entries) => {
                    let is_gone =
                        |entry: &DirEntry| own.is_some_and(|own| own.get(&entry.name) == Some(Entry::Whiteout));
                    if !entries.iter().all(is_gone) {
                        return Ok(false);
                    }
                }
                // A name that is not UTF-8 is still a name.
                Err(Stop::Errno(Errno::IllegalSequence)) => return Ok(false),
                Err(stop) => return Err(stop),
            }
        }
    }

    /// Returns true if a directory contains others more than `levels` deep. Lower directories are not searched: their
    /// depth was chosen on the host.
    pub(super) fn is_deeper(&self, number: Number, levels: usize) -> Result<bool> {
        let mut pending = vec![(number, 0)];
        while let Some((number, depth)) = pending.pop() {
            if depth > levels {
                return Ok(true);
            }
            let inner = self.directory(number)?.names.iter();
            pending.extend(inner.filter_map(|(_, entry)| match entry {
                Entry::Inode(number, Kind::Directory) => Some((number, depth + 1)),
                _ => None,
            }));
        }
        Ok(false)
    }

    /// Adds a name to a directory.
    pub(super) fn enter(&mut self, parent: Number, name: &str, number: Number) -> Result<()> {
        let kind = self.get(number)?.kind();
        let inode = self.get_mut(parent)?;
        let Body::Directory(directory) = &mut inode.body else {
            return Err(Errno::NotDirectory);
        };
        directory.names.insert(name, Entry::Inode(number, kind));
        // The `..` of a directory is a link to its parent.
        inode.links += u64::from(kind == Kind::Directory);
        inode.touch();
        Ok(())
    }

    /// Removes an existing name from a directory. A lower file of that name must not show again.
    pub(super) fn leave(&mut self, parent: Number, name: &str) -> Result<()> {
        let below = match (&self.directory(parent)?.origin, &self.lower) {
            (Some(origin), Some(lower)) => lower.kind(origin, name)?,
            _ => None,
        };
        let inode = self.get_mut(parent)?;
        let Body::Directory(directory) = &mut inode.body else {
            return Err(Errno::NotDirectory);
        };
        let kind = match directory.names.remove(name) {
            Some(Entry::Inode(_, kind)) => Some(kind),
            Some(Entry::Whiteout) => None,
            None => below,
        };
        if below.is_some() {
            directory.names.insert(name, Entry::Whiteout);
        }
        if kind.ok_or(Errno::NoEntry)? == Kind::Directory {
            inode.links = inode.links.saturating_sub(1);
        }
        inode.touch();
        Ok(())
    }
}

/// Joins a path below a root and a name or a path.
pub(super) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}
