//! Why a pattern is refused, in the words of glibc's `regerror`.

use std::fmt;

/// A pattern that is no regular expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A back-reference to a group that is not complete.
    BackReference,
    /// What stands between braces is no interval.
    Interval,
    /// A brace without its partner.
    Brace,
    /// A bracket without its partner.
    Bracket,
    /// `[:name:]` with a name that is no class.
    Class,
    /// `[:name:]` outside of brackets, where it would mean something else than was meant.
    ClassOutside,
    /// `[.name.]` with a name that is no character.
    Collation,
    /// A parenthesis that is not closed.
    OpenParenthesis,
    /// A parenthesis that was not opened.
    CloseParenthesis,
    /// A range that ends before it starts.
    Range,
    /// An operator with nothing to repeat.
    Repetition,
    /// More than can be compiled.
    TooBig,
    /// A backslash at the end.
    TrailingBackslash,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Error::BackReference => "Invalid back reference",
            Error::Interval => "Invalid content of \\{\\}",
            Error::Brace => "Unmatched \\{",
            Error::Bracket => "Unmatched [, [^, [:, [., or [=",
            Error::Class => "Invalid character class name",
            Error::ClassOutside => "character class syntax is [[:space:]], not [:space:]",
            Error::Collation => "Invalid collation character",
            Error::OpenParenthesis => "Unmatched ( or \\(",
            Error::CloseParenthesis => "Unmatched ) or \\)",
            Error::Range => "Invalid range end",
            Error::Repetition => "Invalid preceding regular expression",
            Error::TooBig => "Regular expression too big",
            Error::TrailingBackslash => "Trailing backslash",
        })
    }
}

impl std::error::Error for Error {}
