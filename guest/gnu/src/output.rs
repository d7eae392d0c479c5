//! Standard output in large pieces, and complaints on standard error.

use isopod_sys::{Errno, files, write_all};

/// A pipe's size, so that one write fills one pipe and one read empties it.
pub const PIECE: usize = 64 * 1024;

/// Buffered output, to standard output as a rule. The first error is kept, and what follows it is thrown away.
pub struct Out {
    fd: u32,
    buffer: Vec<u8>,
    result: Result<(), Errno>,
}

impl Default for Out {
    fn default() -> Out {
        Out::new()
    }
}

impl Out {
    /// An empty buffer. It grows with what is pushed: most programs print a line and end.
    pub const fn new() -> Out {
        Out::to(1)
    }

    /// An empty buffer that is written to a descriptor.
    pub const fn to(fd: u32) -> Out {
        Out { fd, buffer: Vec::new(), result: Ok(()) }
    }

    /// Adds bytes, and writes when a piece is full.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.buffer.len() + bytes.len() > PIECE {
            self.flush();
        }
        if bytes.len() >= PIECE {
            self.write(bytes);
        } else {
            self.buffer.extend_from_slice(bytes);
        }
    }

    /// Adds one byte.
    pub fn byte(&mut self, byte: u8) {
        if self.buffer.len() >= PIECE {
            self.flush();
        }
        self.buffer.push(byte);
    }

    /// Writes what is there.
    pub fn flush(&mut self) {
        if !self.buffer.is_empty() {
            let buffer = std::mem::take(&mut self.buffer);
            self.write(&buffer);
            self.buffer = buffer;
            self.buffer.clear();
        }
    }

    /// Whether an output error makes it pointless to go on.
    pub fn has_failed(&self) -> bool {
        self.result.is_err()
    }

    /// Writes what is there and says whether all of it was written.
    pub fn finish(mut self) -> Result<(), Errno> {
        self.flush();
        self.result
    }

    /// Writes bytes without copying them, after what is there.
    pub fn write(&mut self, bytes: &[u8]) {
        if self.result.is_ok() {
            self.result = write_all(self.fd, bytes);
        }
    }
}

/// Says what is wrong on standard error: one line, in one write, so that lines of two processes don't mix.
pub fn complain(name: &str, message: &str) {
    // There is no place left to report that standard error is gone.
    let _ = write_all(2, format!("{name}: {message}\n").as_bytes());
}

/// Reads a file to its end, up to `most` bytes.
pub fn read_file(path: &str, most: usize) -> Result<Vec<u8>, Errno> {
    let file = isopod_sys::Fd::open(path, files::OpenFlags::READ, 0)?;
    let mut bytes = Vec::new();
    while bytes.len() < most {
        let piece = file.read(PIECE as u32)?;
        if piece.is_empty() {
            break;
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}
