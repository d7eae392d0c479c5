//! The calls of the mount table on a file system in memory.

use std::sync::Arc;

use crate::error::Errno;
use crate::limits::PATH_DEPTH;
use crate::path::Subpath;
use crate::vfs::{
    AtomicWrite, Attempt, DirEntry, DirStream, FileSystem, Frozen, Kind, Node, OpenHow, Overlay, SetTime, Stat, Stop,
    clock,
};

use super::MemFs;
use super::content::Content;
use super::file::MemFile;
use super::inode::{Body, Inode};
use super::live::{Live, follow};
use super::names::Entry;
use super::stream::MemStream;
use super::table::{Found, Number, ROOT};

impl FileSystem for MemFs {
    fn open(&self, path: Subpath<'_>, how: &OpenHow) -> Attempt<Node> {
        let mut live = self.shared.write();
        let found = find_or_make(&mut live, path, how)?;
        let stat = live.table.stat(&found)?;
        match stat.kind {
            Kind::Directory if how.writes() || how.create || how.truncate => Err(Errno::IsDirectory.into()),
            Kind::Directory => Ok(Node::Directory),
            _ if how.directory => Err(Errno::NotDirectory.into()),
            Kind::Symlink => Err(Errno::Loop.into()),
            Kind::Device | Kind::Pipe => Err(Errno::NoDevice.into()),
            Kind::File => {
                let shared = Arc::clone(&self.shared);
                // The handle comes last: dropping one takes the lock.
                let file = match found {
                    Found::Below(origin, stat) if !how.writes() && !how.truncate => {
                        let lower = live.table.lower.as_ref().ok_or(Errno::Io)?;
                        let below = lower.open(&origin)?;
                        live.add_handle(stat.inode);
                        MemFile::of_below(shared, stat.inode, below, origin)
                    }
                    found => {
                        let number = live.claim(path, found)?;
                        if how.truncate {
                            empty(&mut live, number)?;
                        }
                        live.add_handle(number);
                        MemFile::new(shared, number)
                    }
                };
                Ok(Node::File(Arc::new(file)))
            }
        }
    }

    fn stat(&self, path: Subpath<'_>, follow: bool) -> Attempt<Stat> {
        let live = self.shared.read();
        Ok(live.table.stat(&live.table.find(path, follow)?)?)
    }

    fn read_dir(&self, path: Subpath<'_>) -> Attempt<Vec<DirEntry>> {
        let live = self.shared.read();
        match live.table.find(path, true)? {
            Found::Inode(number) => live.table.list(live.table.directory(number)?),
            Found::Below(below, _) => match &live.table.lower {
                Some(lower) => lower.read_dir(&below),
                None => Err(Errno::Io.into()),
            },
        }
    }

    fn open_dir(&self, path: Subpath<'_>) -> Attempt<Box<dyn DirStream>> {
        let live = self.shared.read();
        let lower = live.table.lower.as_ref();
        match live.table.find(path, true)? {
            Found::Inode(number) => {
                let directory = live.table.directory(number)?.clone();
                let below = match (&directory.origin, lower) {
                    (Some(origin), Some(lower)) => Some(lower.open_dir(origin)?),
                    _ => None,
                };
                Ok(Box::new(MemStream::new(directory, below)))
            }
            Found::Below(below, _) => lower.ok_or(Errno::Io)?.open_dir(&below),
        }
    }

    fn read_link(&self, path: Subpath<'_>) -> Attempt<String> {
        let live = self.shared.read();
        let found = live.table.find(path, false)?;
        match follow(&live.table, path, &found) {
            Err(Stop::Link { target, .. }) => Ok(target),
            Err(stop) => Err(stop),
            Ok(()) => Err(Errno::Invalid.into()),
        }
    }

    fn mkdir(&self, path: Subpath<'_>, mode: u32) -> Attempt<()> {
        make(&mut self.shared.write(), path, mode, Body::directory())
    }

    fn symlink(&self, target: &str, path: Subpath<'_>) -> Attempt<()> {
        let body = Body::Symlink(target.into());
        make(&mut self.shared.write(), path, 0o777, body)
    }

