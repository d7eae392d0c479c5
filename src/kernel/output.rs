//! The captured output of a command, up to a limit.

use std::sync::{Mutex, MutexGuard};

use bytes::Bytes;

use crate::sync::lock;

/// One of a command's two outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Channel {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Captures the output of a command, up to a limit. Bytes over the limit are counted and dropped, so that the command
/// runs on as it would have.
#[derive(Debug)]
pub struct Capture {
    limit: usize,
    /// Guards the output. Held for a copy. A leaf.
    output: Mutex<CapturedOutput>,
}

/// The output that a capture has kept.
#[derive(Debug, Default, Clone)]
pub struct CapturedOutput {
    /// Both outputs in the order of writing.
    pub merged: Vec<u8>,
    /// The runs of `merged`: the output and the number of bytes.
    pub runs: Vec<(Channel, usize)>,
    /// The number of bytes that were dropped.
    pub dropped: u64,
}

impl Capture {
    /// Makes a capture that keeps at most `limit` bytes of both outputs together.
    pub fn new(limit: u64) -> Capture {
        Capture { limit: usize::try_from(limit).unwrap_or(usize::MAX), output: Mutex::default() }
    }

    /// Keeps bytes of one output, as many of them as there is room for.
    pub fn write(&self, channel: Channel, bytes: &Bytes) {
        let mut output = self.output();
        let room = self.limit.saturating_sub(output.merged.len()).min(bytes.len());
        output.dropped += (bytes.len() - room) as u64;
        if room == 0 {
            return;
        }
        output.append(channel, &bytes[..room]);
    }

    /// Takes the output that was kept.
    pub fn take(&self) -> CapturedOutput {
        std::mem::take(&mut *self.output())
    }

    fn output(&self) -> MutexGuard<'_, CapturedOutput> {
        lock(&self.output)
    }
}

impl CapturedOutput {
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
        for &(of, len) in &self.runs {
            let (run, after) = rest.split_at(len);
            if of == channel {
                own.extend_from_slice(run);
            }
            rest = after;
        }
        own
    }
}
