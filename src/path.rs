//! Guest paths: parsed once, into their own type.
//!
//! The input is text from a guest; the VFS works on a [`GuestPath`], which is absolute and has no empty and no `.`
//! component. A `..` stays in it, because its meaning depends on the links before it, which only the VFS sees:
//! `link/..` is the parent of the target of the link. A trailing `/` or `/.` is removed and recorded, so that no file
//! system, and no library below one, ever sees a trailing slash. On a symbolic link that slash means "follow", and
//! mishandling it has let paths out of their root before.

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

/// The text after the last component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Tail {
    Nothing,
    /// `a/`: a directory, which `mkdir` may create.
    Slash,
    /// `a/.`: a directory that must exist.
    Dot,
}

/// The end of a path. Calls that create or remove a name refuse every end but a name, each with its own error.
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
    /// Returns the root of the sandbox.
    pub fn root() -> GuestPath {
        GuestPath { text: "/".to_owned(), tail: Tail::Nothing }
    }

    /// Parses `text`. A relative path starts at `base`.
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
        // The final capacity at once: paths are parsed in every call of a guest.
        let mut path = GuestPath { text: String::with_capacity(start.len() + 1 + text.len()), tail: Tail::Nothing };
        path.text.push_str(start);
        path.extend(text)?;
        Ok(path)
    }

    /// Returns the components, including `..`.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> {
        Names(&self.text)
    }

    /// Returns the path as text: `/a/b`, without a trailing slash.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the number of components.
    pub fn depth(&self) -> usize {
        if self.is_root() { 0 } else { self.text.bytes().filter(|byte| *byte == b'/').count() }
    }

    /// Returns true for `/`.
    pub fn is_root(&self) -> bool {
        self.text.len() == 1
    }

    /// Returns true if the text ended in `/` or `/.`. The path then names a directory, and a link at its end is
    /// followed.
    pub fn must_be_dir(&self) -> bool {
        self.tail != Tail::Nothing
    }

    /// Returns the end of the path.
    pub fn end(&self) -> End {
        match self.file_name() {
            None => End::Root,
            Some(_) if self.tail == Tail::Dot => End::Dot,
            Some("..") => End::DotDot,
            Some(_) => End::Name,
        }
    }

    /// Returns the last component; none for the root.
    pub fn file_name(&self) -> Option<&str> {
        self.components().next_back()
    }

    /// Returns the path without its last component; none for the root.
    pub fn parent(&self) -> Option<GuestPath> {
        if self.is_root() { None } else { Some(self.prefix(self.depth() - 1)) }
    }

    /// Returns the path with one more component. The name is checked like any other; a `/` or a NUL in it is an error.
    pub fn join(&self, name: &str) -> Result<GuestPath> {
        if name.contains('/') {
            return Err(Errno::Invalid);
        }
        GuestPath::parse(self, name)
    }

    /// Returns true if `other` is this path or an ancestor of it, component by component.
    pub fn starts_with(&self, other: &GuestPath) -> bool {
        other.is_root()
            || self.text.strip_prefix(&other.text).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Returns the first `depth` components.
    pub(crate) fn prefix(&self, depth: usize) -> GuestPath {
        let end = self.offset(depth);
        GuestPath { text: if end == 0 { "/".to_owned() } else { self.text[..end].to_owned() }, tail: Tail::Nothing }
    }

    /// Returns the path after the first `depth` components. The caller has resolved every `..` in it.
    pub(crate) fn below(&self, depth: usize) -> Subpath<'_> {
        Subpath { text: self.text[self.offset(depth)..].trim_start_matches('/') }
    }

    /// Replaces the symbolic link at component `depth - 1` by its target. A relative target starts at the directory of
    /// the link, an absolute one at the root of the sandbox, wherever the link is.
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

    /// Removes the `..` at component `at` and the component before it.
    pub(crate) fn collapse_dot_dot(&self, at: usize) -> GuestPath {
        let mut path = self.prefix(at.saturating_sub(1));
        for component in self.components().skip(at + 1) {
            path.push(component);
        }
        // A path that ended in `..` names a directory, like one that ended in `/.`.
        path.tail = if at + 1 == self.depth() { Tail::Dot } else { self.tail };
        path
    }

    /// Returns the same path without the record of its trailing `/` or `/.`.
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

    /// Returns the byte offset of the end of the first `depth` components.
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

/// The part of a guest path below a mount point: names joined by `/`, without `..` and without a trailing slash; empty
/// for the mount point itself. Only the VFS creates one, so a file system can trust it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subpath<'a> {
    text: &'a str,
}

impl<'a> Subpath<'a> {
    /// Returns the names, outermost first.
    pub fn names(self) -> impl DoubleEndedIterator<Item = &'a str> {
        Names(self.text)
    }

    /// Returns true for the root of the file system.
    pub fn is_root(self) -> bool {
        self.text.is_empty()
    }

    /// Returns the directory and the name in it; none for the root.
    pub fn split(self) -> Option<(Subpath<'a>, &'a str)> {
        if self.is_root() {
            return None;
        }
        let (parent, name) = self.text.rsplit_once('/').unwrap_or(("", self.text));
        Some((Subpath { text: parent }, name))
    }

    /// Returns the names joined by `/`.
    pub fn as_str(self) -> &'a str {
        self.text
    }

    /// Returns true if this path is below `outer`, and not `outer` itself.
    pub(crate) fn is_within(self, outer: Subpath<'_>) -> bool {
        !self.is_root()
            && (outer.is_root() || self.text.strip_prefix(outer.text).is_some_and(|rest| rest.starts_with('/')))
    }

    /// Returns the path after the first `count` names.
    pub(crate) fn after(self, count: usize) -> &'a str {
        match count {
            0 => self.text,
            _ => match self.text.match_indices('/').nth(count - 1) {
                Some((at, _)) => &self.text[at + 1..],
                None => "",
            },
        }
    }

    /// Creates a path from names of a file system, on which a lookup met no link.
    pub(crate) fn trusted(text: &'a str) -> Subpath<'a> {
        debug_assert!(text.split('/').all(|name| name != ".." && name != "."));
        Subpath { text }
    }
}

/// An iterator over the names between slashes. Names are short, and comparing each byte finds the next slash before
/// `str::split`, which is made for long texts, has set up its search.
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
        assert_eq!(parse("/a/b/../c").unwrap().collapse_dot_dot(2).as_str(), "/a/c");
        assert_eq!(parse("/../c").unwrap().collapse_dot_dot(0).as_str(), "/c");
        assert!(path.starts_with(&parse("/a/b").unwrap()));
        assert!(!parse("/ab").unwrap().starts_with(&parse("/a").unwrap()));
        assert_eq!(path.join("x/y"), Err(Errno::Invalid));
    }
}
