//! An open file description: the object that descriptors of one or several processes refer to, with one shared offset.
//!
//! The shared offset is why `{ echo a; echo b; } > f` writes both lines and `2>&1` interleaves, as on any Unix.

use std::sync::{Arc, Mutex};

use bytes::Bytes;

use super::output::Capture;
use super::pipe::{PipeReader, PipeWriter};
use super::transcript::Channel;
use crate::error::{Errno, Result};
use crate::limits::{LIST_ENTRIES, TRANSFER_BYTES};
use crate::sync::lock;
use crate::vfs::{DirEntry, File, Kind, OpenDirectory, Stat};

/// An open file, one end of a pipe, a directory that is being listed, or a command's output.
pub struct OpenFile {
    object: Object,
    access: Access,
    /// Guards the offset. Held over a read or a write, so that two of them never overlap. Taken before any lock of the
    /// VFS.
    offset: Mutex<u64>,
}

enum Object {
    File(Arc<dyn File>),
    Reader(PipeReader),
    Writer(PipeWriter),
    Directory(Mutex<OpenDirectory>),
    Capture(Arc<Capture>, Channel),
    /// Only in descriptor tables: a look-up returns the file that the relay forwards to.
    Relay(Arc<Relay>),
}

/// The access that a file was opened for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Access {
    /// Reading.
    pub read: bool,
    /// Writing.
    pub write: bool,
    /// Each write goes to the end.
    pub append: bool,
}

/// The origin of a seek.
#[derive(Debug, Clone, Copy)]
pub enum Whence {
    /// The start.
    Start,
    /// The offset.
    Current,
    /// The end.
    End,
}

const READ: Access = Access { read: true, write: false, append: false };
const WRITE: Access = Access { read: false, write: true, append: false };

impl OpenFile {
    /// Opens a file of the VFS.
    pub fn file(file: Arc<dyn File>, access: Access) -> OpenFile {
        OpenFile { object: Object::File(file), access, offset: Mutex::new(0) }
    }

    /// Opens a file of the VFS for reading.
    pub fn read_only(file: Arc<dyn File>) -> OpenFile {
        OpenFile::file(file, READ)
    }

    /// Wraps the reading end of a pipe.
    pub fn reader(reader: PipeReader) -> OpenFile {
        OpenFile { object: Object::Reader(reader), access: READ, offset: Mutex::new(0) }
    }

    /// Wraps a writing end of a pipe.
    pub fn writer(writer: PipeWriter) -> OpenFile {
        OpenFile { object: Object::Writer(writer), access: WRITE, offset: Mutex::new(0) }
    }

    /// Wraps a directory that is being listed.
    pub fn directory(directory: OpenDirectory) -> OpenFile {
        OpenFile { object: Object::Directory(Mutex::new(directory)), access: READ, offset: Mutex::new(0) }
    }

    /// Wraps one of a command's outputs, captured for its caller.
    pub fn capture(capture: Arc<Capture>, channel: Channel) -> OpenFile {
        OpenFile { object: Object::Capture(capture, channel), access: WRITE, offset: Mutex::new(0) }
    }

    /// Wraps a relay.
    pub fn relay(relay: Arc<Relay>) -> OpenFile {
        OpenFile { object: Object::Relay(relay), access: Access::default(), offset: Mutex::new(0) }
    }

    /// Returns the target of a relay, and any other file itself.
    pub fn resolve(self: Arc<Self>) -> Arc<OpenFile> {
        match &self.object {
            Object::Relay(relay) => relay.target(),
            _ => self,
        }
    }

    /// The file of the VFS, if it is one.
    pub fn as_file(&self) -> Option<&Arc<dyn File>> {
        match &self.object {
            Object::File(file) => Some(file),
            _ => None,
        }
    }

    /// The access that it was opened for.
    pub fn access(&self) -> Access {
        self.access
    }

    /// Reads up to `max` bytes and waits for them. Empty is the end.
    pub async fn read(&self, max: usize) -> Result<Bytes> {
        loop {
            if let Some(bytes) = self.try_read(max)? {
                return Ok(bytes);
            }
            self.readable().await;
        }
    }

    /// Reads up to `max` bytes without waiting: `None` means wait, empty means the end.
    pub fn try_read(&self, max: usize) -> Result<Option<Bytes>> {
        if !self.access.read {
            return Err(Errno::BadDescriptor);
        }
        let max = max.min(TRANSFER_BYTES);
        match &self.object {
            Object::Reader(reader) => Ok(reader.try_read(max)),
            Object::File(file) => {
                let mut offset = lock(&self.offset);
                let bytes = file.read_at(*offset, max)?;
                if file.seekable() {
                    *offset += bytes.len() as u64;
                }
                Ok(Some(bytes))
            }
            Object::Directory(_) => Err(Errno::IsDirectory),
            Object::Writer(_) | Object::Capture(..) | Object::Relay(_) => Err(Errno::BadDescriptor),
        }
    }

