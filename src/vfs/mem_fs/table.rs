//! The inode table and the walk along a path.

use std::sync::Arc;

use crate::error::{Errno, Result};
use crate::path::Subpath;
use crate::vfs::{Attempt, DirEntry, Kind, Stat, Stop};

use super::inode::{Body, Directory, Inode};
use super::lower::{BELOW, Lower};
use super::names::Entry;
use super::radix::Radix;
use super::shared_map::SharedMap;

/// Number of an inode. Numbers are not used again, so an open file cannot become another one.
pub(super) type Number = u64;

/// The root directory; 1 is never used on Linux either, and some programs take 0 for "none".
pub(super) const ROOT: Number = 2;

/// Every inode by its number. All access goes through these methods. A copy shares all inodes, each until one side
/// changes it: that is what makes a snapshot cost nothing.
#[derive(Clone)]
pub(super) struct Table {
    /// What was made here, under numbers that were handed out in order.
    inodes: Radix<Arc<Inode>>,
    /// What stands for something below, under numbers that are as the file system below has them.
    adopted: SharedMap<Number, Arc<Inode>>,
    next: Number,
    /// What shows through where there is no inode.
    pub(super) lower: Option<Lower>,
    /// Whether a file may have changed under a name that no directory of the table knows.
    pub(super) has_hidden_changes: bool,
}

/// What a path leads to.
pub(super) enum Found {
    /// An inode of the table.
    Inode(Number),
    /// What is below, as it always was: its path there, and what it is. Its number is the one it will have as an
    /// inode.
    Below(String, Stat),
}

/// A name in a directory that is there; the name need not be.
pub(super) struct Slot<'a> {
    pub(super) parent: Found,
    pub(super) name: &'a str,
    pub(super) found: Option<Found>,
}

impl Table {
    pub(super) fn new() -> Table {
        Table::with_root(Inode::new(0o755, Body::directory()), None)
    }

    /// A table in which everything shows through from below.
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

    /// A number that names no inode is a fault of this module; the guest sees an I/O error and the host goes on.
    pub(super) fn get(&self, number: Number) -> Result<&Inode> {
        self.peek(number).ok_or(Errno::Io)
    }

    /// An inode that need not be there: its number may be that of something below.
    pub(super) fn peek(&self, number: Number) -> Option<&Inode> {
        let inode = match number & BELOW {
            0 => self.inodes.get(number),
            _ => self.adopted.get(&number),
        };
        inode.map(|inode| &**inode)
    }

