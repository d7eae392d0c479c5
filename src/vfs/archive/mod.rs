//! A snapshot as one file: a tar in zstd, followed by a digest.
//!
//! `zstd -dc FILE | tar -tv` lists it. It holds the visible tree of all files of the sandbox: overlays with the lower
//! files that show through, and files with their modes, owners, names and modification times. Directories of the host,
//! devices and programs are not saved; a directory stands at their mount points. Holes are restored as holes.
//!
//! # Trust
//! A saved file is not trusted. The digest detects damage, and identifies a snapshot whose digest the caller knows.
//! Beyond that the content is hostile input. The reader accepts only the format that the writer produces (`tar`). It
//! creates the files in a new file system in memory, with calls that follow no link, under the limits of the caller,
//! and returns that file system only after the last byte was checked. Each of these is an error that discards
//! everything loaded so far: names that a guest could not use, paths that lead elsewhere, entries that occur twice or
//! before their directory, devices, sizes that do not add up.

use std::fmt;
use std::io;
use std::str::FromStr;

use crate::error::Errno;

mod frames;
mod load;
mod save;
mod tar;
#[cfg(test)]
mod tests;

/// The SHA-256 of a saved snapshot, which identifies it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

/// The reason why a snapshot could not be saved or loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The file could not be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A file of the sandbox could not be read, or there is no space for it.
    #[error("{path:?}: {errno}")]
    Files {
        /// The path in the snapshot.
        path: String,
        /// The error.
        errno: Errno,
    },
    /// Not a snapshot, or damaged.
    #[error("not a snapshot: {0}")]
    Malformed(&'static str),
    /// A snapshot with another digest than the expected one.
    #[error("digest mismatch: the snapshot is {found}")]
    Digest {
        /// Its digest.
        found: Digest,
    },
    /// Larger than a snapshot may be.
    #[error("too large: more than {0} bytes")]
    TooLarge(u64),
}

type Result<T> = std::result::Result<T, ArchiveError>;

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Digest {
    type Err = ArchiveError;

    fn from_str(text: &str) -> Result<Digest> {
        let wrong = || ArchiveError::Malformed("a digest is 64 hexadecimal digits");
        if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        let mut digest = [0; 32];
        for (at, byte) in digest.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).map_err(|_| wrong())?;
        }
        Ok(Digest(digest))
    }
}

/// Converts an error of `std::io`, which may carry an error of this module.
fn from_io(error: io::Error) -> ArchiveError {
    match error.downcast::<ArchiveError>() {
        Ok(error) => error,
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => ArchiveError::Malformed("an unexpected end"),
        Err(error) => ArchiveError::Io(error),
    }
}

/// Wraps an error of this module for `std::io`.
fn into_io(error: ArchiveError) -> io::Error {
    match error {
        ArchiveError::Io(error) => error,
        error => io::Error::other(error),
    }
}
