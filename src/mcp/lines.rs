//! A message a line, of a bounded length.

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Bytes that are read at once.
const READ_BYTES: usize = 64 << 10;

/// Lines that come from somewhere.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    /// Bytes of a line, at most.
    most: usize,
    /// The line so far: whoever waits for one may be interrupted in the middle of it.
    line: Vec<u8>,
    /// Whether the rest of a line that is too long is being left out.
    is_skipping: bool,
}

/// What was read.
pub(super) enum Line {
    /// All of it, without what ends it.
    Whole(Vec<u8>),
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(input: R, most: usize) -> Lines<R> {
        Lines { input: BufReader::with_capacity(READ_BYTES, input), most, line: Vec::new(), is_skipping: false }
    }

    /// Reads to the end of a line. Nothing is lost if it is interrupted.
    pub(super) async fn next(&mut self) -> Line {
        loop {
            // An input that fails is at its end.
            let bytes = self.input.fill_buf().await.unwrap_or_default();
            if bytes.is_empty() {
                return Line::End;
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let part = &bytes[..end.unwrap_or(bytes.len())];
            let is_too_long = !self.is_skipping && self.line.len() + part.len() > self.most;
            let was_skipping = self.is_skipping;
            if is_too_long {
                self.line = Vec::new();
            } else if !was_skipping {
                self.line.extend_from_slice(part);
            }
            self.is_skipping = (was_skipping || is_too_long) && end.is_none();
            let used = part.len() + usize::from(end.is_some());
            self.input.consume(used);
            if is_too_long {
                return Line::TooLong;
            }
            if end.is_some() && !was_skipping {
                return Line::Whole(std::mem::take(&mut self.line));
            }
        }
    }
}
