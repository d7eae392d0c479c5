//! The output of a command, kept up to a limit.

use std::collections::VecDeque;

use bytes::Bytes;

/// One of a command's two outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Channel {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Both outputs of a command in the order of writing, up to a limit.
///
/// When there is more, the first half and the last half of the limit are kept: the beginning and the end of an output
/// say more than twice its beginning. A marker stands where bytes were left out, in the outputs that lost some and in no
/// other.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    head: Vec<u8>,
    /// Runs of `head`: their output and their length.
    head_runs: Vec<(Channel, usize)>,
    tail: VecDeque<u8>,
    /// Runs of `tail`: their output and their length.
    tail_runs: VecDeque<(Channel, usize)>,
    head_room: usize,
    tail_room: usize,
    limit: u64,
    /// Bytes left out of standard output and of standard error.
    dropped: [u64; 2],
}

/// The gap in an output: its position and its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Elision {
    /// Bytes of the output before the marker.
    pub at: usize,
    /// Bytes left out.
    pub bytes: u64,
}

impl Elision {
    /// The text in place of the bytes that were left out.
    pub fn marker(&self) -> String {
        format!("\n... [{} bytes left out] ...\n", self.bytes)
    }
}

impl Transcript {
    /// Makes a transcript that keeps at most `limit` bytes.
    pub fn new(limit: u64) -> Transcript {
        let room = usize::try_from(limit).unwrap_or(usize::MAX);
        Transcript { head_room: room - room / 2, tail_room: room / 2, limit, ..Transcript::default() }
    }

    /// Adds bytes of one output.
    pub fn push(&mut self, channel: Channel, bytes: &[u8]) {
        let room = self.head_room.saturating_sub(self.head.len());
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        if !first.is_empty() {
            self.head.extend_from_slice(first);
            match self.head_runs.last_mut() {
                Some((last, len)) if *last == channel => *len += first.len(),
                _ => self.head_runs.push((channel, first.len())),
            }
        }
        if rest.is_empty() {
            return;
        }
        // Bytes that the end of the same piece would push out again are not put in.
        let skip = rest.len().saturating_sub(self.tail_room);
        self.dropped[channel as usize] += skip as u64;
        self.append_to_tail(channel, &rest[skip..]);
        self.forget(self.tail.len().saturating_sub(self.tail_room));
    }

    /// Adds a line of the host's own, beyond the limit: a flood of output must not hide it.
    pub fn push_notice(&mut self, line: &[u8]) {
        self.append_to_tail(Channel::Stderr, line);
    }

    /// The limit, in bytes.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The number of bytes left out.
    pub fn dropped(&self) -> u64 {
        self.dropped.iter().sum()
    }

    /// Both outputs in the order of writing.
    pub fn output(&self) -> Vec<u8> {
        self.select(|_| true, self.dropped())
    }

    /// One of the two outputs.
    pub fn of(&self, channel: Channel) -> Vec<u8> {
        // Most commands write to one output only, and the first run then is all of it.
        if self.tail.is_empty() && self.dropped() == 0 {
            match self.head_runs[..] {
                [] => return Vec::new(),
                [(only, _)] => return if only == channel { self.head.clone() } else { Vec::new() },
                _ => {}
            }
        }
        self.select(|run| run == channel, self.dropped[channel as usize])
    }

    /// Both outputs in the order of writing, with the place where bytes were left out. Copies nothing if all of it was
    /// kept in one piece.
    pub fn into_output(mut self) -> (Vec<u8>, Option<Elision>) {
        let bytes = self.dropped();
        let elision = (bytes > 0).then_some(Elision { at: self.head.len(), bytes });
        if let Some(elision) = elision {
            self.head.extend_from_slice(elision.marker().as_bytes());
        }
        let (first, second) = self.tail.as_slices();
        self.head.extend_from_slice(first);
        self.head.extend_from_slice(second);
        (self.head, elision)
    }

    /// Both outputs as a series of pieces. The marker is a piece of an output that lost bytes.
    pub fn into_pieces(self) -> Vec<(Channel, Bytes)> {
        let mut pieces = Vec::new();
        let mut head = Bytes::from(self.head);
        for (channel, len) in self.head_runs {
            pieces.push((channel, head.split_to(len)));
        }
        let bytes: u64 = self.dropped.iter().sum();
        if bytes > 0 {
            let channel = if self.dropped[Channel::Stdout as usize] > 0 { Channel::Stdout } else { Channel::Stderr };
            pieces.push((channel, Bytes::from(Elision { at: 0, bytes }.marker())));
        }
        let mut tail = Bytes::from(Vec::from(self.tail));
        for (channel, len) in self.tail_runs {
            pieces.push((channel, tail.split_to(len)));
        }
        pieces
    }