    fn link(&self, from: Subpath<'_>, to: Subpath<'_>) -> Attempt<()> {
        let mut live = self.shared.write();
        let found = live.table.find(from, false)?;
        let slot = live.table.slot(to)?;
        if slot.found.is_some() {
            return Err(Errno::Exist.into());
        }
        if live.table.stat(&found)?.kind == Kind::Directory {
            return Err(Errno::NotPermitted.into());
        }
        let number = live.claim(from, found)?;
        let parent = live.claim_parent(to, slot.parent)?;
        // A name costs memory as an inode does, and nothing else would bound a million of them.
        live.account.reserve_inode()?;
        let inode = live.table.get_mut(number)?;
        inode.links += 1;
        inode.charged += 1;
        inode.changed = clock::now();
        Ok(live.table.enter(parent, slot.name, number)?)
    }

    fn rmdir(&self, path: Subpath<'_>) -> Attempt<()> {
        let mut live = self.shared.write();
        let slot = live.table.slot(path)?;
        let found = slot.found.ok_or(Errno::NoEntry)?;
        if live.table.stat(&found)?.kind != Kind::Directory {
            return Err(Errno::NotDirectory.into());
        }
        if !live.table.is_empty(&found)? {
            return Err(Errno::NotEmpty.into());
        }
        live.remove_name(path, slot.parent, found)
    }

    fn unlink(&self, path: Subpath<'_>) -> Attempt<()> {
        let mut live = self.shared.write();
        let slot = live.table.slot(path)?;
        let found = slot.found.ok_or(Errno::NoEntry)?;
        if live.table.stat(&found)?.kind == Kind::Directory {
            return Err(Errno::IsDirectory.into());
        }
        live.remove_name(path, slot.parent, found)
    }

    fn rename(&self, from: Subpath<'_>, to: Subpath<'_>) -> Attempt<()> {
        let mut live = self.shared.write();
        let (old, new) = (live.table.slot(from)?, live.table.slot(to)?);
        let found = old.found.ok_or(Errno::NoEntry)?;
        // Names that hold no links and no `..` say all about who is within whom.
        if to.is_within(from) {
            return Err(Errno::Invalid.into());
        }
        if from.is_within(to) {
            return Err(Errno::NotEmpty.into());
        }
        let stat = live.table.stat(&found)?;
        if let Some(replaced) = &new.found {
            let other = live.table.stat(replaced)?;
            if other.inode == stat.inode {
                return Ok(());
            }
            match (stat.kind == Kind::Directory, other.kind == Kind::Directory) {
                (true, false) => return Err(Errno::NotDirectory.into()),
                (false, true) => return Err(Errno::IsDirectory.into()),
                (true, true) if !live.table.is_empty(replaced)? => {
                    return Err(Errno::NotEmpty.into());
                }
                _ => {}
            }
        }
        if let (Found::Inode(number), Kind::Directory) = (&found, stat.kind) {
            // A tree that no path reaches the end of could be neither removed nor saved.
            let (depth, before) = (to.names().count(), from.names().count());
            if depth > before && live.table.is_deeper(*number, PATH_DEPTH.saturating_sub(depth))? {
                return Err(Errno::NameTooLong.into());
            }
        }
        // All is claimed before anything is lost: that may fail for want of room.
        let number = live.claim(from, found)?;
        let old_parent = live.claim_parent(from, old.parent)?;
        let new_parent = live.claim_parent(to, new.parent)?;
        if let Some(replaced) = new.found {
            live.remove_name(to, Found::Inode(new_parent), replaced)?;
        }
        live.table.leave(old_parent, old.name)?;
        live.table.enter(new_parent, new.name, number)?;
        live.table.get_mut(number)?.changed = clock::now();
        Ok(())
    }

    fn chmod(&self, path: Subpath<'_>, mode: u32, follow: bool) -> Attempt<()> {
        let mut live = self.shared.write();
        let found = live.table.find(path, follow)?;
        match live.table.stat(&found)?.kind {
            Kind::Symlink => return Err(Errno::NotSupported.into()),
            Kind::Device | Kind::Pipe => return Err(Errno::NoDevice.into()),
            Kind::File | Kind::Directory => {}
        }
        let number = live.claim(path, found)?;
        let inode = live.table.get_mut(number)?;
        inode.mode = mode;
        inode.changed = clock::now();
        Ok(())
    }

    fn chown(&self, path: Subpath<'_>, uid: Option<u32>, gid: Option<u32>, follow: bool) -> Attempt<()> {
        let mut live = self.shared.write();
        let found = live.table.find(path, follow)?;
        let number = live.claim(path, found)?;
        let inode = live.table.get_mut(number)?;
        inode.uid = uid.unwrap_or(inode.uid);
        inode.gid = gid.unwrap_or(inode.gid);
        inode.changed = clock::now();
        Ok(())
    }

