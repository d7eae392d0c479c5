//! A walk over everything below a directory of the host, by handles.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno as Host;

use crate::error::Result;
use crate::limits::PATH_DEPTH;

use super::errors::errno;
use super::walk::is_forbidden;

/// Something that the walk came by.
pub(super) struct Seen<'a> {
    /// The directory it is in.
    pub(super) dir: &'a OwnedFd,
    pub(super) name: &'a std::ffi::CStr,
    pub(super) kind: FileType,
}

impl Seen<'_> {
    /// What the host says about it; none if it is gone by now.
    pub(super) fn stat(&self) -> Option<rustix::fs::Stat> {
        rustix::fs::statat(self.dir, self.name, AtFlags::SYMLINK_NOFOLLOW).ok()
    }
}

/// What to do after a visit.
pub(super) enum Then {
    /// Go on, into a directory too.
    Enter,
    /// Go on, but not into it.
    Pass,
    /// Stop altogether.
    Stop,
}

/// Visits everything below `root`, directories before what is in them, and answers whether that was all. No link is
/// followed, and the host's `proc` and its like are left alone. A directory that cannot be opened is passed over: if it is
/// someone else's, the sandbox cannot open it either; if it is our own, a `chmod` is all it takes, so that was not all.
/// Neither was it if there are directories deeper than a guest's path can reach, where a rename may have put them: the
/// walk holds no more handles at once than there are names in a path.
pub(super) fn scan(root: impl AsFd, mut visit: impl FnMut(&Seen<'_>) -> Then) -> Result<bool> {
    let root = rustix::fs::openat(root, ".", flags(), Mode::empty()).map_err(errno)?;
    let mut is_all = true;
    // Directories that are still to be read, each with a handle of the one it is in.
    let mut pending = vec![(Arc::new(root), None, 0)];
    while let Some((parent, name, depth)) = pending.pop() {
        let dir = match name {
            None => parent,
            Some(name) => {
                let name: std::ffi::CString = name;
                match rustix::fs::openat(&*parent, &name, flags(), Mode::empty()) {
                    Ok(dir) if !is_forbidden(&dir) => Arc::new(dir),
                    Err(Host::ACCESS) => {
                        let dir = Seen { dir: &parent, name: &name, kind: FileType::Directory };
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
            let mut seen = Seen { dir: &dir, name, kind: entry.file_type() };
            if seen.kind == FileType::Unknown {
                match seen.stat() {
                    Some(stat) => seen.kind = FileType::from_raw_mode(stat.st_mode),
                    None => continue,
                }
            }
            match visit(&seen) {
                Then::Enter => {}
                Then::Pass => continue,
                Then::Stop => return Ok(false),
            }
            if seen.kind == FileType::Directory {
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
