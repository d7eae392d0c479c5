//! Deep Agents for Python, versions 0.7 and 0.6.

mod shapes;

use super::super::{
    BackendError, Captured, Content, Cut, EditRequest, Edited, Entry, GlobRequest, Globbed, GrepRequest, Grepped,
    Listed, Offload, Offloaded, PatternFault, ReadAs, ReadRequest, Result, WriteMode, WriteRequest, Written, bounds,
};
use super::{base64, iso8601, lossy};
use crate::error::Errno;
use crate::sandbox::{ExecuteError, Output};
use crate::vfs::Kind;

pub use shapes::{
    EditResult, ExecuteOffloadResult, ExecuteResponse, FileData, FileDownloadResponse, FileInfo, FileUploadResponse,
    GlobResult, GrepMatch, GrepResult, LsResult, PathResult, ReadResult,
};

/// The version of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// Version 0.7: writes overwrite, and globs return absolute paths of files.
    V07,
    /// Version 0.6: writes refuse an existing file, and globs return relative paths of files and directories.
    V06,
}

/// The content of an empty file.
pub const EMPTY_FILE: &str = "System reminder: File exists but has empty contents";
/// The text at the end of a truncated page.
pub const PAGE_NOTICE: &str = "\n\n[Output was truncated due to size limits. This paginated read result exceeded the \
                               sandbox stdout limit. Continue reading with a larger offset or smaller limit to \
                               inspect the rest of the file.]";
/// The largest size of a file that is not text, in bytes.
pub const BINARY_BYTES: u64 = 512_000;
/// The lines of the head and of the tail in a preview.
const PREVIEW_LINES: usize = 5;
/// The bytes of the head and of the tail in a preview.
const PREVIEW_BYTES: usize = 2000;

/// The extensions of files that are never read as text.
const BINARY: [&str; 26] = [
    "png", "jpeg", "jpg", "webp", "gif", "heic", "heif", "mp4", "mpeg", "mov", "avi", "flv", "mpg", "webm", "wmv",
    "3gpp", "wav", "mp3", "aiff", "aac", "ogg", "flac", "pdf", "ppt", "pptx", "mkv",
];

/// The result of `ls(path)`.
pub fn ls_result(path: &str, answer: Result<Listed>) -> LsResult {
    match answer {
        Ok(listed) => LsResult { error: None, entries: Some(listed.entries.iter().map(info).collect()) },
        Err(error) => LsResult { error: Some(format!("Path '{path}': {}", search_code(&error))), entries: None },
    }
}

/// The request of `read(path, offset, limit)`.
pub fn read_request(path: &str, offset: i64, limit: i64) -> ReadRequest {
    let extension = path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, extension)| extension);
    let is_binary = |extension: &str| BINARY.contains(&extension.to_ascii_lowercase().as_str());
    let r#as = if extension.is_some_and(is_binary) {
        ReadAs::Bytes { most: BINARY_BYTES }
    } else {
        ReadAs::Text {
            offset: offset.max(0) as u64,
            limit: limit.max(0) as u64,
            most: bounds::PAGE_BYTES - PAGE_NOTICE.len() as u64,
            universal_newlines: true,
        }
    };
    ReadRequest { path: path.to_owned(), r#as }
}

/// The result of `read(path, offset, limit)`.
pub fn read_result(path: &str, answer: Result<Content>) -> ReadResult {
    let data = |content: String, encoding| ReadResult {
        file_data: Some(FileData { content, encoding }),
        ..ReadResult::default()
    };
    match answer {
        Ok(Content::Empty) => data(EMPTY_FILE.to_owned(), "utf-8"),
        Ok(Content::NoLines) => ReadResult { no_lines_requested: true, ..data(String::new(), "utf-8") },
        Ok(Content::Bytes(bytes)) => data(base64(&bytes), "base64"),
        Ok(Content::Text(page)) => {
            let text = if page.is_cut { page.text + PAGE_NOTICE } else { page.text };
            ReadResult {
                total_lines: page.total_lines,
                start_line: Some(page.offset + 1),
                end_line: Some(page.offset + page.lines),
                next_offset: page.next_offset,
                ..data(text, "utf-8")
            }
        }
        Err(error) => {
            ReadResult { error: Some(format!("File '{path}': {}", read_code(&error))), ..ReadResult::default() }
        }
    }
}

/// The request of `write(path, content)`.
pub fn write_request(path: &str, content: &str, version: Version) -> WriteRequest {
    let mode = if version == Version::V06 { WriteMode::Create } else { WriteMode::Replace };
    WriteRequest::new(path, content.as_bytes().to_vec()).mode(mode)
}

