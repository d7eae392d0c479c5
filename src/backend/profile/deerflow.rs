//! DeerFlow: results as strings, errors as Python exceptions.

use serde::Serialize;

use super::super::{
    BackendError, Content, Found, GlobRequest, Globbed, GrepRequest, Grepped, ReadAs, ReadRequest, Result, WriteMode,
    WriteRequest,
};
use super::lossy;
use crate::error::Errno;
use crate::sandbox::Output;
use crate::vfs::Kind;

/// The default number of matches of `glob`.
pub const GLOB_RESULTS: usize = 200;
/// The default number of matches of `grep`.
pub const GREP_RESULTS: usize = 100;
/// The default depth of a listing.
pub const LIST_DEPTH: usize = 2;

/// A Python exception.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exception {
    /// The class.
    pub class: &'static str,
    /// The errno on Linux, if it is an `OSError`.
    pub errno: Option<i32>,
    /// The message.
    pub message: String,
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the framework's own names")]
pub struct GrepMatch {
    pub path: String,
    pub line_number: u64,
    pub line: String,
}

/// The result of `execute_command`.
pub fn execute_text(answer: Result<Output>) -> String {
    let executed = match answer {
        Ok(executed) => executed,
        Err(error) => return format!("Error: {error}"),
    };
    let mut text = lossy(&executed.stdout);
    let stderr = lossy(&executed.stderr);
    if !stderr.is_empty() {
        text = if text.is_empty() { stderr } else { format!("{text}\nStd Error:\n{stderr}") };
    }
    if executed.exit_code != 0 {
        text += &format!("\nExit Code: {}", executed.exit_code);
    }
    if text.is_empty() { "(no output)".to_owned() } else { text }
}

/// The request of `read_file(path, start_line, end_line)`: lines count from 1, and the last one is included.
pub fn read_request(path: &str, start_line: Option<u64>, end_line: Option<u64>) -> ReadRequest {
    if start_line.is_none() && end_line.is_none() {
        return ReadRequest { path: path.to_owned(), r#as: ReadAs::Bytes { most: super::super::bounds::FILE_BYTES } };
    }
    let offset = start_line.unwrap_or(1).max(1) - 1;
    let limit = end_line.map_or(u64::MAX, |end| end.saturating_sub(offset));
    ReadRequest {
        path: path.to_owned(),
        r#as: ReadAs::Text { offset, limit, most: super::super::bounds::FILE_BYTES, universal_newlines: true },
    }
}

/// The result of `read_file`. The last line has no line end: a caller that needs the exact bytes downloads the file.
pub fn read_text(path: &str, answer: Result<Content>) -> std::result::Result<String, Exception> {
    match answer {
        Ok(Content::Empty | Content::NoLines) | Err(BackendError::PastEnd { .. }) => Ok(String::new()),
        Ok(Content::Text(page)) => Ok(page.text),
        Ok(Content::Bytes(bytes)) => match String::from_utf8(bytes) {
            Ok(text) if text.contains('\r') => Ok(text.replace("\r\n", "\n").replace('\r', "\n")),
            Ok(text) => Ok(text),
            Err(_) => {
                let message = format!("'utf-8' codec can't decode '{path}'");
                Err(Exception { class: "UnicodeDecodeError", errno: None, message })
            }
        },
        Err(error) => Err(exception(&error)),
    }
}

/// The request of `write_file(path, content, append)`.
pub fn write_request(path: &str, content: &str, append: bool) -> WriteRequest {
    let mode = if append { WriteMode::Append } else { WriteMode::Replace };
    WriteRequest::new(path, content.as_bytes().to_vec()).mode(mode)
}

/// The request of `list_dir(path, max_depth)`.
pub fn list_request(path: &str, max_depth: usize) -> GlobRequest {
    let levels: Vec<String> = (1..=max_depth.clamp(1, 16)).map(|depth| vec!["*"; depth].join("/")).collect();
    let pattern = if levels.len() == 1 { "/*".to_owned() } else { format!("{{{}}}", levels.join(",")) };
    GlobRequest { directories: true, hidden: true, ..GlobRequest::new(pattern, path) }
}

/// The result of `list_dir`. Directories end in a slash.
pub fn list_lines(globbed: Globbed) -> Vec<String> {
    let line = |found: Found| if found.kind == Kind::Directory { found.path + "/" } else { found.path };
    globbed.matches.into_iter().map(line).collect()
}

/// The request of `glob(path, pattern, include_dirs, max_results)`.
pub fn glob_request(path: &str, pattern: &str, include_dirs: bool, max_results: usize) -> GlobRequest {
    GlobRequest { directories: include_dirs, most: max_results, ..GlobRequest::new(pattern, path) }
}

/// The result of `glob`: the paths, and true if there are more.
pub fn glob_answer(globbed: Globbed) -> (Vec<String>, bool) {
    let is_cut = globbed.cut.is_some();
    (globbed.matches.into_iter().map(|found| found.path).collect(), is_cut)
}

/// The request of `grep(path, pattern, …)`: by default a regular expression that ignores case.
pub fn grep_request(
    path: &str,
    pattern: &str,
    glob: Option<&str>,
    literal: bool,
    case_sensitive: bool,
    max_results: usize,
) -> GrepRequest {
    GrepRequest {
        literal,
        ignore_case: !case_sensitive,
        include: glob.map(str::to_owned),
        most: max_results,
        ..GrepRequest::literal(pattern, path)
    }
}

/// The result of `grep`: the lines, and true if there are more.
pub fn grep_answer(grepped: Grepped) -> (Vec<GrepMatch>, bool) {
    let line =
        |found: super::super::GrepMatch| GrepMatch { path: found.path, line_number: found.line, line: found.text };
    let is_cut = grepped.cut.is_some();
    (grepped.matches.into_iter().map(line).collect(), is_cut)
}

/// Translates an error to an exception.
pub fn exception(error: &BackendError) -> Exception {
    let (class, errno) = match error.errno() {
        Some(Errno::NoEntry) => ("FileNotFoundError", Some(2)),
        Some(Errno::IsDirectory) => ("IsADirectoryError", Some(21)),
        Some(Errno::NotDirectory) => ("NotADirectoryError", Some(20)),
        Some(Errno::Access) => ("PermissionError", Some(13)),
        Some(Errno::NotPermitted) => ("PermissionError", Some(1)),
        Some(Errno::Exist) => ("FileExistsError", Some(17)),
        Some(Errno::ReadOnly) => ("OSError", Some(30)),
        Some(Errno::NoSpace) => ("OSError", Some(28)),
        Some(Errno::Loop) => ("OSError", Some(40)),
        Some(Errno::TimedOut) => ("TimeoutError", Some(110)),
        Some(_) => ("OSError", None),
        None => match error {
            BackendError::Refused { .. } => ("PermissionError", Some(13)),
            BackendError::NotText(_) => ("UnicodeDecodeError", None),
            BackendError::Pattern { .. }
            | BackendError::EmptyText(_)
            | BackendError::TextNotFound(_)
            | BackendError::Ambiguous { .. } => ("ValueError", None),
            _ => ("OSError", None),
        },
    };
    Exception { class, errno, message: error.to_string() }
}
