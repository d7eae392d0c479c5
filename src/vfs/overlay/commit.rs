//! Writing the changes of an overlay to the directory of the host.
//!
//! First every possible refusal is checked, and all new content is written under temporary names, next to its
//! destination or in the nearest directory that stays. Only then names are removed, the innermost first, and created,
//! the outermost first. A file that was only renamed is linked, not copied.

use std::collections::{HashMap, HashSet};

use crate::error::Errno;
use crate::limits::TRANSFER_BYTES;
use crate::path::Subpath;
use crate::vfs::host_dir::TempFile;
use crate::vfs::mem_fs::compare::{Difference, Side};
use crate::vfs::protect::ProtectedPaths;
use crate::vfs::{Attempt, FileSystem, HostDir, Kind, MemSnapshot, SetTime, Stop};

/// The reason why changes could not be committed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot commit{}: {errno}", if path.is_empty() { String::new() } else { format!(" {path:?}") })]
pub struct CommitError {
    /// The path below the root of the overlay; empty if the error concerns the whole commit.
    pub path: String,
    /// The error.
    pub errno: Errno,
}

impl From<Errno> for CommitError {
    fn from(errno: Errno) -> CommitError {
        CommitError { path: String::new(), errno }
    }
}

type Result<T> = std::result::Result<T, CommitError>;

/// Writes the changes of `snapshot` to its lower directory, unless `protected` forbids one of them.
pub(super) fn apply(snapshot: &MemSnapshot, host: Option<&HostDir>, protected: Option<&ProtectedPaths>) -> Result<()> {
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
        // Before any name is created here.
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
        commit.create_name(index, difference).map_err(at(difference))?;
    }
    // At the very end: the mode of a directory may forbid creating names in it.
    for difference in differences.iter().rev() {
        commit.finish(difference).map_err(at(difference))?;
    }
    Ok(())
}

fn at(difference: &Difference) -> impl FnOnce(Stop) -> CommitError {
    let path = difference.path.clone();
    |stop| CommitError {
        path,
        // A link was created in between.
        errno: stop.errno_or(Errno::NotDirectory),
    }
}

struct Commit<'a> {
    snapshot: &'a MemSnapshot,
    host: &'a HostDir,
    /// The paths that will be removed.
    gone: HashSet<&'a str>,
    /// Files to be placed, by the index of their difference.
    staged: HashMap<usize, TempFile>,
    /// First name of each rewritten file with several names, by inode.
    first_names: HashMap<u64, String>,
    /// Indexes of further names of such files.
    further: HashSet<usize>,
    /// Indexes of changed attributes of files with several names on the host. These are not set in place: the other
    /// names may be anywhere.
    linked: HashSet<usize>,
}

impl Commit<'_> {
    /// Refuses changes that the host cannot represent or must not get.
    fn check(&self, difference: &Difference, protected: Option<&ProtectedPaths>) -> Attempt<()> {
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

    /// Returns true for changed attributes of a file that has more than one name on the host.
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
                    // Not every host supports links, and not every file can be linked.
                    _ => self.copy(directory, &difference.path, after)?,
                }
            }
            _ => return Ok(()),
        };
        // There may be more temporary files than handles.
        temp.close();
        self.staged.insert(index, temp);
        Ok(())
    }

    fn copy(&mut self, directory: Subpath<'_>, path: &str, side: &Side) -> Attempt<TempFile> {
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

    /// Returns the directory of a path, or the nearest directory above it that exists and stays.
    fn nearest(&self, path: &str) -> Attempt<String> {
        let mut at = Subpath::trusted(path);
        while let Some((parent, _)) = at.split() {
            at = parent;
            let is_dir = match self.host.stat(at, false) {
                Ok(stat) => stat.kind == Kind::Directory,
                // A link or a file in the place of a future directory.
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

    /// Gives a new file its name.
    fn create_name(&mut self, index: usize, difference: &Difference) -> Attempt<()> {
        let path = Subpath::trusted(&difference.path);
        let Some(after) = &difference.after else {
            return Ok(());
        };
        if let Some(temp) = self.staged.remove(&index) {
            return temp.place_at(path);
        }
        match after.stat.kind {
            // With access for this process until everything is in it.
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

    /// Sets the remaining attributes.
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
