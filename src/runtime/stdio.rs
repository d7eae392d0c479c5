//! WASI streams over open files: standard input, output and error, and files opened by path.
//!
//! wasmtime-wasi's own defaults give up after ten spurious wake-ups, which two writers of one pipe can cause:
//! the blocking calls are ours.

use std::sync::Arc;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdinStream, StdoutStream};
use wasmtime_wasi::p2::{InputStream, OutputStream, Pollable, StreamError, StreamResult};

use super::guest::Ended;
use crate::error::{Errno, Result};
use crate::kernel::{OpenFile, Process, Status};
use crate::limits::TRANSFER_BYTES;

/// Where a stream reads or writes.
#[derive(Clone)]
enum Place {
    /// A descriptor, looked up at each call: what a program redirects while it runs is redirected.
    Descriptor(u32),
    /// An open file at its own shared offset.
    Shared(Arc<OpenFile>),
    /// A file at an offset of the stream's own, as WASI has it.
    At(Arc<OpenFile>, u64),
}

/// A stream to read from.
#[derive(Clone)]
pub(super) struct Input {
    process: Arc<Process>,
    place: Place,
}

/// A stream to write to.
#[derive(Clone)]
pub(super) struct Output {
    process: Arc<Process>,
    place: Place,
    /// Bytes that `check-write` allowed and that were not written yet. Whoever writes more is not one of ours.
    permit: usize,
}

impl Place {
    /// A file at an offset if it has offsets, or else wherever it is.
    fn at(file: Arc<OpenFile>, offset: u64) -> Place {
        if file.as_file().is_some_and(|f| f.seekable()) { Place::At(file, offset) } else { Place::Shared(file) }
    }

    fn file(&self, process: &Process) -> Result<Arc<OpenFile>> {
        match self {
            Place::Descriptor(fd) => process.file(*fd),
            Place::Shared(file) | Place::At(file, _) => Ok(file.clone()),
        }
    }
}

impl Input {
    pub(super) fn standard(process: Arc<Process>) -> Input {
        Input { process, place: Place::Descriptor(0) }
    }

    pub(super) fn at(process: Arc<Process>, file: Arc<OpenFile>, offset: u64) -> Input {
        Input { process, place: Place::at(file, offset) }
    }

    pub(super) fn shared(process: Arc<Process>, file: Arc<OpenFile>) -> Input {
        Input { process, place: Place::Shared(file) }
    }

    fn try_read(&mut self, size: usize) -> Result<Option<Bytes>> {
        let bytes = match &mut self.place {
            Place::At(file, offset) => {
                if !file.access().read {
                    return Err(Errno::BadDescriptor);
                }
                let vfs_file = file.as_file().ok_or(Errno::BadDescriptor)?;
                let bytes = vfs_file.read_at(*offset, size.min(TRANSFER_BYTES))?;
                *offset += bytes.len() as u64;
                Some(bytes)
            }
            place => place.file(&self.process)?.try_read(size)?,
        };
        self.process.session().count_read(bytes.as_ref().map_or(0, Bytes::len));
        Ok(bytes)
    }
}

#[async_trait]
impl Pollable for Input {
    async fn ready(&mut self) {
        // A descriptor that is closed is ready: reading it has an answer.
        if let Ok(file) = self.place.file(&self.process) {
            file.readable().await;
        }
    }
}

#[async_trait]
impl InputStream for Input {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        if size == 0 {
            return Ok(Bytes::new());
        }
        match self.try_read(size) {
            Ok(Some(bytes)) if bytes.is_empty() => Err(StreamError::Closed),
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => Ok(Bytes::new()),
            Err(errno) => Err(failed(errno)),
        }
    }

    async fn blocking_read(&mut self, size: usize) -> StreamResult<Bytes> {
        loop {
            let bytes = self.read(size)?;
            if !bytes.is_empty() || size == 0 {
                return Ok(bytes);
            }
            self.ready().await;
        }
    }
}

impl Output {
    pub(super) fn standard(process: Arc<Process>, fd: u32) -> Output {
        Output { process, place: Place::Descriptor(fd), permit: 0 }
    }

