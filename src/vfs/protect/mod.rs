//! A layer over a file system that refuses changes of some paths.
//!
//! Programs of the host obey some files in a directory as soon as it is used: hooks and configuration of git, startup
//! files of shells, tasks of editors, tools of agents ([`Rules`]). A sandbox that could write them could run anything
//! outside. They can be read. Every call that would create, change, replace, rename, link or remove one is refused with
//! [`NotPermitted`](Errno::NotPermitted). So is every call that would turn another file into one or remove its
//! protection: `mv evil .git` if `evil` holds hooks, `mv .git x`, a hard link to a hook under another name, a file or a
//! link called `.git`, which would point git to another directory.
//!
//! # Checking names is sufficient
//! A path that reaches a file system holds no `..` and passes through no link: a link is returned to the mount table,
//! and its target arrives here as another path. The names of a path therefore show its real location. Names are
//! compared in folded form (`fold`). When a directory moves to a location with other rules, its content is checked.
//! Nothing can change during that check: `rename_lock` is exclusive for `rename` and shared by every other change.
//!
//! The protection is per mount: two sandboxes with the same directory have separate locks.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use bytes::Bytes;

use crate::error::{Errno, Result};
use crate::path::Subpath;

use super::{
    AtomicWrite, Attempt, DirEntry, DirStream, File, FileSystem, FrozenFs, HostDir, Kind, MountInfo, MountKind, Node,
    OpenHow, Overlay, Quota, SetTime, Stat, Stop,
};
use rules::PathState;

pub use rules::Rules;

mod rules;

/// A file system with some paths that can only be read.
pub struct Protect {
    inner: Arc<dyn FileSystem>,
    list: Arc<ProtectedPaths>,
}

/// PathState that a layer shares with its forks.
pub(super) struct ProtectedPaths {
    rules: Rules,
    /// The state of the path that leads to the root of the file system.
    root: PathState,
    /// Exclusive during a rename, so that nothing can be added to a directory after it was checked.
    rename_lock: RwLock<()>,
}

impl ProtectedPaths {
    /// Returns true if the file of a path must not be changed or created.
    pub(super) fn protects(&self, path: Subpath<'_>, is_dir: bool) -> bool {
        let state = self.state(path);
        state.is_protected || state.is_git && !is_dir
    }

    fn state(&self, path: Subpath<'_>) -> PathState {
        path.names().fold(self.root.clone(), |state, name| self.rules.step(&state, name))
    }
}

impl Protect {
    /// Creates a layer over a file system whose location does not matter.
    pub fn new(inner: Arc<dyn FileSystem>, rules: Rules) -> Protect {
        Protect::below(inner, rules, std::iter::empty())
    }

    /// Creates a layer over a directory of the host. The location of the directory matters: in a `.git` the hooks are
    /// called `hooks`.
    pub fn host(dir: HostDir, rules: Rules) -> Protect {
        let names = dir.names_on_host();
        Protect::below(Arc::new(dir), rules, names.iter().map(String::as_str))
    }

