//! A directory of the host. Only this module touches the host's file system.
//!
//! # Why nothing gets out
//! The directory is opened once; after that there are handles only. A call first gets a handle of the directory that
//! the last name stands in (`walk`), without following a link, and then makes one host call with that handle and that
//! one name, through cap-std, which would refuse a name that leads elsewhere even if we got it wrong. No path is
//! looked at and then used: where something has to be known about a file, the file is opened and the handle is asked.
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

use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt, Metadata, MetadataExt, OpenOptions, OpenOptionsExt};
use rustix::fs::{Mode, OFlags};

use crate::error::{Errno, Result};
use crate::path::Subpath;

use super::{Attempt, DirEntry, File, FileSystem, GROUP, Kind, Node, OpenHow, SetTime, Stat, USER};
use errors::errno;
use file::HostFile;
use pointer::Pointer;
use second_names::SecondNames;
use walk::Walk;

mod errors;
mod file;
mod pointer;
mod second_names;
mod walk;

/// A directory of the host, shown to a guest.
pub struct HostDir {
    walk: Walk,
    second_names: SecondNames,
}

impl HostDir {
    /// Opens the directory. This is the only time that a path of the host is used.
    pub fn open(host: &Path) -> io::Result<HostDir> {
        let root = Dir::open_ambient_dir(host, cap_std::ambient_authority())?;
        Ok(HostDir { walk: Walk::new(root)?, second_names: SecondNames::default() })
    }

    /// The same directory, walked name by name.
    #[cfg(test)]
    pub(super) fn without_openat2(self) -> HostDir {
        HostDir { walk: self.walk.name_by_name_only(), ..self }
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
        Ok(HostFile::new(file))
    }

    /// Makes a file that is not there.
    fn open_new(&self, dir: &Dir, name: &str, how: &OpenHow) -> Result<HostFile> {
        let mut options = OpenOptions::new();
        // cap-std makes a file only for writing; what the guest may do with it is decided above.
        options.read(how.read).write(true).create_new(true).mode(how.mode);
        options.follow(FollowSymlinks::No).custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits() as i32);
        let file = HostFile::new(dir.open_with(name, &options).map_err(errno)?);
        // The umask of the host's process is not the guest's, who has one of its own.
        if file.metadata()?.mode() & 0o7777 != how.mode {
            file.set_mode(how.mode)?;
        }
        Ok(file)
    }

    /// The last checks, on the handle and not on the name, before anything is changed.
    fn opened(&self, mut file: HostFile, how: &OpenHow) -> Attempt<Node> {
        let metadata = file.metadata()?;
        self.walk.check_device(&file, metadata.dev())?;
        match stat(&metadata).kind {
            Kind::Directory if how.create => Err(Errno::IsDirectory.into()),
            Kind::Directory => Ok(Node::Directory),
            Kind::File => {
                let changeable = self.second_names.check(&metadata);
                if how.writes() || how.truncate {
                    changeable?;
                }
                file.changeable = changeable;
                if how.truncate {
                    file.set_len(0)?;
                }
                file.set_blocking()?;
                Ok(Node::File(Arc::new(file)))
            }
            _ => Err(Errno::NoDevice.into()),
        }
    }

    /// The metadata of a name that a call is about, or the link that it is to follow.
    fn metadata(&self, path: Subpath<'_>, follow: bool) -> Attempt<Metadata> {
        let Some((parent, name)) = path.split() else {
            return Ok(self.walk.root_metadata()?);
        };
        let dir = self.walk.directory(parent)?;
        let metadata = dir.symlink_metadata(name).map_err(errno)?;
        if follow && metadata.is_symlink() {
            return Err(self.walk.link(&dir, name, path)?);
        }
        Ok(metadata)
    }

    /// Sets the mode of `name`, which is not a link, after a last look at the handle that it will be set by.
    fn set_mode(&self, dir: &Dir, name: &str, mode: impl Fn(&Metadata) -> Result<u32>) -> Result<()> {
        let pointer = Pointer::new(dir, name)?;
        let metadata = pointer.metadata()?;
        self.second_names.check(&metadata)?;
        match stat(&metadata).kind {
            Kind::Symlink => Err(Errno::NotSupported),
            Kind::Device => Err(Errno::NoDevice),
            _ => pointer.set_mode(mode(&metadata)?),
        }
    }
}

