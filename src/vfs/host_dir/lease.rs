//! Leases on temporary files, which distinguish the files of dead processes from those of running ones.
//!
//! Before its first temporary file a process creates a lease file in a directory with a reserved name at the root, and
//! locks it. The lock ends with the process, however it ends. A process that opens the directory looks for lease files
//! that are not locked. Only if there is one, files may have been left behind, and the whole tree is searched for them.
//! Otherwise opening costs one lookup of a missing name.

use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno as Host;

use crate::error::{Errno, Result};
use crate::vfs::reserved::{RESERVED, token};

use super::errors::errno;
use super::scan::{ScanAction, scan};

/// The directory of the lease files. Its name starts with the reserved prefix.
const LEASES: &str = ".isopod-tmp-leases";
/// Retries when another process removed a new lease as if it were a dead one.
const TRIES: usize = 16;

/// The lease of a mounted directory, taken at the first use.
#[derive(Default)]
pub(super) struct Lease {
    active: Mutex<Option<ActiveLease>>,
}

struct ActiveLease {
    root: Dir,
    token: String,
    /// The open lease file. Its lock is the lease.
    _file: OwnedFd,
    /// Number of names handed out.
    names: u64,
}

impl Lease {
    /// Returns an unused name for a temporary file.
    pub(super) fn name(&self, root: &Dir) -> Result<String> {
        let mut active = self.active.lock().unwrap_or_else(PoisonError::into_inner);
        if active.is_none() {
            *active = Some(take(root)?);
        }
        let active = active.as_mut().ok_or(Errno::Io)?;
        active.names += 1;
        Ok(format!("{RESERVED}{}-{}", active.token, active.names))
    }
}

impl Drop for ActiveLease {
    /// A process that ends in good order leaves nothing behind.
    fn drop(&mut self) {
        if let Ok(leases) = open_leases(&self.root) {
            let _ = rustix::fs::unlinkat(&leases, &self.token, AtFlags::empty());
            let _ = rustix::fs::unlinkat(&self.root, LEASES, AtFlags::REMOVEDIR);
        }
    }
}

fn take(root: &Dir) -> Result<ActiveLease> {
    for _ in 0..TRIES {
        match rustix::fs::mkdirat(root, LEASES, Mode::RWXU) {
            Ok(()) | Err(Host::EXIST) => {}
            Err(error) => return Err(errno(error)),
        }
        let token = token()?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made =
            open_leases(root).and_then(|leases| rustix::fs::openat(leases, &token, flags, Mode::RUSR | Mode::WUSR));
        let file = match made {
            Ok(file) => file,
            // The last holder of a lease removed the directory.
            Err(Host::NOENT) => continue,
            Err(error) => return Err(errno(error)),
        };
        // Between the two calls another process may have removed this file as a dead lease.
        if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
            && rustix::fs::fstat(&file).is_ok_and(|stat| stat.st_nlink == 1)
        {
            return Ok(ActiveLease { root: root.try_clone().map_err(errno)?, token, _file: file, names: 0 });
        }
    }
    Err(Errno::Busy)
}

/// Removes the files of dead processes. Files that cannot be removed stay, hidden from the guest.
pub(super) fn sweep(root: &Dir) {
    let Ok(leases) = open_leases(root) else {
        return;
    };
    let Ok(entries) = rustix::fs::Dir::read_from(&leases) else {
        return;
    };
    let mut dead = Vec::new();
    for entry in entries.flatten() {
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        if let Ok(token) = entry.file_name().to_str()
            && let Ok(file) = rustix::fs::openat(&leases, token, flags, Mode::empty())
            && rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
        {
            // The lock is held to the end, so that no other process sweeps the same files.
            dead.push((token.to_owned(), file));
        }
    }
    if !dead.is_empty() {
        let prefixes: Vec<String> = dead.iter().map(|(token, _)| format!("{RESERVED}{token}-")).collect();
        let _ = scan(root, |file| {
            let is_ours = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
            if file.name.to_str().is_ok_and(is_ours) {
                let _ = rustix::fs::unlinkat(file.dir, file.name, AtFlags::empty());
            }
            ScanAction::Enter
        });
        for (token, _) in &dead {
            let _ = rustix::fs::unlinkat(&leases, token, AtFlags::empty());
        }
    }
    let _ = rustix::fs::unlinkat(root, LEASES, AtFlags::REMOVEDIR);
}

fn open_leases(root: &Dir) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(root, LEASES, flags, Mode::empty())
}
