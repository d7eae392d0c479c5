//! The directory of a provider's sandboxes.
//!
//! Its path is opened once. Afterwards there are only descriptors, and names that the provider made or that have the
//! form of an id. One rename publishes a sandbox and one rename removes it, so a sandbox exists as a whole or not at
//! all.

use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::sync::Arc;

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use rustix::fs::{FlockOperation, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::record::Record;
use super::remove::remove_tree;
use super::sandbox_dir::{FILES, LEASE, LeaseFile, LeaseLock, LockedFile, RECORD, SandboxDir, last_used, read_record};
use super::{ProviderError, Result, SandboxId};
use crate::limits::server::provider::LEASE_ATTEMPTS;

/// The file with the root's lock: shared while something is created, exclusive while something is removed or inspected.
const LOCK: &str = ".lock";
/// Prefix of the names of unpublished sandboxes and records.
const NEW: &str = ".new-";
/// Prefix of the names of sandboxes that are being removed.
const GONE: &str = ".gone-";

/// The root directory. Clones are handles to the same one.
#[derive(Clone)]
pub(super) struct Root {
    dir: Arc<Dir>,
}

/// A sandbox that has no name yet. Dropping it removes it.
pub(super) struct UnpublishedSandbox {
    root: Root,
    name: String,
    sandbox_dir: Option<SandboxDir>,
    is_published: bool,
}

/// The result of an attempt to lease a sandbox.
pub(super) enum LeaseAttempt {
    Taken(SandboxDir),
    InUse,
    NotFound,
}

/// The facts about a sandbox that need no lease.
pub(super) struct Inspection {
    pub(super) is_held: bool,
    pub(super) last_used: u64,
    pub(super) record: Result<Record>,
}

impl Root {
    /// Opens the root, and creates it if it is missing.
    pub(super) fn open(path: &Path) -> Result<Root> {
        let refused = |error| ProviderError::host("open the root directory", error);
        // The only use of a path. The mode keeps other users of the machine out of the sandboxes.
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(refused)?;
        let dir = Dir::open_ambient_dir(path, cap_std::ambient_authority()).map_err(refused)?;
        let root = Root { dir: Arc::new(dir) };
        root.clean()?;
        Ok(root)
    }

    /// Takes the lease of a sandbox, if it exists and is not leased.
    pub(super) fn lease(&self, id: SandboxId) -> Result<LeaseAttempt> {
        match self.try_lease(id)? {
            // The holder may only inspect or remove the sandbox. It has the root's lock exclusively for that, so the
            // second attempt, under the shared lock, sees a lasting state.
            LeaseAttempt::InUse => {
                let _shared = self.lock(FlockOperation::LockShared)?;
                self.try_lease(id)
            }
            found => Ok(found),
        }
    }

    /// Creates the directory of a sandbox that is not published yet.
    pub(super) fn begin_sandbox(&self, id: SandboxId) -> Result<UnpublishedSandbox> {
        let refused = |error: std::io::Error| ProviderError::host("make a sandbox", error);
        let name = format!("{NEW}{}", token()?);
        // Without a lease, `clean` would take the directory for the remains of a dead process.
        let _shared = self.lock(FlockOperation::LockShared)?;
        rustix::fs::mkdirat(&*self.dir, &name, Mode::RWXU).map_err(|error| refused(error.into()))?;
        let mut unpublished = UnpublishedSandbox { root: self.clone(), name, sandbox_dir: None, is_published: false };
        let dir = self.dir.open_dir_nofollow(&unpublished.name).map_err(refused)?;
        let lock = LeaseLock::new(LeaseFile::make(&dir)?);
        rustix::fs::mkdirat(&dir, FILES, Mode::from_raw_mode(0o755)).map_err(|error| refused(error.into()))?;
        unpublished.sandbox_dir = Some(SandboxDir { id, dir: Arc::new(dir), lock });
        Ok(unpublished)
    }

    /// Removes a sandbox that is not leased, if `only_if` agrees. Returns whether it was removed.
    pub(super) fn delete(&self, id: SandboxId, only_if: impl FnOnce(&SandboxDir) -> Result<bool>) -> Result<bool> {
        let exclusive = self.lock(FlockOperation::LockExclusive)?;
        let sandbox_dir = match self.try_lease(id) {
            Ok(LeaseAttempt::Taken(sandbox_dir)) => Some(sandbox_dir),
            Ok(LeaseAttempt::NotFound) => return Ok(false),
            Ok(LeaseAttempt::InUse) => return Err(ProviderError::InUse(id)),
            // A sandbox without a lease file cannot be leased, only removed.
            Err(ProviderError::Damaged { .. }) => None,
            Err(error) => return Err(error),
        };
        if let Some(sandbox_dir) = &sandbox_dir
            && !only_if(sandbox_dir)?
        {
            return Ok(false);
        }
        self.remove_sandbox(id, exclusive).map(|()| true)
    }

    /// Removes a sandbox whose lease is held.
    pub(super) fn discard(&self, sandbox_dir: SandboxDir) -> Result<()> {
        let exclusive = self.lock(FlockOperation::LockExclusive)?;
        self.remove_sandbox(sandbox_dir.id, exclusive)
    }

    /// Replaces the record of a sandbox whose lease is held.
    pub(super) fn rewrite(&self, sandbox_dir: &SandboxDir, record: &Record) -> Result<()> {
        let refused = |error: std::io::Error| ProviderError::host("write a record", error);
        let name = format!("{NEW}{}", token()?);
        let _shared = self.lock(FlockOperation::LockShared)?;
        write_record(&self.dir, &name, record)
            .and_then(|()| Ok(rustix::fs::renameat(&*self.dir, &name, &*sandbox_dir.dir, RECORD)?))
            .inspect_err(|_| drop(self.dir.remove_file(&name)))
            .map_err(refused)?;
        sync(&sandbox_dir.dir).map_err(refused)
    }

    /// Returns the ids of all sandboxes, in ascending order.
    pub(super) fn ids(&self) -> Result<Vec<SandboxId>> {
        let names = self.names()?;
        let mut ids: Vec<SandboxId> = names.iter().filter_map(|name| name.parse().ok()).collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// Inspects sandboxes without their leases. `None` for one that does not exist.
    pub(super) fn inspect(&self, ids: &[SandboxId]) -> Result<Vec<Option<Inspection>>> {
        let _exclusive = self.lock(FlockOperation::LockExclusive)?;
        ids.iter().map(|id| self.inspect_one(*id)).collect()
    }

    /// Returns the time of a sandbox's last use. `None` if it does not exist.
    pub(super) fn last_used(&self, id: SandboxId) -> Result<Option<u64>> {
        match self.open_sandbox(id) {
            Ok(Some(dir)) => Ok(last_used(id, &dir).ok()),
            // A damaged sandbox has no such time.
            Ok(None) | Err(ProviderError::Damaged { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn inspect_one(&self, id: SandboxId) -> Result<Option<Inspection>> {
        let damaged = |error| Ok(Some(Inspection { is_held: false, last_used: 0, record: Err(error) }));
        let dir = match self.open_sandbox(id) {
            Ok(Some(dir)) => dir,
            Ok(None) => return Ok(None),
            Err(error @ ProviderError::Damaged { .. }) => return damaged(error),
            Err(error) => return Err(error),
        };
        let lease = LeaseFile::open(&dir).map_err(|error| ProviderError::part(id, LEASE, error));
        match (lease, last_used(id, &dir)) {
            (Ok(lease), Ok(last_used)) => {
                Ok(Some(Inspection { is_held: lease.is_held()?, last_used, record: read_record(id, &dir) }))
            }
            (Err(error), _) | (_, Err(error)) => damaged(error),
        }
    }

    fn try_lease(&self, id: SandboxId) -> Result<LeaseAttempt> {
        for _ in 0..LEASE_ATTEMPTS {
            let Some(dir) = self.open_sandbox(id)? else {
                return Ok(LeaseAttempt::NotFound);
            };
            let lock = match LeaseFile::open(&dir) {
                Ok(lock) => lock,
                // The sandbox was removed between the two calls. If it was not, its lease file is missing for good.
                Err(Errno::NOENT) if !self.has_name(id, &dir)? => continue,
                Err(error) => return Err(ProviderError::part(id, LEASE, error)),
            };
            if !lock.take()? {
                return Ok(LeaseAttempt::InUse);
            }
            // A sandbox is removed only under its lease. So from here on it stays, if it still has its name.
            if self.has_name(id, &dir)? {
                let lock = LeaseLock::new(lock);
                return Ok(LeaseAttempt::Taken(SandboxDir { id, dir: Arc::new(dir), lock }));
            }
        }
        Ok(LeaseAttempt::InUse)
    }

    fn open_sandbox(&self, id: SandboxId) -> Result<Option<Dir>> {
        match self.dir.open_dir_nofollow(id.to_string()) {
            Ok(dir) => Ok(Some(dir)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ProviderError::part(id, "directory", error)),
        }
    }

    /// Returns whether a directory is the one that has this name now.
    fn has_name(&self, id: SandboxId, dir: &Dir) -> Result<bool> {
        let refused = |error| ProviderError::host("look at a sandbox", error);
        let Some(now) = self.open_sandbox(id)? else {
            return Ok(false);
        };
        let (now, then) = (rustix::fs::fstat(&now).map_err(refused)?, rustix::fs::fstat(dir).map_err(refused)?);
        Ok((now.st_dev, now.st_ino) == (then.st_dev, then.st_ino))
    }

    fn lock(&self, how: FlockOperation) -> Result<LockedFile> {
        let refused = |error| ProviderError::host("lock the root directory", error);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = LockedFile(rustix::fs::openat(&*self.dir, LOCK, flags, Mode::RUSR | Mode::WUSR).map_err(refused)?);
        rustix::io::retry_on_intr(|| rustix::fs::flock(&file, how)).map_err(refused)?;
        Ok(file)
    }

    /// Removes a sandbox: its name under the root's exclusive lock, its files, which may be many, afterwards.
    fn remove_sandbox(&self, id: SandboxId, exclusive: LockedFile) -> Result<()> {
        let name = self.rename_for_removal(&id.to_string())?;
        drop(exclusive);
        self.remove(&name)
    }

    /// Renames an entry to a name for removal, and returns that name.
    fn rename_for_removal(&self, name: &str) -> Result<String> {
        let gone = format!("{GONE}{}", token()?);
        let refused = |error| ProviderError::host("remove a sandbox", error);
        rustix::fs::renameat(&*self.dir, name, &*self.dir, &gone).map_err(refused)?;
        Ok(gone)
    }

    fn remove(&self, name: &str) -> Result<()> {
        match remove_tree(&*self.dir, name) {
            // The name is that of a file: an unfinished record, or a file that no provider made.
            Err(Errno::NOTDIR | Errno::LOOP) => match self.dir.remove_file(name) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(ProviderError::host("remove a sandbox", error))
                }
                _ => Ok(()),
            },
            answer => answer.map_err(|error| ProviderError::host("remove a sandbox", error)),
        }
    }

    /// Removes the remains of sandboxes that a dead process was creating or removing.
    fn clean(&self) -> Result<()> {
        let is_rest = |name: &str| name.starts_with(NEW) || name.starts_with(GONE);
        if !self.names()?.iter().any(|name| is_rest(name)) {
            return Ok(());
        }
        let exclusive = self.lock(FlockOperation::LockExclusive)?;
        for name in self.names()?.iter().filter(|name| name.starts_with(NEW)) {
            // A live creator holds the lease of the directory, or has renamed it already.
            let is_left = match self.dir.open_dir_nofollow(name) {
                Ok(dir) => !LeaseFile::open(&dir).is_ok_and(|lease| lease.is_held().unwrap_or(true)),
                Err(error) => error.kind() != std::io::ErrorKind::NotFound,
            };
            if is_left {
                let _ = self.rename_for_removal(name);
            }
        }
        drop(exclusive);
        for name in self.names()?.iter().filter(|name| name.starts_with(GONE)) {
            // A failure is harmless: the next `open` tries again.
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

impl UnpublishedSandbox {
    /// Returns the directory of its files.
    pub(super) fn files(&self) -> Result<Dir> {
        self.sandbox_dir()?.files()
    }

    /// Writes all its files to the disk, because a published sandbox has to be complete.
    pub(super) fn sync_files(&self) -> Result<()> {
        let synced = readable(&self.sandbox_dir()?.dir).and_then(|dir| Ok(rustix::fs::syncfs(dir)?));
        synced.map_err(|error| ProviderError::host("make a sandbox", error))
    }

    /// Gives the sandbox its name. `None` if the name is taken.
    pub(super) fn publish(mut self, record: &Record) -> Result<Option<SandboxDir>> {
        let refused = |error: std::io::Error| ProviderError::host("make a sandbox", error);
        let sandbox_dir = self.sandbox_dir()?.clone();
        sandbox_dir.set_last_used(record.created)?;
        write_record(&sandbox_dir.dir, RECORD, record).and_then(|()| sync(&sandbox_dir.dir)).map_err(refused)?;
        let (dir, id) = (&*self.root.dir, sandbox_dir.id.to_string());
        match rustix::fs::renameat_with(dir, &self.name, dir, id, RenameFlags::NOREPLACE) {
            Ok(()) => {}
            Err(Errno::EXIST | Errno::NOTEMPTY) => return Ok(None),
            Err(error) => return Err(refused(error.into())),
        }
        self.is_published = true;
        sync(dir).map_err(refused)?;
        Ok(Some(sandbox_dir))
    }

    fn sandbox_dir(&self) -> Result<&SandboxDir> {
        self.sandbox_dir.as_ref().ok_or_else(|| ProviderError::host("make a sandbox", Errno::NOENT))
    }
}

impl Drop for UnpublishedSandbox {
    fn drop(&mut self) {
        // If this fails, the next `open` removes it.
        if !self.is_published {
            let _ = self.root.rename_for_removal(&self.name).and_then(|name| self.root.remove(&name));
        }
    }
}

/// Returns sixteen random digits, for a name that is not in use.
pub(super) fn token() -> Result<String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes)
        .map_err(|error| ProviderError::host("make up a name", std::io::Error::other(error.to_string())))?;
    Ok(format!("{:016x}", u64::from_le_bytes(bytes)))
}

/// Writes a record to a new file and syncs it.
fn write_record(dir: &Dir, name: &str, record: &Record) -> std::io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = std::fs::File::from(rustix::fs::openat(dir, name, flags, Mode::RUSR | Mode::WUSR)?);
    file.write_all(&serde_json::to_vec(record)?)?;
    file.sync_all()
}

/// Syncs the names in a directory. The handle may have been opened with `O_PATH`, which cannot be synced.
fn sync(dir: &Dir) -> std::io::Result<()> {
    Ok(rustix::fs::fsync(readable(dir)?)?)
}

fn readable(dir: &Dir) -> std::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(dir, ".", flags, Mode::empty())?)
}
