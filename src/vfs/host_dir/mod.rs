//! A directory of the host. Only this module touches the file system of the host.
//!
//! # Confinement
//! The directory is opened once by its path; after that only handles are used. A file is opened by one `openat2`, with
//! flags that make the kernel of the host follow no link and stay in the directory (`walk`). If that is not possible,
//! or the call is not an open, the call first gets a handle of the directory of the last name, without following a
//! link. Then it makes one host call with that handle and that one name. Changes go through cap-std, which would refuse
//! a name that leads elsewhere even after a mistake in this module. No path is checked and then used: to learn
//! something about a file, the file is opened and the handle is examined. A link of the host is read, not followed; the
//! mount table resolves it against the root of the sandbox.
//!
//! # View of the guest
//! - Modes and times are those of the host. Owner and group always show as the user of the sandbox. A `chown` that
//!   would change something is refused.
//! - A special file (FIFO, socket, device) can be seen, renamed and removed, but not opened: [`Errno::NoDevice`].
//!   Setting a set-user-ID or set-group-ID bit is refused, because the host would honour it.
//! - A name that is not UTF-8 makes `read_dir` fail with [`Errno::IllegalSequence`]. Without the error `cp -r` would
//!   lose a file and still exit with 0. With a replacement character two names could look alike, and the wrong one
//!   could be removed.
//! - A file with a second name is not written to, and its mode and times are not changed ([`Errno::NotPermitted`]),
//!   unless it got its names in this sandbox: the host may have linked it from outside. See `hard_links`.
//!
//! With a quota ([`HostDir::charged_to`]) the content or the growth of the directory is charged to the sandbox, and no
//! file may exceed the size limit. See `ledger`.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;

use crate::error::{Errno, Result};
use crate::path::Subpath;

use super::{Attempt, File, FileSystem, FrozenFs, Kind, Node, OpenHow, Quota};
use errors::errno;
use file::HostFile;
use hard_links::{HardLinks, HardLinksGuard};
use lease::Lease;
use ledger::{GateExclusive, Ledger};
use path_handle::PathHandle;
use stat::HostStat;
use walk::Walk;

pub use ledger::ChargePolicy;
pub(super) use temp::TempFile;

mod calls;
mod errors;
mod file;
mod hard_links;
mod lease;
mod ledger;
mod path_handle;
mod scan;
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

/// State that a directory shares with its forks.
struct Shared {
    walk: Walk,
    hard_links: HardLinks,
    lease: Lease,
    is_read_only: bool,
}

impl HostDir {
    /// Opens the directory. This is the only use of a path of the host. Temporary files of processes that died are
    /// removed.
    pub fn open(host: &Path) -> io::Result<HostDir> {
        HostDir::new(at(host)?, false)
    }

    /// Opens the directory for reading only. No call writes to it.
    pub fn open_read_only(host: &Path) -> io::Result<HostDir> {
        HostDir::new(at(host)?, true)
    }

