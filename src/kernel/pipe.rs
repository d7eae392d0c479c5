//! Bounded pipes with back-pressure and EPIPE.
//!
//! A pipe carries `Bytes`: the buffer of a writer's guest reaches the reader without a copy. Each piece has a tag, so
//! that one pipe brings a command's standard output and standard error to the host in the order of writing.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::{Bytes, BytesMut};
use tokio::sync::Notify;

use super::memory::ProcessMemory;
use crate::error::{Errno, Result};
use crate::limits::{PIPE_BYTES, PIPE_OVERFILL_BYTES};
use crate::sync::lock;

/// A write of at most this many bytes is never mixed with another write: POSIX's PIPE_BUF, with Linux's value.
const ATOMIC_BYTES: usize = 4096;

/// The mark of a piece, chosen by the writing end and seen by the reader. Between processes it is always 0.
pub type PipeTag = u8;

/// A piece shorter than this is joined to the one before it, so that a pipe full of single bytes costs the host no more
/// than a pipe full of pages.
const SMALL_BYTES: usize = 1024;

/// Pieces are joined up to this length: a page, as in Linux's pipes.
const PAGE_BYTES: usize = 4096;

/// Makes a pipe and returns its reading end and its writing end. `charge` pays for the bytes it can hold, until it is
/// dropped.
pub fn pipe(tag: PipeTag, charge: Option<ProcessMemory>) -> (PipeReader, PipeWriter) {
    let pipe = Arc::new(Pipe {
        _charge: charge,
        state: Mutex::new(State { queue: VecDeque::new(), bytes: 0, writers: 1, has_reader: true, is_wanted: false }),
        readable: Notify::new(),
        writable: Notify::new(),
    });
    (PipeReader(pipe.clone()), PipeWriter { pipe, tag })
}

#[derive(Debug)]
struct Pipe {
    /// Guards the queue and the count of its ends. A leaf.
    state: Mutex<State>,
    /// Notified when bytes arrive or the last writer is dropped.
    readable: Notify,
    /// Notified when room appears or the reader is dropped.
    writable: Notify,
    _charge: Option<ProcessMemory>,
}

#[derive(Debug)]
struct State {
    queue: VecDeque<(PipeTag, Bytes)>,
    bytes: usize,
    writers: usize,
    has_reader: bool,
    /// A reader found the queue empty since the last write.
    is_wanted: bool,
}

impl State {
    fn room(&self) -> usize {
        PIPE_BYTES.saturating_sub(self.bytes)
    }

    fn push(&mut self, tag: PipeTag, bytes: Bytes) {
        self.is_wanted = false;
        self.bytes += bytes.len();
        match self.queue.back_mut() {
            Some((last, tail))
                if *last == tag && bytes.len() < SMALL_BYTES && tail.len() + bytes.len() <= PAGE_BYTES =>
            {
                let mut joined =
                    std::mem::take(tail).try_into_mut().unwrap_or_else(|shared| BytesMut::from(&shared[..]));
                joined.extend_from_slice(&bytes);
                *tail = joined.freeze();
            }
            _ => self.queue.push_back((tag, bytes)),
        }
    }
}

impl Pipe {
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// The reading end of a pipe. There is one; descriptors share it.
#[derive(Debug)]
pub struct PipeReader(Arc<Pipe>);

impl PipeReader {
    /// Reads up to `max` bytes without waiting: `None` means wait, empty means the end.
    pub fn try_read(&self, max: usize) -> Option<Bytes> {
        self.try_read_tagged(max).map(|(_, bytes)| bytes)
    }

    /// Reads as `try_read` does, and returns the tag. All bytes returned have one tag.
    pub fn try_read_tagged(&self, max: usize) -> Option<(PipeTag, Bytes)> {
        let mut state = self.0.state();
        let Some((tag, first)) = state.queue.front_mut() else {
            if state.writers == 0 {
                return Some((0, Bytes::new()));
            }
            let was_wanted = std::mem::replace(&mut state.is_wanted, true);
            drop(state);
            if !was_wanted {
                self.0.writable.notify_waiters();
            }
            return None;
        };
        let tag = *tag;
        let piece = if first.len() > max {
            first.split_to(max)
        } else {
            let first = std::mem::take(first);
            state.queue.pop_front();
            gather(&mut state.queue, tag, first, max)
        };
        state.bytes -= piece.len();
        drop(state);
        self.0.writable.notify_waiters();
        Some((tag, piece))
    }

