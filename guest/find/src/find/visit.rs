//! One file of the walk.

use std::cell::OnceCell;

use isopod_sys::files::{self, Attributes, Kind};
use isopod_sys::{Errno, fs};

/// A file, as tests and actions see it.
pub(super) struct Visit<'a> {
    /// Its path, from the starting point on.
    pub(super) path: &'a str,
    /// How much of the path is the starting point.
    pub(super) start: usize,
    /// How many directories it is below the starting point.
    pub(super) depth: usize,
    /// What it is; what it points to, if links are followed.
    pub(super) kind: Kind,
    /// Whether a link is looked through.
    pub(super) follows: bool,
    /// Its attributes, once a test has asked for them.
    pub(super) attributes: OnceCell<Result<Attributes, Errno>>,
}

impl Visit<'_> {
    /// Its attributes. A link that leads nowhere has its own.
    pub(super) fn attributes(&self) -> Result<&Attributes, Errno> {
        let found = self.attributes.get_or_init(|| match files::stat(self.path, self.follows) {
            Err(Errno::NoEntry) if self.follows => files::stat(self.path, false),
            result => result,
        });
        found.as_ref().map_err(|errno| *errno)
    }

    /// The last part of the path, without trailing slashes.
    pub(super) fn name(&self) -> &str {
        isopod_gnu::path::last_part(self.path)
    }

    /// Where a symbolic link points to.
    pub(super) fn target(&self) -> Option<String> {
        (self.kind == Kind::Symlink).then(|| fs::read_link(self.path).ok()).flatten()
    }

    /// What it is on the other side: what a link points to, or the link where links are followed.
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

    /// The directory it is in, and its name there, for `-execdir`.
    pub(super) fn place(&self) -> (&str, String) {
        let trimmed = self.path.trim_end_matches('/');
        match trimmed.rfind('/') {
            _ if trimmed.is_empty() => ("/", self.path.to_owned()),
            Some(0) => ("/", format!("./{}", &self.path[1..])),
            Some(slash) => (&self.path[..slash], format!("./{}", &self.path[slash + 1..])),
            None => (".", format!("./{}", self.path)),
        }
    }
}

/// The letter of a kind, in `-type` and `-printf %y`.
pub(super) fn letter(kind: Kind) -> char {
    match kind {
        Kind::File => 'f',
        Kind::Directory => 'd',
        Kind::Symlink => 'l',
        Kind::Device => 'c',
        Kind::Pipe => 'p',
    }
}
