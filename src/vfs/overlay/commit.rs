//! Writing changes to the directory of the host.
//!
//! First everything that can be refused is looked for, and all new content is written under temporary names, next to
//! where it goes or in the nearest directory that stays. Only then names are taken away, what is innermost first, and
//! given, what is outermost first. What was only renamed is linked and not copied.

use std::collections::{HashMap, HashSet};

use crate::error::Errno;
use crate::limits::TRANSFER_BYTES;
use crate::path::Subpath;
use crate::vfs::host_dir::Temp;
use crate::vfs::mem_fs::compare::{Difference, Side};
use crate::vfs::protect::List;
use crate::vfs::{Attempt, FileSystem, HostDir, Kind, MemSnapshot, SetTime, Stop};

/// Why changes could not be committed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot commit{}: {errno}", if path.is_empty() { String::new() } else { format!(" {path:?}") })]
pub struct CommitError {
    /// The path below the overlay's root; empty if it is about the whole.
    pub path: String,
    /// What was in the way.
    pub errno: Errno,
}

impl From<Errno> for CommitError {
    fn from(errno: Errno) -> CommitError {
        CommitError { path: String::new(), errno }
    }
}

type Result<T> = std::result::Result<T, CommitError>;

/// Writes what `snapshot` has changed to the directory that it stands on, unless `protected` forbids any of it.
pub(super) fn apply(snapshot: &MemSnapshot, host: Option<&HostDir>, protected: Option<&List>) -> Result<()> {
    let host = host.ok_or(Errno::NotSupported)?;
    let differences = snapshot.differences()?;
    let removed = |difference: &&Difference| difference.after.is_none();
    let gone: HashSet<&str> = differences.iter().filter(removed).map(|difference| difference.path.as_str()).collect();
    let mut commit = Commit {
        snapshot,
        host,
        gone,
        staged: HashMap::new(),
        first_names: HashMap::new(),
        further: HashSet::new(),
        linked: HashSet::new(),
    };
    for (index, difference) in differences.iter().enumerate() {
        commit.check(difference, protected).map_err(at(difference))?;
        // Before any name is made here.
        if commit.is_linked(difference).map_err(at(difference))? {
            commit.linked.insert(index);
        }
    }
    for (index, difference) in differences.iter().enumerate() {
        commit.stage(index, difference).map_err(at(difference))?;
    }
    for difference in differences.iter().rev().filter(removed) {
        commit.remove(difference).map_err(at(difference))?;
    }
    for (index, difference) in differences.iter().enumerate() {
        commit.give(index, difference).map_err(at(difference))?;
    }
    // Last of all: a directory may be one that nothing can be put into.
    for difference in differences.iter().rev() {
        commit.finish(difference).map_err(at(difference))?;
    }
    Ok(())
}

fn at(difference: &Difference) -> impl FnOnce(Stop) -> CommitError {
    let path = difference.path.clone();
    |stop| CommitError {
        path,
        // Someone put a link where there was none.
        errno: stop.errno_or(Errno::NotDirectory),
    }
}

struct Commit<'a> {
    snapshot: &'a MemSnapshot,
    host: &'a HostDir,
    /// The paths that will be gone.
    gone: HashSet<&'a str>,
    /// What is to be placed, by the index of its difference.
    staged: HashMap<usize, Temp>,
    /// Of files with several names that are written anew, the first, by inode.
    first_names: HashMap<u64, String>,
    /// Differences that are further names of such files.
    further: HashSet<usize>,
    /// Differences in the attributes of files that the host gave several names. These are not set in place: the other
    /// names may be anywhere.
    linked: HashSet<usize>,
}

