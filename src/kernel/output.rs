//! The destination of a command's output: kept up to a limit, or handed on as it comes.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::Transcript;

/// One of a command's two outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Channel {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Keeps the output of a command, up to a limit. Bytes over the limit are counted and dropped, so that the command runs
/// on as it would have.
#[derive(Debug)]
pub struct Capture {
    limit: u64,
    /// Guards the output so far. Held for a copy, never across anything else.
    transcript: Mutex<Transcript>,
}

impl Capture {
    /// Makes a capture that keeps at most `limit` bytes of both outputs together.
    pub fn new(limit: u64) -> Capture {
        Capture { limit, transcript: Mutex::new(Transcript::new(limit)) }
    }

    /// Keeps bytes of one output.
    pub fn write(&self, channel: Channel, bytes: &Bytes) {
        self.transcript().push(channel, bytes);
    }

    /// Takes the output so far.
    pub fn take(&self) -> Transcript {
        std::mem::replace(&mut *self.transcript(), Transcript::new(self.limit))
    }

    fn transcript(&self) -> MutexGuard<'_, Transcript> {
        self.transcript.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
