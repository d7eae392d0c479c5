//! The one loop that follows symbolic links and takes back `..`.

use std::borrow::Cow;

use crate::error::{Errno, Result};
use crate::limits::SYMLINKS;
use crate::path::{End, GuestPath};

use super::place::Place;
use super::{Attempt, Kind, Stop, Vfs, reserved};

impl Vfs {
    /// Makes `attempt` where `path` leads, and again wherever a link leads on. A place that `attempt` succeeds on
    /// has a path without links and without `..`.
    pub(super) fn resolve<T>(&self, path: &GuestPath, attempt: impl Fn(&Place<'_>) -> Attempt<T>) -> Result<T> {
        let mut path = Cow::Borrowed(path);
        let mut links = 0;
        loop {
            // Most paths hold nothing of the kind, and one look tells.
            let is_plain = !path.as_str().as_bytes().windows(2).any(|pair| pair == b"/.") && path.as_str().is_ascii();
            let mut dot_dot = None;
            if !is_plain {
                reserved::check(&path)?;
                dot_dot = path.components().position(|component| component == "..");
            }
            let (depth, target) = match dot_dot {
                // The parent of the root is the root.
                Some(0) => {
                    path = Cow::Owned(path.take_back(0));
                    continue;
                }
                // What is before the `..` has to be a directory, and free of links before it can be taken back.
                Some(at) => {
                    let before = path.prefix(at);
                    let place = self.table.place(&before);
                    match directory(&place) {
                        Ok(()) => {
                            path = Cow::Owned(path.take_back(at));
                            continue;
                        }
                        Err(Stop::Link { names, target }) => (place.depth(names), target),
                        Err(Stop::Errno(errno)) => return Err(errno),
                    }
                }
                None => {
                    let place = self.table.place(&path);
                    match attempt(&place) {
                        Ok(done) => return Ok(done),
                        Err(Stop::Link { names, target }) => (place.depth(names), target),
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

    /// The canonical path of a directory.
    pub(super) fn directory(&self, path: &GuestPath) -> Result<GuestPath> {
        self.resolve(path, |place| directory(place).map(|()| place.path.without_tail()))
    }

    /// The path of a name, its directory canonical and the name itself not followed nor looked for. A path that does
    /// not end in a name has to be a directory.
    pub(super) fn named(&self, path: &GuestPath) -> Result<GuestPath> {
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

fn directory(place: &Place<'_>) -> Attempt<()> {
    match place.stat(true)?.kind {
        Kind::Directory => Ok(()),
        _ => Err(Errno::NotDirectory.into()),
    }
}
