//! POSIX regular expressions with GNU's extensions.
//!
//! One engine for `grep`, `sed`, `awk`, `find -regex`, `expr` and the shell. All of them promise the leftmost match,
//! the longest of those, and groups as in glibc. Texts are bytes and characters are UTF-8. A byte that is not part of a
//! character is matched only by itself, not by `.` or by a negated set.
//!
//! ```
//! use isopod_regex::{Captures, Flags, Regex, Syntax};
//!
//! let regex = Regex::new(b"x*(a|ab)(c|bcd)", Syntax::Extended, Flags::default())?;
//! assert_eq!(regex.find_at(b"--abcd", 0), Some((2, 6)));
//! let mut captures = Captures::default();
//! assert!(regex.captures_at(b"--abcd", 0, &mut captures));
//! assert_eq!(captures.get(2), Some((3, 6)));
//! # Ok::<(), isopod_regex::Error>(())
//! ```
//!
//! # Layout
//! - `syntax`, `parse`, `bracket`: the dialects, and text to tree
//! - `symbol`, `set`, `tree`: characters, sets of them, and the tree
//! - `literal`: text that every match contains, searched for first
//! - `translate`, `automaton`: tree to lazy DFAs, for searches without groups and back-references
//! - `program`, `backtrack`: tree to steps, for everything else
//!
//! Compiling a `Regex` takes microseconds. The parts for characters outside ASCII, for backward search and for groups
//! are built on first use.

mod automaton;
mod backtrack;
mod bracket;
mod error;
mod literal;
mod parse;
mod program;
mod search;
mod set;
mod symbol;
mod syntax;
#[cfg(test)]
mod tests;
mod translate;
mod tree;

pub use error::Error;
pub use search::{Matches, Regex};
pub use syntax::Syntax;

/// Options of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags {
    /// Ignores the case of letters.
    pub icase: bool,
    /// The role of line ends in the text.
    pub lines: Lines,
    /// The required context of a match.
    pub whole: Whole,
    /// Treats every byte as a character, as the locale `C` does.
    pub bytes: bool,
}

/// The role of line ends in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lines {
    /// Line ends are ordinary bytes: `^` and `$` match at the ends of the text, and `.` matches a newline.
    #[default]
    None,
    /// Lines end with this byte: `^` and `$` match at their ends, `.` and `[^x]` do not match it. This is
    /// `REG_NEWLINE`, and `M` in `sed`.
    Within(u8),
    /// Each line that ends with this byte is a text of its own: no match crosses a line end, and `` \` `` and `\'`
    /// match at the ends of a line. `grep` uses it to search many lines at once.
    Records(u8),
}

/// The required context of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Whole {
    /// No condition.
    #[default]
    Any,
    /// No word character on either side: `grep -w`.
    Word,
    /// The match is the whole line: `grep -x`.
    Line,
}

/// The spans of a match's groups.
#[derive(Debug, Clone, Default)]
pub struct Captures {
    spans: Vec<backtrack::Span>,
}

impl Captures {
    /// Returns start and end of a group, or `None` if the group took no part in the match. Group 0 is the whole
    /// match.
    pub fn get(&self, group: usize) -> Option<(usize, usize)> {
        self.spans.get(group).copied().flatten()
    }

    /// Returns the number of groups, the whole match included.
    pub fn count(&self) -> usize {
        self.spans.len()
    }
}
