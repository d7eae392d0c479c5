//! An open file that closes itself.

use std::io;

use crate::{Errno, files, text};

/// An owned descriptor.
#[derive(Debug)]
pub struct Fd(u32);

impl Fd {
    /// Takes over a descriptor, such as 0, 1 or 2.
    pub fn from_raw(fd: u32) -> Fd {
        Fd(fd)
    }

    /// Its number.
    pub fn raw(&self) -> u32 {
        self.0
    }

    /// Opens a file.
    pub fn open(path: &str, how: files::OpenFlags, mode: u32) -> Result<Fd, Errno> {
        files::open(path, how, mode).map(Fd)
    }

    /// Makes a pipe: reading end, writing end.
    pub fn pipe() -> Result<(Fd, Fd), Errno> {
        files::pipe().map(|(reader, writer)| (Fd(reader), Fd(writer)))
    }

    /// Reads up to `len` bytes, waiting as long as it takes; empty at the end.
    pub fn read(&self, len: u32) -> Result<Vec<u8>, Errno> {
        files::read(self.0, len, None)
    }
}

impl Drop for Fd {
    fn drop(&mut self) {
        // Nothing can be done about a descriptor that is closed already.
        let _ = files::close(self.0);
    }
}

impl io::Write for Fd {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        files::write(self.0, bytes).map_err(|e| io::Error::other(text(e)))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes all bytes to a descriptor by number.
pub fn write_all(fd: u32, bytes: &[u8]) -> Result<(), Errno> {
    files::write(fd, bytes)
}
