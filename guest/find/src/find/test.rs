//! The tests.

use isopod_gnu::accounts;
use isopod_gnu::pattern::Pattern;
use isopod_sys::files::{self, Attributes, Kind};
use isopod_sys::{Errno, fs};

use super::age::{Stamp, Window};
use super::compare::{Bound, Size};
use super::permissions::Permissions;
use super::regex::PathRegex;
use super::visit::Visit;

/// A test of a file.
pub(super) enum Test {
    /// `-true`, and options, which are true at any position.
    Always,
    /// `-false`.
    Never,
    /// `-name`.
    Name(Pattern),
    /// `-path`.
    Path(Pattern),
    /// `-lname`.
    Target(Pattern),
    /// `-regex`.
    Regex(PathRegex),
    /// `-type`.
    Kind(Vec<Kind>),
    /// `-xtype`.
    OtherKind(Vec<Kind>),
    /// `-size`.
    Size(Size),
    /// `-empty`.
    Empty,
    /// `-links`.
    Links(Bound<u64>),
    /// `-inum`.
    Inode(Bound<u64>),
    /// `-uid` and `-user`.
    User(Bound<u64>),
    /// `-gid` and `-group`.
    Group(Bound<u64>),
    /// `-nouser`.
    UnknownUser(Vec<u32>),
    /// `-nogroup`.
    UnknownGroup(Vec<u32>),
    /// `-perm`.
    Permissions(Permissions),
    /// `-mtime` and its like.
    Time(Stamp, Window),
    /// `-used`.
    Used(Window),
    /// `-samefile`, with device and inode.
    Same(u64, u64),
    /// `-readable` and its like: a bit of rwx.
    Access(u32),
}

impl Test {
    /// Returns true if a file passes. An error is the reason why its attributes could not be read.
    pub(super) fn holds(&self, visit: &Visit) -> Result<bool, Errno> {
        Ok(match self {
            Test::Always => true,
            Test::Never => false,
            Test::Name(pattern) => pattern.matches(visit.name()),
            Test::Path(pattern) => pattern.matches(visit.path),
            Test::Target(pattern) => visit.target().is_some_and(|target| pattern.matches(&target)),
            Test::Regex(regex) => regex.matches(visit.path)?,
            Test::Kind(kinds) => kinds.contains(&visit.kind),
            Test::OtherKind(kinds) => visit.other_kind().is_some_and(|kind| kinds.contains(&kind)),
            Test::Empty => return is_empty(visit),
            // Access rights are those of a link's target, even if links are not followed.
            Test::Access(bit) => files::stat(visit.path, true).is_ok_and(|found| may(&found, *bit)),
            // The tests above need no more than the listing of the directory.
            test => test.holds_for(visit.attributes()?, visit.kind),
        })
    }

    fn holds_for(&self, found: &Attributes, kind: Kind) -> bool {
        match self {
            Test::Size(size) => size.holds(found.size),
            Test::Links(bound) => bound.holds(found.links),
            Test::Inode(bound) => bound.holds(found.inode),
            Test::User(bound) => bound.holds(found.uid.into()),
            Test::Group(bound) => bound.holds(found.gid.into()),
            Test::UnknownUser(known) => !known.contains(&found.uid),
            Test::UnknownGroup(known) => !known.contains(&found.gid),
            Test::Permissions(permissions) => permissions.holds(found.mode, kind == Kind::Directory),
            Test::Time(stamp, window) => window.holds(stamp.of(found).into()),
            Test::Used(window) => {
                let since = i128::from(found.accessed) - i128::from(found.changed);
                since >= 0 && window.holds(since)
            }
            Test::Same(device, inode) => (found.device, found.inode) == (*device, *inode),
            _ => false,
        }
    }
}

fn is_empty(visit: &Visit) -> Result<bool, Errno> {
    match visit.kind {
        Kind::Directory => fs::entries(visit.path).map(|entries| entries.is_empty()),
        Kind::File => visit.attributes().map(|found| found.size == 0),
        _ => Ok(false),
    }
}

/// Returns true if the user of the sandbox has a right of rwx.
fn may(found: &Attributes, bit: u32) -> bool {
    let shift = match (found.uid, found.gid) {
        (accounts::USER, _) => 6,
        (_, accounts::GROUP) => 3,
        _ => 0,
    };
    found.mode >> shift & bit != 0
}
