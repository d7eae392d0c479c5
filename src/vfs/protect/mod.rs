//! A layer over a file system that keeps some paths from being changed.
//!
//! In a directory that is the host's, some files are obeyed by programs of the host as soon as someone works there:
//! git's hooks and configuration, what shells load, tasks of editors, tools of agents ([`Rules`]). A sandbox that could
//! write them could run anything outside. They can be read; every call that would make, change, replace, rename, link or
//! remove one is refused with [`NotPermitted`](Errno::NotPermitted), and so is every call that would turn something else
//! into one or take it out of protection: `mv evil .git` if there are hooks in `evil`, `mv .git x`, a hard link to a
//! hook under another name, a file or a link called `.git`, which would point git to another directory.
//!
//! # Why it looks at names and nothing slips through
//! A path that reaches a file system holds no `..` and is followed through no link: a link is an answer, and the path it
//! leads to comes here as any other. So the names of a path are where it really is. Names are compared as the loosest of
//! hosts would (`fold`). What a directory holds is looked at when it is moved to where other rules apply, and nobody can
//! change anything meanwhile: `moving` is held alone by `rename`, and shared by every other change.
//!
//! The boundary is one mount: two sandboxes that have the same directory each have a lock of their own.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use bytes::Bytes;

use crate::error::{Errno, Result};
use crate::path::Subpath;

use super::{
    AtomicWrite, Attempt, DirEntry, DirStream, File, FileSystem, Frozen, HostDir, Kind, Node, OpenHow, Overlay, Quota,
    SetTime, Stat, Stop,
};
use rules::State;

pub use rules::Rules;

mod rules;

/// A file system of which some paths can only be read.
pub struct Protect {
    inner: Arc<dyn FileSystem>,
    list: Arc<List>,
}

/// What a layer and its forks have in common.
pub(super) struct List {
    rules: Rules,
    /// What is known of the path that leads to the root of the file system.
    root: State,
    /// Held alone while something is moved, so that nothing comes into a directory after it was looked at.
    moving: RwLock<()>,
}

impl List {
    /// Whether a path must not become, or be, something else than it is.
    pub(super) fn protects(&self, path: Subpath<'_>, is_dir: bool) -> bool {
        let state = self.state(path);
        state.is_protected || state.is_git && !is_dir
    }

    fn state(&self, path: Subpath<'_>) -> State {
        path.names().fold(self.root.clone(), |state, name| self.rules.step(&state, name))
    }
}

impl Protect {
    /// A layer over a file system whose root stands nowhere in particular.
    pub fn new(inner: Arc<dyn FileSystem>, rules: Rules) -> Protect {
        Protect::below(inner, rules, std::iter::empty())
    }

    /// A layer over a directory of the host. Where that directory stands matters: in one that is a `.git` itself the
    /// hooks are called `hooks`.
    pub fn host(dir: HostDir, rules: Rules) -> Protect {
        let names = dir.names_on_host();
        Protect::below(Arc::new(dir), rules, names.iter().map(String::as_str))
    }

