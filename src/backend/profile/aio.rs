//! The HTTP interface of the AIO sandbox, which DeerFlow calls without any code of ours: bodies of requests and
//! responses.

use std::time::Duration;

use serde::Serialize;

use super::super::{
    BackendError, Content, GlobRequest, Globbed, GrepRequest, Grepped, PatternFault, ReadAs, ReadRequest, Result,
    WriteMode, WriteRequest, bounds,
};
use super::{from_base64, lossy};
use crate::sandbox::{Command, Output};
use crate::vfs::Kind;

/// The JSON body of every response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the interface's own names")]
pub struct Answer<T> {
    pub success: bool,
    pub message: String,
    pub data: Option<T>,
}

/// The data of the result of `/v1/shell/exec`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the interface's own names")]
pub struct ShellExec {
    pub session_id: String,
    pub command: String,
    pub status: &'static str,
    pub output: String,
    pub exit_code: i32,
}

/// The data of the result of `/v1/bash/exec`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the interface's own names")]
pub struct BashExec {
    pub session_id: String,
    pub command_id: String,
    pub command: String,
    pub status: &'static str,
    pub stdout: String,
    pub stderr: String,
    pub exit_code: i32,
}

/// The data of the result of `/v1/file/read`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the interface's own names")]
pub struct FileRead {
    pub content: String,
    pub file: String,
}

/// The data of the result of `/v1/file/write`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the interface's own names")]
pub struct FileWrite {
    pub file: String,
    pub bytes_written: u64,
}

/// The data of the result of `/v1/file/find`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the interface's own names")]
pub struct FileFind {
    pub path: String,
    pub files: Vec<String>,
}

/// The data of the result of `/v1/file/list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the interface's own names")]
pub struct FileList {
    pub path: String,
    pub files: Vec<ListedFile>,
}

/// An entry of a listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the interface's own names")]
pub struct ListedFile {
    pub name: String,
    pub path: String,
    pub is_directory: bool,
}

/// The data of the result of `/v1/file/grep`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the interface's own names")]
pub struct FileGrep {
    pub path: String,
    pub pattern: String,
    pub matches: Vec<GrepMatch>,
    pub truncated: bool,
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the interface's own names")]
pub struct GrepMatch {
    pub file: String,
    pub line_number: u64,
    pub line_content: String,
}

/// Makes the body of a response from a result.
pub fn answer<F, T>(facts: Result<F>, shape: impl FnOnce(F) -> T) -> Answer<T> {
    match facts {
        Ok(facts) => Answer { success: true, message: "ok".to_owned(), data: Some(shape(facts)) },
        Err(error) => Answer { success: false, message: error.to_string(), data: None },
    }
}

/// The request of `/v1/shell/exec` and `/v1/bash/exec`. The timeout is `hard_timeout`, in seconds.
pub fn exec_request(command: &str, env: &[(String, String)], hard_timeout: Option<f64>) -> Command {
    let mut request = Command::shell(command);
    request.env = env.to_vec();
    // An invalid number becomes zero, which a backend refuses: never unlimited.
    request.timeout = hard_timeout.map(|seconds| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO));
    request
}

/// The result of `/v1/shell/exec`.
pub fn shell_exec(session: &str, command: &str, executed: &Output) -> ShellExec {
    ShellExec {
        session_id: session.to_owned(),
        command: command.to_owned(),
        status: status(executed),
        output: lossy(&executed.output),
        exit_code: executed.exit_code.into(),
    }
}

/// The result of `/v1/bash/exec`.
pub fn bash_exec(session: &str, command: &str, executed: &Output) -> BashExec {
    BashExec {
        session_id: session.to_owned(),
        // The command has ended when the response is sent, so its id cannot be used again.
        command_id: session.to_owned(),
        command: command.to_owned(),
        status: status(executed),
        stdout: lossy(&executed.stdout),
        stderr: lossy(&executed.stderr),
        exit_code: executed.exit_code.into(),
    }
}

