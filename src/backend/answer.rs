//! The answers of file operations: facts, without the wording of a framework.

use crate::vfs::Kind;

/// The content of a directory.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Listed {
    /// In the order of their names' bytes.
    pub entries: Vec<Entry>,
    /// The reason for which the answer may be incomplete.
    pub cut: Option<Cut>,
}

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Entry {
    /// The name alone.
    pub name: String,
    /// The directory's path, absolute, and the name.
    pub path: String,
    /// The kind; a link is not followed.
    pub kind: Kind,
    /// Bytes; of a link, of its target's text.
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified: u64,
}

/// The content of a file, or a part of it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Content {
    /// The file has no bytes.
    Empty,
    /// The request was for no lines.
    NoLines,
    /// Lines of text.
    Text(Page),
    /// Bytes, because the request was for bytes or the file is not text.
    Bytes(#[serde(with = "as_bytes")] Vec<u8>),
}

/// Lines of a file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Page {
    /// The lines, joined by `\n`, without one at the end. Bytes that are not UTF-8 show as U+FFFD.
    pub text: String,
    /// The number of the first line, from 0.
    pub offset: u64,
    /// The number of lines. A line that was cut counts only if it is the first.
    pub lines: u64,
    /// The number of lines in the file, if it is known.
    pub total_lines: Option<u64>,
    /// The first line of the next page, if there is one.
    pub next_offset: Option<u64>,
    /// The last line is cut, because the page has its number of bytes.
    pub is_cut: bool,
}

/// The result of a write.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Written {
    /// The number of bytes written.
    pub bytes: u64,
}

/// The result of an edit.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Edited {
    /// The number of replacements.
    pub occurrences: usize,
    /// The new size of the file in bytes.
    pub bytes: u64,
}

/// The result of a search for names.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Globbed {
    /// In the order of their paths' bytes.
    pub matches: Vec<Found>,
    /// The reason for which the answer may be incomplete.
    pub cut: Option<Cut>,
}

/// A file that matches.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Found {
    /// The root of the search, absolute, and the path below it.
    pub path: String,
    /// The path below the root of the search.
    pub relative: String,
    /// The kind; of a link that was followed, the kind of its target.
    pub kind: Kind,
    /// Bytes.
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified: u64,
}

/// The result of a search for lines.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Grepped {
    /// File by file.
    pub matches: Vec<GrepMatch>,
    /// The reason for which the answer may be incomplete.
    pub cut: Option<Cut>,
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct GrepMatch {
    /// The root of the search, absolute, and the path below it.
    pub path: String,
    /// The number of the line, from 1.
    pub line: u64,
    /// The line without its end. Bytes that are not UTF-8 show as U+FFFD.
    pub text: String,
    /// The lines before it.
    pub before: Vec<String>,
    /// The lines after it.
    pub after: Vec<String>,
}

/// The reason for which an answer is incomplete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum Cut {
    /// There are more than were asked for.
    Count,
    /// The time was over, or the search had looked at too many files.
    Budget,
    /// A directory or a file could not be read.
    Unreadable,
    /// The connection to the backend cut the answer.
    Transport,
}

impl Cut {
    /// Returns its name in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Cut::Count => "count",
            Cut::Budget => "budget",
            Cut::Unreadable => "unreadable",
            Cut::Transport => "transport",
        }
    }

    /// Of two reasons, returns the one that more time would not change.
    pub(super) fn or(self, other: Option<Cut>) -> Cut {
        match other {
            Some(Cut::Unreadable) => Cut::Unreadable,
            _ => self,
        }
    }
}

/// Serialises bytes as one piece, not one by one.
mod as_bytes {
    use bytes::Bytes;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_bytes(bytes)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        Bytes::deserialize(from).map(Vec::from)
    }
}
