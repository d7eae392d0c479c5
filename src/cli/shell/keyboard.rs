//! The terminal as the standard input of a command.
//!
//! tokio's own standard input reads on a thread that cannot be interrupted: it would take the next line from the editor.
//! Here a thread waits for keys and for the end of the command, and ends before the editor reads again.

use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::thread::JoinHandle;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// The largest piece that a terminal hands out.
const LINE: usize = 4096;

/// The typed lines, until this is dropped.
pub(super) struct Keyboard {
    lines: Receiver<io::Result<Vec<u8>>>,
    rest: Vec<u8>,
    stop: OwnedFd,
    thread: Option<JoinHandle<()>>,
}

impl Keyboard {
    pub(super) fn listen() -> io::Result<Keyboard> {
        let stop = eventfd(0, EventfdFlags::CLOEXEC)?;
        let (told, stopped) = (channel(1), stop.try_clone()?);
        let thread =
            std::thread::Builder::new().name("isopod-keyboard".into()).spawn(move || wait(&stopped, &told.0))?;
        Ok(Keyboard { lines: told.1, rest: Vec::new(), stop, thread: Some(thread) })
    }
}

/// Reads lines until `stopped` is signalled.
fn wait(stopped: &OwnedFd, lines: &Sender<io::Result<Vec<u8>>>) {
    let stdin = io::stdin();
    loop {
        let mut events = [PollFd::new(stopped, PollFlags::IN), PollFd::new(&stdin, PollFlags::IN)];
        match poll(&mut events, None) {
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return drop(lines.blocking_send(Err(error.into()))),
            Ok(_) if !events[0].revents().is_empty() => return,
            Ok(_) => {}
        }
        let mut line = vec![0; LINE];
        let read = rustix::io::read(&stdin, &mut line).map_err(io::Error::from);
        let is_end = !matches!(read, Ok(1..));
        let sent = lines.blocking_send(read.map(|len| {
            line.truncate(len);
            line
        }));
        if is_end || sent.is_err() {
            return;
        }
    }
}

impl AsyncRead for Keyboard {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.rest.is_empty() {
            // Without a sender the input is at its end, and stays there.
            self.rest = ready!(self.lines.poll_recv(cx)).transpose()?.unwrap_or_default();
        }
        let len = self.rest.len().min(buffer.remaining());
        buffer.put_slice(&self.rest[..len]);
        self.rest.drain(..len);
        Poll::Ready(Ok(()))
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        // Wakes a sender that waits for room.
        self.lines.close();
        // The write cannot fail: the counter is far from full.
        let _ = rustix::io::write(&self.stop, &1u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
