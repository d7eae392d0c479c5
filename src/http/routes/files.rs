//! File operations that run no command.

use axum::Json as Answer;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::decode;
use crate::backend::{
    self, Backend, Content, Cut, EditRequest, Encoding, GlobRequest, GrepRequest, Page, ReadRequest, WriteMode,
    WriteRequest, bounds,
};
use crate::http::App;
use crate::http::body::{Json, Named, Query, Raw};
use crate::http::error::Result;
use crate::limits::server::http::PAGE_LINES;

/// A path, absolute or below `/workspace`.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct PathRequest {
    path: String,
}

/// A path, absolute or below `/workspace`.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::http) struct PathQuery {
    pub(super) path: String,
}

/// A request for lines of a file.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct Read {
    path: String,
    /// The first line, from 0.
    #[serde(default)]
    offset: u64,
    /// The number of lines, 2,000 by default.
    limit: Option<u64>,
}

/// Content for a file.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct Write {
    path: String,
    content: String,
    /// The encoding of `content`.
    #[serde(default)]
    encoding: Encoding,
    #[serde(default)]
    mode: Mode,
}

/// The treatment of a file that exists.
#[derive(Default, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    /// Replace its content.
    #[default]
    Replace,
    /// Refuse the write.
    Create,
    /// Append to it.
    Append,
}

/// A replacement of text in a file.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct Edit {
    path: String,
    old: String,
    new: String,
    /// Replace every occurrence, instead of the only one.
    #[serde(default)]
    replace_all: bool,
}

/// A search for names.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct Glob {
    /// A pattern. Without `/` it matches names at any depth; with `/` it matches paths below the root of the search.
    pattern: String,
    /// The root of the search, `/workspace` by default.
    path: Option<String>,
    /// Find directories as well as files.
    #[serde(default)]
    directories: bool,
    /// Let `*` match names with a leading dot.
    #[serde(default)]
    hidden: bool,
    /// The number of results, at most and by default 10,000.
    limit: Option<usize>,
}

/// A search for lines.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct Grep {
    pattern: String,
    /// A directory to search, or a file; `/workspace` by default.
    path: Option<String>,
    /// Take the pattern as text instead of a regular expression.
    #[serde(default)]
    literal: bool,
    /// Ignore the case of letters.
    #[serde(default)]
    ignore_case: bool,
    /// A pattern for the names of the files to search.
    include: Option<String>,
    /// Lines before a match to answer with, at most 100.
    #[serde(default)]
    before: usize,
    /// Lines after a match to answer with, at most 100.
    #[serde(default)]
    after: usize,
    /// The number of results, at most and by default 100,000.
    limit: Option<usize>,
}

/// The entries of a directory.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Listed {
    entries: Vec<Entry>,
    /// The reason why there may be more: `count`, `budget`, `unreadable`, `transport`.
    cut: Option<&'static str>,
}

/// An entry of a directory.
#[derive(Serialize, ToSchema)]
struct Entry {
    name: String,
    path: String,
    /// `file`, `directory`, `symlink`, `special`.
    kind: &'static str,
    size: u64,
    /// Milliseconds since 1970.
    modified_ms: u64,
}

/// The content of a file.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct FileContent {
    /// Lines joined by line feeds, without one at the end; or all bytes.
    content: String,
    /// The encoding of `content`: base64 if the file is not text. Then `content` is the whole file, and the fields
    /// about lines are null.
    encoding: Encoding,
    /// The first line, from 0.
    offset: Option<u64>,
    /// The number of lines in `content`.
    lines: Option<u64>,
    /// The number of lines in the file, if it is known.
    total_lines: Option<u64>,
    /// The offset of the next page; null on the last one.
    next_offset: Option<u64>,
    /// The last line is cut, because the page has as many bytes as it may.
    is_cut: bool,
}

/// The result of a write.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Written {
    /// Bytes written.
    bytes: u64,
}

/// The result of a replacement.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Edited {
    /// The number of replaced occurrences.
    occurrences: usize,
    /// Bytes of the file after it.
    bytes: u64,
}

/// The result of a search for names.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Globbed {
    matches: Vec<GlobMatch>,
    /// The reason why there may be more: `count`, `budget`, `unreadable`, `transport`.
    cut: Option<&'static str>,
}

/// A file or directory that matches.
#[derive(Serialize, ToSchema)]
struct GlobMatch {
    path: String,
    /// The path below the root of the search.
    relative: String,
    /// `file` or `directory`.
    kind: &'static str,
    size: u64,
    /// Milliseconds since 1970.
    modified_ms: u64,
}

