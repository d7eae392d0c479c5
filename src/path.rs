//! Guest paths: parsed once, into a type of their own.
//!
//! What comes in is text from a guest; what the VFS works on is a [`GuestPath`], always absolute and never with an
//! empty or a `.` component. A `..` stays in it, because what it means depends on the links before it and only the
//! VFS can see those: `link/..` is the parent of what the link points to. A trailing `/` or `/.` is taken off and
//! remembered, so that no file system (and no library below one) ever sees a trailing slash: on a symbolic link
//! that slash means "follow", and getting it wrong has let paths out of their root before.

use std::fmt;

use crate::error::{Errno, Result};
use crate::limits::{NAME_BYTES, PATH_BYTES, PATH_DEPTH};

/// An absolute path inside a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GuestPath {
    /// `/` alone, or each component with a `/` in front of it.
    text: String,
    tail: Tail,
}

/// What stood after the last component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Tail {
    Nothing,
    /// `a/`: names a directory, yet one that `mkdir` may make.
    Slash,
    /// `a/.`: names a directory that must be there.
    Dot,
}

/// How a path ends. Calls that make or remove a name refuse every end but a name, each with an error of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The path is `/`.
    Root,
    /// The path ended in `.`.
    Dot,
    /// The last component is `..`.
    DotDot,
    /// The last component is a name.
    Name,
}

impl GuestPath {
    /// The root of the sandbox.
    pub fn root() -> GuestPath {
        GuestPath { text: "/".to_owned(), tail: Tail::Nothing }
    }

    /// Parses `text`; a relative one starts at `base`.
    pub fn parse(base: &GuestPath, text: &str) -> Result<GuestPath> {
        if text.is_empty() {
            return Err(Errno::NoEntry);
        }
        if text.contains('\0') {
            return Err(Errno::Invalid);
        }
        // Linux counts the final NUL in its 4,096 bytes.
        if text.len() >= PATH_BYTES {
            return Err(Errno::NameTooLong);
        }
        let start = if text.starts_with('/') { "/" } else { base.as_str() };
        // All that it can become long, at once: paths are parsed in every call of a guest.
        let mut path = GuestPath { text: String::with_capacity(start.len() + 1 + text.len()), tail: Tail::Nothing };
        path.text.push_str(start);
        path.extend(text)?;
        Ok(path)
    }

    /// The components, `..` among them.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> {
        Names(&self.text)
    }

    /// The path as text: `/a/b`, without a trailing slash.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Number of components.
    pub fn depth(&self) -> usize {
        if self.is_root() { 0 } else { self.text.bytes().filter(|byte| *byte == b'/').count() }
    }

    /// Whether this is `/`.
    pub fn is_root(&self) -> bool {
        self.text.len() == 1
    }

    /// Whether the text ended in `/` or `/.`: the path then names a directory, and a link at its end is followed.
    pub fn must_be_dir(&self) -> bool {
        self.tail != Tail::Nothing
    }

    /// How the path ends.
    pub fn end(&self) -> End {
        match self.file_name() {
            None => End::Root,
            Some(_) if self.tail == Tail::Dot => End::Dot,
            Some("..") => End::DotDot,
            Some(_) => End::Name,
        }
    }

    /// The last component; none for the root.
    pub fn file_name(&self) -> Option<&str> {
        self.components().next_back()
    }

    /// The path without its last component; none for the root.
    pub fn parent(&self) -> Option<GuestPath> {
        if self.is_root() { None } else { Some(self.prefix(self.depth() - 1)) }
    }

    /// The path with one more component, `name`. The name is checked as any other: it has no `/` and no NUL.
    pub fn join(&self, name: &str) -> Result<GuestPath> {
        if name.contains('/') {
            return Err(Errno::Invalid);
        }
        GuestPath::parse(self, name)
    }

    /// Whether `other` is this path or an ancestor of it, component by component.
    pub fn starts_with(&self, other: &GuestPath) -> bool {
        other.is_root()
            || self.text.strip_prefix(&other.text).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The first `depth` components.
    pub(crate) fn prefix(&self, depth: usize) -> GuestPath {
        let end = self.offset(depth);
        GuestPath { text: if end == 0 { "/".to_owned() } else { self.text[..end].to_owned() }, tail: Tail::Nothing }
    }

    /// What follows the first `depth` components. The caller has resolved every `..` in it.
    pub(crate) fn below(&self, depth: usize) -> Subpath<'_> {
        Subpath { text: self.text[self.offset(depth)..].trim_start_matches('/') }
    }

    /// The path with the symbolic link at component `depth - 1` replaced by what it holds. A relative target starts
    /// where the link is, an absolute one at the sandbox's root, wherever the link came from.
    pub(crate) fn splice(&self, depth: usize, target: &str) -> Result<GuestPath> {
        if target.is_empty() {
            return Err(Errno::NoEntry);
        }
        let mut path = if target.starts_with('/') { GuestPath::root() } else { self.prefix(depth.saturating_sub(1)) };
        path.extend(target)?;
        let rest = self.below(depth);
        if rest.is_root() {
            path.tail = path.tail.max(self.tail);
        } else {
            path.extend(rest.text)?;
            path.tail = self.tail;
        }
        Ok(path)
    }

    /// The path without the `..` at component `at` and without the component it takes back.
    pub(crate) fn take_back(&self, at: usize) -> GuestPath {
        let mut path = self.prefix(at.saturating_sub(1));
        for component in self.components().skip(at + 1) {
            path.push(component);
        }
        // A path that ended in `..` names a directory as surely as one that ended in `/.`.
        path.tail = if at + 1 == self.depth() { Tail::Dot } else { self.tail };
        path
    }

    /// The same path without the memory of how its text ended.
    pub(crate) fn without_tail(&self) -> GuestPath {
        GuestPath { text: self.text.clone(), tail: Tail::Nothing }
    }

    /// Appends the components of `text`. The depth is checked here, so a chain of links cannot outgrow it either.
    fn extend(&mut self, text: &str) -> Result<()> {
        let mut depth = self.depth();
        self.tail = if text.ends_with('/') { Tail::Slash } else { Tail::Nothing };
        let mut ends_in_dot = false;
        for name in Names(text) {
            ends_in_dot = name == ".";
            if !ends_in_dot {
                depth += 1;
                if name.len() > NAME_BYTES || depth > PATH_DEPTH {
                    return Err(Errno::NameTooLong);
                }
                self.push(name);
            }
        }
        if ends_in_dot {
            self.tail = Tail::Dot;
        }
        Ok(())
    }

    fn push(&mut self, component: &str) {
        if !self.is_root() {
            self.text.push('/');
        }
        self.text.push_str(component);
    }

    /// Byte offset of the end of the first `depth` components.
    fn offset(&self, depth: usize) -> usize {
        if depth == 0 {
            return 0;
        }
        let mut slashes = self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'/').map(|(at, _)| at);
        slashes.nth(depth).unwrap_or(if self.is_root() { 0 } else { self.text.len() })
    }
}

