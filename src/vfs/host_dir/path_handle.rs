//! A handle of a file that is not open for reading or writing.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt};
use rustix::fs::{AtFlags, Mode, OFlags};

use crate::error::{Errno, Result};
use crate::vfs::SetTime;

use super::errors::errno;
use super::file::timestamps;
use super::stat::HostStat;

/// An `O_PATH` handle. It cannot block on a FIFO and needs no right to read. Attributes read through it belong to the
/// same file that is then changed through it, which would not hold for a name.
pub(super) struct PathHandle<'a> {
    dir: &'a Dir,
    name: &'a str,
    file: File,
}

impl<'a> PathHandle<'a> {
    pub(super) fn new(dir: &'a Dir, name: &'a str) -> Result<PathHandle<'a>> {
        let file = open(dir, name, OFlags::PATH)?;
        Ok(PathHandle { dir, name, file })
    }

    pub(super) fn host_stat(&self) -> Result<HostStat> {
        HostStat::of(&self.file)
    }

    /// Sets the mode. `fchmod` does not take such a handle and `chmodat` would follow a link, so the handle is named
    /// through `/proc/self/fd`. Without a mounted proc the file must be opened.
    pub(super) fn set_mode(&self, mode: u32) -> Result<()> {
        let mode = Mode::from_raw_mode(mode);
        match rustix::fs::chmod(format!("/proc/self/fd/{}", self.file.as_raw_fd()), mode) {
            Err(rustix::io::Errno::NOENT) => {
                let file = open(self.dir, self.name, OFlags::NONBLOCK | OFlags::NOCTTY)?;
                if HostStat::of(&file)?.identity() != self.host_stat()?.identity() {
                    return Err(Errno::NoEntry);
                }
                rustix::fs::fchmod(&file, mode).map_err(errno)
            }
            result => result.map_err(errno),
        }
    }

    /// Sets the times; for a link, those of the link itself.
    pub(super) fn set_times(&self, accessed: SetTime, modified: SetTime) -> Result<()> {
        let times = timestamps(accessed, modified);
        match rustix::fs::utimensat(&self.file, "", &times, AtFlags::EMPTY_PATH) {
            // Linux before 5.8 takes a name only.
            Err(rustix::io::Errno::INVAL) => {
                rustix::fs::utimensat(self.dir, self.name, &times, AtFlags::SYMLINK_NOFOLLOW).map_err(errno)
            }
            result => result.map_err(errno),
        }
    }
}

impl AsFd for PathHandle<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn open(dir: &Dir, name: &str, flags: OFlags) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No).custom_flags(flags.bits() as i32);
    dir.open_with(name, &options).map_err(errno)
}
