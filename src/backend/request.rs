//! The requests of file operations.

use std::time::Duration;

use bytes::Bytes;

use super::bounds;

/// A request to read a file or a part of it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ReadRequest {
    /// The file.
    pub path: String,
    /// The form of the answer.
    pub r#as: ReadAs,
}

/// The form in which a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ReadAs {
    /// Lines of text; a file that is not UTF-8 from its start is answered as bytes.
    Text {
        /// The first line, from 0.
        offset: u64,
        /// The number of lines.
        limit: u64,
        /// The largest number of bytes.
        most: u64,
        /// Makes LF of CRLF and CR, as Python does; otherwise they are text.
        universal_newlines: bool,
    },
    /// All bytes, if there are no more than this.
    Bytes {
        /// The largest number of bytes.
        most: u64,
    },
}

impl ReadRequest {
    /// Requests lines of text.
    pub fn lines(path: impl Into<String>, offset: u64, limit: u64) -> ReadRequest {
        let r#as = ReadAs::Text { offset, limit, most: bounds::PAGE_BYTES, universal_newlines: true };
        ReadRequest { path: path.into(), r#as }
    }

    /// Requests all bytes.
    pub fn bytes(path: impl Into<String>) -> ReadRequest {
        ReadRequest { path: path.into(), r#as: ReadAs::Bytes { most: u64::MAX } }
    }
}

/// A request to write a file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct WriteRequest {
    /// The file.
    pub path: String,
    /// The new content.
    pub content: Bytes,
    /// The treatment of an existing file.
    pub mode: WriteMode,
}

/// The treatment of an existing file by a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum WriteMode {
    /// Replaces its content.
    Replace,
    /// Refuses the write.
    Create,
    /// Adds to its end.
    Append,
}

impl WriteRequest {
    /// Requests to replace the content of a file, or to make the file.
    pub fn new(path: impl Into<String>, content: impl Into<Bytes>) -> WriteRequest {
        WriteRequest { path: path.into(), content: content.into(), mode: WriteMode::Replace }
    }

    /// Sets the mode.
    pub fn mode(mut self, mode: WriteMode) -> WriteRequest {
        self.mode = mode;
        self
    }
}

/// A request to replace text in a file. The old text is searched as it is, then with CRLF and then with LF line ends, and
/// the new text gets the line ends that were found.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct EditRequest {
    /// The file.
    pub path: String,
    /// The text to replace.
    pub old: String,
    /// The replacement.
    pub new: String,
    /// Replaces all occurrences; otherwise there must be exactly one.
    pub replace_all: bool,
    /// The largest size of the file after the edit, in bytes.
    pub most: u64,
}

impl EditRequest {
    /// Requests to replace the one occurrence of a text.
    pub fn new(path: impl Into<String>, old: impl Into<String>, new: impl Into<String>) -> EditRequest {
        EditRequest { path: path.into(), old: old.into(), new: new.into(), replace_all: false, most: u64::MAX }
    }

    /// Replaces all occurrences.
    pub fn everywhere(mut self) -> EditRequest {
        self.replace_all = true;
        self
    }
}

/// A request to find files by name.
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
    /// Lets `*` and `**` match names with a leading dot.
    pub hidden: bool,
    /// The largest number of matches.
    pub most: usize,
    /// The time limit.
    pub time: Duration,
}

impl GlobRequest {
    /// Requests the regular files below `path`.
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

/// A request to find lines in files.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct GrepRequest {
    /// The text or the regular expression.
    pub pattern: String,
    /// The pattern is text and not a regular expression. Each line of it is an alternative.
    pub literal: bool,
    /// Lets `a` match `A`.
    pub ignore_case: bool,
    /// The directory or the file to search.
    pub path: String,
    /// A pattern for the names of files, as in a [`GlobRequest`].
    pub include: Option<String>,
    /// Directories of these names are left out, unless one is the root of the search.
    pub skip: Vec<String>,
    /// Files with more bytes are left out.
    pub largest: Option<u64>,
    /// Lines before a match to answer with it.
    pub before: usize,
    /// Lines after a match to answer with it.
    pub after: usize,
    /// The largest number of matches in all files together.
    pub most: usize,
    /// The time limit.
    pub time: Duration,
}

impl GrepRequest {
    /// Requests the lines that hold `pattern` as it is, in the files below `path` and outside `.git`.
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

    /// Requests the lines that a regular expression matches.
    pub fn regex(pattern: impl Into<String>, path: impl Into<String>) -> GrepRequest {
        GrepRequest { literal: false, ..GrepRequest::literal(pattern, path) }
    }
}

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// The path.
    pub path: String,
    /// The content.
    pub content: Bytes,
}

impl Upload {
    /// Makes an upload of a path and a content.
    pub fn new(path: impl Into<String>, content: impl Into<Bytes>) -> Upload {
        Upload { path: path.into(), content: content.into() }
    }
}
