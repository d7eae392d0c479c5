//! POSIX regular expressions with GNU's extensions.
//!
//! One engine for `grep`, `sed`, `awk`, `find -regex`, `expr` and the shell, which all promise the same: the leftmost
//! match, of those the longest, and groups as glibc has them. Texts are bytes; characters are UTF-8, and a byte that
//! is part of none is matched by itself only, not by `.` or by a negated set.
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
//! - `literal`: text that every match contains, looked for first
//! - `translate`, `automaton`: tree to lazy DFAs, for all that needs neither groups nor back-references
//! - `program`, `machine`: tree to steps, for the rest
//!
//! Making a `Regex` costs microseconds: what is beyond ASCII, backward, or about groups is made when it is needed.

mod automaton;
mod bracket;
mod error;
mod literal;
mod machine;
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
pub use search::Regex;
pub use syntax::Syntax;

/// How a pattern is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags {
    /// The case of letters does not matter.
    pub icase: bool,
    /// What lines are.
    pub lines: Lines,
    /// What must be around a match.
    pub whole: Whole,
    /// Every byte is a character: the locale `C`.
    pub bytes: bool,
}

/// What lines are in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lines {
    /// Nothing: `^` and `$` match at the ends of the text, and `.` matches a newline.
    #[default]
    None,
    /// Parts that end with this byte: `^` and `$` match at their ends, `.` and `[^x]` do not match it. This is
    /// `REG_NEWLINE`, and `M` in `sed`.
    Within(u8),
    /// Texts of their own that end with this byte: no match goes beyond one, even `` \` `` and `\'` are their ends.
    /// So `grep` searches many lines at once.
    Records(u8),
}

/// What must be around a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Whole {
    /// Anything.
    #[default]
    Any,
    /// No word character: `grep -w`.
    Word,
    /// Nothing but the ends of the line: `grep -x`.
    Line,
}

/// Where the groups of a match are.
#[derive(Debug, Clone, Default)]
pub struct Captures {
    spans: Vec<machine::Span>,
}

impl Captures {
    /// Start and end of a group; group 0 is the whole match. `None` if it took no part.
    pub fn get(&self, group: usize) -> Option<(usize, usize)> {
        self.spans.get(group).copied().flatten()
    }

    /// How many groups there are, with the whole match.
    pub fn count(&self) -> usize {
        self.spans.len()
    }
}
