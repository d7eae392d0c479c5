//! This program's standard output and standard error, whose readers may be slow or stuck.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;

use isopod::Chunk;
use isopod::kernel::Channel;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::escape::Escaper;

/// Bytes that a pipe with room takes without blocking, as POSIX promises.
const ATOMIC_BYTES: usize = 4096;

/// Standard output and standard error.
pub(super) struct HostOutputs {
    stdout: HostOutput,
    stderr: HostOutput,
}

impl HostOutputs {
    /// Opens both. Text for a terminal is escaped, unless the caller wants it raw.
    pub(super) fn new(raw: bool) -> HostOutputs {
        HostOutputs {
            stdout: HostOutput::new(io::stdout(), tokio::io::stdout(), raw || !io::stdout().is_terminal()),
            stderr: HostOutput::new(io::stderr(), tokio::io::stderr(), raw || !io::stderr().is_terminal()),
        }
    }

    /// Writes a piece of a command's output.
    pub(super) async fn write(&mut self, chunk: &Chunk) -> io::Result<()> {
        match chunk.channel {
            Channel::Stderr => self.stderr.write(&chunk.bytes).await,
            Channel::Stdout => self.stdout.write(&chunk.bytes).await,
        }
    }

    /// Writes the bytes that were held back because a character was not complete.
    pub(super) async fn finish(&mut self) -> io::Result<()> {
        self.stdout.finish().await?;
        self.stderr.finish().await
    }
}

/// One of the two outputs.
struct HostOutput {
    direct: Box<dyn Direct>,
    /// For writes that may block: a thread of tokio waits for the reader, so that this one sees the clock and Ctrl-C.
    patient: Box<dyn AsyncWrite + Unpin>,
    escaper: Option<Escaper>,
}

impl HostOutput {
    /// Opens an output, as it is or escaped for a terminal.
    fn new(direct: impl AsFd + 'static, patient: impl AsyncWrite + Unpin + 'static, as_it_is: bool) -> HostOutput {
        let escaper = (!as_it_is).then(Escaper::default);
        HostOutput { direct: Box::new(direct), patient: Box::new(patient), escaper }
    }

    /// Writes a piece of output.
    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.escaper.as_mut().map(|escaper| escaper.escape(bytes)) {
            Some(escaped) => self.pass(&escaped).await,
            None => self.pass(bytes).await,
        }
    }

    /// Writes the bytes that were held back because a character was not complete.
    async fn finish(&mut self) -> io::Result<()> {
        let rest = self.escaper.as_mut().map(Escaper::finish).unwrap_or_default();
        self.pass(&rest).await
    }

    async fn pass(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        // Short pieces are written directly, which saves most commands a thread.
        if bytes.len() <= ATOMIC_BYTES && !bytes.is_empty() {
            bytes = &bytes[self.direct.write_now(bytes)?..];
        }
        if bytes.is_empty() {
            return Ok(());
        }
        self.patient.write_all(bytes).await?;
        self.patient.flush().await
    }
}

/// A file that can be written to without waiting.
trait Direct {
    /// Writes bytes and returns their number; 0 if the write would block.
    fn write_now(&self, bytes: &[u8]) -> io::Result<usize>;
}

impl<T: AsFd> Direct for T {
    fn write_now(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut ready = [PollFd::new(self, PollFlags::OUT)];
        match poll(&mut ready, Some(&Timespec::default())) {
            Ok(1..) => Ok(rustix::io::write(self, bytes)?),
            _ => Ok(0),
        }
    }
}
