//! The directory of Python packages that every sandbox of a user sees.
//!
//! **A change is there as a whole or not at all**: it is made in a copy beside the directory, which is then exchanged with
//! the directory in one step. A process that is killed before that leaves the packages unchanged, and a copy that the next
//! change removes. The old directory stays until then, for sandboxes that still use it. A lock of the machine's kernel
//! makes changes wait for each other; it ends with its holder.

#![allow(clippy::disallowed_methods, reason = "the directory is the user's, and no guest names it")]

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with, syncfs};
use rustix::io::Errno;

/// The names of the directories: the packages, the copy for a change, the packages before the last change, the wheels.
const SITE: &str = "site-packages";
const NEXT: &str = "next";
const BEFORE: &str = "before";
const FETCHED: &str = "fetched";

/// The packages of a user.
pub(super) struct Packages(PathBuf);

impl Packages {
    /// Returns the packages of this user, if the environment names a data directory.
    pub(super) fn of_user() -> Option<Packages> {
        let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let data = set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")));
        data.map(|data| Packages(data.join("isopod-python")))
    }

    /// Returns the directory of the packages, if there are any.
    pub(super) fn site(&self) -> Option<PathBuf> {
        Some(self.0.join(SITE)).filter(|site| site.is_dir())
    }

    /// Begins a change, after the changes of other processes.
    pub(super) fn change(self) -> io::Result<Change> {
        fs::create_dir_all(&self.0)?;
        let lock = File::open(&self.0)?;
        lock.lock()?;
        let change = Change { root: self.0, lock };
        change.sweep()?;
        fs::create_dir(change.fetched())?;
        match fs::symlink_metadata(change.root.join(SITE)) {
            Ok(_) => copy(&change.root.join(SITE), &change.next())?,
            Err(error) if error.kind() == ErrorKind::NotFound => fs::create_dir(change.next())?,
            Err(error) => return Err(error),
        }
        Ok(change)
    }
}

/// A change of the packages. Sandboxes do not see it before it is committed.
pub(super) struct Change {
    root: PathBuf,
    /// Held to the end, so that there is one change at a time.
    lock: File,
}

impl Change {
    /// Returns the directory of the new packages.
    pub(super) fn next(&self) -> PathBuf {
        self.root.join(NEXT)
    }

    /// Makes a directory for wheels, which is removed after the change.
    pub(super) fn fetched(&self) -> PathBuf {
        self.root.join(FETCHED)
    }

    /// Puts the new packages in place of the old ones.
    pub(super) fn make(self) -> io::Result<()> {
        let (site, next, before) = (self.root.join(SITE), self.next(), self.root.join(BEFORE));
        // The content must be on the disk before the name that leads to it.
        syncfs(&self.lock)?;
        match renameat_with(CWD, &next, CWD, &site, RenameFlags::EXCHANGE) {
            Ok(()) => fs::rename(&next, &before),
            Err(Errno::NOENT) => fs::rename(&next, &site),
            // A file system that cannot exchange names. For a moment there are no packages; `sweep` repairs that.
            Err(Errno::INVAL | Errno::NOSYS) => {
                fs::rename(&site, &before)?;
                fs::rename(&next, &site)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Removes the directories that interrupted changes left.
    fn sweep(&self) -> io::Result<()> {
        let (site, before) = (self.root.join(SITE), self.root.join(BEFORE));
        if !site.exists() && before.exists() {
            fs::rename(&before, &site)?;
        }
        [FETCHED, NEXT, BEFORE].iter().try_for_each(|name| remove(&self.root.join(name)))
    }
}

impl Drop for Change {
    fn drop(&mut self) {
        // The next change tries again.
        let _ = remove(&self.fetched());
        let _ = remove(&self.next());
    }
}

fn remove(directory: &Path) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Copies a directory of plain files. Packages hold nothing else.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, copied) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &copied)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), copied)?;
        } else {
            let what = format!("{} is neither a file nor a directory", entry.path().display());
            return Err(io::Error::new(ErrorKind::InvalidData, what));
        }
    }
    Ok(())
}
