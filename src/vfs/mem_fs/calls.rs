//! The calls of the mount table on a file system in memory.

use std::sync::Arc;

use crate::error::Errno;
use crate::limits::PATH_DEPTH;
use crate::path::Subpath;
use crate::vfs::{
    AtomicWrite, Attempt, DirEntry, DirStream, FileSystem, FrozenFs, Kind, MountKind, Node, OpenHow, Overlay, SetTime,
    Stat, Stop, clock,
};

use super::MemFs;
use super::content::Content;
use super::file::MemFile;
use super::inode::{Body, Inode};
use super::names::Entry;
use super::state::{FsState, follow};
use super::stream::MemStream;
use super::table::{NodeRef, Number, ROOT};

impl FileSystem for MemFs {
    fn open(&self, path: Subpath<'_>, how: &OpenHow) -> Attempt<Node> {
        let mut state = self.shared.write();
        let found = find_or_make(&mut state, path, how)?;
        let stat = state.table.stat(&found)?;
        match stat.kind {
            Kind::Directory if how.writes() || how.create || how.truncate => Err(Errno::IsDirectory.into()),
            Kind::Directory => Ok(Node::Directory),
            _ if how.directory => Err(Errno::NotDirectory.into()),
            Kind::Symlink => Err(Errno::Loop.into()),
            Kind::Device | Kind::Pipe => Err(Errno::NoDevice.into()),
            Kind::File => {
                let shared = Arc::clone(&self.shared);
                // Created last: dropping a handle takes the lock.
                let file = match found {
                    NodeRef::Lower(origin, stat) if !how.writes() && !how.truncate => {
                        let lower = state.table.lower.as_ref().ok_or(Errno::Io)?;
                        let below = lower.open(&origin)?;
                        state.add_handle(stat.inode);
                        MemFile::of_lower(shared, stat.inode, below, origin)
                    }
                    found => {
                        let number = state.claim(path, found)?;
                        if how.truncate {
                            empty(&mut state, number)?;
                        }
                        state.add_handle(number);
                        MemFile::new(shared, number)
                    }
                };
                Ok(Node::File(Arc::new(file)))
            }
        }
    }

    fn stat(&self, path: Subpath<'_>, follow: bool) -> Attempt<Stat> {
        let state = self.shared.read();
        Ok(state.table.stat(&state.table.find(path, follow)?)?)
    }

    fn read_dir(&self, path: Subpath<'_>) -> Attempt<Vec<DirEntry>> {
        let state = self.shared.read();
        match state.table.find(path, true)? {
            NodeRef::Inode(number) => state.table.list(state.table.directory(number)?),
            NodeRef::Lower(below, _) => match &state.table.lower {
                Some(lower) => lower.read_dir(&below),
                None => Err(Errno::Io.into()),
            },
        }
    }

    fn open_dir(&self, path: Subpath<'_>) -> Attempt<Box<dyn DirStream>> {
        let state = self.shared.read();
        let lower = state.table.lower.as_ref();
        match state.table.find(path, true)? {
            NodeRef::Inode(number) => {
                let directory = state.table.directory(number)?.clone();
                let below = match (&directory.origin, lower) {
                    (Some(origin), Some(lower)) => Some(lower.open_dir(origin)?),
                    _ => None,
                };
                Ok(Box::new(MemStream::new(directory, below)))
            }
            NodeRef::Lower(below, _) => lower.ok_or(Errno::Io)?.open_dir(&below),
        }
    }