/// The request of `/v1/file/read`: lines count from 0, and `end_line` is excluded. Without lines, the whole file.
pub fn read_request(file: &str, start_line: Option<u64>, end_line: Option<u64>) -> ReadRequest {
    if start_line.is_none() && end_line.is_none() {
        return ReadRequest::bytes(file);
    }
    let offset = start_line.unwrap_or(0);
    let limit = end_line.map_or(u64::MAX, |end| end.saturating_sub(offset));
    let r#as = ReadAs::Text { offset, limit, most: bounds::FILE_BYTES, universal_newlines: false };
    ReadRequest { path: file.to_owned(), r#as }
}

/// The result of `/v1/file/read`.
pub fn file_read(file: &str, answer: Result<Content>) -> Result<FileRead> {
    let content = match answer {
        Ok(Content::Text(page)) => page.text,
        Ok(Content::Bytes(bytes)) => String::from_utf8(bytes).map_err(|_| BackendError::NotText(file.to_owned()))?,
        Ok(Content::Empty | Content::NoLines) | Err(BackendError::PastEnd { .. }) => String::new(),
        Err(error) => return Err(error),
    };
    Ok(FileRead { content, file: file.to_owned() })
}

/// The request of `/v1/file/write`. The encoding is `utf-8` or `base64`.
pub fn write_request(file: &str, content: &str, encoding: &str, append: bool) -> Result<WriteRequest> {
    let bytes = match encoding {
        "utf-8" => content.as_bytes().to_vec(),
        "base64" => {
            from_base64(content).ok_or_else(|| BackendError::Unsupported("content that is not base64".to_owned()))?
        }
        other => return Err(BackendError::Unsupported(format!("the encoding {other:?}"))),
    };
    let mode = if append { WriteMode::Append } else { WriteMode::Replace };
    Ok(WriteRequest::new(file, bytes).mode(mode))
}

/// The result of `/v1/file/write`.
pub fn file_write(file: &str, bytes_written: u64) -> FileWrite {
    FileWrite { file: file.to_owned(), bytes_written }
}

/// The request of `/v1/file/find`.
pub fn find_request(path: &str, glob: &str) -> GlobRequest {
    GlobRequest::new(glob, path)
}

/// The result of `/v1/file/find`.
pub fn file_find(path: &str, globbed: Globbed) -> FileFind {
    FileFind { path: path.to_owned(), files: globbed.matches.into_iter().map(|found| found.path).collect() }
}

/// The request of `/v1/file/list`.
pub fn list_request(path: &str, recursive: bool, show_hidden: bool) -> GlobRequest {
    let pattern = if recursive { "/**" } else { "/*" };
    GlobRequest { directories: true, hidden: show_hidden, ..GlobRequest::new(pattern, path) }
}

/// The result of `/v1/file/list`.
pub fn file_list(path: &str, globbed: Globbed) -> FileList {
    let files = globbed.matches.into_iter().map(|found| ListedFile {
        name: found.relative.rsplit('/').next().unwrap_or_default().to_owned(),
        path: found.path,
        is_directory: found.kind == Kind::Directory,
    });
    FileList { path: path.to_owned(), files: files.collect() }
}

/// The request of `/v1/file/grep`. A search that is not to go into directories is one of the files of a directory.
pub fn grep_request(
    path: &str,
    pattern: &str,
    case_insensitive: bool,
    fixed_strings: bool,
    max_results: usize,
    recursive: bool,
) -> Result<GrepRequest> {
    if pattern.is_empty() {
        return Err(BackendError::pattern(pattern, PatternFault::Syntax("the pattern is empty".to_owned())));
    }
    Ok(GrepRequest {
        literal: fixed_strings,
        ignore_case: case_insensitive,
        include: (!recursive).then(|| "/{*,.*}".to_owned()),
        most: max_results,
        ..GrepRequest::literal(pattern, path)
    })
}

/// The result of `/v1/file/grep`.
pub fn file_grep(path: &str, pattern: &str, grepped: Grepped) -> FileGrep {
    let line = |found: super::super::GrepMatch| GrepMatch {
        file: found.path,
        line_number: found.line,
        line_content: found.text,
    };
    FileGrep {
        path: path.to_owned(),
        pattern: pattern.to_owned(),
        truncated: grepped.cut.is_some(),
        matches: grepped.matches.into_iter().map(line).collect(),
    }
}

fn status(executed: &Output) -> &'static str {
    if executed.timed_out { "hard_timeout" } else { "completed" }
}
