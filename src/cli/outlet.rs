//! One of our own outputs, which somebody may read slowly or not at all.

use std::io;
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::io::{AsyncWrite, AsyncWriteExt};

use super::escape::Escaper;

/// What a pipe that has room takes without blocking, as POSIX promises.
const ATOMIC_BYTES: usize = 4096;

/// An output of ours.
pub(super) struct Outlet {
    direct: Box<dyn Direct>,
    /// For what might block: a thread of tokio's waits for the reader, so that this one sees the clock and Ctrl-C.
    patient: Box<dyn AsyncWrite + Unpin>,
    escaper: Option<Escaper>,
}

impl Outlet {
    /// An output, as it is or escaped for a terminal.
    pub(super) fn new(
        direct: impl AsFd + 'static,
        patient: impl AsyncWrite + Unpin + 'static,
        as_it_is: bool,
    ) -> Outlet {
        let escaper = (!as_it_is).then(Escaper::default);
        Outlet { direct: Box::new(direct), patient: Box::new(patient), escaper }
    }

    /// Writes a piece of output.
    pub(super) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self.escaper.as_mut().map(|escaper| escaper.escape(bytes)) {
            Some(escaped) => self.pass(&escaped).await,
            None => self.pass(bytes).await,
        }
    }

    /// Writes what was kept back for a piece that never came.
    pub(super) async fn finish(&mut self) -> io::Result<()> {
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
