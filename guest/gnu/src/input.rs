//! Files to read, by the names that users give them.

use isopod_sys::files::{self, OpenFlags};
use isopod_sys::{Errno, Fd};

use crate::output::PIECE;

/// A file that is read, or standard input.
pub struct Input {
    file: Option<Fd>,
}

impl Input {
    /// Opens a file; `-` is standard input.
    pub fn open(path: &str) -> Result<Input, Errno> {
        match path {
            "-" => Ok(Input { file: None }),
            path => Fd::open(path, OpenFlags::READ, 0).map(|file| Input { file: Some(file) }),
        }
    }

    /// Its descriptor.
    pub fn fd(&self) -> u32 {
        self.file.as_ref().map_or(0, Fd::raw)
    }

    /// Reads the next piece; empty at the end.
    pub fn read(&self) -> Result<Vec<u8>, Errno> {
        loop {
            match files::read(self.fd(), PIECE as u32, None) {
                Err(Errno::Interrupted) => {}
                result => return result,
            }
        }
    }

    /// Reads to the end.
    pub fn read_all(&self) -> Result<Vec<u8>, Errno> {
        let mut bytes = Vec::new();
        loop {
            let piece = self.read()?;
            if piece.is_empty() {
                return Ok(bytes);
            }
            bytes.extend_from_slice(&piece);
        }
    }
}

/// The operands, or standard input if there are none.
pub fn or_standard_input(operands: &[String]) -> Vec<&str> {
    if operands.is_empty() { vec!["-"] } else { operands.iter().map(String::as_str).collect() }
}
