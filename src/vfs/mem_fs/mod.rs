//! A file system in memory: inodes in a table, names in directories, content in chunks.
//!
//! One lock guards the whole table: a call is a few lookups, and a single lock makes `rename` atomic without an
//! order among inodes. What an inode holds is either small or shared (`content`), and nothing outside `table` knows
//! how inodes are stored, so that a table with cheap snapshots can take its place.
//!
//! A file that has lost its last name lives, and stays charged, until its last open handle is dropped.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::error::{Errno, Result};
use crate::path::Subpath;

use super::{Attempt, DirEntry, FileSystem, Kind, Node, OpenHow, Quota, SetTime, Stat, clock};
use content::Content;
use file::MemFile;
use inode::{Body, Inode};
use table::{Number, ROOT, Table};

mod content;
mod file;
mod inode;
mod table;

/// A file system in memory, charged to a quota.
pub struct MemFs {
    shared: Arc<Shared>,
}

/// What the file system and its open files have in common.
struct Shared {
    /// Every inode, its names, attributes and content.
    table: RwLock<Table>,
    quota: Arc<Quota>,
}

impl MemFs {
    /// An empty file system. Its root is not charged, so making one cannot fail.
    pub fn new(quota: Arc<Quota>) -> MemFs {
        MemFs { shared: Arc::new(Shared { table: RwLock::new(Table::new()), quota }) }
    }
}

impl Shared {
    fn read(&self) -> RwLockReadGuard<'_, Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Table> {
        self.table.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a new inode under a name that is free.
    fn make(&self, table: &mut Table, parent: Number, name: &str, mode: u32, body: Body) -> Result<Number> {
        let bytes = body.charged();
        self.quota.reserve_inode()?;
        if let Err(errno) = self.quota.reserve_bytes(bytes) {
            self.quota.release_inodes(1);
            return Err(errno);
        }
        let number = table.insert(Inode::new(mode, body));
        table.enter(parent, name, number)?;
        Ok(number)
    }

    /// Gives back a name, and the inode with it if that was its last one and nobody has it open.
    fn forget_name(&self, table: &mut Table, number: Number) -> Result<()> {
        let inode = table.get_mut(number)?;
        inode.changed = clock::now();
        inode.links = if inode.is_dir() { 0 } else { inode.links - 1 };
        if inode.links > 0 {
            self.quota.release_inodes(1);
        }
        self.free_unused(table, number)
    }

    /// Frees an inode that has neither a name nor a handle.
    fn free_unused(&self, table: &mut Table, number: Number) -> Result<()> {
        let inode = table.get(number)?;
        if inode.links == 0 && inode.handles == 0 {
            self.quota.release_bytes(inode.body.charged());
            self.quota.release_inodes(1);
            table.remove(number);
        }
        Ok(())
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let table = self.table.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (number, inode) in table.iter() {
            self.quota.release_bytes(inode.body.charged());
            self.quota.release_inodes(if number == ROOT { 0 } else { inode.names_charged() });
        }
    }
}

impl FileSystem for MemFs {
    fn open(&self, path: Subpath<'_>, how: &OpenHow) -> Attempt<Node> {
        let shared = &self.shared;
        let mut table = shared.write();
        let follow = !(how.nofollow || how.create && how.exclusive);
        let number = match table.find(path, follow) {
            Ok(_) if how.create && how.exclusive => return Err(Errno::Exist.into()),
            Ok(number) => number,
            Err(stop) if how.create && stop == Errno::NoEntry.into() => {
                let (parent, name) = table.parent(path)?;
                shared.make(&mut table, parent, name, how.mode, Body::File(Content::default()))?
            }
            Err(stop) => return Err(stop),
        };
        let inode = table.get_mut(number)?;
        match &mut inode.body {
            Body::Directory(_) if how.writes() || how.create || how.truncate => Err(Errno::IsDirectory.into()),
            Body::Directory(_) => Ok(Node::Directory),
            _ if how.directory => Err(Errno::NotDirectory.into()),
            Body::Symlink(_) => Err(Errno::Loop.into()),
            Body::File(content) => {
                if how.truncate {
                    shared.quota.release_bytes(content.set_len(0));
                    inode.touch();
                }
                inode.handles += 1;
                Ok(Node::File(Arc::new(MemFile::new(Arc::clone(shared), number))))
            }
        }
    }

    fn stat(&self, path: Subpath<'_>, follow: bool) -> Attempt<Stat> {
        let table = self.shared.read();
        let number = table.find(path, follow)?;
        Ok(table.get(number)?.stat(number))
    }

    fn read_dir(&self, path: Subpath<'_>) -> Attempt<Vec<DirEntry>> {
        let table = self.shared.read();
        let names = table.names(table.find(path, true)?)?;
        let entry = |(name, number): (&String, &Number)| {
            let kind = table.get(*number)?.kind();
            Ok(DirEntry { name: name.clone(), kind, inode: *number })
        };
        names.iter().map(entry).collect()
    }

    fn read_link(&self, path: Subpath<'_>) -> Attempt<String> {
        let table = self.shared.read();
        match &table.get(table.find(path, false)?)?.body {
            Body::Symlink(target) => Ok(target.clone()),
            _ => Err(Errno::Invalid.into()),
        }
    }