    fn set_times(&self, path: Subpath<'_>, accessed: SetTime, modified: SetTime, follow: bool) -> Attempt<()> {
        let mut live = self.shared.write();
        let found = live.table.find(path, follow)?;
        let number = live.claim(path, found)?;
        let inode = live.table.get_mut(number)?;
        inode.set_times(accessed, modified);
        Ok(())
    }

    /// A new inode under the old name, as with a rename: what is open stays what it was.
    fn write_atomic(&self, path: Subpath<'_>, bytes: &[u8], how: &AtomicWrite) -> Attempt<Stat> {
        self.shared.quota.check_file(bytes.len() as u64)?;
        let mut live = self.shared.write();
        if path.is_root() {
            return Err(Errno::IsDirectory.into());
        }
        let slot = live.table.slot(path)?;
        let mut mode = how.mode;
        let mut old = None;
        if let Some(found) = &slot.found {
            follow(&live.table, path, found)?;
            let stat = live.table.stat(found)?;
            match stat.kind {
                Kind::File => mode = stat.mode & 0o1777,
                Kind::Directory => return Err(Errno::IsDirectory.into()),
                _ => return Err(Errno::NoDevice.into()),
            }
            old = Some(stat);
        }
        how.expected.check(old.as_ref())?;
        let mut content = Content::default();
        content.write(0, bytes, None)?;
        let parent = live.claim_parent(path, slot.parent)?;
        let number = live.make_nameless(Inode::new(mode, Body::File(content)))?;
        if let Some(found) = slot.found
            && let Err(stop) = live.remove_name(path, Found::Inode(parent), found)
        {
            live.unmake(number);
            return Err(stop);
        }
        live.table.enter(parent, slot.name, number)?;
        Ok(live.table.get(number)?.stat(number))
    }

    /// An overlay makes none: it would show as a change of what is below.
    fn make_mount_point(&self, path: Subpath<'_>) -> Attempt<()> {
        let mut live = self.shared.write();
        if live.table.lower.is_some() {
            return Ok(());
        }
        let mut parent = ROOT;
        for name in path.names() {
            parent = match live.table.directory(parent)?.names.get(name) {
                Some(Entry::Inode(number, _)) => number,
                _ => live.make(parent, name, Inode::new(0o755, Body::directory()))?,
            };
        }
        live.table.directory(parent)?;
        Ok(())
    }

    fn overlay(&self) -> Option<Overlay> {
        self.is_overlay().then(|| Overlay::new(self.clone()))
    }

    fn freeze(&self) -> Option<Arc<dyn Frozen>> {
        Some(Arc::new(self.snapshot()))
    }
}

/// What an open is about: what is there, or the file that it makes.
fn find_or_make(live: &mut Live, path: Subpath<'_>, how: &OpenHow) -> Attempt<Found> {
    let is_exclusive = how.create && how.exclusive;
    if path.is_root() {
        return match is_exclusive {
            true => Err(Errno::Exist.into()),
            false => Ok(Found::Inode(ROOT)),
        };
    }
    let slot = live.table.slot(path)?;
    match slot.found {
        Some(_) if is_exclusive => Err(Errno::Exist.into()),
        Some(found) => {
            if !how.nofollow {
                follow(&live.table, path, &found)?;
            }
            Ok(found)
        }
        None if how.create => {
            let parent = live.claim_parent(path, slot.parent)?;
            let file = Inode::new(how.mode, Body::File(Content::default()));
            Ok(Found::Inode(live.make(parent, slot.name, file)?))
        }
        None => Err(Errno::NoEntry.into()),
    }
}

/// Puts something new under a name that must be free.
fn make(live: &mut Live, path: Subpath<'_>, mode: u32, body: Body) -> Attempt<()> {
    let slot = live.table.slot(path)?;
    if slot.found.is_some() {
        return Err(Errno::Exist.into());
    }
    let parent = live.claim_parent(path, slot.parent)?;
    live.make(parent, slot.name, Inode::new(mode, body))?;
    Ok(())
}

/// Cuts a file to nothing.
fn empty(live: &mut Live, number: Number) -> Attempt<()> {
    let inode = live.table.get_mut(number)?;
    if let Body::File(content) = &mut inode.body {
        live.account.release_bytes(content.set_len(0));
    }
    inode.touch();
    Ok(())
}
