//! Removing trees.

use isopod_sys::files::{self, Kind};
use isopod_sys::{Errno, fs};

use isopod_gnu::path::join;

/// What became of one file of a tree.
pub(crate) enum Fate<'a> {
    /// It is about to be entered or removed; the answer says whether to go on.
    Asked(Question, &'a str),
    /// It is gone.
    Removed(Kind, &'a str),
    /// It could not be removed.
    Failed(&'a str, Errno),
}

/// What is asked before.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Question {
    /// Whether to look into a directory.
    Enter,
    /// Whether to remove a file, or a directory after its content.
    Remove(Kind),
}

/// Removes a file or a whole tree, and tells `witness` of each step. Its answer counts for a question only.
/// False if something is left.
pub(crate) fn remove_tree(path: &str, device: Option<u64>, witness: &mut dyn FnMut(Fate) -> bool) -> bool {
    let found = match files::stat(path, false) {
        Ok(found) => found,
        Err(errno) => {
            witness(Fate::Failed(path, errno));
            return false;
        }
    };
    // Another file system below this one is left as it is, if that was asked for.
    if device.is_some_and(|device| device != found.device) {
        witness(Fate::Failed(path, Errno::CrossDevice));
        return false;
    }
    if found.kind != Kind::Directory {
        return witness(Fate::Asked(Question::Remove(found.kind), path))
            && finish(fs::remove_file(path), found.kind, path, witness);
    }
    let names = match files::read_dir(path) {
        Ok(names) => names,
        // One that can't be read may still be empty.
        Err(errno) => {
            let removed = fs::remove_dir(path).map_err(|_| errno);
            return finish(removed, found.kind, path, witness);
        }
    };
    let mut empty = true;
    if !names.is_empty() {
        if !witness(Fate::Asked(Question::Enter, path)) {
            return false;
        }
        for name in names {
            empty &= remove_tree(&join(path, &name), device, witness);
        }
    }
    empty
        && witness(Fate::Asked(Question::Remove(Kind::Directory), path))
        && finish(fs::remove_dir(path), found.kind, path, witness)
}

fn finish(result: Result<(), Errno>, kind: Kind, path: &str, witness: &mut dyn FnMut(Fate) -> bool) -> bool {
    match result {
        Ok(()) => witness(Fate::Removed(kind, path)),
        Err(errno) => {
            witness(Fate::Failed(path, errno));
            return false;
        }
    };
    true
}
