//! What the host says about a file, as the guest sees it.

use cap_std::fs::{Metadata, MetadataExt};

use crate::vfs::{GROUP, Kind, Stat, USER};

use super::walk::Device;

impl Device {
    /// What the guest sees. The number of a file on another device of the host (a nested mount, or a layer of the host's
    /// own overlay) is mixed with that of the device, since both together are what identifies a file.
    pub(super) fn stat(self, metadata: &Metadata) -> Stat {
        let time = |seconds: i64, nanos: i64| {
            let nanos = i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
            u64::try_from(nanos.max(0)).unwrap_or(u64::MAX)
        };
        Stat {
            kind: kind(metadata),
            mode: metadata.mode() & 0o7777,
            uid: USER,
            gid: GROUP,
            size: metadata.size(),
            links: metadata.nlink(),
            device: 0,
            inode: self.inode(metadata),
            accessed: time(metadata.atime(), metadata.atime_nsec()),
            modified: time(metadata.mtime(), metadata.mtime_nsec()),
            changed: time(metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    fn inode(self, metadata: &Metadata) -> u64 {
        if metadata.dev() == self.number() && metadata.ino() >> 62 == 0 {
            metadata.ino()
        } else {
            // The highest bit is left free: an overlay sets it in what it stands on. The one below keeps these apart
            // from plain numbers, and some hosts have numbers so large that they have to be made small themselves.
            let mixed = metadata.dev().wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ metadata.ino();
            mixed & (u64::MAX >> 2) | 1 << 62
        }
    }
}

pub(super) fn kind(metadata: &Metadata) -> Kind {
    let kind = metadata.file_type();
    if kind.is_file() {
        Kind::File
    } else if kind.is_dir() {
        Kind::Directory
    } else if kind.is_symlink() {
        Kind::Symlink
    } else {
        Kind::Device
    }
}
