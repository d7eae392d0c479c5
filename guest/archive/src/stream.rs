//! Files as readers and writers, in pieces that fill a pipe.

use std::io::{self, BufRead, Read, Write};

use isopod_gnu::output::PIECE;
use isopod_sys::files::{self, OpenFlags, Whence};
use isopod_sys::{Errno, Fd, text, write_all};

/// A file that is read.
pub(crate) struct Source {
    /// None for standard input.
    file: Option<Fd>,
    piece: Vec<u8>,
    at: usize,
    /// The number of bytes that have been handed out.
    position: u64,
}

/// A file that is written.
pub(crate) struct Sink {
    /// None for standard output and for the null sink.
    file: Option<Fd>,
    number: Option<u32>,
    buffer: Vec<u8>,
    written: u64,
}

/// Converts an error of the kernel to one of std's.
pub(crate) fn failure(errno: Errno) -> io::Error {
    io::Error::other(text(errno))
}

impl Source {
    /// Opens standard input.
    pub(crate) fn standard() -> Source {
        Source { file: None, piece: Vec::new(), at: 0, position: 0 }
    }

    /// Opens a file.
    pub(crate) fn open(path: &str) -> Result<Source, Errno> {
        let file = Fd::open(path, OpenFlags::READ, 0)?;
        Ok(Source { file: Some(file), ..Source::standard() })
    }

    /// Returns the number of bytes that have been handed out.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Returns the size of the file, if it has one.
    pub(crate) fn size(&self) -> Option<u64> {
        let found = files::stat_fd(self.number()).ok()?;
        (found.kind == files::Kind::File).then_some(found.size)
    }

    /// Continues at a byte.
    pub(crate) fn seek(&mut self, to: u64) -> io::Result<()> {
        let offset = i64::try_from(to).map_err(|_| failure(Errno::Invalid))?;
        files::seek(self.number(), offset, Whence::Start).map_err(failure)?;
        (self.piece, self.at, self.position) = (Vec::new(), 0, to);
        Ok(())
    }

    /// Returns up to `count` of the next bytes without consuming them.
    pub(crate) fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        while self.piece.len() - self.at < count {
            let more = self.fetch()?;
            if more.is_empty() {
                break;
            }
            self.piece.drain(..self.at);
            self.at = 0;
            self.piece.extend_from_slice(&more);
        }
        let end = self.piece.len().min(self.at + count);
        Ok(&self.piece[self.at..end])
    }

    fn number(&self) -> u32 {
        self.file.as_ref().map_or(0, Fd::raw)
    }

    fn fetch(&self) -> io::Result<Vec<u8>> {
        loop {
            match files::read(self.number(), PIECE as u32, None) {
                Err(Errno::Interrupted) => {}
                result => return result.map_err(failure),
            }
        }
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(buffer.len());
        buffer[..count].copy_from_slice(&available[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Source {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.piece.len() {
            self.piece = self.fetch()?;
            self.at = 0;
        }
        Ok(&self.piece[self.at..])
    }

    fn consume(&mut self, count: usize) {
        self.at += count;
        self.position += count as u64;
    }
}

impl Sink {
    /// Opens standard output.
    pub(crate) fn standard() -> Sink {
        Sink { file: None, number: Some(1), buffer: Vec::new(), written: 0 }
    }

    /// Creates a sink that discards everything, for `-t`.
    pub(crate) fn nowhere() -> Sink {
        Sink { file: None, number: None, buffer: Vec::new(), written: 0 }
    }

    /// Opens a file.
    pub(crate) fn open(path: &str, how: OpenFlags, mode: u32) -> Result<Sink, Errno> {
        let file = Fd::open(path, OpenFlags::WRITE | how, mode)?;
        Ok(Sink { number: Some(file.raw()), file: Some(file), buffer: Vec::new(), written: 0 })
    }

    /// Returns the number of bytes that have been written.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Returns the descriptor, after the buffer has been written.
    pub(crate) fn raw(&mut self) -> io::Result<Option<u32>> {
        self.flush()?;
        Ok(self.file.as_ref().map(Fd::raw))
    }

    fn put(&self, bytes: &[u8]) -> io::Result<()> {
        self.number.map_or(Ok(()), |number| write_all(number, bytes).map_err(failure))
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.written += bytes.len() as u64;
        if self.buffer.len() + bytes.len() > PIECE {
            self.flush()?;
        }
        if bytes.len() >= PIECE {
            self.put(bytes)?;
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.buffer.is_empty() {
            let buffer = std::mem::take(&mut self.buffer);
            self.put(&buffer)?;
            self.buffer = buffer;
            self.buffer.clear();
        }
        Ok(())
    }
}

/// Copies all bytes and returns their number.
pub(crate) fn pump(from: &mut dyn Read, to: &mut dyn Write) -> io::Result<u64> {
    pump_about(from, to, u64::MAX)
}

/// Copies all bytes, with a buffer for the expected number: a small file is not worth a large buffer.
pub(crate) fn pump_about(from: &mut dyn Read, to: &mut dyn Write, expected: u64) -> io::Result<u64> {
    let mut buffer = vec![0; usize::try_from(expected).unwrap_or(PIECE).clamp(1, PIECE)];
    let mut total = 0;
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(total),
            Ok(count) => {
                to.write_all(&buffer[..count])?;
                total += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
