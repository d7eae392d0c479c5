//! Reading records from a file or a pipe.

use std::rc::Rc;

use isopod_regex::Regex;
use isopod_sys::{Errno, Fd, files};
use memchr::memchr;

/// The number of bytes requested by a read: enough to make calls cheap, little enough to keep memory small.
const PIECE: u32 = 64 * 1024;

/// The record separator.
#[derive(Clone)]
pub(crate) enum Separator {
    Byte(u8),
    /// Empty lines: `RS = ""`.
    Paragraphs,
    Regex(Rc<Regex>),
}

/// A file or pipe that is read record by record.
pub(crate) struct Reader {
    /// `None` for standard input, which is not closed.
    file: Option<Fd>,
    buffer: Vec<u8>,
    at: usize,
    ended: bool,
    /// The process at the other end of the pipe.
    pub(crate) child: Option<u32>,
}

impl Reader {
    pub(crate) fn standard_input() -> Reader {
        Reader { file: None, buffer: Vec::new(), at: 0, ended: false, child: None }
    }

    pub(crate) fn new(file: Fd, child: Option<u32>) -> Reader {
        Reader { file: Some(file), buffer: Vec::new(), at: 0, ended: false, child }
    }

    /// Reads more into the buffer and drops the part already used. Returns false at the end.
    fn fill(&mut self) -> Result<bool, Errno> {
        if self.ended {
            return Ok(false);
        }
        // A record much larger than the buffer requests more each time, so that it is not searched again for every
        // piece.
        let wanted = PIECE.max((self.buffer.len() - self.at) as u32);
        let fd = self.file.as_ref().map_or(0, Fd::raw);
        let piece = loop {
            match files::read(fd, wanted, None) {
                Err(Errno::Interrupted) => {}
                result => break result?,
            }
        };
        if piece.is_empty() {
            self.ended = true;
            return Ok(false);
        }
        if self.at == self.buffer.len() {
            self.buffer = piece;
        } else {
            self.buffer.drain(..self.at);
            self.buffer.extend_from_slice(&piece);
        }
        self.at = 0;
        Ok(true)
    }

    /// Reads a record, and its terminator. Returns false if there is none left.
    #[inline]
    pub(crate) fn read(
        &mut self,
        separator: &Separator,
        record: &mut Vec<u8>,
        terminator: &mut Vec<u8>,
    ) -> Result<bool, Errno> {
        // At the end the last record stays, because END can read it.
        if self.at == self.buffer.len() && !self.fill()? {
            return Ok(false);
        }
        match separator {
            Separator::Byte(byte) => {
                record.clear();
                loop {
                    let rest = &self.buffer[self.at..];
                    if let Some(length) = memchr(*byte, rest) {
                        record.extend_from_slice(&rest[..length]);
                        self.at += length + 1;
                        if terminator.as_slice() != [*byte] {
                            terminator.clear();
                            terminator.push(*byte);
                        }
                        return Ok(true);
                    }
                    record.extend_from_slice(rest);
                    self.at = self.buffer.len();
                    if !self.fill()? {
                        terminator.clear();
                        return Ok(!record.is_empty());
                    }
                }
            }
            Separator::Paragraphs => {
                terminator.clear();
                self.paragraph(record, terminator)
            }
            Separator::Regex(regex) => {
                record.clear();
                terminator.clear();
                self.until_match(regex, record, terminator)
            }
        }
    }

    fn paragraph(&mut self, record: &mut Vec<u8>, terminator: &mut Vec<u8>) -> Result<bool, Errno> {
        loop {
            while self.buffer.get(self.at) == Some(&b'\n') {
                self.at += 1;
            }
            if self.at < self.buffer.len() {
                break;
            }
            if !self.fill()? {
                return Ok(false);
            }
        }
        record.clear();
        let mut searched = 0;
        loop {
            let rest = &self.buffer[self.at..];
            let found = memchr::memmem::find(&rest[searched..], b"\n\n").map(|found| found + searched);
            if let Some(end) = found {
                let newlines = rest[end..].iter().take_while(|byte| **byte == b'\n').count();
                if end + newlines < rest.len() || self.ended {
                    record.extend_from_slice(&rest[..end]);
                    terminator.resize(newlines, b'\n');
                    self.at += end + newlines;
                    return Ok(true);
                }
            }
            searched = found.unwrap_or(rest.len().saturating_sub(1));
            if !self.fill()? {
                let rest = &self.buffer[self.at..];
                let kept = rest.len() - rest.iter().rev().take_while(|byte| **byte == b'\n').count();
                record.extend_from_slice(&rest[..kept]);
                terminator.extend_from_slice(&rest[kept..]);
                self.at = self.buffer.len();
                return Ok(true);
            }
        }
    }

    fn until_match(&mut self, regex: &Regex, record: &mut Vec<u8>, terminator: &mut Vec<u8>) -> Result<bool, Errno> {
        loop {
            let rest = &self.buffer[self.at..];
            let found = regex.find_at(rest, 0).filter(|(start, end)| start < end);
            match found {
                // A match at the end of the buffer can become longer with more input.
                Some((start, end)) if end < rest.len() || self.ended => {
                    record.extend_from_slice(&rest[..start]);
                    terminator.extend_from_slice(&rest[start..end]);
                    self.at += end;
                    return Ok(true);
                }
                _ => {}
            }
            if !self.fill()? {
                let rest = &self.buffer[self.at..];
                if rest.is_empty() {
                    return Ok(false);
                }
                if found.is_none() {
                    record.extend_from_slice(rest);
                    self.at = self.buffer.len();
                    return Ok(true);
                }
            }
        }
    }
}
