//! The errors of backends.

use std::fmt;

use serde::{Deserialize, Deserializer};

use crate::error::Errno;
use crate::sandbox::{ExecuteError, FileError};

/// The result of an operation of a backend.
pub type Result<T> = std::result::Result<T, BackendError>;

/// The error of an operation of a backend. Paths are those of the caller, never the host's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum BackendError {
    /// The file system refused.
    #[error("{}: {errno}", EscapedPath(path))]
    File {
        /// The path as the caller gave it.
        path: String,
        /// The error of the file system.
        errno: Errno,
    },
    /// The path is neither a regular file nor a link to one.
    #[error("{}: not a regular file", EscapedPath(.0))]
    NotRegular(String),
    /// The file is not UTF-8, and text was requested.
    #[error("{}: not a text file", EscapedPath(.0))]
    NotText(String),
    /// The text that an edit should replace is empty.
    #[error("{}: the text to replace is empty", EscapedPath(.0))]
    EmptyText(String),
    /// The text that an edit should replace is not in the file.
    #[error("{}: the text to replace is not in the file", EscapedPath(.0))]
    TextNotFound(String),
    /// The text that an edit should replace once occurs several times.
    #[error("{}: the text to replace is there {occurrences} times", EscapedPath(path))]
    Ambiguous {
        /// The file.
        path: String,
        /// The number of occurrences.
        occurrences: usize,
    },
    /// The file was changed by another party after it was read.
    #[error("{}: the file was changed by someone else", EscapedPath(.0))]
    Conflict(String),
    /// The page starts after the last line.
    #[error("{}: line offset {offset} exceeds file length ({lines} lines)", EscapedPath(path))]
    PastEnd {
        /// The file.
        path: String,
        /// The first line of the page, counted from 0.
        offset: u64,
        /// The number of lines in the file.
        lines: u64,
    },
    /// The file is larger than the limit.
    #[error("{}: {size} bytes, {limit} are allowed", EscapedPath(path))]
    TooLarge {
        /// The file.
        path: String,
        /// The size of the file, or its size after the operation.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// The pattern cannot be used.
    #[error("pattern {pattern:?}: {fault}")]
    Pattern {
        /// The pattern as the caller gave it.
        pattern: String,
        /// The fault of the pattern.
        fault: PatternFault,
    },
    /// A layer refused the operation.
    #[error("refused by {layer}: {reason}")]
    Refused {
        /// The name of the layer.
        #[serde(deserialize_with = "name")]
        layer: Name,
        /// The reason.
        reason: String,
    },
    /// The file operation timed out.
    #[error("{}: the operation took too long", EscapedPath(.0))]
    TimedOut(String),
    /// The backend executes no commands.
    #[error("this backend executes no commands")]
    ExecutesNothing,
    /// The command did not start.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// The connection to the files failed.
    #[error("{backend}: {reason}")]
    Transport {
        /// The name of the backend.
        #[serde(deserialize_with = "name")]
        backend: Name,
        /// The reason.
        reason: String,
    },
    /// The worker process of the sandbox has ended, and the sandbox with it.
    #[error("worker died: {0}")]
    WorkerDied(String),
    /// The backend does not support the operation.
    #[error("not supported: {0}")]
    Unsupported(String),
}

/// A constant name. An alias, because serde takes a plain `&'static str` for a borrow of its input.
type Name = &'static str;

/// Reads a name that a worker sent. A worker has no layers, so the name is one of two.
fn name<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Name, D::Error> {
    String::deserialize(from).map(|name| if name == "files" { "files" } else { "worker" })
}

/// The fault of a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum PatternFault {
    /// The pattern has a `..`, which could lead out of the root of the search.
    #[error("`..` is not allowed")]
    Parent,
    /// The braces of the pattern expand to too many alternatives, or it is too long.
    #[error("too many alternatives")]
    TooBroad,
    /// The syntax of the pattern is wrong.
    #[error("{0}")]
    Syntax(String),
}

impl PatternFault {
    /// Makes a fault from an error of the regex engine. Only the last line is kept: the lines before it quote the
    /// expression.
    pub(super) fn of_regex(error: &impl fmt::Display) -> PatternFault {
        let text = error.to_string();
        let line = text.lines().next_back().unwrap_or_default();
        PatternFault::Syntax(line.strip_prefix("error: ").unwrap_or(line).to_owned())
    }
}

impl BackendError {
    /// Makes an error of the file system.
    pub fn file(path: impl Into<String>, errno: Errno) -> BackendError {
        BackendError::File { path: path.into(), errno }
    }

    /// Makes an error of a pattern.
    pub fn pattern(pattern: impl Into<String>, fault: PatternFault) -> BackendError {
        BackendError::Pattern { pattern: pattern.into(), fault }
    }

    /// The errno that corresponds to the error, if there is one.
    pub fn errno(&self) -> Option<Errno> {
        match self {
            BackendError::File { errno, .. } => Some(*errno),
            BackendError::NotRegular(_) => Some(Errno::Invalid),
            BackendError::Conflict(_) => Some(Errno::Again),
            BackendError::TooLarge { .. } => Some(Errno::FileTooLarge),
            BackendError::TimedOut(_) => Some(Errno::TimedOut),
            _ => None,
        }
    }

    /// Replaces the path in the error, for a layer that renames paths.
    pub fn map_path(mut self, map: impl FnOnce(&str) -> String) -> BackendError {
        use BackendError as E;
        match &mut self {
            E::File { path, .. } | E::Ambiguous { path, .. } | E::PastEnd { path, .. } | E::TooLarge { path, .. } => {
                *path = map(path);
            }
            E::NotRegular(path)
            | E::NotText(path)
            | E::EmptyText(path)
            | E::TextNotFound(path)
            | E::Conflict(path)
            | E::TimedOut(path)
            | E::Execute(ExecuteError::Cwd(path, _)) => *path = map(path),
            _ => {}
        }
        self
    }
}

impl From<FileError> for BackendError {
    fn from(error: FileError) -> BackendError {
        BackendError::File { path: error.path, errno: error.errno }
    }
}

/// A path in a message. Characters that move the cursor, hide text or reorder it are escaped.
struct EscapedPath<'a>(&'a str);

impl fmt::Display for EscapedPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for char in self.0.chars() {
            match char {
                '\'' | '"' | '\\' => write!(f, "{char}")?,
                // Rust's `escape_debug` leaves joiners and direction marks as they are.
                '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' => {
                    write!(f, "{}", char.escape_unicode())?;
                }
                _ => write!(f, "{}", char.escape_debug())?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attack_90_names_that_reorder_or_hide_text_are_shown_escaped() {
        let error = BackendError::file("/a\r\n\u{202e}txt\u{200b}\u{1b}[2J'é", Errno::NoEntry);
        assert_eq!(error.to_string(), "/a\\r\\n\\u{202e}txt\\u{200b}\\u{1b}[2J'é: No such file or directory");
    }
}