    /// A layer over a file system whose root has these names.
    pub fn below<'a>(inner: Arc<dyn FileSystem>, rules: Rules, names: impl Iterator<Item = &'a str>) -> Protect {
        let root = names.fold(State::default(), |state, name| rules.step(&state, name));
        Protect { inner, list: Arc::new(List { rules, root, moving: RwLock::new(()) }) }
    }

    /// Leave to change something that is not going to be moved meanwhile.
    fn still(&self) -> RwLockReadGuard<'_, ()> {
        self.list.moving.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn alone(&self) -> RwLockWriteGuard<'_, ()> {
        self.list.moving.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self, path: Subpath<'_>) -> State {
        self.list.state(path)
    }

    /// Refuses to change what is there, or to make something that is no directory.
    fn check(&self, path: Subpath<'_>) -> Attempt<()> {
        let state = self.state(path);
        if state.is_protected {
            return self.refuse(path);
        }
        if state.is_git && !matches!(self.inner.stat(path, false), Ok(Stat { kind: Kind::Directory, .. })) {
            return self.refuse(path);
        }
        Ok(())
    }

    /// The refusal, unless a link is in the way: then the path is not the one that it is about.
    fn refuse<T>(&self, path: Subpath<'_>) -> Attempt<T> {
        match self.inner.stat(path, false) {
            Err(stop @ Stop::Link { .. }) => Err(stop),
            _ => Err(Errno::NotPermitted.into()),
        }
    }

    /// Refuses to move a directory if anything in it would gain or lose protection.
    fn check_contents(&self, path: Subpath<'_>, old: &State, new: &State) -> Attempt<()> {
        // Directories that are still to be looked at, with what is known of them before and after.
        let mut pending = vec![(path.as_str().to_owned(), old.clone(), new.clone())];
        while let Some((at, old, new)) = pending.pop() {
            if old == new {
                continue;
            }
            for entry in self.inner.read_dir(Subpath::trusted(&at))? {
                let old = self.list.rules.step(&old, &entry.name);
                let new = self.list.rules.step(&new, &entry.name);
                let is_dir = entry.kind == Kind::Directory;
                if old.is_protected != new.is_protected || new.is_git && !is_dir {
                    return Err(Errno::NotPermitted.into());
                }
                if is_dir {
                    pending.push((format!("{at}/{}", entry.name), old, new));
                }
            }
        }
        Ok(())
    }
}

impl FileSystem for Protect {
    fn open(&self, path: Subpath<'_>, how: &OpenHow) -> Attempt<Node> {
        if !how.writes() && !how.truncate && !how.create {
            return match self.inner.open(path, how)? {
                Node::File(file) if self.state(path).is_protected => Ok(Node::File(Arc::new(Sealed(file)))),
                node => Ok(node),
            };
        }
        let _still = self.still();
        // Shells open what they only read with `create`, too; what is there is not made.
        let is_made = || matches!(self.inner.stat(path, false), Err(Stop::Errno(Errno::NoEntry)));
        if how.writes() || how.truncate || how.exclusive || is_made() {
            self.check(path)?;
        } else if self.state(path).is_protected {
            return match self.inner.open(path, &OpenHow { create: false, ..*how })? {
                Node::File(file) => Ok(Node::File(Arc::new(Sealed(file)))),
                Node::Directory => Err(Errno::IsDirectory.into()),
                node => Ok(node),
            };
        }
        self.inner.open(path, how)
    }

    fn stat(&self, path: Subpath<'_>, follow: bool) -> Attempt<Stat> {
        self.inner.stat(path, follow)
    }

    fn read_dir(&self, path: Subpath<'_>) -> Attempt<Vec<DirEntry>> {
        self.inner.read_dir(path)
    }

    fn open_dir(&self, path: Subpath<'_>) -> Attempt<Box<dyn DirStream>> {
        self.inner.open_dir(path)
    }

    fn read_link(&self, path: Subpath<'_>) -> Attempt<String> {
        self.inner.read_link(path)
    }

    fn mkdir(&self, path: Subpath<'_>, mode: u32) -> Attempt<()> {
        let _still = self.still();
        if self.state(path).is_protected {
            // `mkdir -p` of what is there changes nothing.
            return match self.inner.stat(path, false) {
                Ok(_) => Err(Errno::Exist.into()),
                _ => self.refuse(path),
            };
        }
        self.inner.mkdir(path, mode)
    }

    fn rmdir(&self, path: Subpath<'_>) -> Attempt<()> {
        let _still = self.still();
        self.check(path)?;
        self.inner.rmdir(path)
    }

    fn unlink(&self, path: Subpath<'_>) -> Attempt<()> {
        let _still = self.still();
        self.check(path)?;
        self.inner.unlink(path)
    }