    fn mkdir(&self, path: Subpath<'_>, mode: u32) -> Attempt<()> {
        let mut table = self.shared.write();
        let (parent, name) = table.free_name(path)?;
        self.shared.make(&mut table, parent, name, mode, Body::directory())?;
        Ok(())
    }

    fn symlink(&self, target: &str, path: Subpath<'_>) -> Attempt<()> {
        let mut table = self.shared.write();
        let (parent, name) = table.free_name(path)?;
        self.shared.make(&mut table, parent, name, 0o777, Body::Symlink(target.to_owned()))?;
        Ok(())
    }

    fn link(&self, from: Subpath<'_>, to: Subpath<'_>) -> Attempt<()> {
        let mut table = self.shared.write();
        let number = table.find(from, false)?;
        let (parent, name) = table.free_name(to)?;
        if table.get(number)?.is_dir() {
            return Err(Errno::NotPermitted.into());
        }
        // A name costs memory as an inode does, and nothing else would bound a million of them.
        self.shared.quota.reserve_inode()?;
        let inode = table.get_mut(number)?;
        inode.links += 1;
        inode.changed = clock::now();
        table.enter(parent, name, number)?;
        Ok(())
    }

    fn rmdir(&self, path: Subpath<'_>) -> Attempt<()> {
        let mut table = self.shared.write();
        let number = table.find(path, false)?;
        if !table.names(number)?.is_empty() {
            return Err(Errno::NotEmpty.into());
        }
        let (parent, name) = table.parent(path)?;
        table.leave(parent, name)?;
        Ok(self.shared.forget_name(&mut table, number)?)
    }

    fn unlink(&self, path: Subpath<'_>) -> Attempt<()> {
        let mut table = self.shared.write();
        let number = table.find(path, false)?;
        if table.get(number)?.is_dir() {
            return Err(Errno::IsDirectory.into());
        }
        let (parent, name) = table.parent(path)?;
        table.leave(parent, name)?;
        Ok(self.shared.forget_name(&mut table, number)?)
    }

    fn rename(&self, from: Subpath<'_>, to: Subpath<'_>) -> Attempt<()> {
        let mut table = self.shared.write();
        let (old_parent, old_name) = table.parent(from)?;
        let (new_parent, new_name) = table.parent(to)?;
        let number = table.find(from, false)?;
        let replaced = match table.find(to, false) {
            Ok(replaced) => Some(replaced),
            Err(stop) if stop == Errno::NoEntry.into() => None,
            Err(stop) => return Err(stop),
        };
        // Names that hold no links and no `..` say all about who is within whom.
        if is_within(to, from) {
            return Err(Errno::Invalid.into());
        }
        if is_within(from, to) {
            return Err(Errno::NotEmpty.into());
        }
        if replaced == Some(number) {
            return Ok(());
        }
        if let Some(replaced) = replaced {
            match (table.get(number)?.is_dir(), table.get(replaced)?.is_dir()) {
                (true, false) => return Err(Errno::NotDirectory.into()),
                (false, true) => return Err(Errno::IsDirectory.into()),
                (true, true) if !table.names(replaced)?.is_empty() => {
                    return Err(Errno::NotEmpty.into());
                }
                _ => {}
            }
            table.leave(new_parent, new_name)?;
            self.shared.forget_name(&mut table, replaced)?;
        }
        table.leave(old_parent, old_name)?;
        table.enter(new_parent, new_name, number)?;
        table.get_mut(number)?.changed = clock::now();
        Ok(())
    }

    fn chmod(&self, path: Subpath<'_>, mode: u32, follow: bool) -> Attempt<()> {
        let mut table = self.shared.write();
        let number = table.find(path, follow)?;
        let inode = table.get_mut(number)?;
        if inode.kind() == Kind::Symlink {
            return Err(Errno::NotSupported.into());
        }
        inode.mode = mode;
        inode.changed = clock::now();
        Ok(())
    }

    fn chown(&self, path: Subpath<'_>, uid: Option<u32>, gid: Option<u32>, follow: bool) -> Attempt<()> {
        let mut table = self.shared.write();
        let number = table.find(path, follow)?;
        let inode = table.get_mut(number)?;
        inode.uid = uid.unwrap_or(inode.uid);
        inode.gid = gid.unwrap_or(inode.gid);
        inode.changed = clock::now();
        Ok(())
    }

    fn set_times(&self, path: Subpath<'_>, accessed: SetTime, modified: SetTime, follow: bool) -> Attempt<()> {
        let mut table = self.shared.write();
        let number = table.find(path, follow)?;
        table.get_mut(number)?.set_times(accessed, modified);
        Ok(())
    }

    fn make_mount_point(&self, path: Subpath<'_>) -> Attempt<()> {
        let mut table = self.shared.write();
        let mut parent = ROOT;
        for name in path.names() {
            parent = match table.names(parent)?.get(name) {
                Some(number) => *number,
                None => self.shared.make(&mut table, parent, name, 0o755, Body::directory())?,
            };
        }
        table.names(parent)?;
        Ok(())
    }
}

/// Whether `inner` is below `outer`, and not `outer` itself.
fn is_within(inner: Subpath<'_>, outer: Subpath<'_>) -> bool {
    inner.as_str().strip_prefix(outer.as_str()).is_some_and(|rest| rest.starts_with('/'))
}
