//! Listing of a host directory in pieces.

use std::os::fd::AsFd;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno as Host;

use crate::error::{Errno, Result};
use crate::path::Subpath;
use crate::vfs::reserved::is_reserved;
use crate::vfs::{Attempt, DirEntry, DirStream, Kind};

use super::errors::errno;
use super::stat::kind_of;
use super::walk::Walk;

/// An open directory of the host. The host keeps the position.
pub(super) struct HostStream {
    entries: rustix::fs::Dir,
}

impl HostStream {
    pub(super) fn open(walk: &Walk, path: Subpath<'_>) -> Attempt<HostStream> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let listing = match walk.open(path, flags) {
            Some(opened) => opened?,
            None => rustix::fs::openat(walk.directory(path)?.as_fd(), ".", flags, Mode::empty()).map_err(errno)?,
        };
        Ok(HostStream { entries: rustix::fs::Dir::new(listing).map_err(errno)? })
    }

    fn kind(&self, name: &std::ffi::CStr) -> Result<Option<Kind>> {
        match rustix::fs::statat(self.entries.fd().map_err(errno)?, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(kind_of(FileType::from_raw_mode(stat.st_mode)))),
            // A removed file need not be shown.
            Err(Host::NOENT) => Ok(None),
            Err(error) => Err(errno(error)),
        }
    }
}

impl DirStream for HostStream {
    fn next(&mut self, max: usize) -> Attempt<Vec<DirEntry>> {
        let mut entries = Vec::new();
        while entries.len() < max
            && let Some(entry) = self.entries.next()
        {
            let entry = entry.map_err(errno)?;
            let name = entry.file_name().to_str().map_err(|_| Errno::IllegalSequence)?;
            if name == "." || name == ".." || is_reserved(name) {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems do not report the kind.
                FileType::Unknown => self.kind(entry.file_name())?,
                kind => Some(kind_of(kind)),
            };
            if let Some(kind) = kind {
                entries.push(DirEntry { name: name.to_owned(), kind, inode: entry.ino() });
            }
        }
        Ok(entries)
    }
}
