//! What a command wrote: head and tail, and how much was left out between them.

use std::collections::VecDeque;

use crate::kernel::{CapturedOutput, Channel};

/// Keeps both outputs in the order of writing, up to a limit. When there is more, the first half and the last half of the
/// limit are kept: how a command began and how it ended say more than twice its beginning.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    head: CapturedOutput,
    tail: VecDeque<u8>,
    /// Runs of `tail`: whose bytes, and how many.
    runs: VecDeque<(Channel, usize)>,
    head_room: usize,
    tail_room: usize,
    dropped: u64,
    newlines: u64,
}

impl Transcript {
    /// Keeps at most `limit` bytes.
    pub fn new(limit: u64) -> Transcript {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Transcript { head_room: limit - limit / 2, tail_room: limit / 2, ..Transcript::default() }
    }

    /// Adds what was written.
    pub fn push(&mut self, channel: Channel, bytes: &[u8]) {
        self.newlines += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        let room = self.head_room - self.head.merged.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        if !first.is_empty() {
            self.head.append(channel, first);
        }
        if rest.is_empty() {
            return;
        }
        // What would be pushed out again at once is not put in.
        let skip = rest.len().saturating_sub(self.tail_room);
        self.dropped += skip as u64;
        let rest = &rest[skip..];
        self.tail.extend(rest);
        match self.runs.back_mut() {
            Some((last, len)) if *last == channel => *len += rest.len(),
            _ => self.runs.push_back((channel, rest.len())),
        }
        let over = self.tail.len().saturating_sub(self.tail_room);
        self.dropped += over as u64;
        self.tail.drain(..over);
        self.forget(over);
    }

    /// Both outputs in the order of writing, with a marker where something was left out.
    pub fn output(&self) -> Vec<u8> {
        self.select(|_| true)
    }

    /// One output, with a marker where something was left out.
    pub fn of(&self, channel: Channel) -> Vec<u8> {
        self.select(|whose| whose == channel)
    }

    /// The first bytes of both.
    pub fn head(&self) -> &[u8] {
        &self.head.merged
    }

    /// The bytes of both that follow the head and what was left out.
    pub fn tail(&self) -> Vec<u8> {
        self.tail.iter().copied().collect()
    }

    /// Bytes that were left out.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Bytes that were written.
    pub fn total(&self) -> u64 {
        (self.head.merged.len() + self.tail.len()) as u64 + self.dropped
    }

    /// Ends of lines among them.
    pub fn newlines(&self) -> u64 {
        self.newlines
    }

    fn select(&self, wanted: impl Fn(Channel) -> bool) -> Vec<u8> {
        let mut text = Vec::new();
        let mut at = 0;
        for &(whose, len) in &self.head.runs {
            if wanted(whose) {
                text.extend_from_slice(&self.head.merged[at..at + len]);
            }
            at += len;
        }
        if self.dropped > 0 {
            text.extend_from_slice(marker(self.dropped).as_bytes());
        }
        let mut at = 0;
        for &(whose, len) in &self.runs {
            if wanted(whose) {
                text.extend(self.tail.range(at..at + len));
            }
            at += len;
        }
        text
    }

    /// Takes the first `count` bytes out of the runs of the tail.
    fn forget(&mut self, mut count: usize) {
        while let Some((_, len)) = self.runs.front_mut() {
            if *len > count {
                *len -= count;
                return;
            }
            count -= *len;
            self.runs.pop_front();
        }
    }
}

fn marker(dropped: u64) -> String {
    format!("\n... [{dropped} bytes left out] ...\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use Channel::{Stderr, Stdout};

    #[test]
    fn what_fits_is_kept_in_order_and_apart() {
        let mut transcript = Transcript::new(10);
        for (channel, text) in [(Stdout, "abc"), (Stderr, "DE"), (Stdout, "fgh"), (Stderr, "IJ")] {
            transcript.push(channel, text.as_bytes());
        }
        assert_eq!(transcript.output(), b"abcDEfghIJ");
        assert_eq!(transcript.of(Stdout), b"abcfgh");
        assert_eq!(transcript.of(Stderr), b"DEIJ");
        assert_eq!((transcript.dropped(), transcript.total()), (0, 10));
    }

    #[test]
    fn of_too_much_head_and_tail_are_kept_around_a_marker() {
        let mut transcript = Transcript::new(6);
        for piece in ["0", "123456789", "abc", "X", "Y", "Z"] {
            transcript.push(if piece == "X" { Stderr } else { Stdout }, piece.as_bytes());
        }
        assert_eq!(transcript.output(), b"012\n... [10 bytes left out] ...\nXYZ");
        assert_eq!(transcript.of(Stderr), b"\n... [10 bytes left out] ...\nX");
        let mut none = Transcript::new(0);
        none.push(Stdout, b"abc");
        assert_eq!(none.output(), b"\n... [3 bytes left out] ...\n");
    }

    #[test]
    fn any_split_of_any_text_keeps_the_same_bytes() {
        let text: Vec<u8> = (0..200).map(|n| b'a' + (n % 26) as u8).collect();
        for limit in [0, 1, 2, 7, 64, 199, 200, 300] {
            let mut whole = Transcript::new(limit);
            whole.push(Stdout, &text);
            for size in [1, 3, 50] {
                let mut pieces = Transcript::new(limit);
                text.chunks(size).for_each(|piece| pieces.push(Stdout, piece));
                assert_eq!(pieces.output(), whole.output(), "limit {limit}, pieces of {size}");
            }
            assert_eq!(whole.total(), 200);
        }
    }
}
