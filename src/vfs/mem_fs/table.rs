//! The inode table and the walk along a path.

use std::collections::{BTreeMap, HashMap};

use crate::error::{Errno, Result};
use crate::path::Subpath;
use crate::vfs::{Attempt, Stop};

use super::inode::{Body, Inode};

/// Number of an inode. Numbers are not used again, so an open file cannot become another one.
pub(super) type Number = u64;

/// The root directory; 1 is never used on Linux either, and some programs take 0 for "none".
pub(super) const ROOT: Number = 2;

/// Every inode by its number. All access goes through these methods.
pub(super) struct Table {
    inodes: HashMap<Number, Inode>,
    next: Number,
}

impl Table {
    pub(super) fn new() -> Table {
        let root = Inode::new(0o755, Body::directory());
        Table { inodes: HashMap::from([(ROOT, root)]), next: ROOT + 1 }
    }

    /// A number that names no inode is a fault of this module; the guest sees an I/O error and the host goes on.
    pub(super) fn get(&self, number: Number) -> Result<&Inode> {
        self.inodes.get(&number).ok_or(Errno::Io)
    }

    pub(super) fn get_mut(&mut self, number: Number) -> Result<&mut Inode> {
        self.inodes.get_mut(&number).ok_or(Errno::Io)
    }

    pub(super) fn insert(&mut self, inode: Inode) -> Number {
        let number = self.next;
        self.next += 1;
        self.inodes.insert(number, inode);
        number
    }

    pub(super) fn remove(&mut self, number: Number) {
        self.inodes.remove(&number);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Number, &Inode)> {
        self.inodes.iter().map(|(number, inode)| (*number, inode))
    }

    /// The names in a directory.
    pub(super) fn names(&self, number: Number) -> Result<&BTreeMap<String, Number>> {
        match &self.get(number)?.body {
            Body::Directory(names) => Ok(names),
            _ => Err(Errno::NotDirectory),
        }
    }

    /// The inode that a path leads to.
    pub(super) fn find(&self, path: Subpath<'_>, follow: bool) -> Attempt<Number> {
        let mut number = ROOT;
        let mut names = path.names().enumerate().peekable();
        while let Some((index, name)) = names.next() {
            number = *self.names(number)?.get(name).ok_or(Errno::NoEntry)?;
            let is_last = names.peek().is_none();
            if let (Body::Symlink(target), true) = (&self.get(number)?.body, follow || !is_last) {
                return Err(Stop::Link { names: index + 1, target: target.clone() });
            }
        }
        Ok(number)
    }

    /// The directory that the last name of a path stands in, and that name.
    pub(super) fn parent<'a>(&self, path: Subpath<'a>) -> Attempt<(Number, &'a str)> {
        // The root has no name to make or remove; the mount table keeps such calls away.
        let (parent, name) = path.split().ok_or(Errno::Busy)?;
        let number = self.find(parent, true)?;
        self.names(number)?;
        Ok((number, name))
    }

    /// As `parent`, for a name that must not be there.
    pub(super) fn free_name<'a>(&self, path: Subpath<'a>) -> Attempt<(Number, &'a str)> {
        let (parent, name) = self.parent(path)?;
        let number = self.get(parent)?;
        if number.links == 0 {
            return Err(Errno::NoEntry.into());
        }
        if self.names(parent)?.contains_key(name) { Err(Errno::Exist.into()) } else { Ok((parent, name)) }
    }

    /// Puts a name into a directory.
    pub(super) fn enter(&mut self, parent: Number, name: &str, number: Number) -> Result<()> {
        let is_dir = self.get(number)?.is_dir();
        let directory = self.get_mut(parent)?;
        let Body::Directory(names) = &mut directory.body else {
            return Err(Errno::NotDirectory);
        };
        names.insert(name.to_owned(), number);
        // The `..` of a directory is a link to its parent.
        directory.links += u64::from(is_dir);
        directory.touch();
        Ok(())
    }

    /// Takes a name out of a directory.
    pub(super) fn leave(&mut self, parent: Number, name: &str) -> Result<()> {
        let directory = self.get_mut(parent)?;
        let Body::Directory(names) = &mut directory.body else {
            return Err(Errno::NotDirectory);
        };
        let number = names.remove(name).ok_or(Errno::NoEntry)?;
        directory.touch();
        let is_dir = self.get(number)?.is_dir();
        self.get_mut(parent)?.links -= u64::from(is_dir);
        Ok(())
    }
}
