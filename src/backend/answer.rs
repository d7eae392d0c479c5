//! What a backend answers about its files: facts, without a framework's words.

use crate::vfs::Kind;

/// What is in a directory.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Listed {
    /// In the order of their names' bytes.
    pub entries: Vec<Entry>,
    /// Why there may be more.
    pub cut: Option<Cut>,
}

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Entry {
    /// The name alone.
    pub name: String,
    /// The directory's path, absolute, and the name.
    pub path: String,
    /// What it is; a link is a link.
    pub kind: Kind,
    /// Bytes; of a link, of its target's text.
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified: u64,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Content {
    /// The file has no bytes.
    Empty,
    /// No lines were asked for.
    NoLines,
    /// Lines of text.
    Text(Page),
    /// Bytes: they were asked for, or the file is not text.
    Bytes(#[serde(with = "as_bytes")] Vec<u8>),
}

/// Lines of a file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Page {
    /// The lines, joined by `\n`, without one at the end. What is not UTF-8 shows as U+FFFD.
    pub text: String,
    /// The number of the first line, from 0.
    pub offset: u64,
    /// How many lines this is. A line that was cut counts only if it is the first.
    pub lines: u64,
    /// Lines in the file, if that is known.
    pub total_lines: Option<u64>,
    /// Where the next page starts, if there is one.
    pub next_offset: Option<u64>,
    /// Whether the last line is cut because the page has its number of bytes.
    pub is_cut: bool,
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Written {
    /// Bytes that went into the file.
    pub bytes: u64,
}

/// What was replaced.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Edited {
    /// In how many places.
    pub occurrences: usize,
    /// Bytes of the file now.
    pub bytes: u64,
}

/// What a search for names found.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Globbed {
    /// In the order of their paths' bytes.
    pub matches: Vec<Found>,
    /// Why there may be more.
    pub cut: Option<Cut>,
}

/// A file that was found.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Found {
    /// The root of the search, absolute, and the path below it.
    pub path: String,
    /// The path below the root of the search.
    pub relative: String,
    /// What it is; a link that was followed is what it leads to.
    pub kind: Kind,
    /// Bytes.
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified: u64,
}

/// What a search for lines found.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Grepped {
    /// File by file.
    pub matches: Vec<GrepMatch>,
    /// Why there may be more.
    pub cut: Option<Cut>,
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct GrepMatch {
    /// The root of the search, absolute, and the path below it.
    pub path: String,
    /// The number of the line, from 1.
    pub line: u64,
    /// The line without its end. What is not UTF-8 shows as U+FFFD.
    pub text: String,
    /// The lines before it.
    pub before: Vec<String>,
    /// The lines after it.
    pub after: Vec<String>,
}

/// Why an answer is not all there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum Cut {
    /// There are as many as were asked for, and more.
    Count,
    /// The time was over, or too much was looked at.
    Budget,
    /// A directory or a file could not be read.
    Unreadable,
    /// What stands between cut the answer.
    Transport,
}

impl Cut {
    /// The word for it, in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Cut::Count => "count",
            Cut::Budget => "budget",
            Cut::Unreadable => "unreadable",
            Cut::Transport => "transport",
        }
    }

    /// Of two reasons the one that more time would not help.
    pub(super) fn or(self, other: Option<Cut>) -> Cut {
        match other {
            Some(Cut::Unreadable) => Cut::Unreadable,
            _ => self,
        }
    }
}

/// Bytes at once, and not one by one.
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