/// The result of a search for lines.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Grepped {
    matches: Vec<GrepLine>,
    /// The reason why there may be more: `count`, `budget`, `unreadable`, `transport`.
    cut: Option<&'static str>,
}

/// A line that matches.
#[derive(Serialize, ToSchema)]
struct GrepLine {
    path: String,
    /// The number of the line, from 1.
    line: u64,
    text: String,
    before: Vec<String>,
    after: Vec<String>,
}

/// List the entries of a directory: one level, with hidden names, links not followed.
#[utoipa::path(
    post, path = "/v1/sandboxes/{id}/files/list", tag = "files", params(("id" = String, Path)),
    request_body = PathRequest, responses((status = 200, body = Listed))
)]
pub(in crate::http) async fn list(
    State(app): State<App>,
    Named(id): Named<String>,
    Json(PathRequest { path }, _): Json<PathRequest>,
) -> Result<Answer<Listed>> {
    let listed = app.lease(id.parse()?).await?.ls(&path).await?;
    let entry = |entry: backend::Entry| Entry {
        kind: entry.kind.word(),
        modified_ms: entry.modified / 1_000_000,
        name: entry.name,
        path: entry.path,
        size: entry.size,
    };
    let entries = listed.entries.into_iter().map(entry).collect();
    Ok(Answer(Listed { entries, cut: listed.cut.map(Cut::word) }))
}

/// Read a page of a text file, or all bytes of another file.
#[utoipa::path(
    post, path = "/v1/sandboxes/{id}/files/read", tag = "files", params(("id" = String, Path)), request_body = Read,
    responses((status = 200, body = FileContent))
)]
pub(in crate::http) async fn read(
    State(app): State<App>,
    Named(id): Named<String>,
    Json(Read { path, offset, limit }, _): Json<Read>,
) -> Result<Answer<FileContent>> {
    let request = ReadRequest::lines(path, offset, limit.unwrap_or(PAGE_LINES));
    let content = app.lease(id.parse()?).await?.read(request).await?;
    let nothing = Page { text: String::new(), offset, lines: 0, total_lines: None, next_offset: None, is_cut: false };
    let page = match content {
        Content::Text(page) => page,
        Content::NoLines => nothing,
        Content::Empty => Page { total_lines: Some(0), offset: 0, ..nothing },
        Content::Bytes(bytes) => {
            return Ok(Answer(FileContent {
                content: Encoding::Base64.write(bytes),
                encoding: Encoding::Base64,
                offset: None,
                lines: None,
                total_lines: None,
                next_offset: None,
                is_cut: false,
            }));
        }
    };
    Ok(Answer(FileContent {
        content: page.text,
        encoding: Encoding::Utf8,
        offset: Some(page.offset),
        lines: Some(page.lines),
        total_lines: page.total_lines,
        next_offset: page.next_offset,
        is_cut: page.is_cut,
    }))
}

/// Write a file, and create its directories. A reader sees the old content or the new one.
#[utoipa::path(
    post, path = "/v1/sandboxes/{id}/files/write", tag = "files", params(("id" = String, Path)), request_body = Write,
    responses((status = 200, body = Written))
)]
pub(in crate::http) async fn write(
    State(app): State<App>,
    Named(id): Named<String>,
    Json(Write { path, content, encoding, mode }, _): Json<Write>,
) -> Result<Answer<Written>> {
    let mode = match mode {
        Mode::Replace => WriteMode::Replace,
        Mode::Create => WriteMode::Create,
        Mode::Append => WriteMode::Append,
    };
    let request = WriteRequest::new(path, decode(encoding, content)?).mode(mode);
    let written = app.lease(id.parse()?).await?.write(request).await?;
    Ok(Answer(Written { bytes: written.bytes }))
}

/// Replace text in a file: its only occurrence, or all of them.
#[utoipa::path(
    post, path = "/v1/sandboxes/{id}/files/edit", tag = "files", params(("id" = String, Path)), request_body = Edit,
    responses((status = 200, body = Edited))
)]
pub(in crate::http) async fn edit(
    State(app): State<App>,
    Named(id): Named<String>,
    Json(Edit { path, old, new, replace_all }, _): Json<Edit>,
) -> Result<Answer<Edited>> {
    let request = EditRequest { replace_all, ..EditRequest::new(path, old, new) };
    let edited = app.lease(id.parse()?).await?.edit(request).await?;
    Ok(Answer(Edited { occurrences: edited.occurrences, bytes: edited.bytes }))
}

