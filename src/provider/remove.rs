//! Removes a tree that a guest made.
//!
//! The tree may be deeper than a stack or a table of descriptors: renames can nest directories deeper than any path
//! reaches. So the tree is not descended. A directory that is found is moved up into the top directory, and emptied
//! there later; two descriptors are enough for any tree. A removal that was interrupted can be continued by another
//! process, also by several at once.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::{Errno, Result};

use super::root::token;

/// Removes a directory with all its entries. `name` and the names directly in it were made by the provider.
pub(super) fn remove_tree(root: impl AsFd, name: &str) -> Result<()> {
    let Some(top) = ignore_missing(open(&root, name))? else {
        return Ok(());
    };
    let run = token().map_err(|_| Errno::IO)?;
    let mut pending = Vec::new();
    let mut moved = 0_u64;
    loop {
        // Directories directly in the top need no move.
        empty(&top, |dir, name| {
            grant_owner_access(dir, name)?;
            pending.push(name.to_owned());
            Ok(())
        })?;
        while let Some(name) = pending.pop() {
            let Some(dir) = ignore_missing(open(&top, &name))? else {
                continue;
            };
            // A listing may miss entries while others are removed, so it is repeated until the directory is empty.
            loop {
                empty(&dir, |dir, inner| {
                    grant_owner_access(dir, inner)?;
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

/// Removes the files in a directory, and passes each directory to `directory`.
fn empty(dir: &OwnedFd, mut directory: impl FnMut(&OwnedFd, &std::ffi::CStr) -> Result<()>) -> Result<()> {
    for entry in rustix::fs::Dir::read_from(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => match ignore_missing(rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW))? {
                Some(stat) => FileType::from_raw_mode(stat.st_mode),
                None => continue,
            },
            kind => kind,
        };
        let done = match kind {
            FileType::Directory => directory(dir, name),
            _ => rustix::fs::unlinkat(dir, name, AtFlags::empty()),
        };
        ignore_missing(done)?;
    }
    Ok(())
}

/// Gives the owner read, write and search permission on a directory, whatever mode a guest has set. It works by a
/// descriptor, so that it changes this directory and nothing else.
fn grant_owner_access(dir: &OwnedFd, name: &std::ffi::CStr) -> Result<()> {
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

/// Turns "no such entry" into `None`: another process has removed it.
fn ignore_missing<T>(answer: Result<T>) -> Result<Option<T>> {
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
        // A guest may have removed their permissions. The deepest first, or the others would not be found.
        for dir in dirs[..400].iter().rev().step_by(7) {
            rustix::fs::chmodat(dir, "d", Mode::empty(), AtFlags::empty()).unwrap();
        }
        drop(dirs);
        remove_tree(&top, "tree").unwrap();
        assert_eq!(top.entries().unwrap().count(), 0);
        // Removing a missing tree succeeds.
        remove_tree(&top, "tree").unwrap();
    }
}
