//! This program's standard input, read as the command reads.
//!
//! tokio's own standard input reads ahead as soon as it is polled, and the runtime waits for its thread at the end. Here a
//! thread reads one piece for each time that the command waits for input. So a command that reads nothing takes nothing
//! from a script that has the same input, and an input that stays open does not keep this program from ending.

use std::io::{self, IsTerminal};
use std::pin::Pin;
use std::sync::mpsc;
use std::task::{Context, Poll, ready};

use rustix::fs::{FileType, fstat};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Bytes of a piece: as much as a pipe of Linux holds.
const PIECE_BYTES: usize = 64 << 10;

/// The device number of `/dev/null` on Linux.
const NULL_DEVICE: (u32, u32) = (1, 3);

/// This program's standard input.
pub(super) struct HostStdin {
    /// Asks the thread for a piece. `None` until the first read.
    requests: Option<mpsc::Sender<()>>,
    pieces: UnboundedReceiver<io::Result<Vec<u8>>>,
    answers: Option<UnboundedSender<io::Result<Vec<u8>>>>,
    piece: Vec<u8>,
    /// Bytes of the piece that were read.
    at: usize,
    /// The thread was asked for a piece.
    is_awaited: bool,
}

impl HostStdin {
    /// Returns the standard input; `None` for a terminal, unless it is wanted, and for `/dev/null`. A command without input
    /// sees a device and not a pipe: programs such as `rg` search a pipe if they are given one.
    pub(super) fn open(with_terminal: bool) -> Option<HostStdin> {
        let stdin = io::stdin();
        if stdin.is_terminal() && !with_terminal {
            return None;
        }
        let stat = fstat(&stdin).ok()?;
        let device = (rustix::fs::major(stat.st_rdev), rustix::fs::minor(stat.st_rdev));
        if FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice && device == NULL_DEVICE {
            return None;
        }
        let (answers, pieces) = unbounded_channel();
        Some(HostStdin { requests: None, pieces, answers: Some(answers), piece: Vec::new(), at: 0, is_awaited: false })
    }

    /// Requests the next piece from the thread, which is started by the first request.
    fn ask(&mut self) -> io::Result<()> {
        if let Some(answers) = self.answers.take() {
            let (requests, received) = mpsc::channel();
            std::thread::Builder::new().name("isopod-stdin".into()).spawn(move || read_pieces(&received, &answers))?;
            self.requests = Some(requests);
        }
        // An error says that the thread has ended at the end of the input.
        if let Some(requests) = &self.requests {
            let _ = requests.send(());
        }
        Ok(())
    }
}

/// Reads a piece for each request, until the end of the input.
fn read_pieces(received: &mpsc::Receiver<()>, answers: &UnboundedSender<io::Result<Vec<u8>>>) {
    while received.recv().is_ok() {
        let mut piece = vec![0; PIECE_BYTES];
        let read = loop {
            match rustix::io::read(io::stdin(), &mut piece) {
                Err(rustix::io::Errno::INTR) => {}
                read => break read,
            }
        };
        let is_end = !matches!(read, Ok(1..));
        let sent = answers.send(read.map_err(io::Error::from).map(|len| {
            piece.truncate(len);
            piece
        }));
        if is_end || sent.is_err() {
            return;
        }
    }
}

impl AsyncRead for HostStdin {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.at == self.piece.len() {
            if !std::mem::replace(&mut self.is_awaited, true) {
                self.ask()?;
            }
            // Without a sender the input is at its end, and stays there.
            let piece = ready!(self.pieces.poll_recv(cx)).transpose()?.unwrap_or_default();
            (self.piece, self.at, self.is_awaited) = (piece, 0, false);
        }
        let len = (self.piece.len() - self.at).min(buffer.remaining());
        buffer.put_slice(&self.piece[self.at..self.at + len]);
        self.at += len;
        Poll::Ready(Ok(()))
    }
}
