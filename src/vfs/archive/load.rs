//! Loading a snapshot from an untrusted source.

use std::io::{self, Read};
use std::sync::Arc;

use crate::error::Errno;
use crate::limits::{ARCHIVE_ENTRY_BYTES, ARCHIVE_EXPANSION, Limits, PATH_BYTES, PATH_DEPTH, TRANSFER_BYTES};
use crate::path::{End, GuestPath, Subpath};
use crate::vfs::reserved::is_reserved;
use crate::vfs::{FileSystem, MemFs, MemSnapshot, Node, OpenHow, Quota, SetTime, Stop};

use super::frames::FrameReader;
use super::tar::{Entry, EntryKind, skip_padding};
use super::{ArchiveError, Digest, Result, from_io};

impl MemSnapshot {
    /// Reads a file written by [`Snapshot::save`](crate::vfs::Snapshot::save), as a tree in memory that fits a sandbox
    /// with these limits. With `expected`, only the snapshot with this digest is accepted.
    pub fn load(from: impl Read, limits: &Limits, expected: Option<&Digest>) -> Result<(MemSnapshot, Digest)> {
        let entries = limits.inodes.saturating_mul(ARCHIVE_ENTRY_BYTES);
        let limit = limits.disk.saturating_mul(ARCHIVE_EXPANSION).saturating_add(entries);
        let mut from = FrameReader::new(io::BufReader::new(from), limit);
        let mut reader = SnapshotReader { fs: MemFs::new(Arc::new(Quota::new(limits))), directories: Vec::new() };
        while let Some(entry) = Entry::read(&mut from)? {
            reader.entry(&mut from, &entry)?;
        }
        reader.finish()?;
        let found = from.digest().ok_or(ArchiveError::Malformed("the digest is missing"))?;
        if expected.is_some_and(|expected| *expected != found) {
            return Err(ArchiveError::Digest { found });
        }
        Ok((reader.fs.snapshot(), found))
    }
}

struct SnapshotReader {
    fs: MemFs,
    /// The directory of the last entry, after the directories around it, with their times. The times are set when a
    /// directory is complete, because adding an entry changes them.
    directories: Vec<(String, u64)>,
}

impl SnapshotReader {
    fn entry(&mut self, from: &mut impl Read, entry: &Entry) -> Result<()> {
        check(&entry.path)?;
        let path = Subpath::trusted(&entry.path);
        let error = |stop| failed(&entry.path, stop);
        // The root comes first, and only the root has no name.
        if path.is_root() != self.directories.is_empty() || path.is_root() && entry.kind != EntryKind::Directory {
            return Err(ArchiveError::Malformed("the root is not the first entry"));
        }
        if let Some((parent, _)) = path.split() {
            self.leave(|directory| directory != parent.as_str())?;
            if self.directories.is_empty() {
                return Err(ArchiveError::Malformed("a path before its directory"));
            }
        }
        match &entry.kind {
            EntryKind::Directory if path.is_root() => {}
            EntryKind::Directory => self.fs.mkdir(path, entry.mode).map_err(error)?,
            EntryKind::Symlink(target) => {
                if target.is_empty() || target.contains('\0') || target.len() >= PATH_BYTES {
                    return Err(ArchiveError::Malformed("an invalid target of a link"));
                }
                self.fs.symlink(target, path).map_err(error)?;
            }
            EntryKind::Name(first) => {
                check(first)?;
                // The attributes were set with the first name.
                return self.fs.link(Subpath::trusted(first), path).map_err(error);
            }
            EntryKind::File(size) => self.file(from, path, *size, entry)?,
        }
        if entry.kind == EntryKind::Directory {
            self.directories.push((entry.path.clone(), entry.modified));
        }
        if !matches!(entry.kind, EntryKind::Symlink(_)) {
            self.fs.chmod(path, entry.mode, false).map_err(error)?;
        }
        self.fs.chown(path, Some(entry.uid), Some(entry.gid), false).map_err(error)?;
        let modified = SetTime::At(entry.modified);
        self.fs.set_times(path, modified, modified, false).map_err(error)
    }

    fn file(&self, from: &mut impl Read, path: Subpath<'_>, size: u64, entry: &Entry) -> Result<()> {
        let error = |stop| failed(&entry.path, stop);
        let how = OpenHow { write: true, create: true, exclusive: true, mode: entry.mode, ..OpenHow::default() };
        let Node::File(file) = self.fs.open(path, &how).map_err(error)? else {
            return Err(error(Errno::Io.into()));
        };
        let error = |errno: Errno| failed(&entry.path, errno.into());
        // Checks that the file fits before reading it.
        file.set_len(size).map_err(error)?;
        let mut buffer = vec![0; TRANSFER_BYTES];
        let mut offset = 0;
        while offset < size {
            let len = (size - offset).min(TRANSFER_BYTES as u64);
            let piece = &mut buffer[..len as usize];
            from.read_exact(piece).map_err(from_io)?;
            // A piece of zeros was a hole, or may become one.
            if piece.iter().any(|byte| *byte != 0) && file.write_at(offset, piece).map_err(error)? as u64 != len {
                return Err(error(Errno::NoSpace));
            }
            offset += len;
        }
        skip_padding(from, size)
    }

    /// Leaves directories while `is_left` returns true. Entries are grouped by directory, so a directory that is left
    /// is complete.
    fn leave(&mut self, is_left: impl Fn(&str) -> bool) -> Result<()> {
        while let Some((path, modified)) = self.directories.pop_if(|(path, _)| is_left(path)) {
            let modified = SetTime::At(modified);
            let set = self.fs.set_times(Subpath::trusted(&path), modified, modified, false);
            set.map_err(|stop| failed(&path, stop))?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        if self.directories.is_empty() {
            return Err(ArchiveError::Malformed("the root is missing"));
        }
        self.leave(|_| true)
    }
}

/// Refuses a path that a guest could not have created. Every name is checked, and none may lead up or elsewhere.
fn check(path: &str) -> Result<()> {
    let root = GuestPath::root();
    let is_plain = |name: &str| {
        let parsed = GuestPath::parse(&root, name);
        parsed.is_ok_and(|parsed| parsed.as_str()[1..] == *name && parsed.end() == End::Name && !is_reserved(name))
    };
    if path.is_empty() || path.split('/').count() <= PATH_DEPTH && path.split('/').all(is_plain) {
        return Ok(());
    }
    Err(ArchiveError::Malformed("an invalid path"))
}

/// Translates a refusal of the file system: no space, or entries that contradict each other.
fn failed(path: &str, stop: Stop) -> ArchiveError {
    match stop {
        Stop::Errno(errno @ (Errno::NoSpace | Errno::FileTooLarge)) => {
            ArchiveError::Files { path: path.to_owned(), errno }
        }
        Stop::Link { .. } => ArchiveError::Malformed("a path that leads through a link"),
        Stop::Errno(Errno::Exist) => ArchiveError::Malformed("a duplicate path"),
        Stop::Errno(_) => ArchiveError::Malformed("a path before its directory"),
    }
}