    /// Creates the file system from an open handle of the directory.
    pub(crate) fn new(root: Dir, is_read_only: bool) -> io::Result<HostDir> {
        if walk::is_forbidden(&root) {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "a file system of the host kernel cannot be mounted",
            ));
        }
        if !is_read_only {
            lease::sweep(&root);
        }
        Ok(HostDir {
            shared: Arc::new(Shared {
                walk: Walk::new(root)?,
                hard_links: HardLinks::default(),
                lease: Lease::default(),
                is_read_only,
            }),
            ledger: None,
        })
    }

    /// Returns the same directory, charged to a quota.
    pub fn charged_to(self, quota: Arc<Quota>, policy: ChargePolicy) -> io::Result<HostDir> {
        let root = self.shared.walk.root().try_clone()?;
        Ok(HostDir { ledger: Some(Arc::new(Ledger::new(root, quota, policy))), ..self })
    }

    /// Returns the names of the path of the directory on the host, if the host reports it. They tell the purpose of the
    /// directory (`.git`, for example) and are never used to open anything.
    pub(crate) fn names_on_host(&self) -> Vec<String> {
        let link = format!("/proc/self/fd/{}", self.walk().root().as_raw_fd());
        let path = rustix::fs::readlink(link, Vec::new()).map(|path| path.to_string_lossy().into_owned());
        let path = path.unwrap_or_default();
        path.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect()
    }

    /// Returns the same directory, walked name by name.
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

    /// Opens or creates a file by its whole path, in one or two host calls; none if that is not possible.
    fn open_directly(&self, path: Subpath<'_>, how: &OpenHow) -> Option<Result<Candidate>> {
        // Without free quota, an error of the path takes precedence.
        let can_make = how.create && self.ledger.as_ref().is_none_or(|ledger| ledger.has_room());
        // A caller that wants an empty file probably wants a new one.
        let makes_first = can_make && (how.exclusive || how.truncate);
        if makes_first {
            let made = self.create_in_one_call(path, how)?;
            if how.exclusive || !matches!(made, Err(Errno::Exist)) {
                return Some(made);
            }
        }
        if !(how.create && how.exclusive) {
            match self.open_in_one_call(path, how)? {
                Err(Errno::NoEntry) if how.create => {}
                opened => return Some(opened),
            }
        }
        if makes_first || !can_make {
            return None;
        }
        // If another process has just created it, the slower path opens it.
        self.create_in_one_call(path, how).filter(|made| !matches!(made, Err(Errno::Exist)))
    }

    /// Opens an existing file with one host call, if possible.
    fn open_in_one_call(&self, path: Subpath<'_>, how: &OpenHow) -> Option<Result<Candidate>> {
        let mut flags = match (how.read, how.writes() || how.truncate) {
            (true, true) => OFlags::RDWR,
            (false, true) => OFlags::WRONLY,
            _ => OFlags::RDONLY,
        };
        flags |= OFlags::NONBLOCK | OFlags::NOCTTY;
        flags.set(OFlags::DIRECTORY, how.directory);
        let _gate = self.ledger.as_ref().map(|ledger| ledger.shared());
        let opened = self.walk().open(path, flags)?;
        Some(opened.and_then(|handle| self.track_open(self.host_file(handle))))
    }

    /// Creates a file with one host call, if possible.
    fn create_in_one_call(&self, path: Subpath<'_>, how: &OpenHow) -> Option<Result<Candidate>> {
        let flags = if how.read { OFlags::RDWR } else { OFlags::WRONLY };
        let flags = flags | OFlags::CREATE | OFlags::EXCL | OFlags::NOCTTY;
        let mut is_possible = true;
        let made = self.create_charged(0, || match self.walk().open_or_create(path, flags, how.mode) {
            Some(handle) => self.finish_create(self.host_file(handle?), how),
            None => {
                is_possible = false;
                Err(Errno::Io)
            }
        });
        is_possible.then_some(made)
    }

    fn host_file(&self, handle: OwnedFd) -> HostFile {
        HostFile::new(cap_std::fs::File::from_std(std::fs::File::from(handle)), self.walk().device())
    }

    /// Opens an existing file. Without `O_NONBLOCK` a FIFO would block this thread for ever.
    fn open_existing(&self, dir: &Dir, name: &str, how: &OpenHow) -> Result<HostFile> {
        let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        flags.set(OFlags::DIRECTORY, how.directory);
        let mut options = OpenOptions::new();
        // An open for neither reading nor writing still needs a handle.
        options.read(how.read || !how.writes() && !how.truncate).write(how.writes() || how.truncate);
        options.follow(FollowSymlinks::No).custom_flags(flags.bits() as i32);
        let file = dir.open_with(name, &options).map_err(errno)?;
        Ok(HostFile::new(file, self.walk().device()))
    }

    /// Creates a new file, which is already charged.
    fn open_new(&self, dir: &Dir, name: &str, how: &OpenHow) -> Result<Candidate> {
        let mut options = OpenOptions::new();
        // cap-std creates a file only for writing. The rights of the guest are checked above.
        options.read(how.read).write(true).create_new(true).mode(how.mode);
        options.follow(FollowSymlinks::No).custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32);
        let file = dir.open_with(name, &options).map_err(errno)?;
        let file = HostFile::new(file, self.walk().device());
        self.finish_create(file, how)
    }

    /// Completes the creation of a file: sets its mode, because the umask of the host process is not that of the guest.
    fn finish_create(&self, file: HostFile, how: &OpenHow) -> Result<Candidate> {
        let made = self.track_open(file)?;
        if made.attributes.mode() != how.mode {
            made.file.set_mode(how.mode)?;
        }
        Ok(Candidate { is_new: true, ..made })
    }

    /// Makes the last checks, on the handle and not on the name, before anything is changed.
    fn finish_open(&self, candidate: Candidate, how: &OpenHow) -> Attempt<Node> {
        let Candidate { mut file, attributes, is_new } = candidate;
        self.walk().check_device(&file, attributes.device())?;
        match attributes.kind() {
            Kind::Directory if how.create => Err(Errno::IsDirectory.into()),
            Kind::Directory => Ok(Node::Directory),
            Kind::File => {
                let changeable = self.shared.hard_links.check(&attributes, || HostStat::of(&file));
                if how.writes() || how.truncate {
                    changeable?;
                }
                file.changeable = self.check_writable().and(changeable);
                if how.truncate && !is_new {
                    file.set_len(0)?;
                }
                Ok(Node::File(Arc::new(file)))
            }
            _ => Err(Errno::NoDevice.into()),
        }
    }

    /// Records the open file in the ledger before its name can be removed, and reads its attributes.
    fn track_open(&self, mut file: HostFile) -> Result<Candidate> {
        let attributes = HostStat::of(&file)?;
        if let Some(ledger) = &self.ledger
            && attributes.kind() == Kind::File
        {
            file.charge = Some(ledger.opened(&attributes));
        }
        Ok(Candidate { file, attributes, is_new: false })
    }

    /// Refuses an existing name when the quota has no room: otherwise the quota would be checked first and hide this
    /// error.
    fn check_free(&self, dir: &Dir, name: &str) -> Result<()> {
        match &self.ledger {
            Some(ledger) if !ledger.has_room() && HostStat::of_name(dir, name).is_ok() => Err(Errno::Exist),
            _ => Ok(()),
        }
    }

    /// Runs `make`, which creates a name, charged as `bytes` and one inode. The charge is released if it fails.
    fn create_charged<T>(&self, bytes: u64, make: impl FnOnce() -> Result<T>) -> Result<T> {
        let Some(ledger) = &self.ledger else {
            return make();
        };
        let _gate = ledger.growth()?;
        ledger.reserve(bytes, 1)?;
        make().inspect_err(|_| ledger.release(bytes, 1))
    }

    /// Runs `remove`, which removes a name, and releases its charge.
    fn remove_charged(&self, dir: &Dir, name: &str, remove: impl FnOnce() -> Result<()>) -> Result<()> {
        let mut removal = self.removal();
        let before = removal.look(dir, name);
        remove()?;
        removal.done(before);
        Ok(())
    }

    /// Takes the locks for removing names.
    fn removal(&self) -> Removal<'_> {
        let account = self.ledger.as_ref().map(|ledger| (&**ledger, ledger.exclusive()));
        Removal { account, hard_links: self.shared.hard_links.lock() }
    }

    /// Returns the host attributes of a path, or the link that the call follows.
    fn host_stat(&self, path: Subpath<'_>, follow: bool) -> Attempt<HostStat> {
        let Some((parent, name)) = path.split() else {
            return Ok(HostStat::of(self.walk().root())?);
        };
        // In the root, whose handle is open, one call with the name is enough.
        if !parent.is_root()
            && let Some(attributes) = self.stat_in_one_call(path)
            && !attributes.as_ref().is_ok_and(|attributes| follow && attributes.kind() == Kind::Symlink)
        {
            return Ok(attributes?);
        }
        let dir = self.walk().directory(parent)?;
        let attributes = HostStat::of_name(&dir, name)?;
        if follow && attributes.kind() == Kind::Symlink {
            return Err(self.walk().link(&dir, name, path)?);
        }
        Ok(attributes)
    }

    /// Returns the host attributes of a path, not followed, with one open; none if that is not possible.
    fn stat_in_one_call(&self, path: Subpath<'_>) -> Option<Result<HostStat>> {
        // An `O_PATH` handle of the file instead of a handle of its directory saves one lookup.
        let opened = self.walk().open(path, OFlags::PATH | OFlags::NOFOLLOW)?;
        Some(opened.and_then(HostStat::of))
    }

    /// Returns a handle of a file whose attributes may be changed, and its attributes.
    fn changeable<'a>(&self, dir: &'a Dir, name: &'a str) -> Result<(PathHandle<'a>, HostStat)> {
        let handle = PathHandle::new(dir, name)?;
        let attributes = handle.host_stat()?;
        self.walk().check_device(&handle, attributes.device())?;
        self.shared.hard_links.check(&attributes, || handle.host_stat())?;
        Ok((handle, attributes))
    }

    /// Sets the mode of `name`, which is not a link.
    fn set_mode(&self, dir: &Dir, name: &str, mode: impl Fn(&HostStat) -> Result<u32>) -> Result<()> {
        let (handle, attributes) = self.changeable(dir, name)?;
        match attributes.kind() {
            Kind::Symlink => Err(Errno::NotSupported),
            Kind::Device => Err(Errno::NoDevice),
            _ => handle.set_mode(mode(&attributes)?),
        }
    }
}

