//! WASI streams over open files: standard input, output and error, and files opened by path.
//!
//! The blocking calls are implemented here, since the defaults of wasmtime-wasi give up after ten spurious wake-ups,
//! which two writers of one pipe can cause.

use std::sync::Arc;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite};
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdinStream, StdoutStream};
use wasmtime_wasi::p2::{InputStream, OutputStream, Pollable, StreamError, StreamResult};

use super::guest::ProcessExit;
use crate::error::{Errno, Result};
use crate::kernel::{OpenFile, Process, Status};
use crate::limits::TRANSFER_BYTES;

/// The file that a stream reads or writes.
#[derive(Clone)]
enum StreamTarget {
    /// A descriptor, looked up at each call, so that a redirection in a running program takes effect.
    Descriptor(u32),
    /// An open file at its shared offset.
    Shared(Arc<OpenFile>),
    /// A file at an offset of the stream, as in WASI.
    At(Arc<OpenFile>, u64),
}

/// An input stream.
#[derive(Clone)]
pub(super) struct Input {
    process: Arc<Process>,
    target: StreamTarget,
}

/// An output stream.
#[derive(Clone)]
pub(super) struct Output {
    process: Arc<Process>,
    target: StreamTarget,
    /// The bytes that `check-write` allowed and that were not written yet. Writing more is a trap: our programs never
    /// do.
    permit: usize,
}

impl StreamTarget {
    /// Returns a file at an offset, or at its shared offset if it is not seekable.
    fn at(file: Arc<OpenFile>, offset: u64) -> StreamTarget {
        if file.as_file().is_some_and(|f| f.seekable()) {
            StreamTarget::At(file, offset)
        } else {
            StreamTarget::Shared(file)
        }
    }

    fn file(&self, process: &Process) -> Result<Arc<OpenFile>> {
        match self {
            StreamTarget::Descriptor(fd) => process.file(*fd),
            StreamTarget::Shared(file) | StreamTarget::At(file, _) => Ok(file.clone()),
        }
    }
}

impl Input {
    pub(super) fn standard(process: Arc<Process>) -> Input {
        Input { process, target: StreamTarget::Descriptor(0) }
    }

    pub(super) fn at(process: Arc<Process>, file: Arc<OpenFile>, offset: u64) -> Input {
        Input { process, target: StreamTarget::at(file, offset) }
    }

    pub(super) fn shared(process: Arc<Process>, file: Arc<OpenFile>) -> Input {
        Input { process, target: StreamTarget::Shared(file) }
    }

    fn try_read(&mut self, size: usize) -> Result<Option<Bytes>> {
        let bytes = match &mut self.target {
            StreamTarget::At(file, offset) => {
                if !file.access().read {
                    return Err(Errno::BadDescriptor);
                }
                let vfs_file = file.as_file().ok_or(Errno::BadDescriptor)?;
                let bytes = vfs_file.read_at(*offset, size.min(TRANSFER_BYTES))?;
                *offset += bytes.len() as u64;
                Some(bytes)
            }
            target => target.file(&self.process)?.try_read(size)?,
        };
        self.process.job().count_read(bytes.as_ref().map_or(0, Bytes::len));
        Ok(bytes)
    }
}

#[async_trait]
impl Pollable for Input {
    async fn ready(&mut self) {
        // A closed descriptor is ready: reading it fails at once.
        if let Ok(file) = self.target.file(&self.process) {
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
        Output { process, target: StreamTarget::Descriptor(fd), permit: 0 }
    }

    pub(super) fn shared(process: Arc<Process>, file: Arc<OpenFile>) -> Output {
        Output { process, target: StreamTarget::Shared(file), permit: 0 }
    }

    pub(super) fn at(process: Arc<Process>, file: Arc<OpenFile>, offset: u64) -> Output {
        Output { process, target: StreamTarget::at(file, offset), permit: 0 }
    }

    /// Makes a stream that writes at the end of the file at the time of each write.
    pub(super) fn appending(process: Arc<Process>, file: Arc<OpenFile>) -> Output {
        let file = match file.as_file() {
            Some(f) if f.seekable() => {
                let access = crate::kernel::Access { append: true, ..file.access() };
                Arc::new(OpenFile::file(f.clone(), access))
            }
            _ => file,
        };
        Output { process, target: StreamTarget::Shared(file), permit: 0 }
    }

    fn push(&mut self, mut bytes: Bytes) -> Result<()> {
        self.process.job().count_written(bytes.len());
        match &mut self.target {
            StreamTarget::At(file, offset) => {
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
            target => target.file(&self.process)?.push(bytes),
        }
    }

    /// Handles a failed write. A broken pipe ends the process, unless SIGPIPE is caught or ignored.
    fn refused(&self, errno: Errno) -> StreamError {
        self.process.on_write_error(errno);
        match self.process.signals().fatal() {
            Some(signal) => StreamError::Trap(ProcessExit(Status::Signalled(signal)).into()),
            None if errno == Errno::Pipe => StreamError::Closed,
            None => failed(errno),
        }
    }
}

#[async_trait]
impl Pollable for Output {
    async fn ready(&mut self) {
        if let Ok(file) = self.target.file(&self.process) {
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
        // There is no buffer: a write is done when it returns.
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        // A broken pipe is handled here and not at the write: libc calls this first, and would report an ordinary
        // error.
        let room = self.target.file(&self.process).and_then(|file| file.room());
        self.permit = room.map_err(|errno| self.refused(errno))?;
        Ok(self.permit)
    }

    async fn blocking_write_and_flush(&mut self, bytes: Bytes) -> StreamResult<()> {
        // In one piece: a small write must not be split, and a write that has succeeded must not wait for more room.
        let wrote = match &self.target {
            StreamTarget::At(..) => self.push(bytes),
            target => match target.file(&self.process) {
                Ok(file) => {
                    self.process.job().count_written(bytes.len());
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

/// The error of a failed stream, which wasi:filesystem turns back into a code.
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
        // Called by WASI p3 only, which is not linked.
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
        // Called by WASI p3 only, which is not linked.
        Box::new(tokio::io::empty())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}
