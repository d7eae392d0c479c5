//! Where a command's own output goes: kept up to a limit, or handed on as it comes.

use std::sync::{Mutex, MutexGuard};

use bytes::Bytes;

use crate::sync::lock;

/// Which of a command's two outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Channel {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Keeps what a command writes, up to a limit; what is over is counted and dropped, so that the command runs on
/// as it would have.
#[derive(Debug)]
pub struct Capture {
    limit: usize,
    /// Guards what was kept. Held for a copy, never across anything else.
    kept: Mutex<Kept>,
}

/// What a capture has kept.
#[derive(Debug, Default, Clone)]
pub struct Kept {
    /// Both outputs in the order of writing.
    pub merged: Vec<u8>,
    /// Runs of `merged`: whose bytes, and how many.
    pub runs: Vec<(Channel, usize)>,
    /// Bytes that were dropped.
    pub dropped: u64,
}

impl Capture {
    /// A capture that keeps at most `limit` bytes of both outputs together.
    pub fn new(limit: u64) -> Capture {
        Capture { limit: usize::try_from(limit).unwrap_or(usize::MAX), kept: Mutex::default() }
    }

    /// Keeps bytes of one output, or as many of them as there is room for.
    pub fn write(&self, channel: Channel, bytes: &Bytes) {
        let mut kept = self.kept();
        let room = self.limit.saturating_sub(kept.merged.len()).min(bytes.len());
        kept.dropped += (bytes.len() - room) as u64;
        if room == 0 {
            return;
        }
        kept.append(channel, &bytes[..room]);
    }

    /// Takes what was kept.
    pub fn take(&self) -> Kept {
        std::mem::take(&mut *self.kept())
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        lock(&self.kept)
    }
}

impl Kept {
    /// Adds bytes of one output, without a limit.
    pub fn append(&mut self, channel: Channel, bytes: &[u8]) {
        self.merged.extend_from_slice(bytes);
        match self.runs.last_mut() {
            Some((last, len)) if *last == channel => *len += bytes.len(),
            _ => self.runs.push((channel, bytes.len())),
        }
    }

    /// The bytes of one output.
    pub fn of(&self, channel: Channel) -> Vec<u8> {
        let mut rest = self.merged.as_slice();
        let mut own = Vec::new();
        for &(whose, len) in &self.runs {
            let (run, after) = rest.split_at(len);
            if whose == channel {
                own.extend_from_slice(run);
            }
            rest = after;
        }
        own
    }
}
