//! What is asked of a backend's files.

use std::time::Duration;

use bytes::Bytes;

use super::bounds;

/// Which part of a file to read, and as what.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ReadRequest {
    /// The file.
    pub path: String,
    /// As what.
    pub r#as: ReadAs,
}

/// As what to read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ReadAs {
    /// Lines of text; a file that is not UTF-8 from its start is answered as bytes.
    Text {
        /// The first line, from 0.
        offset: u64,
        /// How many lines.
        limit: u64,
        /// How many bytes at most.
        most: u64,
        /// Whether CRLF and CR are line ends that become LF, as Python has it; else they are text.
        universal_newlines: bool,
    },
    /// All bytes, if there are no more than this.
    Bytes {
        /// How many.
        most: u64,
    },
}

impl ReadRequest {
    /// Lines of text.
    pub fn lines(path: impl Into<String>, offset: u64, limit: u64) -> ReadRequest {
        let r#as = ReadAs::Text { offset, limit, most: bounds::PAGE_BYTES, universal_newlines: true };
        ReadRequest { path: path.into(), r#as }
    }

    /// All bytes.
    pub fn bytes(path: impl Into<String>) -> ReadRequest {
        ReadRequest { path: path.into(), r#as: ReadAs::Bytes { most: u64::MAX } }
    }
}

/// What to put into a file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct WriteRequest {
    /// The file.
    pub path: String,
    /// What goes into it.
    pub content: Bytes,
    /// What may be there before.
    pub mode: WriteMode,
}

/// What a write does with a file that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum WriteMode {
    /// Replaces what is in it.
    Replace,
    /// Refuses.
    Create,
    /// Adds to its end.
    Append,
}

impl WriteRequest {
    /// Replaces what is in a file, or makes it.
    pub fn new(path: impl Into<String>, content: impl Into<Bytes>) -> WriteRequest {
        WriteRequest { path: path.into(), content: content.into(), mode: WriteMode::Replace }
    }

    /// With another mode.
    pub fn mode(mut self, mode: WriteMode) -> WriteRequest {
        self.mode = mode;
        self
    }
}

/// What to replace in a file. The old text is looked for as it is, then with CRLF and then with LF line ends, and the new
/// text gets the line ends that were found.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct EditRequest {
    /// The file.
    pub path: String,
    /// What to look for.
    pub old: String,
    /// What to put in its place.
    pub new: String,
    /// Everywhere, and not only in the one place where it is.
    pub replace_all: bool,
    /// Bytes that the file may have then.
    pub most: u64,
}

impl EditRequest {
    /// Replaces the one occurrence of a text.
    pub fn new(path: impl Into<String>, old: impl Into<String>, new: impl Into<String>) -> EditRequest {
        EditRequest { path: path.into(), old: old.into(), new: new.into(), replace_all: false, most: u64::MAX }
    }

    /// Replaces all of them.
    pub fn everywhere(mut self) -> EditRequest {
        self.replace_all = true;
        self
    }
}

/// Which names to find.
///
/// A pattern without `/` is about the name alone, at any depth; one with `/` about the path below the root. `**` stands
/// for any directories, `{a,b}` for either, `[!a]` and `[^a]` for any other letter.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct GlobRequest {
    /// The pattern.
    pub pattern: String,
    /// The root of the search.
    pub path: String,
    /// Directories as well as files.
    pub directories: bool,
    /// Whether `*` and `**` stand for names with a leading dot too.
    pub hidden: bool,
    /// How many at most.
    pub most: usize,
    /// How long at most.
    pub time: Duration,
}

impl GlobRequest {
    /// Regular files below `path`.
    pub fn new(pattern: impl Into<String>, path: impl Into<String>) -> GlobRequest {
        GlobRequest {
            pattern: pattern.into(),
            path: path.into(),
            directories: false,
            hidden: false,
            most: bounds::GLOB_MATCHES,
            time: bounds::SEARCH_TIME,
        }
    }
}

/// Which lines to find.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct GrepRequest {
    /// What to look for.
    pub pattern: String,
    /// Whether the pattern is text, of which each line is an alternative, and not a regular expression.
    pub literal: bool,
    /// Whether `a` finds `A`.
    pub ignore_case: bool,
    /// A directory to search through, or a file.
    pub path: String,
    /// Which files, as a [`GlobRequest`] has it.
    pub include: Option<String>,
    /// Directories of these names are left out, unless one is the root of the search.
    pub skip: Vec<String>,
    /// Files with more bytes are left out.
    pub largest: Option<u64>,
    /// Lines before a match to answer with it.
    pub before: usize,
    /// Lines after a match to answer with it.
    pub after: usize,
    /// How many matches at most, over all files.
    pub most: usize,
    /// How long at most.
    pub time: Duration,
}

impl GrepRequest {
    /// Lines that hold `pattern` as it is, in the files below `path` and outside `.git`.
    pub fn literal(pattern: impl Into<String>, path: impl Into<String>) -> GrepRequest {
        GrepRequest {
            pattern: pattern.into(),
            literal: true,
            ignore_case: false,
            path: path.into(),
            include: None,
            skip: vec![".git".to_owned()],
            largest: None,
            before: 0,
            after: 0,
            most: bounds::GREP_MATCHES,
            time: bounds::SEARCH_TIME,
        }
    }

    /// Lines that a regular expression matches.
    pub fn regex(pattern: impl Into<String>, path: impl Into<String>) -> GrepRequest {
        GrepRequest { literal: false, ..GrepRequest::literal(pattern, path) }
    }
}

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// Where.
    pub path: String,
    /// What is in it.
    pub content: Bytes,
}

impl Upload {
    /// A file and its content.
    pub fn new(path: impl Into<String>, content: impl Into<Bytes>) -> Upload {
        Upload { path: path.into(), content: content.into() }
    }
}