    /// Waits until `try_read` returns bytes or the end.
    pub async fn readable(&self) {
        loop {
            // Registered before the state is read, or a wake-up in between would be lost.
            let woken = self.0.readable.notified();
            let was_wanted = {
                let mut state = self.0.state();
                if !state.queue.is_empty() || state.writers == 0 {
                    return;
                }
                std::mem::replace(&mut state.is_wanted, true)
            };
            if !was_wanted {
                self.0.writable.notify_waiters();
            }
            woken.await;
        }
    }
}

/// Joins the small pieces that follow, so that a line-wise writer does not force a line-wise reader.
fn gather(queue: &mut VecDeque<(PipeTag, Bytes)>, tag: PipeTag, first: Bytes, max: usize) -> Bytes {
    let fits = |queue: &VecDeque<(PipeTag, Bytes)>, len: usize| {
        queue.front().is_some_and(|(t, next)| *t == tag && len + next.len() <= max)
    };
    if !fits(queue, first.len()) {
        return first;
    }
    let mut joined = BytesMut::with_capacity(first.len() + SMALL_BYTES);
    joined.extend_from_slice(&first);
    while fits(queue, joined.len()) {
        if let Some((_, next)) = queue.pop_front() {
            joined.extend_from_slice(&next);
        }
    }
    joined.freeze()
}

impl Drop for PipeReader {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.has_reader = false;
        state.queue.clear();
        state.bytes = 0;
        drop(state);
        self.0.writable.notify_waiters();
    }
}

/// A writing end of a pipe.
#[derive(Debug)]
pub struct PipeWriter {
    pipe: Arc<Pipe>,
    tag: PipeTag,
}

impl PipeWriter {
    /// Makes another writing end of the same pipe, whose pieces have another tag.
    pub fn with_tag(&self, tag: PipeTag) -> PipeWriter {
        self.pipe.state().writers += 1;
        PipeWriter { pipe: self.pipe.clone(), tag }
    }

    /// Writes all bytes, and waits while the pipe is full.
    pub async fn write(&self, mut bytes: Bytes) -> Result<()> {
        if bytes.is_empty() {
            // An empty piece would look like the end to the reader.
            return Ok(());
        }
        // An atomic write waits until there is room for all of it.
        let least = if bytes.len() <= ATOMIC_BYTES { bytes.len() } else { 1 };
        loop {
            let woken = self.pipe.writable.notified();
            let wrote = {
                let mut state = self.pipe.state();
                if !state.has_reader {
                    return Err(Errno::Pipe);
                }
                let room = state.room();
                let fits = room >= least;
                if fits {
                    let piece = if bytes.len() <= room {
                        std::mem::take(&mut bytes)
                    } else {
                        // Copied, because a slice would keep the whole buffer alive.
                        Bytes::copy_from_slice(&bytes.split_to(room))
                    };
                    state.push(self.tag, piece);
                }
                fits
            };
            if wrote {
                self.pipe.readable.notify_waiters();
            }
            if bytes.is_empty() {
                return Ok(());
            }
            woken.await;
        }
    }

    /// Waits until a reader has found the pipe empty. An error says that there is no reader any more.
    pub async fn wanted(&self) -> Result<()> {
        loop {
            let woken = self.pipe.writable.notified();
            {
                let state = self.pipe.state();
                if !state.has_reader {
                    return Err(Errno::Pipe);
                }
                if state.is_wanted {
                    return Ok(());
                }
            }
            woken.await;
        }
    }

    /// The number of bytes that `push` takes now.
    pub fn room(&self) -> Result<usize> {
        let state = self.pipe.state();
        if state.has_reader { Ok(state.room()) } else { Err(Errno::Pipe) }
    }

    /// Writes bytes without waiting. The caller has asked for `room`. Writers that asked at the same time may overfill
    /// the pipe up to a limit; then the result is `Again`.
    pub fn push(&self, bytes: Bytes) -> Result<()> {
        let mut state = self.pipe.state();
        if !state.has_reader {
            return Err(Errno::Pipe);
        }
        if state.bytes + bytes.len() > PIPE_OVERFILL_BYTES {
            return Err(Errno::Again);
        }
        if !bytes.is_empty() {
            state.push(self.tag, bytes);
        }
        drop(state);
        self.pipe.readable.notify_waiters();
        Ok(())
    }

