//! A directory of the host. Only this module touches the host's file system.
//!
//! # Why nothing gets out
//! The directory is opened once; after that there are handles only. A call first gets a handle of the directory that
//! the last name stands in (`walk`), without following a link, and then makes one host call with that handle and that
//! one name, through cap-std, which would refuse a name that leads elsewhere even if we got it wrong. No path is
//! looked at and then used: where something has to be known about a file, the file is opened and the handle is asked.
//! A link of the host is read, not followed, and resolved against the sandbox's root by the mount table.
//!
//! # What the guest sees
//! - Modes and times are the host's. Owner and group always show as the sandbox's user: who owns a file on the host is
//!   not the guest's business, and a `chown` that would change something is refused.
//! - A special file (FIFO, socket, device) can be seen, renamed and removed, but not opened: [`Errno::NoDevice`].
//!   Setting a set-user-ID or set-group-ID bit is refused: it would mean something on the host.
//! - A name that is not UTF-8 makes `read_dir` fail with [`Errno::IllegalSequence`]. Leaving it out would let `cp -r`
//!   lose a file with exit code 0, and a replacement character would let two names look alike, so that one of them
//!   gets removed in place of the other.
//! - A file with a second name is not written to, nor are its mode and times changed ([`Errno::NotPermitted`]), unless
//!   it got its names in this sandbox: the host may have linked it from outside. See `second_names`.
//!
//! With a quota ([`HostDir::charged_to`]) what the directory holds or gains is charged to the sandbox, and no file may
//! become larger than the limit. See `ledger`.

use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::Arc;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, Metadata, MetadataExt, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;

use crate::error::{Errno, Result};
use crate::path::Subpath;

use super::{Attempt, File, FileSystem, Frozen, Kind, Node, OpenHow, Quota};
use errors::errno;
use file::HostFile;
use lease::Lease;
use ledger::{Alone, Ledger};
use pointer::Pointer;
use second_names::{SecondNames, Turn};
use walk::Walk;

pub use ledger::Count;
pub(super) use temp::Temp;

mod calls;
mod errors;
mod file;
mod lease;
mod ledger;
mod pointer;
mod scan;
mod second_names;
mod stat;
mod stream;
mod temp;
mod walk;

/// A directory of the host, shown to a guest. Clones are handles to the same one.
#[derive(Clone)]
pub struct HostDir {
    shared: Arc<Shared>,
    ledger: Option<Arc<Ledger>>,
}

/// What a directory and its forks have in common.
struct Shared {
    walk: Walk,
    second_names: SecondNames,
    lease: Lease,
    is_read_only: bool,
}

impl HostDir {
    /// Opens the directory. This is the only time that a path of the host is used. What a process that died has left in
    /// it of temporary files is removed.
    pub fn open(host: &Path) -> io::Result<HostDir> {
        let dir = HostDir::new(host, false)?;
        lease::sweep(dir.walk().root());
        Ok(dir)
    }

    /// Opens the directory and never writes to it, whoever asks.
    pub fn open_read_only(host: &Path) -> io::Result<HostDir> {
        HostDir::new(host, true)
    }