/// The result of `write(path, content)`.
pub fn write_result(path: &str, answer: Result<Written>) -> PathResult {
    let failed = |error: BackendError| match error.errno() {
        Some(Errno::Exist) => format!(
            "Cannot write to {path} because it already exists. Read and then make an edit, or write to a new path."
        ),
        _ => format!("Failed to write file '{path}': {}", code(&error)),
    };
    path_result(path, answer.map(drop), failed)
}

/// The result of `edit(path, old, new, replace_all)`.
pub fn edit_result(request: &EditRequest, answer: Result<Edited>) -> EditResult {
    let EditRequest { path, old, .. } = request;
    let error = match answer {
        Ok(edited) => {
            return EditResult { error: None, path: Some(path.clone()), occurrences: Some(edited.occurrences) };
        }
        Err(error) => error,
    };
    let text = match &error {
        BackendError::EmptyText(_) => {
            "Error: old_string cannot be empty. Provide the exact text to replace.".to_owned()
        }
        BackendError::TextNotFound(_) => format!("Error: String not found in file: '{old}'"),
        BackendError::Ambiguous { .. } => {
            format!("Error: String '{old}' appears multiple times. Use replace_all=True to replace all occurrences.")
        }
        BackendError::NotText(_) => format!("Error: File '{path}' is not a text file"),
        error => match read_code(error).as_str() {
            "file_not_found" => format!("Error: File '{path}' not found"),
            "permission_denied" => format!("Error: Permission denied editing file '{path}'"),
            "not_a_file" => format!("Error: '{path}' is not a regular file"),
            other => format!("Error editing file '{path}': {other}"),
        },
    };
    EditResult { error: Some(text), path: None, occurrences: None }
}

/// The result of `delete(path)`.
pub fn delete_result(path: &str, answer: Result<()>) -> PathResult {
    path_result(path, answer, |error| match error.errno() {
        Some(Errno::NoEntry) => format!("Error: '{path}' not found"),
        Some(errno) => format!("Error deleting file '{path}': {errno}"),
        None => format!("Error deleting file '{path}': {error}"),
    })
}

/// The request of `grep(pattern, path, glob, max_count)`.
pub fn grep_request(pattern: &str, path: Option<&str>, glob: Option<&str>, max_count: Option<u64>) -> GrepRequest {
    let most = max_count.and_then(|count| usize::try_from(count).ok()).unwrap_or(bounds::GREP_MATCHES);
    GrepRequest {
        include: glob.filter(|glob| !glob.is_empty()).map(str::to_owned),
        most: most.min(bounds::GREP_MATCHES),
        ..GrepRequest::literal(pattern, path.filter(|path| !path.is_empty()).unwrap_or("."))
    }
}

/// The result of `grep(pattern, path, …)`.
pub fn grep_result(path: Option<&str>, answer: Result<Grepped>) -> GrepResult {
    let line = |found: super::super::GrepMatch| GrepMatch {
        path: found.path,
        line: found.line,
        text: found.text,
        context_before: found.before,
        context_after: found.after,
    };
    match answer {
        Ok(found) => GrepResult {
            error: None,
            matches: Some(found.matches.into_iter().map(line).collect()),
            truncated: found.cut.is_some(),
        },
        Err(error) => {
            let text = format!("Path '{}': {}", path.unwrap_or("."), search_code(&error));
            GrepResult { error: Some(text), matches: None, truncated: false }
        }
    }
}

/// The request of `glob(pattern, path)`.
pub fn glob_request(pattern: &str, path: Option<&str>, version: Version) -> GlobRequest {
    let root = match path {
        None | Some("") => "/".to_owned(),
        Some(path) if path.starts_with('/') => path.to_owned(),
        Some(path) => format!("/{path}"),
    };
    GlobRequest { directories: version == Version::V06, ..GlobRequest::new(pattern, root) }
}

/// The result of `glob(pattern, path)`.
pub fn glob_result(request: &GlobRequest, answer: Result<Globbed>, version: Version) -> GlobResult {
    let found = |found: super::super::Found| FileInfo {
        path: if version == Version::V06 { found.relative } else { found.path },
        is_dir: found.kind == Kind::Directory,
        size: found.size,
        modified_at: iso8601(found.modified),
    };
    match answer {
        Ok(globbed) => GlobResult {
            error: None,
            truncated: globbed.cut.is_some(),
            truncation_reason: globbed.cut.map(|cut| match cut {
                Cut::Unreadable => "unreadable",
                Cut::Transport => "transport",
                Cut::Count | Cut::Budget => "budget",
            }),
            matches: Some(globbed.matches.into_iter().map(found).collect()),
        },
        Err(error) => {
            let text = format!("Path '{}': {}", request.path, search_code(&error));
            GlobResult { error: Some(text), matches: None, truncated: false, truncation_reason: None }
        }
    }
}

