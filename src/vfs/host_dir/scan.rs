//! A walk over a whole tree of the host, by handles.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno as Host;

use crate::error::Result;
use crate::limits::PATH_DEPTH;

use super::errors::errno;
use super::walk::is_forbidden;

/// A file that the walk visits.
pub(super) struct ScanEntry<'a> {
    /// The directory of the file.
    pub(super) dir: &'a OwnedFd,
    pub(super) name: &'a std::ffi::CStr,
    pub(super) kind: FileType,
}

impl ScanEntry<'_> {
    /// Returns the host attributes; none if the file is gone.
    pub(super) fn stat(&self) -> Option<rustix::fs::Stat> {
        rustix::fs::statat(self.dir, self.name, AtFlags::SYMLINK_NOFOLLOW).ok()
    }
}

/// The action after a visit.
pub(super) enum ScanAction {
    /// Continues, and enters the file if it is a directory.
    Enter,
    /// Continues without entering the directory.
    Skip,
    /// Ends the walk.
    Stop,
}

/// Visits every file below `root`, a directory before its entries, and returns true if the walk was complete. No link
/// is followed, and file systems of the host kernel such as `proc` are skipped. A directory that cannot be opened is
/// skipped. If it belongs to another user, the sandbox cannot open it either; if it belongs to this user, a `chmod`
/// would be enough, so the walk was not complete. It was not complete either if a rename has put directories deeper
/// than a guest path can reach: the walk holds at most as many handles as a path has names.
pub(super) fn scan(root: impl AsFd, mut visit: impl FnMut(&ScanEntry<'_>) -> ScanAction) -> Result<bool> {
    let root = rustix::fs::openat(root, ".", flags(), Mode::empty()).map_err(errno)?;
    let mut is_all = true;
    // Directories to read, each with a handle of its parent.
    let mut pending = vec![(Arc::new(root), None, 0)];
    while let Some((parent, name, depth)) = pending.pop() {
        let dir = match name {
            None => parent,
            Some(name) => {
                let name: std::ffi::CString = name;
                match rustix::fs::openat(&*parent, &name, flags(), Mode::empty()) {
                    Ok(dir) if !is_forbidden(&dir) => Arc::new(dir),
                    Err(Host::ACCESS) => {
                        let dir = ScanEntry { dir: &parent, name: &name, kind: FileType::Directory };
                        let owner = dir.stat().map(|stat| stat.st_uid);
                        is_all &= owner != Some(rustix::process::geteuid().as_raw());
                        continue;
                    }
                    Err(error @ (Host::MFILE | Host::NFILE | Host::NOMEM)) => return Err(errno(error)),
                    _ => continue,
                }
            }
        };
        let Ok(entries) = rustix::fs::Dir::read_from(&*dir) else {
            continue;
        };
        for entry in entries {
            let Ok(entry) = entry else { break };
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let mut file = ScanEntry { dir: &dir, name, kind: entry.file_type() };
            if file.kind == FileType::Unknown {
                match file.stat() {
                    Some(stat) => file.kind = FileType::from_raw_mode(stat.st_mode),
                    None => continue,
                }
            }
            match visit(&file) {
                ScanAction::Enter => {}
                ScanAction::Skip => continue,
                ScanAction::Stop => return Ok(false),
            }
            if file.kind == FileType::Directory {
                match depth < PATH_DEPTH {
                    true => pending.push((Arc::clone(&dir), Some(name.to_owned()), depth + 1)),
                    false => is_all = false,
                }
            }
        }
    }
    Ok(is_all)
}

fn flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}