    fn rename(&self, from: Subpath<'_>, to: Subpath<'_>) -> Attempt<()> {
        let _alone = self.alone();
        let (old, new) = (self.state(from), self.state(to));
        if old.is_protected {
            return self.refuse(from);
        }
        if new.is_protected {
            return self.refuse(to);
        }
        if old != new {
            let is_dir = self.inner.stat(from, false)?.kind == Kind::Directory;
            if is_dir {
                self.check_contents(from, &old, &new)?;
            } else if old.is_git || new.is_git {
                return Err(Errno::NotPermitted.into());
            }
        } else if old.is_git {
            self.check(from)?;
        }
        self.inner.rename(from, to)
    }

    fn link(&self, from: Subpath<'_>, to: Subpath<'_>) -> Attempt<()> {
        let _still = self.still();
        self.check(from)?;
        self.check(to)?;
        self.inner.link(from, to)
    }

    fn symlink(&self, target: &str, path: Subpath<'_>) -> Attempt<()> {
        let _still = self.still();
        self.check(path)?;
        self.inner.symlink(target, path)
    }

    fn chmod(&self, path: Subpath<'_>, mode: u32, follow: bool) -> Attempt<()> {
        let _still = self.still();
        self.check(path)?;
        self.inner.chmod(path, mode, follow)
    }

    fn chown(&self, path: Subpath<'_>, uid: Option<u32>, gid: Option<u32>, follow: bool) -> Attempt<()> {
        let _still = self.still();
        self.check(path)?;
        self.inner.chown(path, uid, gid, follow)
    }

    fn set_times(&self, path: Subpath<'_>, accessed: SetTime, modified: SetTime, follow: bool) -> Attempt<()> {
        let _still = self.still();
        self.check(path)?;
        self.inner.set_times(path, accessed, modified, follow)
    }

    fn write_atomic(&self, path: Subpath<'_>, bytes: &[u8], how: &AtomicWrite) -> Attempt<Stat> {
        let _still = self.still();
        self.check(path)?;
        self.inner.write_atomic(path, bytes, how)
    }

    fn make_mount_point(&self, path: Subpath<'_>) -> Attempt<()> {
        self.inner.make_mount_point(path)
    }

    fn lists_descriptors(&self, path: Subpath<'_>) -> bool {
        self.inner.lists_descriptors(path)
    }

    fn overlay(&self) -> Option<Overlay> {
        self.inner.overlay().map(|overlay| overlay.protected(Arc::clone(&self.list)))
    }

    fn freeze(&self) -> Option<Arc<dyn Frozen>> {
        let inner = self.inner.freeze()?;
        Some(Arc::new(FrozenProtect { inner, list: Arc::clone(&self.list) }))
    }
}

/// What a snapshot keeps.
struct FrozenProtect {
    inner: Arc<dyn Frozen>,
    list: Arc<List>,
}

impl Frozen for FrozenProtect {
    fn thaw(&self, quota: &Arc<Quota>) -> Result<Arc<dyn FileSystem>> {
        let inner = self.inner.thaw(quota)?;
        // The lock is shared as well: both may be the same directory of the host.
        Ok(Arc::new(Protect { inner, list: Arc::clone(&self.list) }))
    }

    fn is_own(&self) -> bool {
        self.inner.is_own()
    }
}

/// A protected file that is open for reading. Its times could be set even so.
struct Sealed(Arc<dyn File>);

impl File for Sealed {
    fn read_at(&self, offset: u64, max: usize) -> Result<Bytes> {
        self.0.read_at(offset, max)
    }

    fn write_at(&self, _offset: u64, _bytes: &[u8]) -> Result<usize> {
        Err(Errno::NotPermitted)
    }

    fn append(&self, _bytes: &[u8]) -> Result<u64> {
        Err(Errno::NotPermitted)
    }

    fn stat(&self) -> Result<Stat> {
        self.0.stat()
    }

    fn set_len(&self, _len: u64) -> Result<()> {
        Err(Errno::NotPermitted)
    }

    fn set_times(&self, _accessed: SetTime, _modified: SetTime) -> Result<()> {
        Err(Errno::NotPermitted)
    }

    fn sync(&self) -> Result<()> {
        self.0.sync()
    }

    fn seekable(&self) -> bool {
        self.0.seekable()
    }
}
