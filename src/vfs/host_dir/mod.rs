//! A directory of the host. Only this module touches the host's file system.
//!
//! # Why nothing gets out
//! The directory is opened once; after that there are handles only. A file is opened by one `openat2`, which the host's
//! kernel lets follow no link and not leave the directory (`walk`). Where that does not do, and for what is not an open,
//! a call first gets a handle of the directory that the last name stands in, without following a link, and then makes
//! one host call with that handle and that one name; what changes something goes through cap-std, which would refuse a
//! name that leads elsewhere even if we got it wrong. No path is looked at and then used: where something has to be
//! known about a file, the file is opened and the handle is asked.
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
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
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
use stat::Facts;
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
        HostDir::new(at(host)?, false)
    }

    /// Opens the directory and never writes to it, whoever asks.
    pub fn open_read_only(host: &Path) -> io::Result<HostDir> {
        HostDir::new(at(host)?, true)
    }

    /// As `open` or `open_read_only`, of a directory that the caller has a handle of.
    pub(crate) fn new(root: Dir, is_read_only: bool) -> io::Result<HostDir> {
        if walk::is_forbidden(&root) {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "files of the host's kernel cannot be mounted"));
        }
        if !is_read_only {
            lease::sweep(&root);
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
    pub(crate) fn names_on_host(&self) -> Vec<String> {
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

    /// Opens or makes a file by its whole path, in one call of the host or two; none if it takes a closer look.
    fn at_once(&self, path: Subpath<'_>, how: &OpenHow) -> Option<Result<Candidate>> {
        // Where there is no room, what is wrong with the path comes first.
        let can_make = how.create && self.ledger.as_ref().is_none_or(|ledger| ledger.has_room());
        // Whoever wants an empty file is likely to want a new one.
        let makes_first = can_make && (how.exclusive || how.truncate);
        if makes_first {
            let made = self.make_at_once(path, how)?;
            if how.exclusive || !matches!(made, Err(Errno::Exist)) {
                return Some(made);
            }
        }
        if !(how.create && how.exclusive) {
            match self.open_at_once(path, how)? {
                Err(Errno::NoEntry) if how.create => {}
                opened => return Some(opened),
            }
        }
        if makes_first || !can_make {
            return None;
        }
        // Someone else may just have made it, and then it can be opened after all.
        self.make_at_once(path, how).filter(|made| !matches!(made, Err(Errno::Exist)))
    }

    /// Opens a file that is there with one call of the host, if that can be done.
    fn open_at_once(&self, path: Subpath<'_>, how: &OpenHow) -> Option<Result<Candidate>> {
        let mut flags = match (how.read, how.writes() || how.truncate) {
            (true, true) => OFlags::RDWR,
            (false, true) => OFlags::WRONLY,
            _ => OFlags::RDONLY,
        };
        flags |= OFlags::NONBLOCK | OFlags::NOCTTY;
        flags.set(OFlags::DIRECTORY, how.directory);
        let _gate = self.ledger.as_ref().map(|ledger| ledger.shared());
        let opened = self.walk().open(path, flags)?;
        Some(opened.and_then(|handle| self.counted(self.host_file(handle))))
    }

    /// Makes a file with one call of the host, if that can be done.
    fn make_at_once(&self, path: Subpath<'_>, how: &OpenHow) -> Option<Result<Candidate>> {
        let flags = if how.read { OFlags::RDWR } else { OFlags::WRONLY };
        let flags = flags | OFlags::CREATE | OFlags::EXCL | OFlags::NOCTTY;
        let mut is_at_once = true;
        let made = self.making(0, || match self.walk().open_or_make(path, flags, how.mode) {
            Some(handle) => self.made(self.host_file(handle?), how),
            None => {
                is_at_once = false;
                Err(Errno::Io)
            }
        });
        is_at_once.then_some(made)
    }

    fn host_file(&self, handle: OwnedFd) -> HostFile {
        HostFile::new(cap_std::fs::File::from_std(std::fs::File::from(handle)), self.walk().device())
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
    fn open_new(&self, dir: &Dir, name: &str, how: &OpenHow) -> Result<Candidate> {
        let mut options = OpenOptions::new();
        // cap-std makes a file only for writing; what the guest may do with it is decided above.
        options.read(how.read).write(true).create_new(true).mode(how.mode);
        options.follow(FollowSymlinks::No).custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32);
        let file = dir.open_with(name, &options).map_err(errno)?;
        let file = HostFile::new(file, self.walk().device());
        self.made(file, how)
    }

    /// A file that was just made. The umask of the host's process is not the guest's, who has one of its own.
    fn made(&self, file: HostFile, how: &OpenHow) -> Result<Candidate> {
        let made = self.counted(file)?;
        if made.facts.mode() != how.mode {
            made.file.set_mode(how.mode)?;
        }
        Ok(Candidate { is_new: true, ..made })
    }

    /// The last checks, on the handle and not on the name, before anything is changed.
    fn opened(&self, candidate: Candidate, how: &OpenHow) -> Attempt<Node> {
        let Candidate { mut file, facts, is_new } = candidate;
        self.walk().check_device(&file, facts.device())?;
        match facts.kind() {
            Kind::Directory if how.create => Err(Errno::IsDirectory.into()),
            Kind::Directory => Ok(Node::Directory),
            Kind::File => {
                let changeable = self.shared.second_names.check(&facts, || Facts::of(&file));
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

    /// Notes who has the file open, before anyone can take its name away, and learns what it is.
    fn counted(&self, mut file: HostFile) -> Result<Candidate> {
        let facts = Facts::of(&file)?;
        if let Some(ledger) = &self.ledger
            && facts.kind() == Kind::File
        {
            file.charge = Some(ledger.opened(&facts));
        }
        Ok(Candidate { file, facts, is_new: false })
    }

    /// Refuses a name that is there, where the host would be asked too late: after the quota, if that has no room.
    fn check_free(&self, dir: &Dir, name: &str) -> Result<()> {
        match &self.ledger {
            Some(ledger) if !ledger.has_room() && Facts::of_name(dir, name).is_ok() => Err(Errno::Exist),
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

    /// What the host says about a name that a call is about, or the link that it is to follow.
    fn facts(&self, path: Subpath<'_>, follow: bool) -> Attempt<Facts> {
        let Some((parent, name)) = path.split() else {
            return Ok(Facts::of(self.walk().root())?);
        };
        // In the root, whose handle is at hand, the name alone will do.
        if !parent.is_root()
            && let Some(facts) = self.facts_at_once(path)
            && !facts.as_ref().is_ok_and(|facts| follow && facts.kind() == Kind::Symlink)
        {
            return Ok(facts?);
        }
        let dir = self.walk().directory(parent)?;
        let facts = Facts::of_name(&dir, name)?;
        if follow && facts.kind() == Kind::Symlink {
            return Err(self.walk().link(&dir, name, path)?);
        }
        Ok(facts)
    }

    /// What the host says about a name that is not in the root and not followed; none if that takes a closer look.
    fn facts_at_once(&self, path: Subpath<'_>) -> Option<Result<Facts>> {
        // A pointer to the file and not a handle of its directory: one look at the name less.
        let opened = self.walk().open(path, OFlags::PATH | OFlags::NOFOLLOW)?;
        Some(opened.and_then(Facts::of))
    }

    /// A handle of something whose attributes may be changed, and a last look at it.
    fn changeable<'a>(&self, dir: &'a Dir, name: &'a str) -> Result<(Pointer<'a>, Facts)> {
        let pointer = Pointer::new(dir, name)?;
        let facts = pointer.facts()?;
        self.walk().check_device(&pointer, facts.device())?;
        self.shared.second_names.check(&facts, || pointer.facts())?;
        Ok((pointer, facts))
    }

    /// Sets the mode of `name`, which is not a link.
    fn set_mode(&self, dir: &Dir, name: &str, mode: impl Fn(&Facts) -> Result<u32>) -> Result<()> {
        let (pointer, facts) = self.changeable(dir, name)?;
        match facts.kind() {
            Kind::Symlink => Err(Errno::NotSupported),
            Kind::Device => Err(Errno::NoDevice),
            _ => pointer.set_mode(mode(&facts)?),
        }
    }
}

/// The directory at a path of the host.
fn at(host: &Path) -> io::Result<Dir> {
    Dir::open_ambient_dir(host, cap_std::ambient_authority())
}

/// A file that was opened or made, before the last checks.
struct Candidate {
    file: HostFile,
    facts: Facts,
    is_new: bool,
}

/// What is locked while a name is taken away, so that what was learnt about it stays true until it is gone.
struct Removal<'a> {
    account: Option<(&'a Ledger, Alone<'a>)>,
    turn: Turn<'a>,
}

impl Removal<'_> {
    /// What has to be known of a file that is going to lose a name, if anything has.
    fn look(&self, dir: &Dir, name: &str) -> Option<Facts> {
        if self.account.is_some() || self.turn.any() { Facts::of_name(dir, name).ok() } else { None }
    }

    /// Notes that the name is gone.
    fn done(&mut self, before: Option<Facts>) {
        let Some(facts) = before else { return };
        self.turn.removed(&facts);
        if let Some((ledger, gate)) = &self.account {
            ledger.removed(gate, &facts);
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
