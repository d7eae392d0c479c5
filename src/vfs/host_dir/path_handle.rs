//! A handle that points at a file without opening it.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt};
use rustix::fs::{AtFlags, Mode, OFlags};

use crate::error::{Errno, Result};
use crate::vfs::SetTime;

use super::errors::errno;
use super::file::timestamps;
use super::stat::Facts;

/// An `O_PATH` handle. It cannot hang on a FIFO, it needs no right to read, and what was learnt about it stays true
/// of what is then changed through it: a name could have changed hands in between.
pub(super) struct Pointer<'a> {
    dir: &'a Dir,
    name: &'a str,
    handle: File,
}

impl<'a> Pointer<'a> {
    pub(super) fn new(dir: &'a Dir, name: &'a str) -> Result<Pointer<'a>> {
        let handle = open(dir, name, OFlags::PATH)?;
        Ok(Pointer { dir, name, handle })
    }

    pub(super) fn facts(&self) -> Result<Facts> {
        Facts::of(&self.handle)
    }

    /// Sets the mode. `fchmod` does not take such a handle and `chmodat` would follow a name, so the handle is named by
    /// way of `/proc/self/fd`. Where there is no proc, the file has to be opened after all.
    pub(super) fn set_mode(&self, mode: u32) -> Result<()> {
        let mode = Mode::from_raw_mode(mode);
        match rustix::fs::chmod(format!("/proc/self/fd/{}", self.handle.as_raw_fd()), mode) {
            Err(rustix::io::Errno::NOENT) => {
                let file = open(self.dir, self.name, OFlags::NONBLOCK | OFlags::NOCTTY)?;
                if Facts::of(&file)?.identity() != self.facts()?.identity() {
                    return Err(Errno::NoEntry);
                }
                rustix::fs::fchmod(&file, mode).map_err(errno)
            }
            result => result.map_err(errno),
        }
    }

    /// Sets the times, of a link those of the link itself.
    pub(super) fn set_times(&self, accessed: SetTime, modified: SetTime) -> Result<()> {
        let times = timestamps(accessed, modified);
        match rustix::fs::utimensat(&self.handle, "", &times, AtFlags::EMPTY_PATH) {
            // Linux before 5.8 takes a name only.
            Err(rustix::io::Errno::INVAL) => {
                rustix::fs::utimensat(self.dir, self.name, &times, AtFlags::SYMLINK_NOFOLLOW).map_err(errno)
            }
            result => result.map_err(errno),
        }
    }
}

impl AsFd for Pointer<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

fn open(dir: &Dir, name: &str, flags: OFlags) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).custom_flags(flags.bits() as i32);
    dir.open_with(name, &options).map_err(errno)
}