impl fmt::Display for GuestPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The part of a guest path below a mount point: names joined by `/`, no `..` among them, no trailing slash; empty
/// for the mount point itself. Only the VFS makes one, so a file system need not fear what is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subpath<'a> {
    text: &'a str,
}

impl<'a> Subpath<'a> {
    /// The names, outermost first.
    pub fn names(self) -> impl DoubleEndedIterator<Item = &'a str> {
        Names(self.text)
    }

    /// Whether this is the root of the file system.
    pub fn is_root(self) -> bool {
        self.text.is_empty()
    }

    /// The directory and the name in it; none for the root.
    pub fn split(self) -> Option<(Subpath<'a>, &'a str)> {
        if self.is_root() {
            return None;
        }
        let (parent, name) = self.text.rsplit_once('/').unwrap_or(("", self.text));
        Some((Subpath { text: parent }, name))
    }

    /// The names joined by `/`.
    pub fn as_str(self) -> &'a str {
        self.text
    }

    /// Whether this path is below `outer`, and not `outer` itself.
    pub(crate) fn is_within(self, outer: Subpath<'_>) -> bool {
        !self.is_root()
            && (outer.is_root() || self.text.strip_prefix(outer.text).is_some_and(|rest| rest.starts_with('/')))
    }

    /// What follows the first `count` names, joined by `/`.
    pub(crate) fn after(self, count: usize) -> &'a str {
        match count {
            0 => self.text,
            _ => match self.text.match_indices('/').nth(count - 1) {
                Some((at, _)) => &self.text[at + 1..],
                None => "",
            },
        }
    }

    /// A path that was put together of names from a file system, where no walk met a link.
    pub(crate) fn trusted(text: &'a str) -> Subpath<'a> {
        debug_assert!(text.split('/').all(|name| name != ".." && name != "."));
        Subpath { text }
    }
}

/// The names in a text, which slashes keep apart. Names are short, and a look at each byte finds the next slash before
/// `str::split`, which is made for long texts, has begun to search.
struct Names<'a>(&'a str);

impl<'a> Iterator for Names<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let start = self.0.bytes().position(|byte| byte != b'/')?;
        let text = &self.0[start..];
        let end = text.bytes().position(|byte| byte == b'/').unwrap_or(text.len());
        let name;
        (name, self.0) = text.split_at(end);
        Some(name)
    }
}

