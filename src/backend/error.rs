//! Why an operation of a backend was refused.

use std::fmt;

use serde::{Deserialize, Deserializer};

use crate::error::Errno;
use crate::sandbox::{ExecuteError, FileError};

/// The result of an operation of a backend.
pub type Result<T> = std::result::Result<T, BackendError>;

/// Why a backend did not do what it was asked to. Paths are as the caller knows them, never the host's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum BackendError {
    /// What the file system says.
    #[error("{}: {errno}", Shown(path))]
    File {
        /// The path as the caller gave it.
        path: String,
        /// What was in the way.
        errno: Errno,
    },
    /// Neither a regular file nor a link to one.
    #[error("{}: not a regular file", Shown(.0))]
    NotRegular(String),
    /// Text was asked for, and this is not UTF-8.
    #[error("{}: not a text file", Shown(.0))]
    NotText(String),
    /// An edit that replaces nothing.
    #[error("{}: the text to replace is empty", Shown(.0))]
    EmptyText(String),
    /// An edit whose text is not there.
    #[error("{}: the text to replace is not in the file", Shown(.0))]
    TextNotFound(String),
    /// An edit of one place whose text is in several.
    #[error("{}: the text to replace is there {occurrences} times", Shown(path))]
    Ambiguous {
        /// The file.
        path: String,
        /// How often the text is in it.
        occurrences: usize,
    },
    /// Someone else changed the file between the look at it and the change.
    #[error("{}: the file was changed by someone else", Shown(.0))]
    Conflict(String),
    /// A page that starts behind the last line.
    #[error("{}: line offset {offset} exceeds file length ({lines} lines)", Shown(path))]
    PastEnd {
        /// The file.
        path: String,
        /// The first line that was asked for, from 0.
        offset: u64,
        /// How many there are.
        lines: u64,
    },
    /// More than may be handled at once.
    #[error("{}: {size} bytes, {limit} are allowed", Shown(path))]
    TooLarge {
        /// The file.
        path: String,
        /// How large it is or would be.
        size: u64,
        /// How large it may be.
        limit: u64,
    },
    /// A pattern that cannot be used.
    #[error("pattern {pattern:?}: {fault}")]
    Pattern {
        /// The pattern as the caller gave it.
        pattern: String,
        /// What is wrong with it.
        fault: PatternFault,
    },
    /// A layer said no.
    #[error("refused by {layer}: {reason}")]
    Refused {
        /// Which one.
        #[serde(deserialize_with = "name")]
        layer: Name,
        /// Why.
        reason: String,
    },
    /// The time of a file operation is over.
    #[error("{}: the operation took too long", Shown(.0))]
    TimedOut(String),
    /// The backend has files only.
    #[error("this backend executes no commands")]
    ExecutesNothing,
    /// The command did not start.
    #[error(transparent)]
    Execute(#[from] ExecuteError),
    /// What stands between this process and the files failed.
    #[error("{backend}: {reason}")]
    Transport {
        /// Which backend.
        #[serde(deserialize_with = "name")]
        backend: Name,
        /// What it said.
        reason: String,
    },
    /// The process that the sandbox lived in has ended, and the sandbox with it.
    #[error("worker died: {0}")]
    WorkerDied(String),
    /// Something that this backend cannot do.
    #[error("not supported: {0}")]
    Unsupported(String),
}

/// A name of ours. Not written out, because serde takes a reference for a borrow of what it reads.
type Name = &'static str;

/// A name that came from a worker, which knows no layers: it is one of its own.
fn name<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Name, D::Error> {
    String::deserialize(from).map(|name| if name == "files" { "files" } else { "worker" })
}

/// What is wrong with a pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum PatternFault {
    /// A `..` would lead out of the root of the search.
    #[error("`..` is not allowed")]
    Parent,
    /// Its braces stand for too many patterns.
    #[error("too many alternatives")]
    TooBroad,
    /// It is not written as a pattern is.
    #[error("{0}")]
    Syntax(String),
}

impl PatternFault {
    /// What the engine says of an expression, in one line: before that it draws a picture of it.
    pub(super) fn of_regex(error: &impl fmt::Display) -> PatternFault {
        let text = error.to_string();
        let line = text.lines().next_back().unwrap_or_default();
        PatternFault::Syntax(line.strip_prefix("error: ").unwrap_or(line).to_owned())
    }
}

impl BackendError {
    /// A refusal of the file system.
    pub fn file(path: impl Into<String>, errno: Errno) -> BackendError {
        BackendError::File { path: path.into(), errno }
    }

    /// A pattern that cannot be used.
    pub fn pattern(pattern: impl Into<String>, fault: PatternFault) -> BackendError {
        BackendError::Pattern { pattern: pattern.into(), fault }
    }

    /// What the file system said, if it was the file system.
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

    /// The same error about another path: what a layer that renames paths shows.
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

/// A path in a message: what would move the cursor, hide or reorder text is escaped.
struct Shown<'a>(&'a str);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for char in self.0.chars() {
            match char {
                '\'' | '"' | '\\' => write!(f, "{char}")?,
                // Joiners and marks of direction are printable to Rust.
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
