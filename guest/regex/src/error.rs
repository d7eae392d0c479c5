//! Errors in a pattern, in the words of glibc's `regerror`.

use std::fmt;

/// The reason why a pattern is not a regular expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A back-reference to a group that is not complete.
    BackReference,
    /// The text between braces is not an interval.
    Interval,
    /// A brace without its partner.
    Brace,
    /// A bracket without its partner.
    Bracket,
    /// `[:name:]` with an unknown class name.
    Class,
    /// `[:name:]` outside of a bracket expression, where it would be read as a set of letters.
    ClassOutside,
    /// `[.name.]` with a name that is not a character.
    Collation,
    /// A parenthesis that is not closed.
    OpenParenthesis,
    /// A parenthesis that was not opened.
    CloseParenthesis,
    /// A range that ends before it starts.
    Range,
    /// An operator with nothing to repeat.
    Repetition,
    /// A pattern too large to compile.
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
