//! The list of changes.

use std::fmt;

use crate::error::Result;
use crate::vfs::mem_fs::compare::{Difference, Side};
use crate::vfs::{Kind, MemSnapshot};

use super::patch;

/// The changes of an overlay.
pub struct Diff {
    pub(super) snapshot: MemSnapshot,
    pub(super) differences: Vec<Difference>,
    changes: Vec<Change>,
}

/// One changed path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path below the root of the overlay; empty for the root itself.
    pub path: String,
    /// The kind of the file; of a deleted one, its former kind.
    pub kind: Kind,
    /// The change.
    pub change: ChangeKind,
}

/// The change of a path. A file that was replaced by one of another kind was deleted, and then created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// The file is new.
    Created {
        /// Permission bits.
        mode: u32,
    },
    /// The file was changed.
    Changed {
        /// The bytes of a file or the target of a link differ.
        content: bool,
        /// Permission bits before and after, if they differ.
        mode: Option<(u32, u32)>,
        /// The modification time differs. That of a directory is not compared.
        times: bool,
    },
    /// The file was deleted.
    Deleted,
}

impl Diff {
    pub(super) fn of(snapshot: MemSnapshot) -> Result<Diff> {
        let differences = snapshot.differences()?;
        let changes = differences.iter().filter_map(Change::of).collect();
        Ok(Diff { snapshot, differences, changes })
    }

    /// Returns the changes in the order of their paths, a directory before its entries.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Returns true if there are no changes.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns the changes of files and links as a patch for `git apply` and `patch -p1`. A file that is not text, or
    /// too large to compare, is mentioned and not shown.
    pub fn patch(&self) -> Result<String> {
        let mut patch = String::new();
        for difference in &self.differences {
            patch::write(&self.snapshot, difference, &mut patch)?;
        }
        Ok(patch)
    }
}

impl Change {
    fn of(difference: &Difference) -> Option<Change> {
        let Difference { path, before, after, content, .. } = difference;
        let (side, change) = match (before, after) {
            (None, Some(after)) => {
                let mode = after.stat.mode;
                (after, ChangeKind::Created { mode })
            }
            (Some(before), None) => (before, ChangeKind::Deleted),
            (Some(before), Some(after)) => match changed(before, after, *content) {
                // Another file with the same content and attributes is no visible change.
                ChangeKind::Changed { content: false, mode: None, times: false } => return None,
                change => (after, change),
            },
            (None, None) => return None,
        };
        Some(Change { path: path.clone(), kind: side.stat.kind, change })
    }
}

fn changed(before: &Side, after: &Side, content: bool) -> ChangeKind {
    let (old, new) = (&before.stat, &after.stat);
    ChangeKind::Changed {
        content,
        mode: (old.mode != new.mode).then_some((old.mode, new.mode)),
        times: old.modified != new.modified && old.kind != Kind::Directory,
    }
}

/// A letter as in `git status`, and the path, with a slash behind a directory.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.change {
            ChangeKind::Created { .. } => 'A',
            ChangeKind::Changed { .. } => 'M',
            ChangeKind::Deleted => 'D',
        };
        let path = if self.path.is_empty() { "." } else { &self.path };
        // A name with a line end must not look like two.
        match path.chars().any(char::is_control) {
            true => write!(f, "{letter} {path:?}")?,
            false => write!(f, "{letter} {path}")?,
        }
        if self.kind == Kind::Directory {
            f.write_str("/")?;
        }
        match self.change {
            ChangeKind::Changed { mode: Some((old, new)), .. } => write!(f, " (mode {old:o} to {new:o})"),
            ChangeKind::Changed { content: false, times: true, .. } => f.write_str(" (time)"),
            _ => Ok(()),
        }
    }
}