/// Remove a file, a link, or a directory with all its entries.
#[utoipa::path(
    post, path = "/v1/sandboxes/{id}/files/delete", tag = "files", params(("id" = String, Path)),
    request_body = PathRequest, responses((status = 204))
)]
pub(in crate::http) async fn delete(
    State(app): State<App>,
    Named(id): Named<String>,
    Json(PathRequest { path }, _): Json<PathRequest>,
) -> Result<StatusCode> {
    app.lease(id.parse()?).await?.delete(&path).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Find files by name.
#[utoipa::path(
    post, path = "/v1/sandboxes/{id}/files/glob", tag = "files", params(("id" = String, Path)), request_body = Glob,
    responses((status = 200, body = Globbed))
)]
pub(in crate::http) async fn glob(
    State(app): State<App>,
    Named(id): Named<String>,
    Json(body, _): Json<Glob>,
) -> Result<Answer<Globbed>> {
    let Glob { pattern, path, directories, hidden, limit } = body;
    let most = limit.unwrap_or(bounds::GLOB_MATCHES).min(bounds::GLOB_MATCHES);
    let request = GlobRequest { directories, hidden, most, ..GlobRequest::new(pattern, root(path)) };
    let globbed = app.lease(id.parse()?).await?.glob(request).await?;
    let found = |found: backend::Found| GlobMatch {
        kind: found.kind.word(),
        modified_ms: found.modified / 1_000_000,
        path: found.path,
        relative: found.relative,
        size: found.size,
    };
    let matches = globbed.matches.into_iter().map(found).collect();
    Ok(Answer(Globbed { matches, cut: globbed.cut.map(Cut::word) }))
}

/// Find lines in files.
#[utoipa::path(
    post, path = "/v1/sandboxes/{id}/files/grep", tag = "files", params(("id" = String, Path)), request_body = Grep,
    responses((status = 200, body = Grepped))
)]
pub(in crate::http) async fn grep(
    State(app): State<App>,
    Named(id): Named<String>,
    Json(body, _): Json<Grep>,
) -> Result<Answer<Grepped>> {
    let Grep { pattern, path, literal, ignore_case, include, before, after, limit } = body;
    let most = limit.unwrap_or(bounds::GREP_MATCHES).min(bounds::GREP_MATCHES);
    let request = GrepRequest::literal(pattern, root(path));
    let request = GrepRequest { literal, ignore_case, include, before, after, most, ..request };
    let grepped = app.lease(id.parse()?).await?.grep(request).await?;
    let line = |found: backend::GrepMatch| GrepLine {
        path: found.path,
        line: found.line,
        text: found.text,
        before: found.before,
        after: found.after,
    };
    let matches = grepped.matches.into_iter().map(line).collect();
    Ok(Answer(Grepped { matches, cut: grepped.cut.map(Cut::word) }))
}

/// Download the bytes of a file.
#[utoipa::path(
    get, path = "/v1/sandboxes/{id}/files/content", tag = "files", params(("id" = String, Path), PathQuery),
    responses((status = 200, body = Vec<u8>, content_type = "application/octet-stream"))
)]
pub(in crate::http) async fn download(
    State(app): State<App>,
    Named(id): Named<String>,
    Query(PathQuery { path }): Query<PathQuery>,
) -> Result<impl IntoResponse> {
    let lease = app.lease(id.parse()?).await?;
    bytes(&*lease, path).await
}

/// Returns the bytes of a file as a response.
pub(super) async fn bytes(backend: &dyn Backend, path: String) -> Result<impl IntoResponse + use<>> {
    let bytes = match backend.read(ReadRequest::bytes(path)).await? {
        Content::Bytes(bytes) => bytes,
        _ => Vec::new(),
    };
    // The bytes come from a sandbox. A browser must not take them for a page of this server.
    let headers = [(header::CONTENT_TYPE, "application/octet-stream"), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")];
    Ok((headers, bytes))
}

/// Upload the bytes of a file, and create its directories.
#[utoipa::path(
    put, path = "/v1/sandboxes/{id}/files/content", tag = "files", params(("id" = String, Path), PathQuery),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, body = Written))
)]
pub(in crate::http) async fn upload(
    State(app): State<App>,
    Named(id): Named<String>,
    Query(PathQuery { path }): Query<PathQuery>,
    Raw(bytes, _): Raw,
) -> Result<Answer<Written>> {
    let written = app.lease(id.parse()?).await?.write(WriteRequest::new(path, bytes)).await?;
    Ok(Answer(Written { bytes: written.bytes }))
}

fn root(path: Option<String>) -> String {
    path.unwrap_or_else(|| ".".to_owned())
}