    fn new(host: &Path, is_read_only: bool) -> io::Result<HostDir> {
        let root = Dir::open_ambient_dir(host, cap_std::ambient_authority())?;
        if walk::is_forbidden(&root) {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "files of the host's kernel cannot be mounted"));
        }
        Ok(HostDir {
            shared: Arc::new(Shared {
                walk: Walk::new(root)?,
                second_names: SecondNames::default(),
                lease: Lease::default(),
                is_read_only,
            }),
            ledger: None,
        })
    }

    /// The same directory, charged to a quota.
    pub fn charged_to(self, quota: Arc<Quota>, count: Count) -> io::Result<HostDir> {
        let root = self.shared.walk.root().try_clone()?;
        Ok(HostDir { ledger: Some(Arc::new(Ledger::new(root, quota, count))), ..self })
    }

    /// The names of the path that the directory has on the host, as far as the host tells. They say what the directory
    /// is for; they are never used to open anything.
    pub(super) fn names_on_host(&self) -> Vec<String> {
        let link = format!("/proc/self/fd/{}", self.walk().root().as_raw_fd());
        let path = rustix::fs::readlink(link, Vec::new()).map(|path| path.to_string_lossy().into_owned());
        let path = path.unwrap_or_default();
        path.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }

    /// The same directory, walked name by name.
    #[cfg(test)]
    pub(super) fn without_openat2(self) -> HostDir {
        self.shared.walk.go_name_by_name();
        self
    }

    fn walk(&self) -> &Walk {
        &self.shared.walk
    }

    fn check_writable(&self) -> Result<()> {
        if self.shared.is_read_only { Err(Errno::ReadOnly) } else { Ok(()) }
    }

    /// Opens a file that is there with one call of the host, if that can be done.
    fn open_at_once(&self, path: Subpath<'_>, how: &OpenHow) -> Option<Result<(HostFile, Metadata)>> {
        let mut flags = match (how.read, how.writes() || how.truncate) {
            (true, true) => OFlags::RDWR,
            (false, true) => OFlags::WRONLY,
            _ => OFlags::RDONLY,
        };
        flags |= OFlags::NONBLOCK | OFlags::NOCTTY;
        flags.set(OFlags::DIRECTORY, how.directory);
        let _gate = self.ledger.as_ref().map(|ledger| ledger.shared());
        let opened = self.walk().open(path, flags)?;
        let file =
            |handle| HostFile::new(cap_std::fs::File::from_std(std::fs::File::from(handle)), self.walk().device());
        Some(opened.map(file).and_then(|file| self.counted(file)))
    }

    /// Opens a file that is there. Without `O_NONBLOCK` a FIFO would hang this thread for good.
    fn open_existing(&self, dir: &Dir, name: &str, how: &OpenHow) -> Result<HostFile> {
        let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        flags.set(OFlags::DIRECTORY, how.directory);
        let mut options = OpenOptions::new();
        // Someone who neither reads nor writes still needs a handle.
        options.read(how.read || !how.writes() && !how.truncate).write(how.writes() || how.truncate);
        options.follow(FollowSymlinks::No).custom_flags(flags.bits() as i32);
        let file = dir.open_with(name, &options).map_err(errno)?;
        Ok(HostFile::new(file, self.walk().device()))
    }

    /// Makes a file that is not there; it is charged already.
    fn open_new(&self, dir: &Dir, name: &str, how: &OpenHow) -> Result<HostFile> {
        let mut options = OpenOptions::new();
        // cap-std makes a file only for writing; what the guest may do with it is decided above.
        options.read(how.read).write(true).create_new(true).mode(how.mode);
        options.follow(FollowSymlinks::No).custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32);
        let file = dir.open_with(name, &options).map_err(errno)?;
        let file = HostFile::new(file, self.walk().device());
        // The umask of the host's process is not the guest's, who has one of its own.
        if file.metadata()?.mode() & 0o7777 != how.mode {
            file.set_mode(how.mode)?;
        }
        Ok(file)
    }

    /// The last checks, on the handle and not on the name, before anything is changed.
    fn opened(&self, (mut file, metadata): (HostFile, Metadata), how: &OpenHow) -> Attempt<Node> {
        self.walk().check_device(&file, metadata.dev())?;
        match stat::kind(&metadata) {
            Kind::Directory if how.create => Err(Errno::IsDirectory.into()),
            Kind::Directory => Ok(Node::Directory),
            Kind::File => {
                let changeable = self.shared.second_names.check(&metadata, || file.metadata());
                if how.writes() || how.truncate {
                    changeable?;
                }
                file.changeable = self.check_writable().and(changeable);
                if how.truncate {
                    file.set_len(0)?;
                }
                file.set_blocking()?;
                Ok(Node::File(Arc::new(file)))
            }
            _ => Err(Errno::NoDevice.into()),
        }
    }

    /// Notes who has the file open, before anyone can take its name away, and learns what it is.
    fn counted(&self, mut file: HostFile) -> Result<(HostFile, Metadata)> {
        let metadata = file.metadata()?;
        if let Some(ledger) = &self.ledger
            && metadata.is_file()
        {
            file.charge = Some(ledger.opened(&metadata));
        }
        Ok((file, metadata))
    }

    /// Refuses a name that is there, where the host would be asked too late: after the quota.
    fn check_free(&self, dir: &Dir, name: &str) -> Result<()> {
        match self.ledger {
            Some(_) if dir.symlink_metadata(name).is_ok() => Err(Errno::Exist),
            _ => Ok(()),
        }
    }

    /// Does what makes a name, charged as `bytes` and one inode, which are given back if it fails.
    fn making<T>(&self, bytes: u64, make: impl FnOnce() -> Result<T>) -> Result<T> {
        let Some(ledger) = &self.ledger else {
            return make();
        };
        let _gate = ledger.growth()?;
        ledger.reserve(bytes, 1)?;
        make().inspect_err(|_| ledger.release(bytes, 1))
    }

    /// Does what removes a name, and gives back what it was charged as.
    fn removing(&self, dir: &Dir, name: &str, remove: impl FnOnce() -> Result<()>) -> Result<()> {
        let mut removal = self.removal();
        let before = removal.look(dir, name);
        remove()?;
        removal.done(before);
        Ok(())
    }

    /// Leave to take names away.
    fn removal(&self) -> Removal<'_> {
        let account = self.ledger.as_ref().map(|ledger| (&**ledger, ledger.alone()));
        Removal { account, turn: self.shared.second_names.turn() }
    }

    /// The metadata of a name that a call is about, or the link that it is to follow.
    fn metadata(&self, path: Subpath<'_>, follow: bool) -> Attempt<Metadata> {
        let Some((parent, name)) = path.split() else {
            return Ok(self.walk().root_metadata()?);
        };
        // A pointer to the file and not a handle of its directory: one look at the name less.
        if let Some(opened) = self.walk().open(path, OFlags::PATH | OFlags::NOFOLLOW) {
            let metadata = cap_std::fs::File::from_std(opened?.into()).metadata().map_err(errno)?;
            if !(follow && metadata.is_symlink()) {
                return Ok(metadata);
            }
        }
        let dir = self.walk().directory(parent)?;
        let metadata = dir.symlink_metadata(name).map_err(errno)?;
        if follow && metadata.is_symlink() {
            return Err(self.walk().link(&dir, name, path)?);
        }
        Ok(metadata)
    }

    /// A handle of something whose attributes may be changed, and a last look at it.
    fn changeable<'a>(&self, dir: &'a Dir, name: &'a str) -> Result<(Pointer<'a>, Metadata)> {
        let pointer = Pointer::new(dir, name)?;
        let metadata = pointer.metadata()?;
        self.walk().check_device(&pointer, metadata.dev())?;
        self.shared.second_names.check(&metadata, || pointer.metadata())?;
        Ok((pointer, metadata))
    }

    /// Sets the mode of `name`, which is not a link.
    fn set_mode(&self, dir: &Dir, name: &str, mode: impl Fn(&Metadata) -> Result<u32>) -> Result<()> {
        let (pointer, metadata) = self.changeable(dir, name)?;
        match stat::kind(&metadata) {
            Kind::Symlink => Err(Errno::NotSupported),
            Kind::Device => Err(Errno::NoDevice),
            _ => pointer.set_mode(mode(&metadata)?),
        }
    }
}

