//! Who has temporary files in a directory of the host, so that those of a process that died can be told from the others.
//!
//! A process that is going to make temporary files first makes a file in a directory of reserved name at the root, and
//! keeps a lock on it. The lock goes with the process, however it ends. Whoever opens the directory looks for such
//! files that nobody holds: only then something may have been left behind, and the whole tree is searched for it. With
//! nothing left behind, opening costs one look for a name that is not there.

use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno as Host;

use crate::error::{Errno, Result};
use crate::vfs::reserved::{RESERVED, token};

use super::errors::errno;
use super::scan::{Then, scan};

/// The directory of the leases: the prefix and this.
const LEASES: &str = ".isopod-tmp-leases";
/// How often to try again when someone who sweeps took a new lease for an old one.
const TRIES: usize = 16;

/// The lease of a mounted directory, taken when it is first needed.
#[derive(Default)]
pub(super) struct Lease {
    held: Mutex<Option<Held>>,
}

struct Held {
    root: Dir,
    token: String,
    /// Its lock is the lease.
    _file: OwnedFd,
    /// How many names it has handed out.
    names: u64,
}

impl Lease {
    /// A name for a temporary file that nobody else uses.
    pub(super) fn name(&self, root: &Dir) -> Result<String> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_none() {
            *held = Some(take(root)?);
        }
        let held = held.as_mut().ok_or(Errno::Io)?;
        held.names += 1;
        Ok(format!("{RESERVED}{}-{}", held.token, held.names))
    }
}

impl Drop for Held {
    /// Whoever ends in good order leaves nothing behind.
    fn drop(&mut self) {
        if let Ok(leases) = open_leases(&self.root) {
            let _ = rustix::fs::unlinkat(&leases, &self.token, AtFlags::empty());
            let _ = rustix::fs::unlinkat(&self.root, LEASES, AtFlags::REMOVEDIR);
        }
    }
}

fn take(root: &Dir) -> Result<Held> {
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
            // The last one who had a lease took the directory away.
            Err(Host::NOENT) => continue,
            Err(error) => return Err(errno(error)),
        };
        // Between the two calls someone may have taken this for a lease of the dead, and removed it.
        if rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
            && rustix::fs::fstat(&file).is_ok_and(|stat| stat.st_nlink == 1)
        {
            return Ok(Held { root: root.try_clone().map_err(errno)?, token, _file: file, names: 0 });
        }
    }
    Err(Errno::Busy)
}

/// Removes what processes that died have left behind. What cannot be removed stays, hidden from the guest.
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
            // The lock is kept until all is done, so that nobody sweeps the same twice.
            dead.push((token.to_owned(), file));
        }
    }
    if !dead.is_empty() {
        let prefixes: Vec<String> = dead.iter().map(|(token, _)| format!("{RESERVED}{token}-")).collect();
        let _ = scan(root, |seen| {
            let is_ours = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
            if seen.name.to_str().is_ok_and(is_ours) {
                let _ = rustix::fs::unlinkat(seen.dir, seen.name, AtFlags::empty());
            }
            Then::Enter
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
