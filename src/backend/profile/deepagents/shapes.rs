//! The result types of Deep Agents, field by field.

use serde::Serialize;

/// An entry of a listing or a match of a glob.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the framework's own names")]
pub struct FileInfo {
    pub path: String,
    pub is_dir: bool,
    pub size: u64,
    pub modified_at: String,
}

/// The result of `ls`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the framework's own names")]
pub struct LsResult {
    pub error: Option<String>,
    pub entries: Option<Vec<FileInfo>>,
}

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the framework's own names")]
pub struct FileData {
    pub content: String,
    pub encoding: &'static str,
}

/// The result of `read`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the framework's own names")]
pub struct ReadResult {
    pub error: Option<String>,
    pub file_data: Option<FileData>,
    pub total_lines: Option<u64>,
    pub start_line: Option<u64>,
    pub end_line: Option<u64>,
    pub next_offset: Option<u64>,
    pub no_lines_requested: bool,
}

/// The result of `write` and `delete`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the framework's own names")]
pub struct PathResult {
    pub error: Option<String>,
    pub path: Option<String>,
}

/// The result of `edit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the framework's own names")]
pub struct EditResult {
    pub error: Option<String>,
    pub path: Option<String>,
    pub occurrences: Option<usize>,
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the framework's own names")]
pub struct GrepMatch {
    pub path: String,
    pub line: u64,
    pub text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub context_before: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub context_after: Vec<String>,
}

/// The result of `grep`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the framework's own names")]
pub struct GrepResult {
    pub error: Option<String>,
    pub matches: Option<Vec<GrepMatch>>,
    pub truncated: bool,
}

/// The result of `glob`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the framework's own names")]
pub struct GlobResult {
    pub error: Option<String>,
    pub matches: Option<Vec<FileInfo>>,
    pub truncated: bool,
    pub truncation_reason: Option<&'static str>,
}

/// The result of `upload_files` for a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the framework's own names")]
pub struct FileUploadResponse {
    pub path: String,
    pub error: Option<String>,
}

/// The result of `download_files` for a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the framework's own names")]
pub struct FileDownloadResponse {
    pub path: String,
    pub content: Option<Vec<u8>>,
    pub error: Option<String>,
}

/// The result of `execute`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the framework's own names")]
pub struct ExecuteResponse {
    pub output: String,
    pub exit_code: Option<i32>,
    pub truncated: bool,
}

/// The result of `execute_with_offload`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the framework's own names")]
pub struct ExecuteOffloadResult {
    pub offloaded: bool,
    pub response: ExecuteResponse,
    pub preview_has_truncation_marker: bool,
}