    /// Creates a layer over a file system whose root has these names.
    pub fn below<'a>(inner: Arc<dyn FileSystem>, rules: Rules, names: impl Iterator<Item = &'a str>) -> Protect {
        let root = names.fold(PathState::default(), |state, name| rules.step(&state, name));
        Protect { inner, list: Arc::new(ProtectedPaths { rules, root, rename_lock: RwLock::new(()) }) }
    }

    /// Locks out renames during another change.
    fn lock_shared(&self) -> RwLockReadGuard<'_, ()> {
        self.list.rename_lock.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_exclusive(&self) -> RwLockWriteGuard<'_, ()> {
        self.list.rename_lock.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn state(&self, path: Subpath<'_>) -> PathState {
        self.list.state(path)
    }

    /// Refuses to change a protected file, or to create a `.git` that is not a directory.
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

    /// Returns the refusal, unless a link is in the way: then the call applies to another path.
    fn refuse<T>(&self, path: Subpath<'_>) -> Attempt<T> {
        match self.inner.stat(path, false) {
            Err(stop @ Stop::Link { .. }) => Err(stop),
            _ => Err(Errno::NotPermitted.into()),
        }
    }

    /// Refuses to move a directory if a file in it would gain or lose protection.
    fn check_contents(&self, path: Subpath<'_>, old: &PathState, new: &PathState) -> Attempt<()> {
        // Directories to check, with their states before and after the move.
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
                Node::File(file) if self.state(path).is_protected => Ok(Node::File(Arc::new(ReadOnlyFile(file)))),
                node => Ok(node),
            };
        }
        let _lock = self.lock_shared();
        // Shells also use `create` to open files for reading; an existing file is not created.
        let is_made = || matches!(self.inner.stat(path, false), Err(Stop::Errno(Errno::NoEntry)));
        if how.writes() || how.truncate || how.exclusive || is_made() {
            self.check(path)?;
        } else if self.state(path).is_protected {
            return match self.inner.open(path, &OpenHow { create: false, ..*how })? {
                Node::File(file) => Ok(Node::File(Arc::new(ReadOnlyFile(file)))),
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
        let _lock = self.lock_shared();
        if self.state(path).is_protected {
            // `mkdir -p` of an existing directory changes nothing.
            return match self.inner.stat(path, false) {
                Ok(_) => Err(Errno::Exist.into()),
                _ => self.refuse(path),
            };
        }
        self.inner.mkdir(path, mode)
    }

    fn rmdir(&self, path: Subpath<'_>) -> Attempt<()> {
        let _lock = self.lock_shared();
        self.check(path)?;
        self.inner.rmdir(path)
    }

    fn unlink(&self, path: Subpath<'_>) -> Attempt<()> {
        let _lock = self.lock_shared();
        self.check(path)?;
        self.inner.unlink(path)
    }

    fn rename(&self, from: Subpath<'_>, to: Subpath<'_>) -> Attempt<()> {
        let _lock = self.lock_exclusive();
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
        let _lock = self.lock_shared();
        self.check(from)?;
        self.check(to)?;
        self.inner.link(from, to)
    }

    fn symlink(&self, target: &str, path: Subpath<'_>) -> Attempt<()> {
        let _lock = self.lock_shared();
        self.check(path)?;
        self.inner.symlink(target, path)
    }

    fn chmod(&self, path: Subpath<'_>, mode: u32, follow: bool) -> Attempt<()> {
        let _lock = self.lock_shared();
        self.check(path)?;
        self.inner.chmod(path, mode, follow)
    }

    fn chown(&self, path: Subpath<'_>, uid: Option<u32>, gid: Option<u32>, follow: bool) -> Attempt<()> {
        let _lock = self.lock_shared();
        self.check(path)?;
        self.inner.chown(path, uid, gid, follow)
    }

    fn set_times(&self, path: Subpath<'_>, accessed: SetTime, modified: SetTime, follow: bool) -> Attempt<()> {
        let _lock = self.lock_shared();
        self.check(path)?;
        self.inner.set_times(path, accessed, modified, follow)
    }

    fn write_atomic(&self, path: Subpath<'_>, bytes: &[u8], how: &AtomicWrite) -> Attempt<Stat> {
        let _lock = self.lock_shared();
        self.check(path)?;
        self.inner.write_atomic(path, bytes, how)
    }

    fn make_mount_point(&self, path: Subpath<'_>) -> Attempt<()> {
        self.inner.make_mount_point(path)
    }

    fn lists_descriptors(&self, path: Subpath<'_>) -> bool {
        self.inner.lists_descriptors(path)
    }

    fn mount_kind(&self) -> MountKind {
        self.inner.mount_kind()
    }

    fn set_mounts(&self, mounts: &[MountInfo]) {
        self.inner.set_mounts(mounts);
    }

    fn overlay(&self) -> Option<Overlay> {
        self.inner.overlay().map(|overlay| overlay.protected(Arc::clone(&self.list)))
    }

    fn freeze(&self) -> Option<Arc<dyn FrozenFs>> {
        let inner = self.inner.freeze()?;
        Some(Arc::new(FrozenProtect { inner, list: Arc::clone(&self.list) }))
    }
}

/// The layer in a snapshot.
struct FrozenProtect {
    inner: Arc<dyn FrozenFs>,
    list: Arc<ProtectedPaths>,
}

impl FrozenFs for FrozenProtect {
    fn thaw(&self, quota: &Arc<Quota>) -> Result<Arc<dyn FileSystem>> {
        let inner = self.inner.thaw(quota)?;
        // The lock is shared as well: both may be the same directory of the host.
        Ok(Arc::new(Protect { inner, list: Arc::clone(&self.list) }))
    }

    fn is_own(&self) -> bool {
        self.inner.is_own()
    }
}

/// A protected file that is open for reading. Without this wrapper its times could be set.
struct ReadOnlyFile(Arc<dyn File>);

impl File for ReadOnlyFile {
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
