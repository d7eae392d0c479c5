//! Which files may have more than one name.
//!
//! A hard link that the host planted in the directory is a file from outside, and no path tells it apart: only the
//! count of its names does. So a file with more names than this sandbox gave it is not written to. Reading it is
//! allowed, and so is removing or replacing the name. The price, which is paid knowingly: of a tree that the host
//! filled with hard links (some package managers do) the files must be replaced and cannot be written in place, and
//! the links of one run of the sandbox are foreign to the next.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cap_std::fs::{Dir, Metadata, MetadataExt};

use crate::error::{Errno, Result};

/// A file of the host: its device and its inode.
type Identity = (u64, u64);

/// The names beyond the first that were made through this directory.
#[derive(Default)]
pub(super) struct SecondNames {
    made: Mutex<HashMap<Identity, u64>>,
}

impl SecondNames {
    /// Refuses to change a file that may be linked from outside.
    pub(super) fn check(&self, metadata: &Metadata) -> Result<()> {
        if metadata.is_dir() || metadata.nlink() <= 1 {
            return Ok(());
        }
        let made = self.lock().get(&identity(metadata)).copied().unwrap_or(0);
        if metadata.nlink() <= 1 + made { Ok(()) } else { Err(Errno::NotPermitted) }
    }

    /// Notes that `name` is a new name of a file.
    pub(super) fn made(&self, dir: &Dir, name: &str) {
        // If it is gone already, there is nothing to note.
        if let Ok(metadata) = dir.symlink_metadata(name) {
            *self.lock().entry(identity(&metadata)).or_default() += 1;
        }
    }

    /// Whether any was made, so that it has to be known which file loses a name.
    pub(super) fn any(&self) -> bool {
        !self.lock().is_empty()
    }

    /// Notes that a file lost a name.
    pub(super) fn removed(&self, metadata: &Metadata) {
        let (mut made, file) = (self.lock(), identity(metadata));
        if let Some(count) = made.get_mut(&file) {
            *count -= 1;
            if *count == 0 {
                made.remove(&file);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Identity, u64>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn identity(metadata: &Metadata) -> Identity {
    (metadata.dev(), metadata.ino())
}
