//! The devices of `/dev`, and the descriptors of the caller as `/dev/fd/N`.
//!
//! A file system does not know the calling process. For `/dev/fd/3` it returns the number, and the kernel duplicates
//! the descriptor of the caller. For the same reason `/dev/fd` lists no names here.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use crate::error::{Errno, Result};
use crate::path::Subpath;

use super::{Attempt, DirEntry, File, FileSystem, Kind, MountKind, Node, OpenHow, SetTime, Stat, clock};

/// The file system of `/dev`.
pub struct Dev {
    /// Creation time, which all devices show.
    made: u64,
}

impl Dev {
    /// Creates the file system with the devices that every process may use.
    pub fn new() -> Dev {
        Dev { made: clock::now() }
    }
}

impl Default for Dev {
    fn default() -> Dev {
        Dev::new()
    }
}

/// An entry below `/dev`.
#[derive(Clone, Copy, PartialEq)]
enum Entry {
    Root,
    Descriptors,
    Descriptor(u32),
    /// There is no terminal, but the name exists, as on Linux.
    Terminal,
    Device(Device),
}

#[derive(Clone, Copy, PartialEq)]
enum Device {
    Null,
    Zero,
    Full,
    Random,
}

/// The names in `/dev`.
const NAMES: [(&str, Entry); 10] = [
    ("fd", Entry::Descriptors),
    ("full", Entry::Device(Device::Full)),
    ("null", Entry::Device(Device::Null)),
    ("random", Entry::Device(Device::Random)),
    ("stderr", Entry::Descriptor(2)),
    ("stdin", Entry::Descriptor(0)),
    ("stdout", Entry::Descriptor(1)),
    ("tty", Entry::Terminal),
    ("urandom", Entry::Device(Device::Random)),
    ("zero", Entry::Device(Device::Zero)),
];

impl Entry {
    fn find(path: Subpath<'_>) -> Result<(Entry, u64)> {
        let mut names = path.names();
        let Some(name) = names.next() else {
            return Ok((Entry::Root, 1));
        };
        let index = NAMES.iter().position(|(known, _)| *known == name).ok_or(Errno::NoEntry)?;
        let (mut entry, mut inode) = (NAMES[index].1, index as u64 + 2);
        if entry == Entry::Descriptors
            && let Some(number) = names.next()
        {
            let number = descriptor_number(number).ok_or(Errno::NoEntry)?;
            (entry, inode) = (Entry::Descriptor(number), 100 + u64::from(number));
        }
        if names.next().is_some() { Err(Errno::NotDirectory) } else { Ok((entry, inode)) }
    }

    fn kind(self) -> Kind {
        match self {
            Entry::Root | Entry::Descriptors => Kind::Directory,
            _ => Kind::Device,
        }
    }
}

impl FileSystem for Dev {
    fn mount_kind(&self) -> MountKind {
        MountKind::Devices
    }

    fn open(&self, path: Subpath<'_>, how: &OpenHow) -> Attempt<Node> {
        let (entry, inode) = match Entry::find(path) {
            Ok(_) if how.create && how.exclusive => return Err(Errno::Exist.into()),
            Err(Errno::NoEntry) if how.create => return Err(Errno::ReadOnly.into()),
            found => found?,
        };
        match entry {
            Entry::Root | Entry::Descriptors if how.writes() || how.create || how.truncate => {
                Err(Errno::IsDirectory.into())
            }
            Entry::Root | Entry::Descriptors => Ok(Node::Directory),
            _ if how.directory => Err(Errno::NotDirectory.into()),
            Entry::Descriptor(number) => Ok(Node::Descriptor(number)),
            Entry::Terminal => Err(Errno::NoDevice.into()),
            Entry::Device(device) => {
                Ok(Node::File(Arc::new(OpenDevice { device, stat: stat(Kind::Device, inode, self.made) })))
            }
        }
    }

    fn stat(&self, path: Subpath<'_>, _follow: bool) -> Attempt<Stat> {
        let (entry, inode) = Entry::find(path)?;
        Ok(stat(entry.kind(), inode, self.made))
    }

    fn read_dir(&self, path: Subpath<'_>) -> Attempt<Vec<DirEntry>> {
        match Entry::find(path)?.0 {
            Entry::Root => Ok((2..)
                .zip(NAMES)
                .map(|(inode, (name, entry))| DirEntry { name: name.to_owned(), kind: entry.kind(), inode })
                .collect()),
            Entry::Descriptors => Ok(Vec::new()),
            _ => Err(Errno::NotDirectory.into()),
        }
    }

    fn read_link(&self, path: Subpath<'_>) -> Attempt<String> {
        Entry::find(path)?;
        Err(Errno::Invalid.into())
    }

    fn lists_descriptors(&self, path: Subpath<'_>) -> bool {
        matches!(Entry::find(path), Ok((Entry::Descriptors, _)))
    }
}

/// Returns the descriptor that a name stands for. Linux has no names such as `+3` and `03`.
pub(super) fn descriptor_number(name: &str) -> Option<u32> {
    name.parse().ok().filter(|number: &u32| number.to_string() == name)
}

/// An open device.
struct OpenDevice {
    device: Device,
    stat: Stat,
}

impl File for OpenDevice {
    fn read_at(&self, _offset: u64, max: usize) -> Result<Bytes> {
        match self.device {
            Device::Null => Ok(Bytes::new()),
            Device::Zero | Device::Full => Ok(BytesMut::zeroed(max).freeze()),
            Device::Random => {
                let mut bytes = BytesMut::zeroed(max);
                getrandom::fill(&mut bytes).map_err(|_| Errno::Io)?;
                Ok(bytes.freeze())
            }
        }
    }

    fn write_at(&self, _offset: u64, bytes: &[u8]) -> Result<usize> {
        match self.device {
            Device::Full => Err(Errno::NoSpace),
            // Linux mixes such bytes into its entropy pool; a guest must not influence the pool of the host.
            _ => Ok(bytes.len()),
        }
    }

    fn append(&self, bytes: &[u8]) -> Result<u64> {
        self.write_at(0, bytes).map(|_| 0)
    }

    fn stat(&self) -> Result<Stat> {
        Ok(self.stat)
    }

    fn set_len(&self, _len: u64) -> Result<()> {
        Err(Errno::Invalid)
    }

    /// Devices belong to root, and the user of a guest is not root.
    fn set_times(&self, _accessed: SetTime, _modified: SetTime) -> Result<()> {
        Err(Errno::NotPermitted)
    }

    fn sync(&self) -> Result<()> {
        Err(Errno::Invalid)
    }

    fn seekable(&self) -> bool {
        false
    }
}

fn stat(kind: Kind, inode: u64, made: u64) -> Stat {
    let mode = if kind == Kind::Directory { 0o755 } else { 0o666 };
    Stat {
        kind,
        mode,
        uid: 0,
        gid: 0,
        size: 0,
        links: if kind == Kind::Directory { 2 } else { 1 },
        device: 0,
        inode,
        accessed: made,
        modified: made,
        changed: made,
    }
}
