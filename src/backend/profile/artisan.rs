//! code-artisan: a small interface in TypeScript.

use std::time::Duration;

use serde::Serialize;

use super::super::{
    BackendError, Content, GlobRequest, Globbed, GrepRequest, Grepped, ReadRequest, Result, WriteMode, WriteRequest,
};
use super::lossy;
use crate::sandbox::{Command, Output};
use crate::vfs::Kind;

/// The most time that a command may ask for.
pub const EXEC_TIME_MAX: Duration = Duration::from_secs(300);
/// Entries of a listing and matches of a search.
pub const RESULTS: usize = 500;

/// The answer of `exec`: a command that fails is one too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the framework's own names")]
pub struct ExecResult {
    pub stdout: String,
    pub stderr: String,
    pub exit_code: i32,
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the framework's own names")]
pub struct GrepMatch {
    pub path: String,
    pub line: u64,
    pub text: String,
}

/// What `exec(cmd, {cwd, timeoutMs})` asks.
pub fn exec_request(command: &str, cwd: Option<&str>, timeout_ms: Option<u64>) -> Command {
    let mut request = Command::shell(command);
    request.cwd = cwd.map(str::to_owned);
    request.timeout = timeout_ms.map(|millis| Duration::from_millis(millis).min(EXEC_TIME_MAX));
    request
}

/// The answer of `exec`: it never throws, so a command that did not start is one that failed.
pub fn exec_result(answer: Result<Output>) -> ExecResult {
    match answer {
        Ok(executed) => ExecResult {
            stdout: lossy(&executed.stdout),
            stderr: lossy(&executed.stderr),
            exit_code: executed.exit_code.into(),
        },
        Err(error) => ExecResult { stdout: String::new(), stderr: format!("{error}\n"), exit_code: 126 },
    }
}

/// What `readFile(path)` asks: all of it.
pub fn read_request(path: &str) -> ReadRequest {
    ReadRequest::bytes(path)
}

/// The answer of `readFile`.
pub fn read_text(answer: Result<Content>) -> Result<String> {
    Ok(match answer? {
        Content::Bytes(bytes) => lossy(&bytes),
        Content::Text(page) => page.text,
        Content::Empty | Content::NoLines => String::new(),
    })
}

/// What `writeFile(path, content, {append})` asks.
pub fn write_request(path: &str, content: &str, append: bool) -> WriteRequest {
    let mode = if append { WriteMode::Append } else { WriteMode::Replace };
    WriteRequest::new(path, content.as_bytes().to_vec()).mode(mode)
}

/// What `listDir(path)` asks: two levels.
pub fn list_request(path: &str) -> GlobRequest {
    GlobRequest { directories: true, hidden: true, most: RESULTS, ..GlobRequest::new("{*,*/*}", path) }
}

/// The answer of `listDir` and `glob`: paths below the root; directories of a listing end in a slash.
pub fn relative_paths(globbed: Globbed) -> Vec<String> {
    let path = |found: super::super::Found| match found.kind {
        Kind::Directory => found.relative + "/",
        _ => found.relative,
    };
    globbed.matches.into_iter().map(path).collect()
}

/// What `glob(pattern, path)` asks.
pub fn glob_request(pattern: &str, path: &str) -> GlobRequest {
    GlobRequest { most: RESULTS, ..GlobRequest::new(pattern, path) }
}

/// What `grep(pattern, path, include)` asks.
pub fn grep_request(pattern: &str, path: &str, include: Option<&str>) -> GrepRequest {
    GrepRequest { include: include.map(str::to_owned), most: RESULTS, ..GrepRequest::literal(pattern, path) }
}

/// The answer of `grep`.
pub fn grep_lines(grepped: Grepped) -> Vec<GrepMatch> {
    let line = |found: super::super::GrepMatch| GrepMatch { path: found.path, line: found.line, text: found.text };
    grepped.matches.into_iter().map(line).collect()
}

/// What an error is to a caller: its text.
pub fn error_text(error: &BackendError) -> String {
    error.to_string()
}
