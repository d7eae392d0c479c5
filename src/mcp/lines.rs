//! Lines of a bounded length: the frames of the protocol over stdio.

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use crate::limits::server::mcp::READ_BYTES;

/// Reads lines from an input.
pub(super) struct Lines<R> {
    input: BufReader<R>,
    /// Bytes of the longest line.
    most: usize,
    /// The line so far. The future that reads it may be dropped in between.
    line: Vec<u8>,
    /// The rest of an overlong line is being skipped.
    is_skipping: bool,
}

/// The result of a read.
pub(super) enum Line {
    /// A line, without its line feed.
    Whole(Vec<u8>),
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(input: R, most: usize) -> Lines<R> {
        Lines { input: BufReader::with_capacity(READ_BYTES, input), most, line: Vec::new(), is_skipping: false }
    }

    /// Reads to the end of a line. Dropping the future loses no input.
    pub(super) async fn next(&mut self) -> Line {
        loop {
            // An input that fails counts as ended.
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