impl FileSystem for HostDir {
    fn open(&self, path: Subpath<'_>, how: &OpenHow) -> Attempt<Node> {
        if how.create {
            refuse_set_id(how.mode)?;
        }
        let Some((parent, name)) = path.split() else {
            return if how.create && how.exclusive {
                Err(Errno::Exist.into())
            } else if how.writes() || how.create || how.truncate {
                Err(Errno::IsDirectory.into())
            } else {
                Ok(Node::Directory)
            };
        };
        let dir = self.walk.directory(parent)?;
        let file = if how.create && how.exclusive {
            self.open_new(&dir, name, how)?
        } else {
            let mut opened = self.open_existing(&dir, name, how);
            // Whether a file was made has to be known, so it is not left to one call that may do either. The third
            // call is for a file that someone made after the first.
            if how.create && opened.as_ref().is_err_and(|errno| *errno == Errno::NoEntry) {
                opened = match self.open_new(&dir, name, how) {
                    Err(Errno::Exist) => self.open_existing(&dir, name, how),
                    made => made,
                };
            }
            opened.map_err(|errno| self.walk.link_or(&dir, name, path, how, errno))?
        };
        self.opened(file, how)
    }

    fn stat(&self, path: Subpath<'_>, follow: bool) -> Attempt<Stat> {
        Ok(stat(&self.metadata(path, follow)?))
    }

    fn read_dir(&self, path: Subpath<'_>) -> Attempt<Vec<DirEntry>> {
        let dir = self.walk.directory(path)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let listing = rustix::fs::openat(dir.as_fd(), ".", flags, Mode::empty()).map_err(errno)?;
        let mut entries = Vec::new();
        for entry in rustix::fs::Dir::new(listing).map_err(errno)? {
            let entry = entry.map_err(errno)?;
            let name = entry.file_name().to_str().map_err(|_| Errno::IllegalSequence)?;
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems do not tell; and what is gone by now need not be shown.
                rustix::fs::FileType::Unknown => match dir.symlink_metadata(name) {
                    Ok(metadata) => stat(&metadata).kind,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(error) => return Err(errno(error).into()),
                },
                kind => kind_of(kind),
            };
            entries.push(DirEntry { name: name.to_owned(), kind, inode: entry.ino() });
        }
        Ok(entries)
    }

    fn read_link(&self, path: Subpath<'_>) -> Attempt<String> {
        let (parent, name) = path.split().ok_or(Errno::Invalid)?;
        Ok(walk::read_link(&*self.walk.directory(parent)?, name)?)
    }

    fn mkdir(&self, path: Subpath<'_>, mode: u32) -> Attempt<()> {
        refuse_set_id(mode)?;
        let (parent, name) = path.split().ok_or(Errno::Exist)?;
        let dir = self.walk.directory(parent)?;
        dir.create_dir_with(name, DirBuilder::new().mode(mode)).map_err(errno)?;
        // The umask again. A set-group-ID bit is what the directory got from its parent, and stays.
        let made = dir.symlink_metadata(name).map_err(errno)?.mode() & 0o7777;
        if made & 0o1777 != mode {
            self.set_mode(&dir, name, |_| Ok(mode | made & 0o2000))?;
        }
        Ok(())
    }

    fn rmdir(&self, path: Subpath<'_>) -> Attempt<()> {
        let (parent, name) = path.split().ok_or(Errno::Busy)?;
        Ok(self.walk.directory(parent)?.remove_dir(name).map_err(errno)?)
    }

    fn unlink(&self, path: Subpath<'_>) -> Attempt<()> {
        let (parent, name) = path.split().ok_or(Errno::IsDirectory)?;
        let dir = self.walk.directory(parent)?;
        let removed = self.second_names.before_removal(&dir, name);
        dir.remove_file(name).map_err(errno)?;
        self.second_names.removed(removed);
        Ok(())
    }

    fn rename(&self, from: Subpath<'_>, to: Subpath<'_>) -> Attempt<()> {
        let (old_parent, old_name) = from.split().ok_or(Errno::Busy)?;
        let (new_parent, new_name) = to.split().ok_or(Errno::Busy)?;
        let (old_dir, new_dir) = (self.walk.directory(old_parent)?, self.walk.directory(new_parent)?);
        let replaced = self.second_names.before_removal(&new_dir, new_name);
        // To rename a file to another name of the same file does nothing: both names stay.
        let replaced = replaced.filter(|file| self.second_names.before_removal(&old_dir, old_name) != Some(*file));
        old_dir.rename(old_name, &new_dir, new_name).map_err(errno)?;
        self.second_names.removed(replaced);
        Ok(())
    }

    fn link(&self, from: Subpath<'_>, to: Subpath<'_>) -> Attempt<()> {
        let (old_parent, old_name) = from.split().ok_or(Errno::NotPermitted)?;
        let (new_parent, new_name) = to.split().ok_or(Errno::Exist)?;
        let (old_dir, new_dir) = (self.walk.directory(old_parent)?, self.walk.directory(new_parent)?);
        old_dir.hard_link(old_name, &new_dir, new_name).map_err(errno)?;
        self.second_names.made(&new_dir, new_name);
        Ok(())
    }

    fn symlink(&self, target: &str, path: Subpath<'_>) -> Attempt<()> {
        let (parent, name) = path.split().ok_or(Errno::Exist)?;
        // Whatever the target says, it is read as a path of the guest, and never followed here.
        Ok(self.walk.directory(parent)?.symlink_contents(target, name).map_err(errno)?)
    }

    fn chmod(&self, path: Subpath<'_>, mode: u32, follow: bool) -> Attempt<()> {
        // For the link that is to be followed.
        self.metadata(path, follow)?;
        let mode = |metadata: &Metadata| refuse_set_id(mode & !metadata.mode()).map(|()| mode);
        match path.split() {
            Some((parent, name)) => self.set_mode(&*self.walk.directory(parent)?, name, mode)?,
            None => self.set_mode(self.walk.root(), ".", mode)?,
        }
        Ok(())
    }

    fn chown(&self, path: Subpath<'_>, uid: Option<u32>, gid: Option<u32>, follow: bool) -> Attempt<()> {
        self.metadata(path, follow)?;
        if uid.is_none_or(|uid| uid == USER) && gid.is_none_or(|gid| gid == GROUP) {
            Ok(())
        } else {
            Err(Errno::NotPermitted.into())
        }
    }

    fn set_times(&self, path: Subpath<'_>, accessed: SetTime, modified: SetTime, follow: bool) -> Attempt<()> {
        // For the link that is to be followed.
        self.metadata(path, follow)?;
        let set = |dir: &Dir, name: &str| {
            let pointer = Pointer::new(dir, name)?;
            self.second_names.check(&pointer.metadata()?)?;
            pointer.set_times(accessed, modified)
        };
        match path.split() {
            Some((parent, name)) => set(&*self.walk.directory(parent)?, name)?,
            None => set(self.walk.root(), ".")?,
        }
        Ok(())
    }
}