/// What is locked while a name is taken away, so that what was learnt about it stays true until it is gone.
struct Removal<'a> {
    account: Option<(&'a Ledger, Alone<'a>)>,
    turn: Turn<'a>,
}

impl Removal<'_> {
    /// What has to be known of a file that is going to lose a name, if anything has.
    fn look(&self, dir: &Dir, name: &str) -> Option<Metadata> {
        if self.account.is_some() || self.turn.any() { dir.symlink_metadata(name).ok() } else { None }
    }

    /// Notes that the name is gone.
    fn done(&mut self, before: Option<Metadata>) {
        let Some(metadata) = before else { return };
        self.turn.removed(&metadata);
        if let Some((ledger, gate)) = &self.account {
            ledger.removed(gate, &metadata);
        }
    }
}

/// A directory of the host that a snapshot knows: a fork has the same handle, and an account of its own.
struct Reopened {
    shared: Arc<Shared>,
    count: Count,
}

impl Frozen for Reopened {
    fn thaw(&self, quota: &Arc<Quota>) -> Result<Arc<dyn FileSystem>> {
        let dir = HostDir { shared: Arc::clone(&self.shared), ledger: None };
        let dir = dir.charged_to(Arc::clone(quota), self.count);
        Ok(Arc::new(dir.map_err(errno)?))
    }

    fn is_own(&self) -> bool {
        false
    }
}
