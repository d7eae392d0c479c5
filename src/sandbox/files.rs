//! The files of a sandbox, for its owner.
//!
//! These are the files that its commands see, with the same mounts, limits, protected paths and errors. No guest code runs
//! for a call, and a call takes microseconds, so none is async.

use std::sync::Arc;

use crate::error::Errno;
use crate::kernel::Kernel;
use crate::limits::TRANSFER_BYTES;
use crate::path::GuestPath;
use crate::vfs::{AtomicWrite, DirEntry, File, Kind, OpenHow, Opened, SetTime, Stat, Vfs};

/// A handle to the files of a sandbox. Paths are those of commands; a relative one starts in their working directory.
#[derive(Clone)]
pub struct Files {
    pub(super) kernel: Arc<Kernel>,
    pub(super) cwd: GuestPath,
}

/// The failure of a file operation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {errno}")]
pub struct FileError {
    /// The path, as the caller gave it.
    pub path: String,
    /// The reason.
    pub errno: Errno,
}

type Result<T> = std::result::Result<T, FileError>;

impl Files {
    /// Reads a whole file. A file over the size limit of the sandbox is refused without reading it.
    pub fn read(&self, path: &str) -> Result<Vec<u8>> {
        self.call(path, |vfs, at| read_all(vfs, at, self.kernel.limits().file))
    }

    /// Replaces the content of a file, or makes the file, in one step: a reader sees the old content or the new one, also
    /// after a crash. A file that exists keeps its mode.
    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) -> Result<()> {
        self.write_with(path, bytes, &AtomicWrite::default()).map(drop)
    }

    /// Does the same as `write`, with options: the mode of a new file, the expected old file, a wait for the disk. Returns
    /// the new attributes.
    pub fn write_with(&self, path: &str, bytes: impl AsRef<[u8]>, how: &AtomicWrite) -> Result<Stat> {
        self.call(path, |vfs, at| vfs.write_atomic(at, bytes.as_ref(), how))
    }

    /// Adds to the end of a file, or makes it.
    pub fn append(&self, path: &str, bytes: impl AsRef<[u8]>) -> Result<()> {
        let how = OpenHow { append: true, create: true, mode: 0o644, ..OpenHow::default() };
        self.open(path, &how)?.append(bytes.as_ref()).map(drop).map_err(|errno| refused(path, errno))
    }

    /// Opens a file, to be read and written piece by piece.
    pub fn open(&self, path: &str, how: &OpenHow) -> Result<Arc<dyn File>> {
        self.call(path, |vfs, at| match vfs.open(at, how)? {
            Opened::File(file) => Ok(file),
            Opened::Directory(_) => Err(Errno::IsDirectory),
            // `/dev/stdin` and the like: the owner of a sandbox is no process and has none.
            Opened::Descriptor(_) => Err(Errno::NoDevice),
        })
    }

    /// Returns the attributes of a file; a link at the end of the path is followed.
    pub fn stat(&self, path: &str) -> Result<Stat> {
        self.call(path, |vfs, at| vfs.stat(at, true))
    }

    /// Returns the attributes of a file; a link at the end of the path is not followed.
    pub fn stat_link(&self, path: &str) -> Result<Stat> {
        self.call(path, |vfs, at| vfs.stat(at, false))
    }

    /// Returns true if a path leads to a file or a directory.
    pub fn exists(&self, path: &str) -> bool {
        self.stat(path).is_ok()
    }

    /// Lists a directory, in the order of the names' bytes.
    pub fn read_dir(&self, path: &str) -> Result<Vec<DirEntry>> {
        self.call(path, Vfs::read_dir)
    }

    /// Returns the path without links and `..`.
    pub fn canonical(&self, path: &str) -> Result<String> {
        self.call(path, |vfs, at| vfs.canonical(at).map(|path| path.to_string()))
    }

    /// Makes a directory.
    pub fn create_dir(&self, path: &str) -> Result<()> {
        self.call(path, |vfs, at| vfs.mkdir(at, 0o755))
    }

    /// Makes a directory with the missing ones above it. An existing directory is no error.
    pub fn create_dir_all(&self, path: &str) -> Result<()> {
        self.call(path, create_dir_all)
    }

    /// Removes a file or a link.
    pub fn remove_file(&self, path: &str) -> Result<()> {
        self.call(path, Vfs::unlink)
    }

    /// Removes an empty directory.
    pub fn remove_dir(&self, path: &str) -> Result<()> {
        self.call(path, Vfs::rmdir)
    }

    /// Removes a directory with its content; a link in it is removed and not followed.
    pub fn remove_dir_all(&self, path: &str) -> Result<()> {
        self.call(path, remove_dir_all)
    }

    /// Renames a file or a directory, and replaces the file that has the new name, in one step.
    pub fn rename(&self, from: &str, to: &str) -> Result<()> {
        let target = self.path(to)?;
        self.call(from, |vfs, at| vfs.rename(at, &target))
    }

    /// Gives a file a second name.
    pub fn hard_link(&self, file: &str, name: &str) -> Result<()> {
        let target = self.path(name)?;
        self.call(file, |vfs, at| vfs.link(at, &target, false))
    }

    /// Makes a link that holds `target`, which need not lead anywhere.
    pub fn symlink(&self, target: &str, path: &str) -> Result<()> {
        self.call(path, |vfs, at| vfs.symlink(target, at))
    }

    /// Returns the target of a link.
    pub fn read_link(&self, path: &str) -> Result<String> {
        self.call(path, Vfs::read_link)
    }

    /// Sets the permission bits.
    pub fn set_mode(&self, path: &str, mode: u32) -> Result<()> {
        self.call(path, |vfs, at| vfs.chmod(at, mode, true))
    }

    /// Sets the times of the last access and of the last change.
    pub fn set_times(&self, path: &str, accessed: SetTime, modified: SetTime) -> Result<()> {
        self.call(path, |vfs, at| vfs.set_times(at, accessed, modified, true))
    }

    /// Cuts a file or extends it with zeros.
    pub fn set_len(&self, path: &str, len: u64) -> Result<()> {
        let file = self.open(path, &OpenHow { write: true, ..OpenHow::default() })?;
        file.set_len(len).map_err(|errno| refused(path, errno))
    }

    fn path(&self, text: &str) -> Result<GuestPath> {
        GuestPath::parse(&self.cwd, text).map_err(|errno| refused(text, errno))
    }

    fn call<T>(&self, path: &str, call: impl FnOnce(&Vfs, &GuestPath) -> crate::error::Result<T>) -> Result<T> {
        let at = self.path(path)?;
        call(self.kernel.vfs(), &at).map_err(|errno| refused(path, errno))
    }
}

