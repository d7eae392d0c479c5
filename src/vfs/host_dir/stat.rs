//! What the host says about a file, as we ask it and as the guest sees it.

use std::os::fd::AsFd;

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, FileType};

use crate::error::Result;
use crate::vfs::{GROUP, Kind, Stat, USER};

use super::errors::errno;
use super::walk::Device;

/// What the host says about a file. Plain `fstat`: what cap-std asks for has the time of birth in it, and takes longer.
#[derive(Clone, Copy)]
pub(super) struct Facts(rustix::fs::Stat);

/// A file of the host: its device and its inode.
pub(super) type Identity = (u64, u64);

impl Facts {
    /// About what a handle is of.
    pub(super) fn of(handle: impl AsFd) -> Result<Facts> {
        rustix::fs::fstat(handle).map(Facts).map_err(errno)
    }

    /// About what a name in a directory names; a link is not followed. The name is one name.
    pub(super) fn of_name(dir: &Dir, name: &str) -> Result<Facts> {
        debug_assert!(!name.contains('/') && name != "..");
        rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).map(Facts).map_err(errno)
    }

    pub(super) fn identity(&self) -> Identity {
        (self.0.st_dev, self.0.st_ino)
    }

    pub(super) fn device(&self) -> u64 {
        self.0.st_dev
    }

    #[allow(clippy::unnecessary_cast, reason = "it has 32 bits on some machines")]
    pub(super) fn links(&self) -> u64 {
        self.0.st_nlink as u64
    }

    pub(super) fn size(&self) -> u64 {
        self.0.st_size as u64
    }

    /// Permission bits.
    pub(super) fn mode(&self) -> u32 {
        self.0.st_mode & 0o7777
    }

    pub(super) fn kind(&self) -> Kind {
        kind_of(FileType::from_raw_mode(self.0.st_mode))
    }
}

/// A kind of file of the host. All special files are alike to a guest.
pub(super) fn kind_of(kind: FileType) -> Kind {
    match kind {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Symlink,
        _ => Kind::Device,
    }
}

impl Device {
    /// What the guest sees. The number of a file on another device of the host (a nested mount, or a layer of the host's
    /// own overlay) is mixed with that of the device, since both together are what identifies a file.
    pub(super) fn stat(self, facts: &Facts) -> Stat {
        let time = |seconds: i64, nanos: u64| {
            let nanos = i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
            u64::try_from(nanos.max(0)).unwrap_or(u64::MAX)
        };
        let Facts(raw) = facts;
        Stat {
            kind: facts.kind(),
            mode: facts.mode(),
            uid: USER,
            gid: GROUP,
            size: facts.size(),
            links: facts.links(),
            device: 0,
            inode: self.inode(facts.identity()),
            accessed: time(raw.st_atime, raw.st_atime_nsec),
            modified: time(raw.st_mtime, raw.st_mtime_nsec),
            changed: time(raw.st_ctime, raw.st_ctime_nsec),
        }
    }

    fn inode(self, (device, inode): Identity) -> u64 {
        if device == self.number() && inode >> 62 == 0 {
            inode
        } else {
            // The highest bit is left free: an overlay sets it in what it stands on. The one below keeps these apart
            // from plain numbers, and some hosts have numbers so large that they have to be made small themselves.
            let mixed = device.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ inode;
            mixed & (u64::MAX >> 2) | 1 << 62
        }
    }
}
