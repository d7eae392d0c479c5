//! code-artisan: a small interface in TypeScript.

use std::time::Duration;

use serde::Serialize;

use super::super::{
    BackendError, Content, GlobRequest, Globbed, GrepRequest, Grepped, ReadRequest, Result, WriteMode, WriteRequest,
};
use super::lossy;
use crate::sandbox::{Command, Output};
use crate::vfs::Kind;

/// The longest timeout of a command.
pub const EXEC_TIME_MAX: Duration = Duration::from_secs(300);
/// The number of entries of a listing and matches of a search.
pub const RESULTS: usize = 500;

/// The result of `exec`, also of a command that fails.
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

/// The request of `exec(cmd, {cwd, timeoutMs})`.
pub fn exec_request(command: &str, cwd: Option<&str>, timeout_ms: Option<u64>) -> Command {
    let mut request = Command::shell(command);
    request.cwd = cwd.map(str::to_owned);
    request.timeout = timeout_ms.map(|millis| Duration::from_millis(millis).min(EXEC_TIME_MAX));
    request
}

/// The result of `exec`. It never throws, so a command that did not start is reported as failed.
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

/// The request of `readFile(path)`: the whole file.
pub fn read_request(path: &str) -> ReadRequest {
    ReadRequest::bytes(path)
}

/// The result of `readFile`.
pub fn read_text(answer: Result<Content>) -> Result<String> {
    Ok(match answer? {
        Content::Bytes(bytes) => lossy(&bytes),
        Content::Text(page) => page.text,
        Content::Empty | Content::NoLines => String::new(),
    })
}

/// The request of `writeFile(path, content, {append})`.
pub fn write_request(path: &str, content: &str, append: bool) -> WriteRequest {
    let mode = if append { WriteMode::Append } else { WriteMode::Replace };
    WriteRequest::new(path, content.as_bytes().to_vec()).mode(mode)
}

/// The request of `listDir(path)`: two levels.
pub fn list_request(path: &str) -> GlobRequest {
    GlobRequest { directories: true, hidden: true, most: RESULTS, ..GlobRequest::new("{*,*/*}", path) }
}

/// The result of `listDir` and `glob`: paths below the root. Directories of a listing end in a slash.
pub fn relative_paths(globbed: Globbed) -> Vec<String> {
    let path = |found: super::super::Found| match found.kind {
        Kind::Directory => found.relative + "/",
        _ => found.relative,
    };
    globbed.matches.into_iter().map(path).collect()
}

/// The request of `glob(pattern, path)`.
pub fn glob_request(pattern: &str, path: &str) -> GlobRequest {
    GlobRequest { most: RESULTS, ..GlobRequest::new(pattern, path) }
}

/// The request of `grep(pattern, path, include)`.
pub fn grep_request(pattern: &str, path: &str, include: Option<&str>) -> GrepRequest {
    GrepRequest { include: include.map(str::to_owned), most: RESULTS, ..GrepRequest::literal(pattern, path) }
}

/// The result of `grep`.
pub fn grep_lines(grepped: Grepped) -> Vec<GrepMatch> {
    let line = |found: super::super::GrepMatch| GrepMatch { path: found.path, line: found.line, text: found.text };
    grepped.matches.into_iter().map(line).collect()
}

/// The text of an error.
pub fn error_text(error: &BackendError) -> String {
    error.to_string()
}