    pub(super) fn get_mut(&mut self, number: Number) -> Result<&mut Inode> {
        let inode = match number & BELOW {
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

    /// Puts in an inode that stands for something below, under its number. A file with several names below changes
    /// under all of them, and still does when it has lost the name that it was changed by.
    pub(super) fn adopt(&mut self, number: Number, inode: Inode) {
        self.has_hidden_changes |= !inode.is_dir() && inode.links > 1;
        self.adopted.insert(number, Arc::new(inode));
    }

    /// As `adopt`, for a change that goes by no name.
    pub(super) fn adopt_nameless(&mut self, number: Number, inode: Inode) {
        self.adopt(number, inode);
        self.has_hidden_changes = true;
    }

    pub(super) fn remove(&mut self, number: Number) -> Option<Arc<Inode>> {
        match number & BELOW {
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

    /// What a path leads to.
    pub(super) fn find(&self, path: Subpath<'_>, follow: bool) -> Attempt<Found> {
        let mut inode = self.get(ROOT)?;
        let mut number = ROOT;
        let mut names = path.names().enumerate().peekable();
        while let Some((index, name)) = names.next() {
            let Body::Directory(directory) = &inode.body else {
                return Err(Errno::NotDirectory.into());
            };
            number = match (directory.names.get(name), &directory.origin) {
                (Some(Entry::Inode(number, _)), _) => number,
                (None, Some(origin)) => return self.find_below(path, index, origin, follow),
                _ => return Err(Errno::NoEntry.into()),
            };
            inode = self.get(number)?;
            let is_last = names.peek().is_none();
            if let (Body::Symlink(target), true) = (&inode.body, follow || !is_last) {
                return Err(Stop::Link { names: index + 1, target: target.to_string() });
            }
        }
        Ok(Found::Inode(number))
    }

    /// What the names of `path` from `index` on lead to in the directory `origin` below. None of the directories on
    /// that way is in the table: one that was changed is known to the directory it stands in.
    fn find_below(&self, path: Subpath<'_>, index: usize, origin: &str, follow: bool) -> Attempt<Found> {
        let lower = self.lower.as_ref().ok_or(Errno::Io)?;
        let below = join(origin, path.after(index));
        match lower.stat(&below, follow) {
            // A file with several names may have been changed by another one.
            Ok(stat) if self.peek(stat.inode).is_some() => Ok(Found::Inode(stat.inode)),
            Ok(stat) => Ok(Found::Below(below, stat)),
            Err(Stop::Link { names, target }) => {
                Err(Stop::Link { names: names - Subpath::trusted(origin).names().count() + index, target })
            }
            Err(stop) => Err(stop),
        }
    }

    /// Where the last name of a path stands, and what it names.
    pub(super) fn slot<'a>(&self, path: Subpath<'a>) -> Attempt<Slot<'a>> {
        // The root has no name to make or remove; the mount table keeps such calls away.
        let (parent, name) = path.split().ok_or(Errno::Busy)?;
        let parent = self.find(parent, true)?;
        let found = match &parent {
            Found::Inode(number) => {
                let directory = self.directory(*number)?;
                match (directory.names.get(name), &directory.origin) {
                    (Some(Entry::Inode(number, _)), _) => Some(Found::Inode(number)),
                    (None, Some(origin)) => self.look_below(origin, name)?,
                    _ => None,
                }
            }
            Found::Below(below, stat) if stat.kind == Kind::Directory => self.look_below(below, name)?,
            Found::Below(..) => return Err(Errno::NotDirectory.into()),
        };
        Ok(Slot { parent, name, found })
    }

    /// What a name in a directory below names.
    fn look_below(&self, directory: &str, name: &str) -> Attempt<Option<Found>> {
        let lower = self.lower.as_ref().ok_or(Errno::Io)?;
        let below = join(directory, name);
        match lower.stat(&below, false) {
            Ok(stat) if self.peek(stat.inode).is_some() => Ok(Some(Found::Inode(stat.inode))),
            Ok(stat) => Ok(Some(Found::Below(below, stat))),
            Err(Stop::Errno(Errno::NoEntry)) => Ok(None),
            Err(stop) => Err(stop),
        }
    }

    pub(super) fn stat(&self, found: &Found) -> Result<Stat> {
        match found {
            Found::Inode(number) => Ok(self.get(*number)?.stat(*number)),
            Found::Below(_, stat) => Ok(*stat),
        }
    }

    /// Every name in a directory, in no order.
    pub(super) fn list(&self, directory: &Directory) -> Attempt<Vec<DirEntry>> {
        let entry = |(name, entry): (&str, Entry)| match entry {
            Entry::Inode(inode, kind) => Some(DirEntry { name: name.to_owned(), kind, inode }),
            Entry::Gone => None,
        };
        let mut list: Vec<DirEntry> = directory.names.iter().filter_map(entry).collect();
        if let (Some(origin), Some(lower)) = (&directory.origin, &self.lower) {
            let below = lower.read_dir(origin)?.into_iter();
            list.extend(below.filter(|entry| directory.names.get(&entry.name).is_none()));
        }
        Ok(list)
    }

    /// Whether a directory holds no name.
    pub(super) fn is_empty(&self, found: &Found) -> Attempt<bool> {
        let (own, below) = match found {
            Found::Inode(number) => {
                let directory = self.directory(*number)?;
                (Some(&directory.names), directory.origin.as_deref())
            }
            Found::Below(path, _) => (None, Some(path.as_str())),
        };
        if own.is_some_and(|own| own.iter().any(|(_, entry)| entry != Entry::Gone)) {
            return Ok(false);
        }
        let (Some(below), Some(lower)) = (below, &self.lower) else {
            return Ok(true);
        };
        // Piece by piece: a directory of a million names is not empty at the first.
        let mut stream = lower.open_dir(below)?;
        loop {
            match stream.next(64) {
                Ok(entries) if entries.is_empty() => return Ok(true),
                Ok(entries) => {
                    let is_gone = |entry: &DirEntry| own.is_some_and(|own| own.get(&entry.name) == Some(Entry::Gone));
                    if !entries.iter().all(is_gone) {
                        return Ok(false);
                    }
                }
                // A name that cannot be told is a name.
                Err(Stop::Errno(Errno::IllegalSequence)) => return Ok(false),
                Err(stop) => return Err(stop),
            }
        }
    }

    /// Whether a directory has others in it more than `levels` deep. What shows through from below is not looked at: it
    /// is as deep as its owner made it.
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

    /// Puts a name into a directory.
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

    /// Takes a name, which is there, out of a directory. What shows through from below must not come back.
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
            Some(Entry::Gone) => None,
            None => below,
        };
        if below.is_some() {
            directory.names.insert(name, Entry::Gone);
        }
        if kind.ok_or(Errno::NoEntry)? == Kind::Directory {
            inode.links = inode.links.saturating_sub(1);
        }
        inode.touch();
        Ok(())
    }
}

/// A path below a root, and a name or a path behind it.
pub(super) fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}
