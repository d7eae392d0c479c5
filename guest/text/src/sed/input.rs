//! Input lines, from one file after the other.

use isopod_gnu::program::Call;
use isopod_sys::files::{self, Kind, OpenFlags, Whence};
use isopod_sys::{Errno, Fd, text};
use memchr::memchr;

use super::{Failure, Options};

/// The number of bytes read at once.
const PIECE: u32 = 64 * 1024;

/// The input files, as one stream or separately.
pub(super) struct Input<'a> {
    call: &'a Call,
    options: &'a Options,
    files: std::slice::Iter<'a, String>,
    current: Option<File>,
    buffer: Vec<u8>,
    at: usize,
    has_ended: bool,
    /// The number of the current line.
    pub(super) line: u64,
    /// The name of the current line's file.
    pub(super) name: String,
    /// The exit code if a file could not be read.
    pub(super) failure: u8,
}

/// The current file.
struct File {
    /// `None` for standard input.
    fd: Option<Fd>,
    name: String,
}

/// The result of reading a line.
pub(super) enum Line {
    /// A line was read; the flag tells if it had a terminator.
    Read(bool),
    /// The end of a file, if files are separate.
    FileEnd,
    /// The start of a file, if files are separate.
    FileStart(String),
    /// The end of all files.
    End,
}

const STANDARD_INPUT: &[String] = &[];

impl<'a> Input<'a> {
    pub(super) fn new(call: &'a Call, options: &'a Options, files: &'a [String]) -> Input<'a> {
        let mut input = Input {
            call,
            options,
            files: files.iter(),
            current: None,
            buffer: Vec::new(),
            at: 0,
            has_ended: false,
            line: 0,
            name: "-".to_owned(),
            failure: 0,
        };
        if files.is_empty() {
            input.files = STANDARD_INPUT.iter();
            input.current = Some(File { fd: None, name: "-".to_owned() });
        }
        input
    }

    /// Reads the next line into `space`. With `keep` it is appended after a line terminator, otherwise `space` is
    /// cleared.
    pub(super) fn read(&mut self, space: &mut Vec<u8>, keep: bool) -> Result<Line, Failure> {
        loop {
            if self.current.is_none() {
                match self.open_next() {
                    None => return Ok(Line::End),
                    Some(name) if self.options.separate => {
                        self.line = 0;
                        return Ok(Line::FileStart(name));
                    }
                    Some(_) => {}
                }
            }
            if self.fill()? {
                break;
            }
            self.current = None;
            if self.options.separate {
                return Ok(Line::FileEnd);
            }
        }
        if keep {
            space.push(self.options.end);
        } else {
            space.clear();
        }
        self.line += 1;
        if let Some(file) = &self.current
            && file.name != self.name
        {
            self.name.clone_from(&file.name);
        }
        loop {
            match memchr(self.options.end, &self.buffer[self.at..]) {
                Some(length) => {
                    space.extend_from_slice(&self.buffer[self.at..self.at + length]);
                    self.at += length + 1;
                    return Ok(Line::Read(true));
                }
                None => {
                    space.extend_from_slice(&self.buffer[self.at..]);
                    self.at = self.buffer.len();
                    if !self.fill()? {
                        return Ok(Line::Read(false));
                    }
                }
            }
        }
    }

    /// Returns true if the current line is the last one: of all files, or of its own if files are separate.
    pub(super) fn is_at_end(&mut self) -> Result<bool, Failure> {
        loop {
            if self.current.is_some() {
                if self.fill()? {
                    return Ok(false);
                }
                if self.options.separate {
                    return Ok(true);
                }
                self.current = None;
            }
            if self.options.separate || self.open_next().is_none() {
                return Ok(true);
            }
        }
    }

    /// Moves standard input back over bytes that were not used, so that the next program reads them.
    pub(super) fn give_back(&mut self) {
        let left = self.buffer.len() - self.at;
        if left > 0 && self.current.as_ref().is_some_and(|file| file.fd.is_none()) {
            // A pipe cannot seek.
            let _ = files::seek(0, -(left as i64), Whence::Current);
        }
    }

    /// Fills the buffer if it is empty. Returns false at the end of the file.
    fn fill(&mut self) -> Result<bool, Failure> {
        if self.at < self.buffer.len() {
            return Ok(true);
        }
        let Some(file) = &self.current else { return Ok(false) };
        if self.has_ended {
            return Ok(false);
        }
        let fd = file.fd.as_ref().map_or(0, Fd::raw);
        // With `--unbuffered`, no byte beyond the current line is taken from standard input.
        let length = if self.options.unbuffered && file.fd.is_none() { 1 } else { PIECE };
        self.at = 0;
        self.buffer = loop {
            match files::read(fd, length, None) {
                Ok(piece) => break piece,
                Err(Errno::Interrupted) => {}
                Err(errno) => return Err(Failure(format!("read error on {}: {}", file.name, text(errno)), 4)),
            }
        };
        self.has_ended = self.buffer.is_empty();
        Ok(!self.has_ended)
    }

    fn open_next(&mut self) -> Option<String> {
        loop {
            let name = self.files.next()?;
            (self.at, self.has_ended) = (0, false);
            self.buffer.clear();
            if name == "-" && self.options.in_place.is_none() {
                self.current = Some(File { fd: None, name: name.clone() });
                return Some(name.clone());
            }
            match files::stat(name, true) {
                Ok(found) if found.kind != Kind::File && self.options.in_place.is_some() => {
                    self.call.complain(&format!("couldn't edit {name}: not a regular file"));
                    self.failure = 4;
                    continue;
                }
                _ => {}
            }
            match Fd::open(name, OpenFlags::READ, 0) {
                Ok(fd) => {
                    self.current = Some(File { fd: Some(fd), name: name.clone() });
                    return Some(name.clone());
                }
                Err(Errno::IsDirectory) => self.call.complain(&format!("couldn't read {name}: Is a directory")),
                Err(errno) => self.call.complain(&format!("can't read {name}: {}", text(errno))),
            }
            self.failure = self.failure.max(2);
        }
    }
}
