//! One file of the walk.

use std::cell::OnceCell;

use isopod_sys::files::{self, Attributes, Kind};
use isopod_sys::{Errno, fs};

/// A file as tests and actions see it.
pub(super) struct Visit<'a> {
    /// The path, from the starting point on.
    pub(super) path: &'a str,
    /// The length of the starting point in the path.
    pub(super) start: usize,
    /// The number of directories between the starting point and the file.
    pub(super) depth: usize,
    /// The type of the file, or of a link's target if links are followed.
    pub(super) kind: Kind,
    /// True if links are followed.
    pub(super) follows: bool,
    /// The attributes, once a test has asked for them.
    pub(super) attributes: OnceCell<Result<Attributes, Errno>>,
}

impl Visit<'_> {
    /// Returns the attributes. A broken link has those of the link itself.
    pub(super) fn attributes(&self) -> Result<&Attributes, Errno> {
        let found = self.attributes.get_or_init(|| match files::stat(self.path, self.follows) {
            Err(Errno::NoEntry) if self.follows => files::stat(self.path, false),
            result => result,
        });
        found.as_ref().map_err(|errno| *errno)
    }

    /// Returns the last part of the path, without trailing slashes.
    pub(super) fn name(&self) -> &str {
        isopod_gnu::path::last_part(self.path)
    }

    /// Returns the target of a symbolic link.
    pub(super) fn target(&self) -> Option<String> {
        (self.kind == Kind::Symlink).then(|| fs::read_link(self.path).ok()).flatten()
    }

    /// Returns the type for `-xtype`: of the target of a link, or of the link itself if links are followed.
    pub(super) fn other_kind(&self) -> Option<Kind> {
        if self.follows {
            return files::stat(self.path, false).ok().map(|found| found.kind);
        }
        if self.kind != Kind::Symlink {
            return Some(self.kind);
        }
        match files::stat(self.path, true) {
            Ok(found) => Some(found.kind),
            Err(Errno::NoEntry | Errno::NotDirectory | Errno::Loop) => Some(Kind::Symlink),
            Err(_) => None,
        }
    }

    /// Returns the directory of the file and its name there, for `-execdir`.
    pub(super) fn directory_and_name(&self) -> (&str, String) {
        let trimmed = self.path.trim_end_matches('/');
        match trimmed.rfind('/') {
            _ if trimmed.is_empty() => ("/", self.path.to_owned()),
            Some(0) => ("/", format!("./{}", &self.path[1..])),
            Some(slash) => (&self.path[..slash], format!("./{}", &self.path[slash + 1..])),
            None => (".", format!("./{}", self.path)),
        }
    }
}

/// Returns the letter of a type, for `-type` and `-printf %y`.
pub(super) fn letter(kind: Kind) -> char {
    match kind {
        Kind::File => 'f',
        Kind::Directory => 'd',
        Kind::Symlink => 'l',
        Kind::Device => 'c',
        Kind::Pipe => 'p',
    }
}
