//! From the opened root to the directory that a name stands in, without following a link.
//!
//! On Linux one `openat2` does it. Where that is not to be had (an older kernel, a seccomp filter), and whenever a
//! link is in the way, the walk goes name by name, each step a handle: it is as tight, and it finds the link.

use std::io;
use std::ops::Deref;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno as Host;

use crate::error::{Errno, Result};
use crate::path::Subpath;
use crate::vfs::{Attempt, Kind, OpenHow, Stop};

use super::errors::errno;
use super::stat::Facts;

/// The root of the directory and how to walk from it.
pub(super) struct Walk {
    root: Dir,
    device: Device,
    /// Cleared for good when the host turns out to have no `openat2`.
    at_once: AtomicBool,
}

/// The device of a mounted directory on the host.
#[derive(Clone, Copy)]
pub(super) struct Device(u64);

impl Device {
    pub(super) fn number(self) -> u64 {
        self.0
    }
}

/// A directory on the way: the root, or one that was opened for this call.
pub(super) enum Step<'a> {
    Root(&'a Dir),
    Opened(Dir),
}

impl Step<'_> {
    /// The directory as a handle of its own.
    pub(super) fn into_dir(self) -> Result<Dir> {
        match self {
            Step::Root(dir) => dir.try_clone().map_err(errno),
            Step::Opened(dir) => Ok(dir),
        }
    }
}

impl Deref for Step<'_> {
    type Target = Dir;

    fn deref(&self) -> &Dir {
        match self {
            Step::Root(dir) => dir,
            Step::Opened(dir) => dir,
        }
    }
}

impl Walk {
    pub(super) fn new(root: Dir) -> io::Result<Walk> {
        let device = Device(rustix::fs::fstat(&root)?.st_dev);
        Ok(Walk { root, device, at_once: AtomicBool::new(true) })
    }

    #[cfg(test)]
    pub(super) fn go_name_by_name(&self) {
        self.at_once.store(false, Ordering::Relaxed);
    }

    pub(super) fn device(&self) -> Device {
        self.device
    }

    pub(super) fn root(&self) -> &Dir {
        &self.root
    }