    /// Lists the next entries of a directory, at most `max`. Fewer are the last ones.
    pub fn list(&self, max: usize) -> Result<Vec<DirEntry>> {
        let Object::Directory(directory) = &self.object else { return Err(Errno::NotDirectory) };
        let mut directory = lock(directory);
        let max = max.min(LIST_ENTRIES);
        let mut entries = directory.next(max)?;
        while entries.len() < max {
            let more = directory.next(max - entries.len())?;
            if more.is_empty() {
                break;
            }
            entries.extend(more);
        }
        Ok(entries)
    }

    /// Waits until `try_read` returns bytes or the end.
    pub async fn readable(&self) {
        if let Object::Reader(reader) = &self.object {
            reader.readable().await;
        }
    }

    /// Writes all bytes and waits for room.
    pub async fn write(&self, bytes: Bytes) -> Result<()> {
        if !self.access.write {
            return Err(Errno::BadDescriptor);
        }
        match &self.object {
            Object::Writer(writer) => writer.write(bytes).await,
            _ => self.push(bytes),
        }
    }

    /// The number of bytes that `push` takes now; 0 means wait.
    pub fn room(&self) -> Result<usize> {
        match &self.object {
            Object::Writer(writer) => writer.room(),
            _ => Ok(TRANSFER_BYTES),
        }
    }

    /// Writes bytes without waiting; to a pipe, at most as many as `room` returned.
    pub fn push(&self, bytes: Bytes) -> Result<()> {
        if !self.access.write {
            return Err(Errno::BadDescriptor);
        }
        match &self.object {
            Object::Writer(writer) => writer.push(bytes),
            Object::File(file) => self.write_file(file.as_ref(), &bytes),
            Object::Capture(capture, channel) => {
                capture.write(*channel, &bytes);
                Ok(())
            }
            Object::Reader(_) | Object::Directory(_) | Object::Relay(_) => Err(Errno::BadDescriptor),
        }
    }

    /// Waits until there is room, or until a write fails.
    pub async fn writable(&self) {
        if let Object::Writer(writer) = &self.object {
            writer.writable().await;
        }
    }

    /// Moves the offset and returns the new one.
    pub fn seek(&self, by: i64, whence: Whence) -> Result<u64> {
        let Object::File(file) = &self.object else { return Err(Errno::Seek) };
        let mut offset = lock(&self.offset);
        let from = match whence {
            Whence::Start => 0,
            Whence::Current => *offset,
            Whence::End => file.stat()?.size,
        };
        let to = from.checked_add_signed(by).filter(|to| i64::try_from(*to).is_ok()).ok_or(Errno::Invalid)?;
        if file.seekable() {
            *offset = to;
        }
        Ok(to)
    }

    /// The attributes, as `fstat` returns them.
    pub fn stat(&self) -> Result<Stat> {
        match &self.object {
            Object::File(file) => file.stat(),
            Object::Directory(_) => Ok(Stat { kind: Kind::Directory, ..Stat::of_pipe() }),
            _ => Ok(Stat::of_pipe()),
        }
    }

    fn write_file(&self, file: &dyn File, mut bytes: &[u8]) -> Result<()> {
        let mut offset = lock(&self.offset);
        if self.access.append {
            *offset = file.append(bytes)?;
            return Ok(());
        }
        while !bytes.is_empty() {
            let wrote = file.write_at(*offset, bytes)?;
            if wrote == 0 {
                return Err(Errno::Io);
            }
            if file.seekable() {
                *offset += wrote as u64;
            }
            bytes = &bytes[wrote..];
        }
        Ok(())
    }
}

/// An open file that forwards to another file, which its owner may exchange.
///
/// The processes of a live job keep their descriptors, while each call has an input and an output of its own. A relay
/// connects the two, as a terminal does on other systems.
pub struct Relay {
    /// Guards the file that the relay forwards to. Held for a copy. A leaf.
    target: Mutex<Arc<OpenFile>>,
}

impl Relay {
    /// Makes a relay to a file.
    pub fn to(file: Arc<OpenFile>) -> Arc<Relay> {
        Arc::new(Relay { target: Mutex::new(file) })
    }

    /// Exchanges the file. Reads and writes that have begun end at the old one.
    pub fn connect(&self, file: Arc<OpenFile>) {
        let old = std::mem::replace(&mut *lock(&self.target), file);
        // Dropped without the lock: it may be the last handle of a pipe, and closing that wakes others.
        drop(old);
    }

    fn target(&self) -> Arc<OpenFile> {
        lock(&self.target).clone()
    }
}

impl Stat {
    /// The attributes of a pipe, and of a command's output, which is a pipe as far as a program can tell.
    pub(crate) fn of_pipe() -> Stat {
        Stat {
            kind: Kind::Pipe,
            mode: 0o600,
            uid: crate::vfs::USER,
            gid: crate::vfs::GROUP,
            size: 0,
            links: 1,
            device: 0,
            inode: 0,
            accessed: 0,
            modified: 0,
            changed: 0,
        }
    }
}