fn refused(path: &str, errno: Errno) -> FileError {
    FileError { path: path.to_owned(), errno }
}

fn read_all(vfs: &Vfs, path: &GuestPath, most: u64) -> crate::error::Result<Vec<u8>> {
    let file = match vfs.open(path, &OpenHow { read: true, ..OpenHow::default() })? {
        Opened::File(file) => file,
        Opened::Directory(_) => return Err(Errno::IsDirectory),
        Opened::Descriptor(_) => return Err(Errno::NoDevice),
    };
    // A device has no size and may have no end.
    if !file.seekable() {
        return Err(Errno::Invalid);
    }
    let size = file.stat()?.size;
    if size > most {
        return Err(Errno::FileTooLarge);
    }
    let mut bytes = Vec::with_capacity(size as usize);
    loop {
        let piece = file.read_at(bytes.len() as u64, TRANSFER_BYTES)?;
        if piece.is_empty() {
            return Ok(bytes);
        }
        // The file may grow while it is read.
        if (bytes.len() + piece.len()) as u64 > most {
            return Err(Errno::FileTooLarge);
        }
        bytes.extend_from_slice(&piece);
    }
}

fn create_dir_all(vfs: &Vfs, path: &GuestPath) -> crate::error::Result<()> {
    for depth in 1..=path.depth() {
        let at = path.prefix(depth);
        match vfs.mkdir(&at, 0o755) {
            Ok(()) => {}
            // A read-only mount reports that before it reports an existing directory.
            Err(Errno::Exist | Errno::ReadOnly | Errno::NotPermitted)
                if vfs.stat(&at, true).is_ok_and(|stat| stat.kind == Kind::Directory) => {}
            Err(Errno::Exist) => return Err(Errno::NotDirectory),
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Not recursive: a tree may be deeper than a stack.
fn remove_dir_all(vfs: &Vfs, path: &GuestPath) -> crate::error::Result<()> {
    if vfs.stat(path, false)?.kind != Kind::Directory {
        return Err(Errno::NotDirectory);
    }
    let mut pending = vec![(path.clone(), false)];
    while let Some((directory, is_empty)) = pending.pop() {
        if is_empty {
            vfs.rmdir(&directory)?;
            continue;
        }
        pending.push((directory.clone(), true));
        for entry in vfs.read_dir(&directory)? {
            let at = directory.join(&entry.name)?;
            match entry.kind {
                Kind::Directory => pending.push((at, false)),
                _ => vfs.unlink(&at)?,
            }
        }
    }
    Ok(())
}