    /// Waits until there is room, or until the reader is dropped.
    pub async fn writable(&self) {
        loop {
            let woken = self.pipe.writable.notified();
            {
                let state = self.pipe.state();
                if state.room() > 0 || !state.has_reader {
                    return;
                }
            }
            woken.await;
        }
    }
}

impl Drop for PipeWriter {
    fn drop(&mut self) {
        let mut state = self.pipe.state();
        state.writers -= 1;
        let last = state.writers == 0;
        drop(state);
        if last {
            self.pipe.readable.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_full_pipe_holds_the_writer_back() {
        let (reader, writer) = pipe(0, None);
        writer.write(Bytes::from(vec![b'x'; PIPE_BYTES])).await.expect("fits");
        let mut second = Box::pin(writer.write(Bytes::from_static(b"y")));
        assert!(futures::poll!(&mut second).is_pending());
        assert_eq!(reader.try_read(PIPE_BYTES).map(|b| b.len()), Some(PIPE_BYTES));
        assert!(futures::poll!(&mut second).is_ready());
    }

    #[tokio::test]
    async fn a_pipe_without_a_reader_is_broken() {
        let (reader, writer) = pipe(0, None);
        drop(reader);
        assert_eq!(writer.write(Bytes::from_static(b"y")).await, Err(Errno::Pipe));
    }

    #[tokio::test]
    async fn a_pipe_without_a_writer_is_at_its_end() {
        let (reader, writer) = pipe(0, None);
        writer.write(Bytes::from_static(b"last")).await.expect("fits");
        drop(writer);
        reader.readable().await;
        assert_eq!(reader.try_read(100).as_deref(), Some(&b"last"[..]));
        assert_eq!(reader.try_read(100).as_deref(), Some(&b""[..]));
    }

    #[tokio::test]
    async fn small_pieces_of_one_tag_are_joined() {
        let (reader, writer) = pipe(1, None);
        let errors = writer.with_tag(2);
        for (end, text) in [(&writer, "a"), (&writer, "b"), (&errors, "c"), (&writer, "d")] {
            end.write(Bytes::from_static(text.as_bytes())).await.expect("fits");
        }
        let mut seen = Vec::new();
        while let Some((tag, bytes)) = reader.try_read_tagged(100) {
            seen.push((tag, bytes));
        }
        assert_eq!(seen, [(1, Bytes::from("ab")), (2, Bytes::from("c")), (1, Bytes::from("d"))]);
    }

    #[tokio::test]
    async fn a_small_write_is_not_torn() {
        let (reader, writer) = pipe(0, None);
        writer.write(Bytes::from(vec![b'x'; PIPE_BYTES - 10])).await.expect("fits");
        let mut second = Box::pin(writer.write(Bytes::from(vec![b'y'; 20])));
        assert!(futures::poll!(&mut second).is_pending());
        assert_eq!(reader.try_read(PIPE_BYTES).map(|b| b.len()), Some(PIPE_BYTES - 10));
        assert!(futures::poll!(&mut second).is_ready());
        assert_eq!(reader.try_read(PIPE_BYTES).map(|b| b.len()), Some(20));
    }

    #[tokio::test]
    async fn a_write_of_nothing_is_not_the_end() {
        let (reader, writer) = pipe(0, None);
        writer.write(Bytes::new()).await.expect("nothing fits");
        writer.push(Bytes::new()).expect("nothing fits");
        assert_eq!(reader.try_read(10), None);
    }

    #[tokio::test]
    async fn single_bytes_cost_no_more_than_pages() {
        let (reader, writer) = pipe(0, None);
        for _ in 0..PIPE_BYTES {
            writer.write(Bytes::from_static(b"x")).await.expect("fits");
        }
        assert!(reader.0.state().queue.len() <= PIPE_BYTES / PAGE_BYTES);
    }

    #[test]
    fn promises_of_room_do_not_add_up_without_end() {
        let (_reader, writer) = pipe(0, None);
        let piece = Bytes::from(vec![b'x'; PIPE_BYTES]);
        let pushed = std::iter::repeat_with(|| writer.push(piece.clone())).take_while(Result::is_ok).count();
        assert_eq!(pushed, PIPE_OVERFILL_BYTES / PIPE_BYTES);
    }
}
