//! Path resolution: follows symbolic links and resolves `..`.

use std::borrow::Cow;

use crate::error::{Errno, Result};
use crate::limits::SYMLINKS;
use crate::path::{End, GuestPath};

use super::mounted_path::MountedPath;
use super::{Attempt, Kind, Stop, Vfs, reserved};

impl Vfs {
    /// Runs `attempt` on the path, and again each time a link redirects it. The path of a successful attempt holds no
    /// link and no `..`.
    pub(super) fn resolve<T>(&self, path: &GuestPath, attempt: impl Fn(&MountedPath<'_>) -> Attempt<T>) -> Result<T> {
        let mut path = Cow::Borrowed(path);
        let mut links = 0;
        loop {
            // Most paths hold neither `..` nor a reserved name, and one scan of the bytes shows it.
            let is_plain = !path.as_str().as_bytes().windows(2).any(|pair| pair == b"/.") && path.as_str().is_ascii();
            let mut dot_dot = None;
            if !is_plain {
                reserved::check(&path)?;
                dot_dot = path.components().position(|component| component == "..");
            }
            let (depth, target) = match dot_dot {
                // The parent of the root is the root.
                Some(0) => {
                    path = Cow::Owned(path.collapse_dot_dot(0));
                    continue;
                }
                // The path before the `..` must be a directory without links before its last component can be dropped.
                Some(at) => {
                    let before = path.prefix(at);
                    let mounted = self.table.lookup(&before);
                    match directory(&mounted) {
                        Ok(()) => {
                            path = Cow::Owned(path.collapse_dot_dot(at));
                            continue;
                        }
                        Err(Stop::Link { names, target }) => (mounted.depth(names), target),
                        Err(Stop::Errno(errno)) => return Err(errno),
                    }
                }
                None => {
                    let mounted = self.table.lookup(&path);
                    match attempt(&mounted) {
                        Ok(done) => return Ok(done),
                        Err(Stop::Link { names, target }) => (mounted.depth(names), target),
                        Err(Stop::Errno(errno)) => return Err(errno),
                    }
                }
            };
            links += 1;
            if links > SYMLINKS {
                return Err(Errno::Loop);
            }
            path = Cow::Owned(path.splice(depth, &target)?);
        }
    }

    /// Returns the canonical path of a directory.
    pub(super) fn directory(&self, path: &GuestPath) -> Result<GuestPath> {
        self.resolve(path, |mounted| directory(mounted).map(|()| mounted.path.without_tail()))
    }

    /// Returns the path with a canonical directory. The last name is neither followed nor looked up. A path that does
    /// not end in a name must be a directory.
    pub(super) fn resolve_parent(&self, path: &GuestPath) -> Result<GuestPath> {
        match (path.end(), path.parent(), path.file_name()) {
            (End::Name, Some(parent), Some(name)) => {
                let path = self.directory(&parent)?.join(name)?;
                reserved::check(&path)?;
                Ok(path)
            }
            _ => self.directory(path),
        }
    }
}

fn directory(mounted: &MountedPath<'_>) -> Attempt<()> {
    match mounted.stat(true)?.kind {
        Kind::Directory => Ok(()),
        _ => Err(Errno::NotDirectory.into()),
    }
}
