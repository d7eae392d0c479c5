//! Removing trees.

use isopod_sys::files::{self, Kind};
use isopod_sys::{Errno, fs};

use isopod_gnu::path::join;

/// A step of the removal of a tree.
pub(crate) enum RemovalStep<'a> {
    /// A file is about to be entered or removed; the observer's answer decides.
    Asked(Question, &'a str),
    /// A file was removed.
    Removed(Kind, &'a str),
    /// A file could not be removed.
    Failed(&'a str, Errno),
}

/// A question before a step.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Question {
    /// Enter a directory?
    Enter,
    /// Remove a file, or a directory after its content?
    Remove(Kind),
}

/// Removes a file or a whole tree and reports each step to `observer`, whose answer counts for questions only.
/// Returns false if something is left.
pub(crate) fn remove_tree(path: &str, device: Option<u64>, observer: &mut dyn FnMut(RemovalStep) -> bool) -> bool {
    let found = match files::stat(path, false) {
        Ok(found) => found,
        Err(errno) => {
            observer(RemovalStep::Failed(path, errno));
            return false;
        }
    };
    // With a device given, other file systems below are left as they are.
    if device.is_some_and(|device| device != found.device) {
        observer(RemovalStep::Failed(path, Errno::CrossDevice));
        return false;
    }
    if found.kind != Kind::Directory {
        return observer(RemovalStep::Asked(Question::Remove(found.kind), path))
            && finish(fs::remove_file(path), found.kind, path, observer);
    }
    let names = match files::read_dir(path) {
        Ok(names) => names,
        // A directory that can't be read may still be empty.
        Err(errno) => {
            let removed = fs::remove_dir(path).map_err(|_| errno);
            return finish(removed, found.kind, path, observer);
        }
    };
    let mut empty = true;
    if !names.is_empty() {
        if !observer(RemovalStep::Asked(Question::Enter, path)) {
            return false;
        }
        for name in names {
            empty &= remove_tree(&join(path, &name), device, observer);
        }
    }
    empty
        && observer(RemovalStep::Asked(Question::Remove(Kind::Directory), path))
        && finish(fs::remove_dir(path), found.kind, path, observer)
}

fn finish(result: Result<(), Errno>, kind: Kind, path: &str, observer: &mut dyn FnMut(RemovalStep) -> bool) -> bool {
    match result {
        Ok(()) => observer(RemovalStep::Removed(kind, path)),
        Err(errno) => {
            observer(RemovalStep::Failed(path, errno));
            return false;
        }
    };
    true
}