/// The error of a path that cannot be uploaded or downloaded because it is not absolute.
pub fn transfer_fault(path: &str) -> Option<&'static str> {
    if path.starts_with('/') && !path.contains('\0') { None } else { Some("invalid_path") }
}

/// The result of `upload_files` for a file.
pub fn upload_response(path: &str, answer: Result<Written>) -> FileUploadResponse {
    let error = transfer_fault(path).map(str::to_owned).or_else(|| answer.err().map(|error| code(&error)));
    FileUploadResponse { path: path.to_owned(), error }
}

/// The result of `download_files` for a file.
pub fn download_response(path: &str, answer: Result<Vec<u8>>) -> FileDownloadResponse {
    let (content, error) = match (transfer_fault(path), answer) {
        (Some(fault), _) => (None, Some(fault.to_owned())),
        (None, Ok(content)) => (Some(content), None),
        (None, Err(error)) => (None, Some(code(&error))),
    };
    FileDownloadResponse { path: path.to_owned(), content, error }
}

/// The result of `execute`.
pub fn execute_response(answer: Result<Output>) -> ExecuteResponse {
    match answer {
        Ok(executed) => ExecuteResponse {
            output: lossy(&executed.output),
            exit_code: Some(executed.exit_code.into()),
            truncated: executed.truncated,
        },
        Err(error) => not_executed(&error),
    }
}

/// The result of `execute` in the words of the framework's local shell. `timeout` is the timeout of the caller, `limit`
/// the largest number of bytes of output.
pub fn local_shell_response(answer: Result<Output>, timeout: Option<u64>, limit: usize) -> ExecuteResponse {
    let executed = match answer {
        Ok(executed) => executed,
        Err(error) => return not_executed(&error),
    };
    if executed.timed_out {
        let output = match timeout {
            Some(seconds) => format!(
                "Error: Command timed out after {seconds} seconds (custom timeout). The command may be stuck or require \
                 more time."
            ),
            None => format!(
                "Error: Command timed out after {} seconds. For long-running commands, re-run using the timeout \
                 parameter.",
                bounds::COMMAND_TIME.as_secs()
            ),
        };
        return ExecuteResponse { output, exit_code: Some(124), truncated: false };
    }
    let (stdout, stderr) = (lossy(&executed.stdout), lossy(&executed.stderr));
    let mut parts: Vec<String> = Vec::new();
    if !stdout.is_empty() {
        parts.push(stdout);
    }
    if !stderr.is_empty() {
        parts.extend(stderr.trim().split('\n').map(|line| format!("[stderr] {line}")));
    }
    let mut output = if parts.is_empty() { "<no output>".to_owned() } else { parts.join("\n") };
    let truncated = output.len() > limit;
    if truncated {
        output.truncate(output.floor_char_boundary(limit));
        output += &format!("\n\n... Output truncated at {limit} bytes.");
    }
    let code = executed.exit_code;
    if code != 0 {
        output = format!("{}\n\nExit code: {code}", output.trim_end());
    }
    ExecuteResponse { output, exit_code: Some(code.into()), truncated }
}

/// The text of the agent's tool for a result of `execute`.
pub fn execute_text(response: &ExecuteResponse) -> String {
    let mut text = response.output.clone();
    if let Some(code) = response.exit_code {
        let word = if code == 0 { "succeeded" } else { "failed" };
        text += &format!("\n[Command {word} with exit code {code}]");
    }
    if response.truncated {
        text += "\n[Output was truncated due to size limits]";
    }
    text
}

/// The options of `execute_with_offload` besides the command.
pub fn offload(capture_path: &str, max_inline_bytes: u64, max_capture_bytes: Option<u64>) -> Offload {
    let most = max_capture_bytes.unwrap_or(bounds::CAPTURE_BYTES);
    Offload { most, ..Offload::new(capture_path, max_inline_bytes) }
}

/// The result of `execute_with_offload`.
pub fn offload_result(answer: Result<Offloaded>) -> ExecuteOffloadResult {
    let whole = |response| ExecuteOffloadResult { offloaded: false, response, preview_has_truncation_marker: false };
    match answer {
        Err(error) => whole(not_executed(&error)),
        Ok(Offloaded { output: executed, file: None }) => whole(execute_response(Ok(executed))),
        Ok(Offloaded { output: executed, file: Some(file) }) => {
            let omitted = file.newlines.saturating_sub(2 * PREVIEW_LINES as u64);
            let output = preview(&executed, &file, omitted);
            let exit_code = Some(executed.exit_code.into());
            ExecuteOffloadResult {
                offloaded: true,
                response: ExecuteResponse { output, exit_code, truncated: file.is_cut },
                preview_has_truncation_marker: omitted > 0,
            }
        }
    }
}