impl Commit<'_> {
    /// Refuses what the host could not be asked for.
    fn check(&self, difference: &Difference, protected: Option<&List>) -> Attempt<()> {
        let is_dir = difference.after.as_ref().or(difference.before.as_ref()).is_some_and(Side::is_dir);
        if protected.is_some_and(|list| list.protects(Subpath::trusted(&difference.path), is_dir)) {
            return Err(Errno::NotPermitted.into());
        }
        let Some(after) = &difference.after else {
            return Ok(());
        };
        if after.stat.kind == Kind::Device {
            return Err(Errno::NotSupported.into());
        }
        let before = difference.before.as_ref().map_or(0, |side| side.stat.mode);
        if after.stat.mode & !before & 0o6000 != 0 {
            return Err(Errno::NotPermitted.into());
        }
        Ok(())
    }

    /// Whether it is about the attributes of a file that has more names on the host than one.
    fn is_linked(&self, difference: &Difference) -> Attempt<bool> {
        let Some((after, origin)) =
            difference.after.as_ref().and_then(|side| Some((side, self.snapshot.origin(side)?)))
        else {
            return Ok(false);
        };
        if after.stat.kind != Kind::File {
            return Ok(false);
        }
        let below = self.host.stat(Subpath::trusted(origin), false)?;
        Ok(below.links > 1 && (below.mode, below.modified) != (after.stat.mode, after.stat.modified))
    }

    /// Writes new content under a temporary name.
    fn stage(&mut self, index: usize, difference: &Difference) -> Attempt<()> {
        let Some(after) = &difference.after else {
            return Ok(());
        };
        let is_linked = self.linked.contains(&index);
        if !(difference.content || difference.is_other || is_linked) {
            return Ok(());
        }
        let directory = self.nearest(&difference.path)?;
        let directory = Subpath::trusted(&directory);
        let mut temp = match after.stat.kind {
            Kind::Symlink => {
                let target = self.snapshot.target(after)?;
                self.host.temp_link(directory, &target)?
            }
            Kind::File => {
                if after.stat.links > 1 && self.first_names.contains_key(&after.stat.inode) {
                    self.further.insert(index);
                    return Ok(());
                }
                let origin = self.snapshot.origin(after).filter(|_| !is_linked);
                match origin.map(|origin| self.host.temp_name(directory, Subpath::trusted(origin))) {
                    Some(Ok(temp)) => temp,
                    // Not every host can link, and not every file can be linked.
                    _ => self.copy(directory, &difference.path, after)?,
                }
            }
            _ => return Ok(()),
        };
        // There may be more of them than handles.
        temp.close();
        self.staged.insert(index, temp);
        Ok(())
    }

    fn copy(&mut self, directory: Subpath<'_>, path: &str, side: &Side) -> Attempt<Temp> {
        let mut temp = self.host.temp_file(directory)?;
        let reader = self.snapshot.reader(side)?;
        let mut offset = 0;
        loop {
            let bytes = reader.read_at(offset, TRANSFER_BYTES)?;
            if bytes.is_empty() {
                break;
            }
            temp.write(&bytes)?;
            offset += bytes.len() as u64;
        }
        temp.set_mode(side.stat.mode)?;
        temp.set_modified(side.stat.modified)?;
        if side.stat.links > 1 {
            self.first_names.insert(side.stat.inode, path.to_owned());
        }
        Ok(temp)
    }

    /// The directory of a path, or the nearest one around it that is there and will stay.
    fn nearest(&self, path: &str) -> Attempt<String> {
        let mut at = Subpath::trusted(path);
        while let Some((parent, _)) = at.split() {
            at = parent;
            let is_dir = match self.host.stat(at, false) {
                Ok(stat) => stat.kind == Kind::Directory,
                // A link or a file where a directory is going to be.
                Err(Stop::Errno(Errno::NoEntry | Errno::NotDirectory) | Stop::Link { .. }) => false,
                Err(stop) => return Err(stop),
            };
            if is_dir && !self.gone.contains(at.as_str()) {
                break;
            }
        }
        Ok(at.as_str().to_owned())
    }

    fn remove(&self, difference: &Difference) -> Attempt<()> {
        let path = Subpath::trusted(&difference.path);
        match &difference.before {
            Some(before) if before.stat.kind == Kind::Directory => self.host.rmdir(path),
            Some(_) => self.host.unlink(path),
            None => Ok(()),
        }
    }

    /// Gives a name to what is new.
    fn give(&mut self, index: usize, difference: &Difference) -> Attempt<()> {
        let path = Subpath::trusted(&difference.path);
        let Some(after) = &difference.after else {
            return Ok(());
        };
        if let Some(temp) = self.staged.remove(&index) {
            return temp.place_at(path);
        }
        match after.stat.kind {
            // Open to us until everything is in it.
            Kind::Directory if difference.before.is_none() => self.host.mkdir(path, after.stat.mode | 0o700),
            Kind::File if self.further.contains(&index) => {
                let first = self.first_names.get(&after.stat.inode).ok_or(Errno::Io)?;
                let (directory, _) = path.split().ok_or(Errno::Busy)?;
                let temp = self.host.temp_name(directory, Subpath::trusted(first))?;
                temp.place_at(path)
            }
            _ => Ok(()),
        }
    }

    /// Sets the attributes that are not yet as they should be.
    fn finish(&self, difference: &Difference) -> Attempt<()> {
        let path = Subpath::trusted(&difference.path);
        let Some(after) = &difference.after else {
            return Ok(());
        };
        let now = self.host.stat(path, false)?;
        if after.stat.kind != Kind::Symlink && now.mode != after.stat.mode {
            self.host.chmod(path, after.stat.mode, false)?;
        }
        if after.stat.kind != Kind::Directory && now.modified != after.stat.modified {
            let modified = SetTime::At(after.stat.modified);
            self.host.set_times(path, SetTime::Keep, modified, false)?;
        }
        Ok(())
    }
}
