//! Which files may have more than one name.
//!
//! A hard link that the host planted in the directory is a file from outside, and no path tells it apart: only the
//! count of its names does. So a file with more names than this sandbox gave it is not written to. Reading it is
//! allowed, and so is removing or replacing the name. The price, which is paid knowingly: of a tree that the host
//! filled with hard links (some package managers do) the files must be replaced and cannot be written in place, and
//! the links of one run of the sandbox are foreign to the next.
//!
//! **A file that had a foreign name when it got one here never counts as the sandbox's own**: else whoever takes the new
//! name away unseen, be it another sandbox in the same directory, would leave one name too many accounted for, and the
//! file could be written to.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cap_std::fs::Dir;

use crate::error::{Errno, Result};
use crate::vfs::Kind;

use super::errors::errno;
use super::stat::{Facts, Identity};

/// The names beyond the first that were made through this directory.
#[derive(Default)]
pub(super) struct SecondNames {
    /// Held from the last look at a name until it is given or taken away, and from a look at a file's count of names
    /// until that is compared.
    made: Mutex<HashMap<Identity, u64>>,
}

/// Leave to give names and to take them away: nobody else in this process does meanwhile.
pub(super) struct Turn<'a> {
    made: MutexGuard<'a, HashMap<Identity, u64>>,
}

impl SecondNames {
    pub(super) fn turn(&self) -> Turn<'_> {
        Turn { made: self.made.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    /// Refuses to change a file that may be linked from outside. `look` asks its handle again if need be: a count from a
    /// moment ago cannot be compared with the names that are known now.
    pub(super) fn check(&self, facts: &Facts, look: impl FnOnce() -> Result<Facts>) -> Result<()> {
        if facts.kind() == Kind::Directory || facts.links() <= 1 {
            return Ok(());
        }
        let turn = self.turn();
        if turn.is_own(&look()?) { Ok(()) } else { Err(Errno::NotPermitted) }
    }
}

impl Turn<'_> {
    /// Gives the file `own` in `from` a second name.
    pub(super) fn link(&mut self, from: &Dir, own: &str, to: &Dir, name: &str) -> Result<()> {
        let before = Facts::of_name(from, own)?;
        from.hard_link(own, to, name).map_err(errno)?;
        // The host may have put another file there meanwhile, or taken the name away.
        let made = Facts::of_name(to, name).is_ok_and(|made| made.identity() == before.identity());
        if made && self.is_own(&before) {
            *self.made.entry(before.identity()).or_default() += 1;
        }
        Ok(())
    }

    /// Whether any was made, so that it has to be known which file loses a name.
    pub(super) fn any(&self) -> bool {
        !self.made.is_empty()
    }

    /// Notes that a file lost a name. `facts` are from before.
    pub(super) fn removed(&mut self, facts: &Facts) {
        let file = facts.identity();
        if let Some(count) = self.made.get_mut(&file) {
            *count -= 1;
            if *count == 0 {
                self.made.remove(&file);
            }
        }
    }

    /// Whether all names of a file are known.
    fn is_own(&self, facts: &Facts) -> bool {
        facts.links() <= 1 + self.made.get(&facts.identity()).copied().unwrap_or(0)
    }
}
