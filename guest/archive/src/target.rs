//! The paths at which files of an archive may be written.
//!
//! An archive is untrusted: it may name `/etc/passwd` or `../x`, or create a link and then write through it. So the
//! name of a member is made relative, a name with `..` is refused, and so is one that leads through a link which the
//! same archive created.

use std::collections::HashSet;

use isopod_sys::files::{self, Attributes, Kind};
use isopod_sys::{Errno, fs};

/// The directory that an archive is extracted to.
pub(crate) struct Target {
    /// Directories that are known to exist.
    directories: HashSet<String>,
    /// Links that this run has created.
    links: HashSet<String>,
}

/// The reason why a member is not written.
#[derive(Debug, PartialEq)]
pub(crate) enum Refusal {
    /// Its name has `..` in it.
    Parent,
    /// It leads through a link of the archive.
    Link,
    /// The kernel refused it.
    Kernel(Errno),
}

impl Target {
    pub(crate) fn new() -> Target {
        Target { directories: HashSet::new(), links: HashSet::new() }
    }

    /// Returns the name of a member without a root, empty parts and dots. It is empty for the directory itself.
    pub(crate) fn relative(name: &str) -> Result<String, Refusal> {
        let mut path = String::with_capacity(name.len());
        for part in name.split('/') {
            match part {
                "" | "." => {}
                ".." => return Err(Refusal::Parent),
                part => {
                    if !path.is_empty() {
                        path.push('/');
                    }
                    path.push_str(part);
                }
            }
        }
        Ok(path)
    }

    /// Creates the directories above a path. Links that existed before may lead anywhere: they are the user's.
    pub(crate) fn make_parents(&mut self, path: &str) -> Result<(), Refusal> {
        let Some(end) = path.rfind('/').filter(|end| *end > 0) else {
            return Ok(());
        };
        if self.directories.contains(&path[..end]) {
            return Ok(());
        }
        for (at, _) in path.match_indices('/').filter(|(at, _)| *at > 0 && *at <= end) {
            self.make_directory(&path[..at])?;
        }
        Ok(())
    }

    /// Creates a directory whose parents exist. Returns true if it is new.
    pub(crate) fn make_directory(&mut self, path: &str) -> Result<bool, Refusal> {
        if self.links.contains(path) {
            return Err(Refusal::Link);
        }
        if self.directories.contains(path) {
            return Ok(false);
        }
        let is_new = match fs::create_dir(path) {
            Ok(()) => true,
            Err(Errno::Exist | Errno::Busy)
                if files::stat(path, true).is_ok_and(|found| found.kind == Kind::Directory) =>
            {
                false
            }
            Err(errno) => return Err(Refusal::Kernel(errno)),
        };
        self.directories.insert(path.to_owned());
        Ok(is_new)
    }

    /// Returns true if a path, which may be the target of a hard link, leads through a link of the archive.
    pub(crate) fn leads_through_link(&self, path: &str) -> bool {
        !self.links.is_empty() && path.match_indices('/').any(|(at, _)| self.links.contains(&path[..at]))
    }

    /// Records a link that was created. A second name of a link is a link too.
    pub(crate) fn made_link(&mut self, path: &str) {
        self.links.insert(path.to_owned());
    }

    /// Returns true for a link that the archive created.
    pub(crate) fn is_own_link(&self, path: &str) -> bool {
        self.links.contains(path)
    }

    /// Removes an existing file, unless it is a directory.
    pub(crate) fn clear(&mut self, path: &str) -> Result<(), Errno> {
        self.links.remove(path);
        fs::remove_file(path)
    }

    /// Returns the attributes at a path; a link is not followed.
    pub(crate) fn at(path: &str) -> Option<Attributes> {
        files::stat(path, false).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_inside() {
        for (name, path) in [("a/b", "a/b"), ("/etc/passwd", "etc/passwd"), ("./a//b/.", "a/b"), ("./", ""), ("//", "")]
        {
            assert_eq!(Target::relative(name).unwrap(), path);
        }
        for name in ["..", "../x", "a/../../x", "/..", "a/.."] {
            assert_eq!(Target::relative(name), Err(Refusal::Parent), "{name}");
        }
    }

    #[test]
    fn links_of_the_archive_are_no_way() {
        let mut target = Target::new();
        target.made_link("d/l");
        assert!(
            target.leads_through_link("d/l/x")
                && !target.leads_through_link("d/l")
                && !target.leads_through_link("d/lx/y")
        );
    }
}
