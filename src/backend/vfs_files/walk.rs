//! Walking a tree.
//!
//! The walk is not recursive, since a tree may be deeper than a stack, and visits a bounded number of names. Names are
//! visited in order, so that a result that was cut is the same every time. A link is never entered.

use crate::error::{Errno, Result};
use crate::path::GuestPath;
use crate::vfs::{DirEntry, Kind, MountKind, Vfs};

use super::super::stop::Stop;
use super::super::{Cut, bounds};

/// The number of names that are read from a directory at once.
pub(super) const PIECE: usize = 4096;

/// Directories of the root that hold no user files and may be endless.
const PRUNED_AT_ROOT: [&str; 3] = ["proc", "sys", "dev"];

/// The next step after a name.
pub(super) enum Visit<S> {
    /// Go on with the next name.
    Next,
    /// Enter this directory, with the visitor's state for it.
    Enter(S),
    /// End the walk.
    End(Cut),
}

/// A name that the walk visits. Its paths are built only on request, since most names match nothing.
pub(super) struct WalkEntry<'a, S> {
    /// The visitor's state for the directory.
    pub(super) state: &'a S,
    /// The name and its kind.
    pub(super) entry: &'a DirEntry,
    directory: &'a GuestPath,
    below: &'a str,
}

impl<S> WalkEntry<'_, S> {
    pub(super) fn name(&self) -> &str {
        &self.entry.name
    }

    /// The path. Fails if it is too long.
    pub(super) fn path(&self) -> Result<GuestPath> {
        self.directory.join(&self.entry.name)
    }

    /// The path below the root.
    pub(super) fn relative(&self) -> String {
        [self.below, &self.entry.name].concat()
    }
}

/// A directory that is being walked.
struct Frame<S> {
    path: GuestPath,
    /// The path below the root, with a trailing `/` unless it is the root.
    relative: String,
    entries: std::vec::IntoIter<DirEntry>,
    state: S,
}

/// Calls `visit` for every name below `root`, a path without links. Returns the reason if not all names were visited.
pub(super) fn walk<S>(
    vfs: &Vfs,
    root: &GuestPath,
    state: S,
    stop: &Stop,
    mut visit: impl FnMut(&WalkEntry<'_, S>) -> Visit<S>,
) -> Result<Option<Cut>> {
    // The library of an interpreter holds no files of the user.
    let libraries: Vec<_> = vfs.mounts().into_iter().filter(|mount| mount.kind == MountKind::Library).collect();
    let mut budget = bounds::WALK_ENTRIES;
    let entries = list(vfs, root, &mut budget, stop)?;
    let mut frames = vec![Frame { path: root.clone(), relative: String::new(), entries, state }];
    let mut cut = None;
    while let Some(frame) = frames.last_mut() {
        let Some(entry) = frame.entries.next() else {
            frames.pop();
            continue;
        };
        if stop.is_set() || budget == 0 {
            return Ok(Some(Cut::Budget.or(cut)));
        }
        if root.is_root() && frame.relative.is_empty() && PRUNED_AT_ROOT.contains(&entry.name.as_str()) {
            continue;
        }
        let item = WalkEntry { state: &frame.state, entry: &entry, directory: &frame.path, below: &frame.relative };
        match visit(&item) {
            Visit::Next => {}
            Visit::End(why) => return Ok(Some(why.or(cut))),
            Visit::Enter(_) if entry.kind != Kind::Directory => {}
            Visit::Enter(state) => {
                let relative = item.relative() + "/";
                let path = item.path();
                let is_library = |path: &GuestPath| libraries.iter().any(|mount| mount.path == path.as_str());
                if path.as_ref().is_ok_and(is_library) {
                    continue;
                }
                let listed = path.and_then(|path| Ok((list(vfs, &path, &mut budget, stop)?, path)));
                match listed {
                    Ok((entries, path)) => frames.push(Frame { path, relative, entries, state }),
                    Err(Errno::NoEntry) => {}
                    // For example a path that is too deep.
                    Err(_) => cut = Some(Cut::Unreadable),
                }
            }
        }
    }
    // Without this, a directory that was not listed to its end could go unreported.
    Ok(if budget == 0 { Some(Cut::Budget.or(cut)) } else { cut })
}

/// Lists the names of a directory in order, as far as the budget goes. A stop sets the budget to 0.
fn list(vfs: &Vfs, path: &GuestPath, budget: &mut usize, stop: &Stop) -> Result<std::vec::IntoIter<DirEntry>> {
    let mut directory = vfs.open_dir(path)?;
    let mut entries = Vec::new();
    loop {
        let names = directory.next(PIECE.min(*budget))?;
        if names.is_empty() {
            break;
        }
        if stop.is_set() {
            *budget = 0;
            break;
        }
        *budget -= names.len().min(*budget);
        entries.extend(names);
    }
    entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(entries.into_iter())
}