impl<'a> DoubleEndedIterator for Names<'a> {
    fn next_back(&mut self) -> Option<&'a str> {
        let last = self.0.bytes().rposition(|byte| byte != b'/')?;
        let text = &self.0[..=last];
        let start = text.bytes().rposition(|byte| byte == b'/').map_or(0, |slash| slash + 1);
        let name;
        (self.0, name) = text.split_at(start);
        Some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<GuestPath> {
        let base = GuestPath::parse(&GuestPath::root(), "/base/dir").unwrap();
        GuestPath::parse(&base, text)
    }

    #[test]
    fn text_becomes_components() {
        // text, as_str, must_be_dir, end
        let cases = [
            ("/", "/", true, End::Root),
            ("//", "/", true, End::Root),
            ("/.", "/", true, End::Root),
            ("/a", "/a", false, End::Name),
            ("/a/", "/a", true, End::Name),
            ("/a//", "/a", true, End::Name),
            ("/a/.", "/a", true, End::Dot),
            ("/a/./", "/a", true, End::Dot),
            ("/a/./b", "/a/b", false, End::Name),
            ("//a///b", "/a/b", false, End::Name),
            ("a", "/base/dir/a", false, End::Name),
            (".", "/base/dir", true, End::Dot),
            ("./", "/base/dir", true, End::Dot),
            ("..", "/base/dir/..", false, End::DotDot),
            ("a/../b", "/base/dir/a/../b", false, End::Name),
            ("/..", "/..", false, End::DotDot),
            ("C:\\x", "/base/dir/C:\\x", false, End::Name),
            ("%2e%2e/x", "/base/dir/%2e%2e/x", false, End::Name),
            ("...", "/base/dir/...", false, End::Name),
        ];
        for (text, want, must_be_dir, end) in cases {
            let path = parse(text).unwrap();
            assert_eq!((path.as_str(), path.must_be_dir(), path.end()), (want, must_be_dir, end), "{text}");
            assert_eq!(path.depth(), path.components().count(), "{text}");
        }
    }

    #[test]
    fn text_that_is_no_path_is_refused() {
        let long_name = "n".repeat(NAME_BYTES + 1);
        let long_path = "a/".repeat(PATH_BYTES / 2);
        let deep = "a/".repeat(PATH_DEPTH + 1);
        let cases = [
            ("", Errno::NoEntry),
            ("a\0b", Errno::Invalid),
            (&long_name, Errno::NameTooLong),
            (&long_path, Errno::NameTooLong),
            (&deep, Errno::NameTooLong),
        ];
        for (text, want) in cases {
            assert_eq!(parse(text), Err(want));
        }
        assert!(parse(&"n".repeat(NAME_BYTES)).is_ok());
        assert!(parse(&format!("/{}", "a/".repeat(PATH_DEPTH))).is_ok());
    }

    #[test]
    fn a_link_is_spliced_where_it_stands() {
        // path, components up to and with the link, target, result
        let cases = [
            ("/a/link/c", 2, "b", "/a/b/c", false),
            ("/a/link", 2, "b/", "/a/b", true),
            ("/a/link/", 2, "b", "/a/b", true),
            ("/a/link/c", 2, "/x/y", "/x/y/c", false),
            ("/link", 1, "../../x", "/../../x", false),
            ("/a/link/c", 2, "/", "/c", false),
            ("/link", 1, "/", "/", true),
            ("/a/link/..", 2, "b/c", "/a/b/c/..", false),
        ];
        for (path, depth, target, want, must_be_dir) in cases {
            let spliced = parse(path).unwrap().splice(depth, target).unwrap();
            assert_eq!((spliced.as_str(), spliced.must_be_dir()), (want, must_be_dir), "{path} {target}");
        }
    }

    #[test]
    fn parts_of_a_path() {
        let path = parse("/a/b/c").unwrap();
        assert_eq!(path.parent().unwrap().as_str(), "/a/b");
        assert_eq!(parse("/a").unwrap().parent(), Some(GuestPath::root()));
        assert_eq!(GuestPath::root().parent(), None);
        assert_eq!(path.below(1).as_str(), "b/c");
        assert_eq!(path.below(3).as_str(), "");
        assert_eq!(path.below(0).split().unwrap().1, "c");
        let after = |count| path.below(0).after(count);
        assert_eq!((after(0), after(1), after(3)), ("a/b/c", "b/c", ""));
        assert_eq!(parse("/a/b/../c").unwrap().take_back(2).as_str(), "/a/c");
        assert_eq!(parse("/../c").unwrap().take_back(0).as_str(), "/c");
        assert!(path.starts_with(&parse("/a/b").unwrap()));
        assert!(!parse("/ab").unwrap().starts_with(&parse("/a").unwrap()));
        assert_eq!(path.join("x/y"), Err(Errno::Invalid));
    }
}
