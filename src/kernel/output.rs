//! The captured output of a command, up to a limit.

use std::sync::{Mutex, MutexGuard};

use bytes::Bytes;

use super::transcript::{Channel, Transcript};
use crate::sync::lock;

/// Captures the output of a command, up to a limit. Bytes over the limit are counted and dropped, so that the command
/// runs on as it would have.
#[derive(Debug)]
pub struct Capture {
    limit: u64,
    /// Guards the output so far. Held for a copy. A leaf.
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
        lock(&self.transcript)
    }
}