    fn select(&self, wanted: impl Fn(Channel) -> bool, dropped: u64) -> Vec<u8> {
        let mut text = Vec::new();
        let mut at = 0;
        for &(channel, len) in &self.head_runs {
            if wanted(channel) {
                text.extend_from_slice(&self.head[at..at + len]);
            }
            at += len;
        }
        if dropped > 0 {
            text.extend_from_slice(Elision { at: 0, bytes: dropped }.marker().as_bytes());
        }
        let mut at = 0;
        for &(channel, len) in &self.tail_runs {
            if wanted(channel) {
                text.extend(self.tail.range(at..at + len));
            }
            at += len;
        }
        text
    }

    fn append_to_tail(&mut self, channel: Channel, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.tail.extend(bytes);
        match self.tail_runs.back_mut() {
            Some((last, len)) if *last == channel => *len += bytes.len(),
            _ => self.tail_runs.push_back((channel, bytes.len())),
        }
    }

    /// Drops the first `count` bytes of the tail.
    fn forget(&mut self, mut count: usize) {
        self.tail.drain(..count);
        while count > 0 {
            let Some((channel, len)) = self.tail_runs.front_mut() else { return };
            let part = count.min(*len);
            self.dropped[*channel as usize] += part as u64;
            *len -= part;
            count -= part;
            if *len == 0 {
                self.tail_runs.pop_front();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Channel::{Stderr, Stdout};

    #[test]
    fn output_within_the_limit_is_kept_in_order_and_apart() {
        let mut transcript = Transcript::new(10);
        for (channel, text) in [(Stdout, "abc"), (Stderr, "DE"), (Stdout, "fgh"), (Stderr, "IJ")] {
            transcript.push(channel, text.as_bytes());
        }
        assert_eq!(transcript.output(), b"abcDEfghIJ");
        assert_eq!(transcript.of(Stdout), b"abcfgh");
        assert_eq!(transcript.of(Stderr), b"DEIJ");
        assert_eq!(transcript.dropped(), 0);
        assert_eq!(transcript.into_output(), (b"abcDEfghIJ".to_vec(), None));
    }

    #[test]
    fn output_over_the_limit_keeps_head_and_tail_around_a_marker() {
        let mut transcript = Transcript::new(6);
        for piece in ["0", "123456789", "abc", "X", "Y", "Z"] {
            transcript.push(if piece == "X" { Stderr } else { Stdout }, piece.as_bytes());
        }
        let whole = b"012\n... [10 bytes left out] ...\nXYZ";
        assert_eq!(transcript.output(), whole);
        assert_eq!(transcript.of(Stdout), b"012\n... [10 bytes left out] ...\nYZ");
        assert_eq!(transcript.into_output(), (whole.to_vec(), Some(Elision { at: 3, bytes: 10 })));
        let mut none = Transcript::new(0);
        none.push(Stdout, b"abc");
        assert_eq!(none.output(), b"\n... [3 bytes left out] ...\n");
    }

    #[test]
    fn the_marker_stands_only_in_the_output_that_lost_bytes() {
        let mut transcript = Transcript::new(8);
        transcript.push(Stderr, b"E1");
        transcript.push(Stdout, b"0123456789");
        transcript.push(Stderr, b"E2");
        assert_eq!(transcript.of(Stderr), b"E1E2");
        assert_eq!(transcript.of(Stdout), b"01\n... [6 bytes left out] ...\n89");
        let pieces = transcript.into_pieces();
        let marker = pieces.iter().find(|(_, bytes)| bytes.starts_with(b"\n...")).unwrap();
        assert_eq!(marker.0, Stdout);

        let mut both = Transcript::new(2);
        both.push(Stdout, b"ab");
        both.push(Stderr, b"cd");
        both.push(Stdout, b"e");
        assert_eq!(both.of(Stdout), b"a\n... [1 bytes left out] ...\ne");
        assert_eq!(both.of(Stderr), b"\n... [2 bytes left out] ...\n");
        assert_eq!(both.dropped(), 3);
    }

    #[test]
    fn a_notice_is_kept_beyond_the_limit() {
        let mut transcript = Transcript::new(4);
        transcript.push(Stdout, b"0123456789");
        transcript.push_notice(b"notice\n");
        assert_eq!(transcript.of(Stderr), b"notice\n");
        assert_eq!(transcript.of(Stdout), b"01\n... [6 bytes left out] ...\n89");
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
            assert_eq!(whole.dropped(), 200_u64.saturating_sub(limit));
        }
    }
}
