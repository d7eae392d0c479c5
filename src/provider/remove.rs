//! Takes a tree away that a guest made.
//!
//! It may be deeper than a stack or a table of handles: renames put directories below each other that no path reaches.
//! So nothing is walked down. A directory that is found is moved up, beside the others, and emptied there in its turn: two
//! handles do, whatever the tree. Whoever finds the same tree half removed goes on where the last one stopped, also at
//! the same time.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::{Errno, Result};

use super::root::token;

/// Removes a directory with all that is in it. `name` is one of ours, and so are the names directly in it.
pub(super) fn remove_tree(root: impl AsFd, name: &str) -> Result<()> {
    let Some(top) = gone(open(&root, name))? else {
        return Ok(());
    };
    let run = token().map_err(|_| Errno::IO)?;
    let mut pending = Vec::new();
    let mut moved = 0_u64;
    loop {
        // What stands directly in the top needs no other place.
        empty(&top, |dir, name| {
            open_up(dir, name)?;
            pending.push(name.to_owned());
            Ok(())
        })?;
        while let Some(name) = pending.pop() {
            let Some(dir) = gone(open(&top, &name))? else {
                continue;
            };
            // A listing may miss what was there when others were removed: until it is empty.
            loop {
                empty(&dir, |dir, inner| {
                    open_up(dir, inner)?;
                    let place = std::ffi::CString::new(format!("{run}-{moved}")).map_err(|_| Errno::INVAL)?;
                    moved += 1;
                    rustix::fs::renameat(dir, inner, &top, &place)?;
                    pending.push(place);
                    Ok(())
                })?;
                match rustix::fs::unlinkat(&top, &name, AtFlags::REMOVEDIR) {
                    Ok(()) | Err(Errno::NOENT) => break,
                    Err(Errno::NOTEMPTY | Errno::EXIST) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        match rustix::fs::unlinkat(&root, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => return Ok(()),
            Err(Errno::NOTEMPTY | Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Removes what is in a directory, and hands over the directories.
fn empty(dir: &OwnedFd, mut directory: impl FnMut(&OwnedFd, &std::ffi::CStr) -> Result<()>) -> Result<()> {
    for entry in rustix::fs::Dir::read_from(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => match gone(rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW))? {
                Some(stat) => FileType::from_raw_mode(stat.st_mode),
                None => continue,
            },
            kind => kind,
        };
        let done = match kind {
            FileType::Directory => directory(dir, name),
            _ => rustix::fs::unlinkat(dir, name, AtFlags::empty()),
        };
        gone(done)?;
    }
    Ok(())
}

/// Lets its owner read, move and empty a directory, whatever a guest's `chmod` made of it. By a handle: what the mode is
/// changed of is a directory, and this one.
fn open_up(dir: &OwnedFd, name: &std::ffi::CStr) -> Result<()> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = rustix::fs::openat(dir, name, flags, Mode::empty())?;
    let mode = Mode::from_raw_mode(rustix::fs::fstat(&handle)?.st_mode);
    if mode.contains(Mode::RWXU) {
        return Ok(());
    }
    rustix::fs::chmod(format!("/proc/self/fd/{}", handle.as_raw_fd()), Mode::RWXU)
}

fn open(dir: impl AsFd, name: impl rustix::path::Arg) -> Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(dir, name, flags, Mode::empty())
}

/// What is not there any more, someone else has removed.
fn gone<T>(answer: Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_deeper_than_any_path_goes_away() {
        let root = tempfile::tempdir().unwrap();
        let top = cap_std::fs::Dir::open_ambient_dir(root.path(), cap_std::ambient_authority()).unwrap();
        top.create_dir("tree").unwrap();
        let mut dirs = vec![top.open_dir("tree").unwrap()];
        for depth in 0..400 {
            let dir = &dirs[depth];
            dir.write("file", "x").unwrap();
            rustix::fs::symlinkat("/etc", dir, "link").unwrap();
            dir.create_dir("d").unwrap();
            dirs.push(dir.open_dir("d").unwrap());
        }
        for wide in 0..100 {
            dirs[400].create_dir(format!("{wide}")).unwrap();
        }
        // A guest may have shut them: the deepest first, or none is found again.
        for dir in dirs[..400].iter().rev().step_by(7) {
            rustix::fs::chmodat(dir, "d", Mode::empty(), AtFlags::empty()).unwrap();
        }
        drop(dirs);
        remove_tree(&top, "tree").unwrap();
        assert_eq!(top.entries().unwrap().count(), 0);
        // One that is not there is gone.
        remove_tree(&top, "tree").unwrap();
    }
}
