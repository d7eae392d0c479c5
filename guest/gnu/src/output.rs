//! Standard output in large pieces, and complaints on standard error.

use isopod_sys::files::OpenFlags;
use isopod_sys::{Errno, Fd, files, write_all};

/// A pipe's size, so that one write fills one pipe and one read empties it.
pub const PIECE: usize = 64 * 1024;

/// Buffered output, to standard output as a rule. The first error is kept, and later output is thrown away.
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
    /// An empty buffer. It starts small: most programs print a line and end.
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

    /// Writes the buffered bytes.
    pub fn flush(&mut self) {
        if !self.buffer.is_empty() {
            let buffer = std::mem::take(&mut self.buffer);
            self.write(&buffer);
            self.buffer = buffer;
            self.buffer.clear();
        }
    }

    /// Returns true after an output error, when going on is pointless.
    pub fn has_failed(&self) -> bool {
        self.result.is_err()
    }

    /// Writes the buffered bytes and returns the first error of all output.
    pub fn finish(mut self) -> Result<(), Errno> {
        self.flush();
        self.result
    }

    /// Writes the buffered bytes, then `bytes` without copying them.
    pub fn write(&mut self, bytes: &[u8]) {
        if self.result.is_ok() {
            self.result = write_all(self.fd, bytes);
        }
    }
}

/// Opens a file in place of standard output.
pub fn redirect(path: &str, flags: OpenFlags) -> Result<(), Errno> {
    // A new descriptor is the lowest free one, which is the one just closed.
    let _ = files::close(1);
    std::mem::forget(Fd::open(path, flags, 0o666)?);
    Ok(())
}

/// Writes an error message to standard error: one line, in one write, so that lines of two processes don't mix.
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