fn stat(metadata: &Metadata) -> Stat {
    let kind = metadata.file_type();
    let time = |seconds: i64, nanos: i64| {
        let nanos = i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
        u64::try_from(nanos.max(0)).unwrap_or(u64::MAX)
    };
    Stat {
        kind: if kind.is_file() {
            Kind::File
        } else if kind.is_dir() {
            Kind::Directory
        } else if kind.is_symlink() {
            Kind::Symlink
        } else {
            Kind::Device
        },
        mode: metadata.mode() & 0o7777,
        uid: USER,
        gid: GROUP,
        size: metadata.size(),
        links: metadata.nlink(),
        device: 0,
        inode: metadata.ino(),
        accessed: time(metadata.atime(), metadata.atime_nsec()),
        modified: time(metadata.mtime(), metadata.mtime_nsec()),
        changed: time(metadata.ctime(), metadata.ctime_nsec()),
    }
}

fn kind_of(kind: rustix::fs::FileType) -> Kind {
    match kind {
        rustix::fs::FileType::RegularFile => Kind::File,
        rustix::fs::FileType::Directory => Kind::Directory,
        rustix::fs::FileType::Symlink => Kind::Symlink,
        _ => Kind::Device,
    }
}

/// Refuses set-user-ID and set-group-ID bits: on the host they would run as the host's user.
fn refuse_set_id(mode: u32) -> Result<()> {
    if mode & 0o6000 == 0 { Ok(()) } else { Err(Errno::NotPermitted) }
}
