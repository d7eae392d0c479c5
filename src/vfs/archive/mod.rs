//! A snapshot as one file: a tar in zstd, with a digest behind it.
//!
//! `zstd -dc FILE | tar -tv` shows what is in one. What is saved is the tree as it is seen, of all that is the sandbox's
//! own: an overlay with what shows through it, files with their modes, owners, names and times of modification. What is
//! not the sandbox's (directories of the host, devices, programs) is not saved; a directory stands where it was
//! mounted. A hole comes back as a hole.
//!
//! # What is trusted
//! Nothing. The digest tells a file that was damaged from one that was not, and a file that its owner knows the digest of
//! from any other. Beyond that a file may say what it likes: this reads only what it would write itself (`tar`), puts it
//! into a new file system in memory by calls that follow no link, under the limits that the caller gives, and hands that
//! over only after the last byte was right. Names that a guest could not use, paths that lead anywhere else, entries
//! that come twice or before their directory, devices, sizes that do not add up: each is an error, and what was loaded
//! so far is gone.

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

/// The SHA-256 of a saved snapshot: what tells one from any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

/// Why a snapshot could not be saved or loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// The file could not be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A file of the sandbox could not be read, or there is no room for one.
    #[error("{path:?}: {errno}")]
    Files {
        /// The path in the snapshot.
        path: String,
        /// What was in the way.
        errno: Errno,
    },
    /// It is not a snapshot, or it is damaged.
    #[error("not a snapshot: {0}")]
    Malformed(&'static str),
    /// It is a snapshot, but not the one with this digest.
    #[error("digest mismatch: the snapshot is {found}")]
    Digest {
        /// The digest that it has.
        found: Digest,
    },
    /// It is larger than a snapshot may be.
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

/// Errors of reading pass through `std::io`, ours among them.
fn from_io(error: io::Error) -> ArchiveError {
    match error.downcast::<ArchiveError>() {
        Ok(error) => error,
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => ArchiveError::Malformed("it ends too early"),
        Err(error) => ArchiveError::Io(error),
    }
}

/// An error of ours on its way through `std::io`.
fn into_io(error: ArchiveError) -> io::Error {
    match error {
        ArchiveError::Io(error) => error,
        error => io::Error::other(error),
    }
}