/// Makes a preview: head and tail around a marker, or the first bytes of output with few lines.
fn preview(executed: &Output, file: &Captured, omitted: u64) -> String {
    let head = executed.head();
    if omitted == 0 {
        let text = &head[..head.len().min(2 * PREVIEW_BYTES)];
        let mut text = lossy(text);
        if file.bytes > 2 * PREVIEW_BYTES as u64 {
            text += &if file.is_cut {
                format!(
                    "\n... [output clipped here; capture stopped at its {}-byte limit, so the file at the path above is \
                     also incomplete] ...\n",
                    file.bytes
                )
            } else {
                format!("\n... [output clipped here; {} bytes total, full output at the path above] ...\n", file.bytes)
            };
        }
        return text;
    }
    let lines_end = |bytes: &[u8], count: usize| {
        let mut ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        ends.nth(count - 1).unwrap_or(bytes.len())
    };
    let first = lines_end(head, PREVIEW_LINES);
    // All output after the head. If nothing was dropped, that includes the rest of `head`.
    let rest = if executed.truncated { executed.tail() } else { &head[first..] };
    let mut starts = rest.iter().enumerate().rev().skip(1).filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let last = starts.nth(PREVIEW_LINES - 1).unwrap_or(0);
    let is_clipped = first > PREVIEW_BYTES || rest.len() - last > PREVIEW_BYTES;
    let tail = &rest[last.max(rest.len().saturating_sub(PREVIEW_BYTES))..];
    let mut text = lossy(&head[..first.min(PREVIEW_BYTES)]);
    if is_clipped {
        text += "\n... [the excerpts above and below are byte-capped, so the lines bordering this marker may be cut \
                 mid-line] ...\n";
    }
    text + &format!("... [{omitted} lines truncated] ...\n") + &lossy(tail)
}

/// The error code of the protocol, or the message if there is no code.
pub fn code(error: &BackendError) -> String {
    match error.errno() {
        Some(Errno::NoEntry) => "file_not_found".to_owned(),
        Some(Errno::IsDirectory) => "is_directory".to_owned(),
        Some(Errno::Access | Errno::NotPermitted | Errno::ReadOnly) => "permission_denied".to_owned(),
        Some(Errno::Invalid | Errno::NameTooLong | Errno::NotDirectory | Errno::Loop | Errno::IllegalSequence) => {
            "invalid_path".to_owned()
        }
        Some(errno) => errno.to_string(),
        None => match error {
            BackendError::Refused { .. } => "permission_denied".to_owned(),
            error => error.to_string(),
        },
    }
}

fn read_code(error: &BackendError) -> String {
    match error {
        BackendError::NotRegular(_) | BackendError::File { errno: Errno::IsDirectory, .. } => "not_a_file".to_owned(),
        BackendError::PastEnd { offset, lines, .. } => {
            format!("Line offset {offset} exceeds file length ({lines} lines)")
        }
        BackendError::TooLarge { limit, .. } if *limit == BINARY_BYTES => {
            format!("Binary file exceeds maximum preview size of {limit} bytes")
        }
        BackendError::TooLarge { size, limit, .. } => format!("{size} bytes, {limit} are allowed"),
        BackendError::File { errno: Errno::NotDirectory, .. } => "file_not_found".to_owned(),
        BackendError::Conflict(_) => "changed by someone else meanwhile".to_owned(),
        error => code(error),
    }
}

fn search_code(error: &BackendError) -> String {
    match error {
        BackendError::Pattern { fault: PatternFault::TooBroad, .. } => "pattern_too_broad".to_owned(),
        BackendError::Pattern { .. } => "invalid_pattern".to_owned(),
        error => match error.errno() {
            Some(Errno::NoEntry) => "path_not_found".to_owned(),
            Some(Errno::NotDirectory) => "not_a_directory".to_owned(),
            _ => code(error),
        },
    }
}

fn not_executed(error: &BackendError) -> ExecuteResponse {
    let output = match error {
        BackendError::Execute(ExecuteError::Empty) => "Error: Command must be a non-empty string.".to_owned(),
        error => format!("Error executing command: {error}"),
    };
    ExecuteResponse { output, exit_code: Some(1), truncated: false }
}

fn path_result(path: &str, answer: Result<()>, failed: impl FnOnce(BackendError) -> String) -> PathResult {
    match answer {
        Ok(()) => PathResult { error: None, path: Some(path.to_owned()) },
        Err(error) => PathResult { error: Some(failed(error)), path: None },
    }
}

fn info(entry: &Entry) -> FileInfo {
    FileInfo {
        path: entry.path.clone(),
        is_dir: entry.kind == Kind::Directory,
        size: entry.size,
        modified_at: iso8601(entry.modified),
    }
}
