//! The list of changes.

use std::fmt;

use crate::error::Result;
use crate::vfs::mem_fs::compare::{Difference, Side};
use crate::vfs::{Kind, MemSnapshot};

use super::patch;

/// What an overlay has changed.
pub struct Diff {
    pub(super) snapshot: MemSnapshot,
    pub(super) differences: Vec<Difference>,
    changes: Vec<Change>,
}

/// One path that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path below the overlay's root; empty for the root itself.
    pub path: String,
    /// What it names; if it is gone, what it named.
    pub kind: Kind,
    /// What happened to it.
    pub what: What,
}

/// What happened to a path. What was replaced by something of another kind was deleted, and then created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// It was not there.
    Created {
        /// Permission bits.
        mode: u32,
    },
    /// It was there.
    Changed {
        /// Whether the bytes of a file or the target of a link are different.
        content: bool,
        /// Permission bits before and after, if they are different.
        mode: Option<(u32, u32)>,
        /// Whether the time of the last change is different. That of a directory is not compared.
        times: bool,
    },
    /// It is gone.
    Deleted,
}

impl Diff {
    pub(super) fn of(snapshot: MemSnapshot) -> Result<Diff> {
        let differences = snapshot.differences()?;
        let changes = differences.iter().filter_map(Change::of).collect();
        Ok(Diff { snapshot, differences, changes })
    }

    /// The changes, in the order of their paths, a directory before what is in it.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The changes of files and links as a patch, in the form that `git apply` and `patch -p1` take. A file that is not
    /// text, or too large to compare, is mentioned and not shown.
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
        let (side, what) = match (before, after) {
            (None, Some(after)) => {
                let mode = after.stat.mode;
                (after, What::Created { mode })
            }
            (Some(before), None) => (before, What::Deleted),
            (Some(before), Some(after)) => match changed(before, after, *content) {
                // Another file that looks the same is no change that anyone could see.
                What::Changed { content: false, mode: None, times: false } => return None,
                what => (after, what),
            },
            (None, None) => return None,
        };
        Some(Change { path: path.clone(), kind: side.stat.kind, what })
    }
}

fn changed(before: &Side, after: &Side, content: bool) -> What {
    let (old, new) = (&before.stat, &after.stat);
    What::Changed {
        content,
        mode: (old.mode != new.mode).then_some((old.mode, new.mode)),
        times: old.modified != new.modified && old.kind != Kind::Directory,
    }
}

/// A letter as in `git status`, and the path, with a slash behind a directory.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.what {
            What::Created { .. } => 'A',
            What::Changed { .. } => 'M',
            What::Deleted => 'D',
        };
        let path = if self.path.is_empty() { "." } else { &self.path };
        // A name with a line end in it must not look like two.
        match path.chars().any(char::is_control) {
            true => write!(f, "{letter} {path:?}")?,
            false => write!(f, "{letter} {path}")?,
        }
        if self.kind == Kind::Directory {
            f.write_str("/")?;
        }
        match self.what {
            What::Changed { mode: Some((old, new)), .. } => write!(f, " (mode {old:o} to {new:o})"),
            What::Changed { content: false, times: true, .. } => f.write_str(" (time)"),
            _ => Ok(()),
        }
    }
}
