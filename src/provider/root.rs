//! The directory that a provider keeps its sandboxes in.
//!
//! It is opened once; after that there are handles only, and names that we made up or that have the form of an id. A
//! sandbox comes into being by one rename and ends by one, so that it is there as a whole or not at all.

use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use rustix::fs::{FlockOperation, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::home::{FILES, Home, LEASE, LeaseFile, Locked, RECORD, last_used, read_record};
use super::record::Record;
use super::remove::remove_tree;
use super::{ProviderError, Result, SandboxId};

/// Held shared while something is made, alone while something is removed or looked at.
const LOCK: &str = ".lock";
/// What is being made.
const NEW: &str = ".new-";
/// What is being removed.
const GONE: &str = ".gone-";
/// How often a sandbox may be replaced under our eyes before we give up on it.
const TRIES: usize = 16;

/// The root. Clones are handles to the same one.
#[derive(Clone)]
pub(super) struct Root {
    dir: Arc<Dir>,
}

/// A sandbox that is being made. Dropping it removes it.
pub(super) struct Draft {
    root: Root,
    name: String,
    home: Option<Home>,
    is_published: bool,
}

/// What there is under an id.
pub(super) enum Found {
    Home(Home),
    InUse,
    Nothing,
}

/// What can be known of a sandbox without its lease.
pub(super) struct Glance {
    pub(super) is_held: bool,
    pub(super) last_used: u64,
    pub(super) record: Result<Record>,
}

impl Root {
    /// Opens the root, and makes it if it is not there.
    pub(super) fn open(path: &Path) -> Result<Root> {
        let refused = |error| ProviderError::host("open the root directory", error);
        // The only time that a path is used. What is in a sandbox is nobody else's business on this machine.
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(refused)?;
        let dir = Dir::open_ambient_dir(path, cap_std::ambient_authority()).map_err(refused)?;
        let root = Root { dir: Arc::new(dir) };
        root.clean()?;
        Ok(root)
    }

    /// Takes the lease of a sandbox, if it is there.
    pub(super) fn claim(&self, id: SandboxId) -> Result<Found> {
        match self.try_claim(id)? {
            // Someone may only have looked, or is about to remove it: whoever does has the root's lock alone.
            Found::InUse => {
                let _calm = self.lock(FlockOperation::LockShared)?;
                self.try_claim(id)
            }
            found => Ok(found),
        }
    }

    /// Begins to make a sandbox.
    pub(super) fn draft(&self, id: SandboxId) -> Result<Draft> {
        let refused = |error: std::io::Error| ProviderError::host("make a sandbox", error);
        let name = format!("{NEW}{}", token()?);
        // Until its lease is held it looks like one that somebody left behind.
        let _calm = self.lock(FlockOperation::LockShared)?;
        rustix::fs::mkdirat(&*self.dir, &name, Mode::RWXU).map_err(|error| refused(error.into()))?;
        let mut draft = Draft { root: self.clone(), name, home: None, is_published: false };
        let dir = self.dir.open_dir_nofollow(&draft.name).map_err(refused)?;
        let lock = Arc::new(LeaseFile::make(&dir)?);
        rustix::fs::mkdirat(&dir, FILES, Mode::from_raw_mode(0o755)).map_err(|error| refused(error.into()))?;
        draft.home = Some(Home { id, dir: Arc::new(dir), lock });
        Ok(draft)
    }

    /// Removes a sandbox that nobody has leased. Answers whether it was there.
    pub(super) fn delete(&self, id: SandboxId, only_if: impl FnOnce(&Home) -> Result<bool>) -> Result<bool> {
        let alone = self.lock(FlockOperation::LockExclusive)?;
        let home = match self.try_claim(id) {
            Ok(Found::Home(home)) => Some(home),
            Ok(Found::Nothing) => return Ok(false),
            Ok(Found::InUse) => return Err(ProviderError::InUse(id)),
            // Nobody can lease what has no lease: it can only be removed.
            Err(ProviderError::Damaged { .. }) => None,
            Err(error) => return Err(error),
        };
        if let Some(home) = &home
            && !only_if(home)?
        {
            return Ok(false);
        }
        self.vanish(id, alone).map(|()| true)
    }

    /// Removes a sandbox whose lease is held.
    pub(super) fn discard(&self, home: Home) -> Result<()> {
        let alone = self.lock(FlockOperation::LockExclusive)?;
        self.vanish(home.id, alone)
    }

    /// Replaces the record of a sandbox whose lease is held.
    pub(super) fn rewrite(&self, home: &Home, record: &Record) -> Result<()> {
        let refused = |error: std::io::Error| ProviderError::host("write a record", error);
        let name = format!("{NEW}{}", token()?);
        let _calm = self.lock(FlockOperation::LockShared)?;
        write_record(&self.dir, &name, record)
            .and_then(|()| Ok(rustix::fs::renameat(&*self.dir, &name, &*home.dir, RECORD)?))
            .inspect_err(|_| drop(self.dir.remove_file(&name)))
            .map_err(refused)?;
        sync(&home.dir).map_err(refused)
    }

    /// The ids of all sandboxes, in their order.
    pub(super) fn ids(&self) -> Result<Vec<SandboxId>> {
        let names = self.names()?;
        let mut ids: Vec<SandboxId> = names.iter().filter_map(|name| name.parse().ok()).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// Looks at some sandboxes without their leases; none for one that is not there.
    pub(super) fn look(&self, ids: &[SandboxId]) -> Result<Vec<Option<Glance>>> {
        let _alone = self.lock(FlockOperation::LockExclusive)?;
        ids.iter().map(|id| self.glance(*id)).collect()
    }

    /// When a sandbox was last used; none if it is not there.
    pub(super) fn last_used(&self, id: SandboxId) -> Result<Option<u64>> {
        match self.open_sandbox(id) {
            Ok(Some(dir)) => Ok(last_used(id, &dir).ok()),
            // Of what is no sandbox nobody knows.
            Ok(None) | Err(ProviderError::Damaged { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn glance(&self, id: SandboxId) -> Result<Option<Glance>> {
        let damaged = |error| Ok(Some(Glance { is_held: false, last_used: 0, record: Err(error) }));
        let dir = match self.open_sandbox(id) {
            Ok(Some(dir)) => dir,
            Ok(None) => return Ok(None),
            Err(error @ ProviderError::Damaged { .. }) => return damaged(error),
            Err(error) => return Err(error),
        };
        let lease = LeaseFile::open(&dir).map_err(|error| ProviderError::part(id, LEASE, error));
        match (lease, last_used(id, &dir)) {
            (Ok(lease), Ok(last_used)) => {
                Ok(Some(Glance { is_held: lease.is_held()?, last_used, record: read_record(id, &dir) }))
            }
            (Err(error), _) | (_, Err(error)) => damaged(error),
        }
    }

    fn try_claim(&self, id: SandboxId) -> Result<Found> {
        for _ in 0..TRIES {
            let Some(dir) = self.open_sandbox(id)? else {
                return Ok(Found::Nothing);
            };
            let lock = match LeaseFile::open(&dir) {
                Ok(lock) => lock,
                // Someone removed the sandbox between the two calls, or someone removed the file for good.
                Err(Errno::NOENT) if !self.is_still(id, &dir)? => continue,
                Err(error) => return Err(ProviderError::part(id, LEASE, error)),
            };
            if !lock.take()? {
                return Ok(Found::InUse);
            }
            // Whoever removes a sandbox has its lease. So from here on it stays, if it is still there.
            if self.is_still(id, &dir)? {
                return Ok(Found::Home(Home { id, dir: Arc::new(dir), lock: Arc::new(lock) }));
            }
        }
        Ok(Found::InUse)
    }

    fn open_sandbox(&self, id: SandboxId) -> Result<Option<Dir>> {
        match self.dir.open_dir_nofollow(id.to_string()) {
            Ok(dir) => Ok(Some(dir)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ProviderError::part(id, "directory", error)),
        }
    }

    /// Whether a directory is the one that has this name now.
    fn is_still(&self, id: SandboxId, dir: &Dir) -> Result<bool> {
        let refused = |error| ProviderError::host("look at a sandbox", error);
        let Some(now) = self.open_sandbox(id)? else {
            return Ok(false);
        };
        let (now, then) = (rustix::fs::fstat(&now).map_err(refused)?, rustix::fs::fstat(dir).map_err(refused)?);
        Ok((now.st_dev, now.st_ino) == (then.st_dev, then.st_ino))
    }

    fn lock(&self, how: FlockOperation) -> Result<Locked> {
        let refused = |error| ProviderError::host("lock the root directory", error);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = Locked(rustix::fs::openat(&*self.dir, LOCK, flags, Mode::RUSR | Mode::WUSR).map_err(refused)?);
        rustix::io::retry_on_intr(|| rustix::fs::flock(&file, how)).map_err(refused)?;
        Ok(file)
    }

    /// Removes a sandbox. Its name goes while nobody else looks; its files, which may be many, after that.
    fn vanish(&self, id: SandboxId, alone: Locked) -> Result<()> {
        let name = self.retire(&id.to_string())?;
        drop(alone);
        self.remove(&name)
    }

    /// Takes a name away, and answers under which one it can be removed.
    fn retire(&self, name: &str) -> Result<String> {
        let gone = format!("{GONE}{}", token()?);
        let refused = |error| ProviderError::host("remove a sandbox", error);
        rustix::fs::renameat(&*self.dir, name, &*self.dir, &gone).map_err(refused)?;
        Ok(gone)
    }

    fn remove(&self, name: &str) -> Result<()> {
        match remove_tree(&*self.dir, name) {
            // A file of that name: someone put it there, or a record on its way to its place.
            Err(Errno::NOTDIR | Errno::LOOP) => match self.dir.remove_file(name) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(ProviderError::host("remove a sandbox", error))
                }
                _ => Ok(()),
            },
            answer => answer.map_err(|error| ProviderError::host("remove a sandbox", error)),
        }
    }

    /// Removes what processes that died have left half made and half removed.
    fn clean(&self) -> Result<()> {
        let is_rest = |name: &str| name.starts_with(NEW) || name.starts_with(GONE);
        if !self.names()?.iter().any(|name| is_rest(name)) {
            return Ok(());
        }
        let alone = self.lock(FlockOperation::LockExclusive)?;
        for name in self.names()?.iter().filter(|name| name.starts_with(NEW)) {
            // Whoever is still at it holds its lease; whoever is done has given it another name.
            let is_left = match self.dir.open_dir_nofollow(name) {
                Ok(dir) => !LeaseFile::open(&dir).is_ok_and(|lease| lease.is_held().unwrap_or(true)),
                Err(error) => error.kind() != std::io::ErrorKind::NotFound,
            };
            if is_left {
                let _ = self.retire(name);
            }
        }
        drop(alone);
        for name in self.names()?.iter().filter(|name| name.starts_with(GONE)) {
            // What cannot be removed is in nobody's way: the next one may succeed.
            let _ = self.remove(name);
        }
        Ok(())
    }

    fn names(&self) -> Result<Vec<String>> {
        let refused = |error| ProviderError::host("list the root directory", error);
        let mut names = Vec::new();
        for entry in self.dir.entries().map_err(refused)? {
            names.extend(entry.map_err(refused)?.file_name().into_string());
        }
        Ok(names)
    }
}

impl Draft {
    /// Its directory for files.
    pub(super) fn files(&self) -> Result<Dir> {
        self.home()?.files()
    }

    /// Brings all its files to the disk, where what has a name has to be whole.
    pub(super) fn sync_files(&self) -> Result<()> {
        let synced = readable(&self.home()?.dir).and_then(|dir| Ok(rustix::fs::syncfs(dir)?));
        synced.map_err(|error| ProviderError::host("make a sandbox", error))
    }

    /// Gives it its name. None if someone else has that name already.
    pub(super) fn publish(mut self, record: &Record) -> Result<Option<Home>> {
        let refused = |error: std::io::Error| ProviderError::host("make a sandbox", error);
        let home = self.home()?.clone();
        home.set_last_used(record.created)?;
        write_record(&home.dir, RECORD, record).and_then(|()| sync(&home.dir)).map_err(refused)?;
        let (dir, id) = (&*self.root.dir, home.id.to_string());
        match rustix::fs::renameat_with(dir, &self.name, dir, id, RenameFlags::NOREPLACE) {
            Ok(()) => {}
            Err(Errno::EXIST | Errno::NOTEMPTY) => return Ok(None),
            Err(error) => return Err(refused(error.into())),
        }
        self.is_published = true;
        sync(dir).map_err(refused)?;
        Ok(Some(home))
    }

    fn home(&self) -> Result<&Home> {
        self.home.as_ref().ok_or_else(|| ProviderError::host("make a sandbox", Errno::NOENT))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // What cannot be removed now, the next `open` removes.
        if !self.is_published {
            let _ = self.root.retire(&self.name).and_then(|name| self.root.remove(&name));
        }
    }
}

/// Letters and digits that nobody has used before.
pub(super) fn token() -> Result<String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes)
        .map_err(|error| ProviderError::host("make up a name", std::io::Error::other(error.to_string())))?;
    Ok(format!("{:016x}", u64::from_le_bytes(bytes)))
}

/// Writes a record to a new file, and to the disk.
fn write_record(dir: &Dir, name: &str, record: &Record) -> std::io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = std::fs::File::from(rustix::fs::openat(dir, name, flags, Mode::RUSR | Mode::WUSR)?);
    file.write_all(&serde_json::to_vec(record)?)?;
    file.sync_all()
}

/// Brings the names in a directory to the disk. The handle we have may be one that only finds things.
fn sync(dir: &Dir) -> std::io::Result<()> {
    Ok(rustix::fs::fsync(readable(dir)?)?)
}

fn readable(dir: &Dir) -> std::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(dir, ".", flags, Mode::empty())?)
}