    pub(super) fn shared(process: Arc<Process>, file: Arc<OpenFile>) -> Output {
        Output { process, place: Place::Shared(file), permit: 0 }
    }

    pub(super) fn at(process: Arc<Process>, file: Arc<OpenFile>, offset: u64) -> Output {
        Output { process, place: Place::at(file, offset), permit: 0 }
    }

    /// A stream that writes at the end, whatever that is by then.
    pub(super) fn appending(process: Arc<Process>, file: Arc<OpenFile>) -> Output {
        let file = match file.as_file() {
            Some(f) if f.seekable() => {
                let access = crate::kernel::Access { append: true, ..file.access() };
                Arc::new(OpenFile::file(f.clone(), access))
            }
            _ => file,
        };
        Output { process, place: Place::Shared(file), permit: 0 }
    }

    fn push(&mut self, mut bytes: Bytes) -> Result<()> {
        self.process.session().count_written(bytes.len());
        match &mut self.place {
            Place::At(file, offset) => {
                if !file.access().write {
                    return Err(Errno::BadDescriptor);
                }
                let vfs_file = file.as_file().ok_or(Errno::BadDescriptor)?;
                while !bytes.is_empty() {
                    let wrote = vfs_file.write_at(*offset, &bytes)?;
                    if wrote == 0 {
                        return Err(Errno::Io);
                    }
                    *offset += wrote as u64;
                    bytes = bytes.slice(wrote..);
                }
                Ok(())
            }
            place => place.file(&self.process)?.push(bytes),
        }
    }

    /// What a failed write means: the end of the process if it lets a broken pipe end it.
    fn refused(&self, errno: Errno) -> StreamError {
        self.process.on_write_error(errno);
        match self.process.signals().fatal() {
            Some(signal) => StreamError::Trap(Ended(Status::Signalled(signal)).into()),
            None if errno == Errno::Pipe => StreamError::Closed,
            None => failed(errno),
        }
    }
}

#[async_trait]
impl Pollable for Output {
    async fn ready(&mut self) {
        if let Ok(file) = self.place.file(&self.process) {
            file.writable().await;
        }
    }
}

#[async_trait]
impl OutputStream for Output {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        // wasmtime-wasi leaves the check to the stream.
        let left = self.permit.checked_sub(bytes.len());
        self.permit = left.ok_or_else(|| StreamError::trap("more was written than check-write allowed"))?;
        self.push(bytes).map_err(|errno| self.refused(errno))
    }

    fn flush(&mut self) -> StreamResult<()> {
        // Nothing is buffered: a write is done when it returns.
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        // A broken pipe is told here and not at the write: libc asks first, and would take it for an ordinary error.
        let room = self.place.file(&self.process).and_then(|file| file.room());
        self.permit = room.map_err(|errno| self.refused(errno))?;
        Ok(self.permit)
    }

    async fn blocking_write_and_flush(&mut self, bytes: Bytes) -> StreamResult<()> {
        // In one piece: a small write must not be torn, and one that has succeeded must not wait for room for the next.
        let wrote = match &self.place {
            Place::At(..) => self.push(bytes),
            place => match place.file(&self.process) {
                Ok(file) => {
                    self.process.session().count_written(bytes.len());
                    file.write(bytes).await
                }
                Err(errno) => Err(errno),
            },
        };
        wrote.map_err(|errno| self.refused(errno))
    }

    async fn write_ready(&mut self) -> StreamResult<usize> {
        loop {
            match self.check_write()? {
                0 => self.ready().await,
                room => return Ok(room),
            }
        }
    }
}

/// The error a program sees behind a failed stream; wasi:filesystem turns it back into a code.
fn failed(errno: Errno) -> StreamError {
    StreamError::LastOperationFailed(errno.into())
}

impl IsTerminal for Input {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdinStream for Input {
    fn async_stream(&self) -> Box<dyn AsyncRead + Send + Sync> {
        // Asked for by WASI p3 only, which is not linked.
        Box::new(tokio::io::empty())
    }

    fn p2_stream(&self) -> Box<dyn InputStream> {
        Box::new(self.clone())
    }
}

impl IsTerminal for Output {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Output {
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        // Asked for by WASI p3 only, which is not linked.
        Box::new(tokio::io::empty())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}