    fn read_link(&self, path: Subpath<'_>) -> Attempt<String> {
        let state = self.shared.read();
        let found = state.table.find(path, false)?;
        match follow(&state.table, path, &found) {
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
        let mut state = self.shared.write();
        let found = state.table.find(from, false)?;
        let slot = state.table.slot(to)?;
        if slot.found.is_some() {
            return Err(Errno::Exist.into());
        }
        if state.table.stat(&found)?.kind == Kind::Directory {
            return Err(Errno::NotPermitted.into());
        }
        let number = state.claim(from, found)?;
        let parent = state.claim_parent(to, slot.parent)?;
        // A name costs memory like an inode, and no other limit bounds the number of names.
        state.account.reserve_inode()?;
        let inode = state.table.get_mut(number)?;
        inode.links += 1;
        inode.charged += 1;
        inode.changed = clock::now();
        Ok(state.table.enter(parent, slot.name, number)?)
    }

    fn rmdir(&self, path: Subpath<'_>) -> Attempt<()> {
        let mut state = self.shared.write();
        let slot = state.table.slot(path)?;
        let found = slot.found.ok_or(Errno::NoEntry)?;
        if state.table.stat(&found)?.kind != Kind::Directory {
            return Err(Errno::NotDirectory.into());
        }
        if !state.table.is_empty(&found)? {
            return Err(Errno::NotEmpty.into());
        }
        state.remove_name(path, slot.parent, found)
    }

    fn unlink(&self, path: Subpath<'_>) -> Attempt<()> {
        let mut state = self.shared.write();
        let slot = state.table.slot(path)?;
        let found = slot.found.ok_or(Errno::NoEntry)?;
        if state.table.stat(&found)?.kind == Kind::Directory {
            return Err(Errno::IsDirectory.into());
        }
        state.remove_name(path, slot.parent, found)
    }

    fn rename(&self, from: Subpath<'_>, to: Subpath<'_>) -> Attempt<()> {
        let mut state = self.shared.write();
        let (old, new) = (state.table.slot(from)?, state.table.slot(to)?);
        let found = old.found.ok_or(Errno::NoEntry)?;
        // The paths hold no links and no `..`, so their names show which directory contains the other.
        if to.is_within(from) {
            return Err(Errno::Invalid.into());
        }
        if from.is_within(to) {
            return Err(Errno::NotEmpty.into());
        }
        let stat = state.table.stat(&found)?;
        if let Some(replaced) = &new.found {
            let other = state.table.stat(replaced)?;
            if other.inode == stat.inode {
                return Ok(());
            }
            match (stat.kind == Kind::Directory, other.kind == Kind::Directory) {
                (true, false) => return Err(Errno::NotDirectory.into()),
                (false, true) => return Err(Errno::IsDirectory.into()),
                (true, true) if !state.table.is_empty(replaced)? => {
                    return Err(Errno::NotEmpty.into());
                }
                _ => {}
            }
        }
        if let (NodeRef::Inode(number), Kind::Directory) = (&found, stat.kind) {
            // A tree deeper than any path could be neither removed nor saved.
            let (depth, before) = (to.names().count(), from.names().count());
            if depth > before && state.table.is_deeper(*number, PATH_DEPTH.saturating_sub(depth))? {
                return Err(Errno::NameTooLong.into());
            }
        }
        // Everything is claimed before a name is removed, because claiming may fail for lack of space.
        let number = state.claim(from, found)?;
        let old_parent = state.claim_parent(from, old.parent)?;
        let new_parent = state.claim_parent(to, new.parent)?;
        if let Some(replaced) = new.found {
            state.remove_name(to, NodeRef::Inode(new_parent), replaced)?;
        }
        state.table.leave(old_parent, old.name)?;
        state.table.enter(new_parent, new.name, number)?;
        state.table.get_mut(number)?.changed = clock::now();
        Ok(())
    }

    fn chmod(&self, path: Subpath<'_>, mode: u32, follow: bool) -> Attempt<()> {
        let mut state = self.shared.write();
        let found = state.table.find(path, follow)?;
        match state.table.stat(&found)?.kind {
            Kind::Symlink => return Err(Errno::NotSupported.into()),
            Kind::Device | Kind::Pipe => return Err(Errno::NoDevice.into()),
            Kind::File | Kind::Directory => {}
        }
        let number = state.claim(path, found)?;
        let inode = state.table.get_mut(number)?;
        inode.mode = mode;
        inode.changed = clock::now();
        Ok(())
    }

    fn chown(&self, path: Subpath<'_>, uid: Option<u32>, gid: Option<u32>, follow: bool) -> Attempt<()> {
        let mut state = self.shared.write();
        let found = state.table.find(path, follow)?;
        let number = state.claim(path, found)?;
        let inode = state.table.get_mut(number)?;
        inode.uid = uid.unwrap_or(inode.uid);
        inode.gid = gid.unwrap_or(inode.gid);
        inode.changed = clock::now();
        Ok(())
    }

    fn set_times(&self, path: Subpath<'_>, accessed: SetTime, modified: SetTime, follow: bool) -> Attempt<()> {
        let mut state = self.shared.write();
        let found = state.table.find(path, follow)?;
        let number = state.claim(path, found)?;
        let inode = state.table.get_mut(number)?;
        inode.set_times(accessed, modified);
        Ok(())
    }

    /// Puts a new inode under the old name, like a rename: open handles keep the old content.
    fn write_atomic(&self, path: Subpath<'_>, bytes: &[u8], how: &AtomicWrite) -> Attempt<Stat> {
        self.shared.quota.check_file(bytes.len() as u64)?;
        let mut state = self.shared.write();
        if path.is_root() {
            return Err(Errno::IsDirectory.into());
        }
        let slot = state.table.slot(path)?;
        let mut mode = how.mode;
        let mut old = None;
        if let Some(found) = &slot.found {
            follow(&state.table, path, found)?;
            let stat = state.table.stat(found)?;
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
        let parent = state.claim_parent(path, slot.parent)?;
        let number = state.make_nameless(Inode::new(mode, Body::File(content)))?;
        if let Some(found) = slot.found
            && let Err(stop) = state.remove_name(path, NodeRef::Inode(parent), found)
        {
            state.unmake(number);
            return Err(stop);
        }
        state.table.enter(parent, slot.name, number)?;
        Ok(state.table.get(number)?.stat(number))
    }

    /// An overlay creates none: the directory would show as a change.
    fn make_mount_point(&self, path: Subpath<'_>) -> Attempt<()> {
        let mut state = self.shared.write();
        if state.table.lower.is_some() {
            return Ok(());
        }
        let mut parent = ROOT;
        for name in path.names() {
            parent = match state.table.directory(parent)?.names.get(name) {
                Some(Entry::Inode(number, _)) => number,
                _ => state.make(parent, name, Inode::new(0o755, Body::directory()))?,
            };
        }
        state.table.directory(parent)?;
        Ok(())
    }

    fn mount_kind(&self) -> MountKind {
        if self.is_over_host() { MountKind::Overlay } else { MountKind::Memory }
    }

    fn overlay(&self) -> Option<Overlay> {
        self.is_overlay().then(|| Overlay::new(self.clone()))
    }

    fn freeze(&self) -> Option<Arc<dyn FrozenFs>> {
        Some(Arc::new(self.snapshot()))
    }
}

/// Returns the file that an open applies to: an existing one, or the one that it creates.
fn find_or_make(state: &mut FsState, path: Subpath<'_>, how: &OpenHow) -> Attempt<NodeRef> {
    let is_exclusive = how.create && how.exclusive;
    if path.is_root() {
        return match is_exclusive {
            true => Err(Errno::Exist.into()),
            false => Ok(NodeRef::Inode(ROOT)),
        };
    }
    let slot = state.table.slot(path)?;
    match slot.found {
        Some(_) if is_exclusive => Err(Errno::Exist.into()),
        Some(found) => {
            if !how.nofollow {
                follow(&state.table, path, &found)?;
            }
            Ok(found)
        }
        None if how.create => {
            let parent = state.claim_parent(path, slot.parent)?;
            let file = Inode::new(how.mode, Body::File(Content::default()));
            Ok(NodeRef::Inode(state.make(parent, slot.name, file)?))
        }
        None => Err(Errno::NoEntry.into()),
    }
}

/// Puts a new inode under a name that must be free.
fn make(state: &mut FsState, path: Subpath<'_>, mode: u32, body: Body) -> Attempt<()> {
    let slot = state.table.slot(path)?;
    if slot.found.is_some() {
        return Err(Errno::Exist.into());
    }
    let parent = state.claim_parent(path, slot.parent)?;
    state.make(parent, slot.name, Inode::new(mode, body))?;
    Ok(())
}

/// Truncates a file to nothing.
fn empty(state: &mut FsState, number: Number) -> Attempt<()> {
    let inode = state.table.get_mut(number)?;
    if let Body::File(content) = &mut inode.body {
        state.account.release_bytes(content.set_len(0));
    }
    inode.touch();
    Ok(())
}
