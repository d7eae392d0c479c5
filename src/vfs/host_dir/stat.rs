//! Attributes of a host file, and their translation for the guest.

use std::os::fd::AsFd;

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, FileType};

use crate::error::Result;
use crate::vfs::{GROUP, Kind, Stat, USER};

use super::errors::errno;
use super::walk::Device;

/// The attributes of a host file. Plain `fstat`: the call of cap-std includes the birth time and takes longer.
#[derive(Clone, Copy)]
pub(super) struct HostStat(rustix::fs::Stat);

/// The identity of a host file: device and inode.
pub(super) type Identity = (u64, u64);

impl HostStat {
    /// Reads the attributes of an open handle.
    pub(super) fn of(handle: impl AsFd) -> Result<HostStat> {
        rustix::fs::fstat(handle).map(HostStat).map_err(errno)
    }

    /// Reads the attributes of one name in a directory. A link is not followed.
    pub(super) fn of_name(dir: &Dir, name: &str) -> Result<HostStat> {
        debug_assert!(!name.contains('/') && name != "..");
        rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW).map(HostStat).map_err(errno)
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

/// Returns the kind of a host file. A guest does not distinguish special files.
pub(super) fn kind_of(kind: FileType) -> Kind {
    match kind {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Symlink,
        _ => Kind::Device,
    }
}

impl Device {
    /// Returns the attributes that the guest sees. The inode of a file on another device of the host (a nested mount,
    /// or a layer of an overlay of the host) is mixed with the device, because only both together identify the file.
    pub(super) fn stat(self, attributes: &HostStat) -> Stat {
        let time = |seconds: i64, nanos: u64| {
            let nanos = i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
            u64::try_from(nanos.max(0)).unwrap_or(u64::MAX)
        };
        let HostStat(raw) = attributes;
        Stat {
            kind: attributes.kind(),
            mode: attributes.mode(),
            uid: USER,
            gid: GROUP,
            size: attributes.size(),
            links: attributes.links(),
            device: 0,
            inode: self.inode(attributes.identity()),
            accessed: time(raw.st_atime, raw.st_atime_nsec),
            modified: time(raw.st_mtime, raw.st_mtime_nsec),
            changed: time(raw.st_ctime, raw.st_ctime_nsec),
        }
    }

    fn inode(self, (device, inode): Identity) -> u64 {
        if device == self.number() && inode >> 62 == 0 {
            inode
        } else {
            // The highest bit is free: an overlay sets it in lower files. The bit below distinguishes mixed numbers
            // from plain ones. Some hosts have such large numbers that they must be mixed too.
            let mixed = device.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ inode;
            mixed & (u64::MAX >> 2) | 1 << 62
        }
    }
}
