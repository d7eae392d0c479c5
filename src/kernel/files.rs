//! The calls of a process on files, directories and descriptors.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::open_file::{Access, OpenFile};
use super::pipe::pipe;
use super::process::Process;
use super::signal::Signal;
use crate::error::{Errno, Result};
use crate::limits::{LIST_ENTRIES, PIPE_BYTES};
use crate::path::GuestPath;
use crate::vfs::{DirEntry, Kind, OpenDirectory, OpenHow, Opened, Stat};

/// The result of opening a path: an open file or a directory. A directory is a path here.
pub enum Handle {
    /// A newly opened file.
    File(Arc<OpenFile>),
    /// A file that a descriptor of the process refers to, with its shared offset. It may be a relay.
    Descriptor(Arc<OpenFile>),
    /// A directory, without links and `..`.
    Directory(GuestPath),
}

impl Process {
    /// Opens a path and returns a descriptor.
    pub fn open(&self, path: &GuestPath, how: OpenHow) -> Result<u32> {
        match self.open_path(path, how)? {
            Handle::File(file) | Handle::Descriptor(file) => self.add_file(file),
            // Directories are listed by path: a descriptor of one would have no use.
            Handle::Directory(_) => Err(Errno::IsDirectory),
        }
    }

    /// Opens a path. /dev/fd/N is descriptor N itself, with its shared offset.
    pub fn open_path(&self, path: &GuestPath, how: OpenHow) -> Result<Handle> {
        let access = Access { read: how.read, write: how.write || how.append, append: how.append };
        let how = OpenHow { mode: self.masked(how.mode), ..how };
        match self.kernel().vfs().open(path, &how)? {
            Opened::File(file) => Ok(Handle::File(Arc::new(OpenFile::file(file, access)))),
            Opened::Directory(path) => Ok(Handle::Directory(path)),
            Opened::Descriptor(fd) => self.descriptors().get(fd).map(Handle::Descriptor),
        }
    }

    /// The attributes of a path. /dev/stdin, /dev/fd/N and the like have those of their descriptor.
    pub fn stat(&self, path: &GuestPath, follow: bool) -> Result<Stat> {
        let vfs = self.kernel().vfs();
        let stat = vfs.stat(path, follow)?;
        if stat.kind == Kind::Device
            && let Ok(Opened::Descriptor(fd)) = vfs.open(path, &OpenHow::default())
        {
            return self.file(fd).map_err(|_| Errno::NoEntry)?.stat();
        }
        Ok(stat)
    }

    /// Adds an open file to the descriptor table.
    pub fn add_file(&self, file: Arc<OpenFile>) -> Result<u32> {
        let slot = self.open_slot()?;
        Ok(self.descriptors().add(file, slot))
    }

    /// The open file with this number.
    pub fn file(&self, fd: u32) -> Result<Arc<OpenFile>> {
        self.descriptors().get(fd).map(OpenFile::resolve)
    }

    /// Closes a descriptor.
    pub fn close(&self, fd: u32) -> Result<()> {
        self.descriptors().close(fd)
    }

    /// Opens a directory to list it piece by piece. /dev/fd lists the descriptors of this process.
    pub fn open_dir(&self, path: &GuestPath) -> Result<OpenDirectory> {
        let directory = self.kernel().vfs().open_dir(path)?;
        if !directory.lists_descriptors() {
            return Ok(directory);
        }
        let entry = |fd: u32| DirEntry { name: fd.to_string(), kind: Kind::Device, inode: u64::from(fd) };
        Ok(OpenDirectory::of(self.descriptors().numbers().map(entry).collect()))
    }

    /// Lists the first entries of a directory. Returns a descriptor for the rest, if there are more.
    pub fn list_dir(&self, path: &GuestPath, max: usize) -> Result<(Vec<DirEntry>, Option<u32>)> {
        let directory = OpenFile::directory(self.open_dir(path)?);
        let entries = directory.list(max)?;
        if entries.len() < max.min(LIST_ENTRIES) {
            return Ok((entries, None));
        }
        Ok((entries, Some(self.add_file(Arc::new(directory))?)))
    }

    /// Makes a pipe and returns the descriptors of its reading end and its writing end.
    pub fn pipe(&self) -> Result<(u32, u32)> {
        let (reader, writer) = pipe(0, Some(self.charge(PIPE_BYTES)?));
        let (reading, writing) = (self.open_slot()?, self.open_slot()?);
        let mut descriptors = self.descriptors();
        let reading = descriptors.add(Arc::new(OpenFile::reader(reader)), reading);
        let writing = descriptors.add(Arc::new(OpenFile::writer(writer)), writing);
        Ok((reading, writing))
    }

    /// Reads from a descriptor and waits at most for `timeout`.
    pub async fn read(&self, fd: u32, max: usize, timeout: Option<Duration>) -> Result<Bytes> {
        let file = self.file(fd)?;
        if max == 0 {
            // With a timeout, a read of no bytes polls the descriptor.
            if timeout.is_some() {
                let readable = async {
                    file.readable().await;
                    Ok(())
                };
                self.interruptible(timeout, readable).await?;
            }
            return Ok(Bytes::new());
        }
        let bytes = match file.try_read(max)? {
            Some(bytes) => bytes,
            None => self.interruptible(timeout, file.read(max)).await?,
        };
        self.job.count_read(bytes.len());
        Ok(bytes)
    }

    /// Writes to a descriptor and waits for room.
    pub async fn write(&self, fd: u32, bytes: Bytes) -> Result<()> {
        let file = self.file(fd)?;
        self.job.count_written(bytes.len());
        file.write(bytes).await.inspect_err(|errno| self.on_write_error(*errno))
    }

    /// Handles a failed write: records the limit behind it, and sends SIGPIPE for a broken pipe.
    pub fn on_write_error(&self, errno: Errno) {
        self.note_refusal(errno);
        if errno == Errno::Pipe {
            // SIGPIPE can be sent to any process.
            let _ = self.signals.send(Signal::PIPE);
        }
    }

    /// Waits for a future, until the timeout or a caught signal.
    async fn interruptible<T>(&self, timeout: Option<Duration>, wait: impl Future<Output = Result<T>>) -> Result<T> {
        let interrupted = async {
            tokio::select! {
                done = wait => done,
                () = self.signals.arrival() => Err(Errno::Interrupted),
            }
        };
        match timeout {
            None => interrupted.await,
            Some(timeout) => tokio::time::timeout(timeout, interrupted).await.unwrap_or(Err(Errno::TimedOut)),
        }
    }
}