    /// A handle of the directory at `path`; a link on the way or at its end is the answer.
    pub(super) fn directory(&self, path: Subpath<'_>) -> Attempt<Step<'_>> {
        if path.is_root() {
            return Ok(Step::Root(&self.root));
        }
        match self.directory_at_once(path) {
            Some(found) => Ok(Step::Opened(found?)),
            None => self.name_by_name(path).map(Step::Opened),
        }
    }

    /// As `directory`, in one call; none if that cannot be done.
    fn directory_at_once(&self, path: Subpath<'_>) -> Option<Result<Dir>> {
        let found = self.open(path, OFlags::PATH | OFlags::DIRECTORY)?;
        Some(found.map(|handle| Dir::from_std_file(handle.into())))
    }

    /// What the walk says about a link that is the last name of `path`.
    pub(super) fn link(&self, dir: &Dir, name: &str, path: Subpath<'_>) -> Result<Stop> {
        Ok(Stop::Link { names: path.names().count(), target: read_link(dir, name)? })
    }

    /// Why the last name of `path` could not be opened: it is a link, or else what the host said.
    pub(super) fn link_or(&self, dir: &Dir, name: &str, path: Subpath<'_>, how: &OpenHow, errno: Errno) -> Stop {
        if !is_link(dir, name) {
            return errno.into();
        }
        match how.nofollow {
            true if how.directory => Errno::NotDirectory.into(),
            true => Errno::Loop.into(),
            false => self.link(dir, name, path).unwrap_or_else(Stop::Errno),
        }
    }

    /// Refuses what is on another device and belongs to the host's kernel: a `proc` or `sys` that someone bind-mounted
    /// in here holds links and files that lead to every process of the host.
    pub(super) fn check_device(&self, handle: impl AsFd, device: u64) -> Result<()> {
        if device != self.device.number() && is_forbidden(handle) { Err(Errno::NotPermitted) } else { Ok(()) }
    }

    /// Opens a path in one call, without following a link; none if it has to be done name by name, be it for a link, for a
    /// mount of the host, for a path longer than one call takes, or for want of `openat2`.
    pub(super) fn open(&self, path: Subpath<'_>, flags: OFlags) -> Option<Result<OwnedFd>> {
        self.open_or_make(path, flags, 0)
    }

    /// As `open`, with the mode of a file that the flags say is to be made.
    pub(super) fn open_or_make(&self, path: Subpath<'_>, flags: OFlags, mode: u32) -> Option<Result<OwnedFd>> {
        if path.is_root() || !self.at_once.load(Ordering::Relaxed) {
            return None;
        }
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
        let mode = Mode::from_raw_mode(mode);
        match rustix::fs::openat2(self.root.as_fd(), path.as_str(), flags | OFlags::CLOEXEC, mode, resolve) {
            Ok(handle) => Some(Ok(handle)),
            Err(error @ (Host::NOENT | Host::NOTDIR | Host::EXIST | Host::MFILE | Host::NFILE)) => {
                Some(Err(errno(error)))
            }
            Err(error) => {
                if error == Host::NOSYS {
                    self.at_once.store(false, Ordering::Relaxed);
                }
                None
            }
        }
    }

    fn name_by_name(&self, path: Subpath<'_>) -> Attempt<Dir> {
        let mut dir = Step::Root(&self.root);
        for (index, name) in path.names().enumerate() {
            dir = match dir.open_dir_nofollow(name) {
                Ok(next) => {
                    self.check_device(&next, Facts::of(&next)?.device())?;
                    Step::Opened(next)
                }
                Err(error) => {
                    return match is_link(&dir, name) {
                        true => Err(Stop::Link { names: index + 1, target: read_link(&dir, name)? }),
                        false => Err(errno(error).into()),
                    };
                }
            };
        }
        match dir {
            Step::Opened(dir) => Ok(dir),
            Step::Root(_) => Err(Errno::Io.into()),
        }
    }
}

fn is_link(dir: &Dir, name: &str) -> bool {
    Facts::of_name(dir, name).is_ok_and(|facts| facts.kind() == Kind::Symlink)
}

/// What a link holds. One that is not UTF-8 cannot be resolved, as its parts cannot be named.
pub(super) fn read_link(dir: &Dir, name: &str) -> Result<String> {
    let target = dir.read_link_contents(name).map_err(errno)?;
    target.into_os_string().into_string().map_err(|_| Errno::IllegalSequence)
}

/// Whether something is on a file system of the host's kernel, or on one that does not say what it is.
pub(super) fn is_forbidden(handle: impl AsFd) -> bool {
    match rustix::fs::fstatfs(handle) {
        Ok(found) => FORBIDDEN.contains(&(found.f_type as u64)),
        Err(_) => true,
    }
}

/// `f_type` of file systems that are the host's kernel and not its disks, from statfs(2) and `linux/magic.h`: `proc`,
/// `sysfs`, `cgroup`, `cgroup2`, `debugfs`, `tracefs`, `securityfs`, `bpf`, `configfs`, `efivarfs`, `pstore`, `selinuxfs`,
/// `smackfs`, `binfmt_misc`, `nsfs`, `resctrl`, `devpts` and `mqueue`.
const FORBIDDEN: [u64; 18] = [
    0x9fa0,
    0x6265_6572,
    0x0027_e0eb,
    0x6367_7270,
    0x6462_6720,
    0x7472_6163,
    0x7363_6673,
    0xcafe_4a11,
    0x6265_6570,
    0xde5e_81e4,
    0x6165_676c,
    0xf97c_ff8c,
    0x4341_5d53,
    0x4249_4e4d,
    0x6e73_6673,
    0x0765_5821,
    0x1cd1,
    0x1980_0202,
];
