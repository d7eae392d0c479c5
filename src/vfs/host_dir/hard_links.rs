//! Hard links: files with more than one name.
//!
//! A hard link that the host created in the directory may be a file from outside. No path shows it; only the link count
//! does. A file with more names than this sandbox gave it is therefore not written to. Reading it, and removing or
//! replacing the name, are allowed. The accepted price: in a tree that the host filled with hard links, as some package
//! managers do, files must be replaced and cannot be written in place. The links of one run of the sandbox are foreign
//! to the next.
//!
//! **A file that had a foreign name when it got a name here never counts as the sandbox's own.** Otherwise, if another
//! sandbox in the same directory removed the new name unseen, one name too many would be accounted for, and the file
//! could be written to.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cap_std::fs::Dir;

use crate::error::{Errno, Result};
use crate::vfs::Kind;

use super::errors::errno;
use super::stat::{HostStat, Identity};

/// The names beyond the first that were created through this directory.
#[derive(Default)]
pub(super) struct HardLinks {
    /// Held from the last lookup of a name until it is created or removed, and from the read of a link count until
    /// it is compared.
    created: Mutex<HashMap<Identity, u64>>,
}

/// The lock for creating and removing names in this process.
pub(super) struct HardLinksGuard<'a> {
    created: MutexGuard<'a, HashMap<Identity, u64>>,
}

impl HardLinks {
    pub(super) fn lock(&self) -> HardLinksGuard<'_> {
        HardLinksGuard { created: self.created.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    /// Refuses a change of a file that may be linked from outside. `look` reads the attributes again under the lock: an
    /// older link count cannot be compared with the current names.
    pub(super) fn check(&self, attributes: &HostStat, look: impl FnOnce() -> Result<HostStat>) -> Result<()> {
        if attributes.kind() == Kind::Directory || attributes.links() <= 1 {
            return Ok(());
        }
        let guard = self.lock();
        if guard.is_own(&look()?) { Ok(()) } else { Err(Errno::NotPermitted) }
    }
}

impl HardLinksGuard<'_> {
    /// Gives the file `own` in `from` a second name.
    pub(super) fn link(&mut self, from: &Dir, own: &str, to: &Dir, name: &str) -> Result<()> {
        let before = HostStat::of_name(from, own)?;
        from.hard_link(own, to, name).map_err(errno)?;
        // The host may have put another file there meanwhile, or removed the name.
        let made = HostStat::of_name(to, name).is_ok_and(|made| made.identity() == before.identity());
        if made && self.is_own(&before) {
            *self.created.entry(before.identity()).or_default() += 1;
        }
        Ok(())
    }

    /// Returns true if any second name exists, so that the removed file must be identified.
    pub(super) fn any(&self) -> bool {
        !self.created.is_empty()
    }

    /// Records that a file lost a name. `attributes` were read before.
    pub(super) fn removed(&mut self, attributes: &HostStat) {
        let file = attributes.identity();
        if let Some(count) = self.created.get_mut(&file) {
            *count -= 1;
            if *count == 0 {
                self.created.remove(&file);
            }
        }
    }

    /// Returns true if all names of a file are known.
    fn is_own(&self, attributes: &HostStat) -> bool {
        attributes.links() <= 1 + self.created.get(&attributes.identity()).copied().unwrap_or(0)
    }
}
