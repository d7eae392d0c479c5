//! Inputs, line by line.

use isopod_gnu::input::{Input, or_standard_input};
use isopod_gnu::program::Call;
use isopod_gnu::quote;
use isopod_sys::{Errno, text};
use memchr::memchr;

/// An input that is read line by line. A line that lies within one piece is not copied.
pub(crate) struct Lines {
    input: Input,
    buffer: Vec<u8>,
    at: usize,
    delimiter: u8,
    ended: bool,
    /// The last line had its delimiter.
    complete: bool,
}

impl Lines {
    /// The lines of an input, which end with `delimiter`.
    pub(crate) fn new(input: Input, delimiter: u8) -> Lines {
        Lines { input, buffer: Vec::new(), at: 0, delimiter, ended: false, complete: true }
    }

    /// Opens a file; `-` is standard input.
    pub(crate) fn open(path: &str, delimiter: u8) -> Result<Lines, Errno> {
        Input::open(path).map(|input| Lines::new(input, delimiter))
    }

    /// Reads the next line, without its delimiter.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, Errno> {
        let mut searched = self.at;
        loop {
            if let Some(found) = memchr(self.delimiter, &self.buffer[searched..]) {
                let start = self.at;
                let end = searched + found;
                self.at = end + 1;
                return Ok(Some(&self.buffer[start..end]));
            }
            if self.ended {
                let start = self.at;
                self.at = self.buffer.len();
                self.complete = start == self.at;
                return Ok(if self.complete { None } else { Some(&self.buffer[start..]) });
            }
            let piece = self.input.read()?;
            self.ended = piece.is_empty();
            if self.at == self.buffer.len() {
                self.buffer = piece;
                searched = 0;
            } else {
                self.buffer.drain(..self.at);
                searched = self.buffer.len();
                self.buffer.extend_from_slice(&piece);
            }
            self.at = 0;
        }
    }

    /// Returns true if the last line had its delimiter: only that of the end of a file may lack it.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }
}

/// Reads every operand, or standard input if there are none. Returns 1 after errors, which are reported.
pub(crate) fn each_input(call: &Call, mut read: impl FnMut(Input) -> Result<(), Errno>) -> u8 {
    let mut code = 0;
    for path in or_standard_input(&call.operands) {
        if let Err(errno) = Input::open(path).and_then(&mut read) {
            code = complain(call, path, errno);
        }
    }
    code
}

/// Writes `PROGRAM: FILE: REASON` and returns the exit code.
pub(crate) fn complain(call: &Call, path: &str, errno: Errno) -> u8 {
    call.failed(&format!("{}: {}", quote::name(path), text(errno)))
}
