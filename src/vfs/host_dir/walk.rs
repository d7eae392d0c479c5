//! The walk from the root handle to the directory of a name, without following a link.
//!
//! On Linux one `openat2` is enough. Without `openat2` (an older kernel, a seccomp filter), and if a link is in the
//! way, the walk goes name by name with a handle for each step. It is just as confined, and it finds the link.

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
use super::stat::HostStat;

/// The root of the mounted directory, and the walks from it.
pub(super) struct Walk {
    root: Dir,
    device: Device,
    /// Cleared for good when the host turns out to have no `openat2`.
    has_openat2: AtomicBool,
}

/// The device of a mounted directory on the host.
#[derive(Clone, Copy)]
pub(super) struct Device(u64);

impl Device {
    pub(super) fn number(self) -> u64 {
        self.0
    }
}

/// The handle of a directory: the root, or one that was opened for this call.
pub(super) enum DirHandle<'a> {
    Root(&'a Dir),
    Opened(Dir),
}

impl DirHandle<'_> {
    /// Returns the directory as an owned handle.
    pub(super) fn into_dir(self) -> Result<Dir> {
        match self {
            DirHandle::Root(dir) => dir.try_clone().map_err(errno),
            DirHandle::Opened(dir) => Ok(dir),
        }
    }
}

impl Deref for DirHandle<'_> {
    type Target = Dir;

    fn deref(&self) -> &Dir {
        match self {
            DirHandle::Root(dir) => dir,
            DirHandle::Opened(dir) => dir,
        }
    }
}

impl Walk {
    pub(super) fn new(root: Dir) -> io::Result<Walk> {
        let device = Device(rustix::fs::fstat(&root)?.st_dev);
        Ok(Walk { root, device, has_openat2: AtomicBool::new(true) })
    }

    #[cfg(test)]
    pub(super) fn go_name_by_name(&self) {
        self.has_openat2.store(false, Ordering::Relaxed);
    }

    pub(super) fn device(&self) -> Device {
        self.device
    }

    pub(super) fn root(&self) -> &Dir {
        &self.root
    }

    /// Returns a handle of the directory at `path`. A link on the way or at its end is [`Stop::Link`].
    pub(super) fn directory(&self, path: Subpath<'_>) -> Attempt<DirHandle<'_>> {
        if path.is_root() {
            return Ok(DirHandle::Root(&self.root));
        }
        match self.directory_in_one_call(path) {
            Some(found) => Ok(DirHandle::Opened(found?)),
            None => self.name_by_name(path).map(DirHandle::Opened),
        }
    }

    /// Opens a directory in one call; none if that is not possible.
    fn directory_in_one_call(&self, path: Subpath<'_>) -> Option<Result<Dir>> {
        let found = self.open(path, OFlags::PATH | OFlags::DIRECTORY)?;
        Some(found.map(|handle| Dir::from_std_file(handle.into())))
    }

    /// Returns [`Stop::Link`] for a link that is the last name of `path`.
    pub(super) fn link(&self, dir: &Dir, name: &str, path: Subpath<'_>) -> Result<Stop> {
        Ok(Stop::Link { names: path.names().count(), target: read_link(dir, name)? })
    }

    /// Returns the reason why the last name of `path` could not be opened: a link, or else the error of the host.
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

    /// Refuses a file on another device that belongs to the kernel of the host. A bind-mounted `proc` or `sys` holds
    /// links and files that lead to every process of the host.
    pub(super) fn check_device(&self, handle: impl AsFd, device: u64) -> Result<()> {
        if device != self.device.number() && is_forbidden(handle) { Err(Errno::NotPermitted) } else { Ok(()) }
    }

    /// Opens a path in one call without following a link. Returns none if the walk must go name by name: for a link,
    /// for a mount of the host, for a path longer than one call takes, or without `openat2`.
    pub(super) fn open(&self, path: Subpath<'_>, flags: OFlags) -> Option<Result<OwnedFd>> {
        self.open_or_create(path, flags, 0)
    }

    /// Opens a path like `open`; `mode` is used if the flags create a file.
    pub(super) fn open_or_create(&self, path: Subpath<'_>, flags: OFlags, mode: u32) -> Option<Result<OwnedFd>> {
        if path.is_root() || !self.has_openat2.load(Ordering::Relaxed) {
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
                    self.has_openat2.store(false, Ordering::Relaxed);
                }
                None
            }
        }
    }

    fn name_by_name(&self, path: Subpath<'_>) -> Attempt<Dir> {
        let mut dir = DirHandle::Root(&self.root);
        for (index, name) in path.names().enumerate() {
            dir = match dir.open_dir_nofollow(name) {
                Ok(next) => {
                    self.check_device(&next, HostStat::of(&next)?.device())?;
                    DirHandle::Opened(next)
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
            DirHandle::Opened(dir) => Ok(dir),
            DirHandle::Root(_) => Err(Errno::Io.into()),
        }
    }
}

fn is_link(dir: &Dir, name: &str) -> bool {
    HostStat::of_name(dir, name).is_ok_and(|attributes| attributes.kind() == Kind::Symlink)
}

/// Returns the target of a link. A target that is not UTF-8 cannot be resolved, because its names cannot be
/// represented.
pub(super) fn read_link(dir: &Dir, name: &str) -> Result<String> {
    let target = dir.read_link_contents(name).map_err(errno)?;
    target.into_os_string().into_string().map_err(|_| Errno::IllegalSequence)
}

/// Returns true for a file on a file system of the kernel of the host, and if the type is unknown.
pub(super) fn is_forbidden(handle: impl AsFd) -> bool {
    match rustix::fs::fstatfs(handle) {
        Ok(found) => FORBIDDEN.contains(&(found.f_type as u64)),
        Err(_) => true,
    }
}

/// `f_type` of file systems that show the kernel of the host instead of a disk, from statfs(2) and `linux/magic.h`:
/// `proc`, `sysfs`, `cgroup`, `cgroup2`, `debugfs`, `tracefs`, `securityfs`, `bpf`, `configfs`, `efivarfs`, `pstore`,
/// `selinuxfs`, `smackfs`, `binfmt_misc`, `nsfs`, `resctrl`, `devpts` and `mqueue`.
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
