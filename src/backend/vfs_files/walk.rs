//! Walking a tree.
//!
//! Not recursive, since a tree may be deeper than a stack, and bounded in what it looks at. Directories are walked in the
//! order of their names, so that what fits into a limit is the same every time. A link is never entered.

use crate::error::{Errno, Result};
use crate::path::GuestPath;
use crate::vfs::{DirEntry, Kind, MountKind, Vfs};

use super::super::stop::Stop;
use super::super::{Cut, bounds};

/// Names that are read from a directory at once.
pub(super) const PIECE: usize = 4096;

/// Directories of a root that hold no files of anyone, and no end.
const PRUNED_AT_ROOT: [&str; 3] = ["proc", "sys", "dev"];

/// What to do about a name.
pub(super) enum Visit<S> {
    /// Go on.
    Next,
    /// Go on in this directory, with what is known there.
    Enter(S),
    /// The walk is over.
    End(Cut),
}

/// A name that is shown. Its paths are made only if someone asks: most names match nothing.
pub(super) struct Here<'a, S> {
    /// What is known of its directory.
    pub(super) state: &'a S,
    /// What it is.
    pub(super) entry: &'a DirEntry,
    directory: &'a GuestPath,
    below: &'a str,
}

impl<S> Here<'_, S> {
    pub(super) fn name(&self) -> &str {
        &self.entry.name
    }

    /// Its path, which can be longer than any may be.
    pub(super) fn path(&self) -> Result<GuestPath> {
        self.directory.join(&self.entry.name)
    }

    /// Its path below the root.
    pub(super) fn relative(&self) -> String {
        [self.below, &self.entry.name].concat()
    }
}

/// A directory that is being walked.
struct Frame<S> {
    path: GuestPath,
    /// Below the root, with a `/` at its end unless it is the root.
    relative: String,
    entries: std::vec::IntoIter<DirEntry>,
    state: S,
}

/// Shows every name below `root`, which holds no link, to `visit`. Answers why it may not have seen all.
pub(super) fn walk<S>(
    vfs: &Vfs,
    root: &GuestPath,
    state: S,
    stop: &Stop,
    mut visit: impl FnMut(&Here<'_, S>) -> Visit<S>,
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
        let here = Here { state: &frame.state, entry: &entry, directory: &frame.path, below: &frame.relative };
        match visit(&here) {
            Visit::Next => {}
            Visit::End(why) => return Ok(Some(why.or(cut))),
            Visit::Enter(_) if entry.kind != Kind::Directory => {}
            Visit::Enter(state) => {
                let relative = here.relative() + "/";
                let path = here.path();
                let is_library = |path: &GuestPath| libraries.iter().any(|mount| mount.path == path.as_str());
                if path.as_ref().is_ok_and(is_library) {
                    continue;
                }
                let listed = path.and_then(|path| Ok((list(vfs, &path, &mut budget, stop)?, path)));
                match listed {
                    Ok((entries, path)) => frames.push(Frame { path, relative, entries, state }),
                    Err(Errno::NoEntry) => {}
                    // Among them: deeper than any path may be.
                    Err(_) => cut = Some(Cut::Unreadable),
                }
            }
        }
    }
    // A directory that was not listed to its end may have had nothing to show.
    Ok(if budget == 0 { Some(Cut::Budget.or(cut)) } else { cut })
}

/// The names in a directory, as far as the budget goes, in order. When it is time to stop, there is no budget left.
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