/// Opens the directory at a path of the host.
fn at(host: &Path) -> io::Result<Dir> {
    Dir::open_ambient_dir(host, cap_std::ambient_authority())
}

/// An opened or created file before the last checks.
struct Candidate {
    file: HostFile,
    attributes: HostStat,
    is_new: bool,
}

/// The locks held while a name is removed, so that the attributes read before stay true until it is gone.
struct Removal<'a> {
    account: Option<(&'a Ledger, GateExclusive<'a>)>,
    hard_links: HardLinksGuard<'a>,
}

impl Removal<'_> {
    /// Returns the attributes of a file that will lose a name, if the accounting needs them.
    fn look(&self, dir: &Dir, name: &str) -> Option<HostStat> {
        if self.account.is_some() || self.hard_links.any() { HostStat::of_name(dir, name).ok() } else { None }
    }

    /// Records that the name is gone.
    fn done(&mut self, before: Option<HostStat>) {
        let Some(attributes) = before else { return };
        self.hard_links.removed(&attributes);
        if let Some((ledger, gate)) = &self.account {
            ledger.removed(gate, &attributes);
        }
    }
}

/// A directory of the host in a snapshot. A fork has the same handle and its own account.
struct FrozenHostDir {
    shared: Arc<Shared>,
    policy: ChargePolicy,
}

impl FrozenFs for FrozenHostDir {
    fn thaw(&self, quota: &Arc<Quota>) -> Result<Arc<dyn FileSystem>> {
        let dir = HostDir { shared: Arc::clone(&self.shared), ledger: None };
        let dir = dir.charged_to(Arc::clone(quota), self.policy);
        Ok(Arc::new(dir.map_err(errno)?))
    }

    fn is_own(&self) -> bool {
        false
    }
}
