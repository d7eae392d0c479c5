//! Our own outputs, which somebody may read slowly or not at all.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;

use isopod::Chunk;
use isopod::kernel::Channel;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::escape::Escaper;

/// What a pipe that has room takes without blocking, as POSIX promises.
const ATOMIC_BYTES: usize = 4096;

/// Both our outputs.
pub(super) struct Outlets {
    stdout: Outlet,
    stderr: Outlet,
}

impl Outlets {
    /// Escaped for a terminal, where there is one, unless the caller wants them raw.
    pub(super) fn new(raw: bool) -> Outlets {
        Outlets {
            stdout: Outlet::new(io::stdout(), tokio::io::stdout(), raw || !io::stdout().is_terminal()),
            stderr: Outlet::new(io::stderr(), tokio::io::stderr(), raw || !io::stderr().is_terminal()),
        }
    }

    /// Passes on what a command wrote.
    pub(super) async fn write(&mut self, chunk: &Chunk) -> io::Result<()> {
        match chunk.channel {
            Channel::Stderr => self.stderr.write(&chunk.bytes).await,
            Channel::Stdout => self.stdout.write(&chunk.bytes).await,
        }
    }

    /// Writes what was kept back for a piece that never came.
    pub(super) async fn finish(&mut self) -> io::Result<()> {
        self.stdout.finish().await?;
        self.stderr.finish().await
    }
}

/// An output of ours.
struct Outlet {
    direct: Box<dyn Direct>,
    /// For what might block: a thread of tokio's waits for the reader, so that this one sees the clock and Ctrl-C.
    patient: Box<dyn AsyncWrite + Unpin>,
    escaper: Option<Escaper>,
}

impl Outlet {
    /// An output, as it is or escaped for a terminal.
    fn new(direct: impl AsFd + 'static, patient: impl AsyncWrite + Unpin + 'static, as_it_is: bool) -> Outlet {
        let escaper = (!as_it_is).then(Escaper::default);
        Outlet { direct: Box::new(direct), patient: Box::new(patient), escaper }
    }

    /// Writes a piece of output.
    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.escaper.as_mut().map(|escaper| escaper.escape(bytes)) {
            Some(escaped) => self.pass(&escaped).await,
            None => self.pass(bytes).await,
        }
    }

    /// Writes what was kept back for a piece that never came.
    async fn finish(&mut self) -> io::Result<()> {
        let rest = self.escaper.as_mut().map(Escaper::finish).unwrap_or_default();
        self.pass(&rest).await
    }

    async fn pass(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        // A little goes straight out, which saves most commands a thread.
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

/// Writing without waiting.
trait Direct {
    /// How many of the bytes went out; 0 if that would have to wait.
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
