//! Files, without a command.

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

/// Lines of a page, unless told otherwise.
const LINES: u64 = 2000;

/// A path, absolute or below `/workspace`.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct At {
    path: String,
}

/// A path, absolute or below `/workspace`.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::http) struct AtQuery {
    pub(super) path: String,
}

/// Which lines of a file.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct Read {
    path: String,
    /// The first line, from 0.
    #[serde(default)]
    offset: u64,
    /// How many lines; else 2,000.
    limit: Option<u64>,
}

/// What goes into a file.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct Write {
    path: String,
    content: String,
    /// How `content` is written.
    #[serde(default)]
    encoding: Encoding,
    #[serde(default)]
    mode: Mode,
}

/// What a write does with a file that is there.
#[derive(Default, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    /// Replaces what is in it.
    #[default]
    Replace,
    /// Refuses.
    Create,
    /// Adds to its end.
    Append,
}

/// What to replace in a file.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct Edit {
    path: String,
    old: String,
    new: String,
    /// Everywhere, and not only in the one place where it is.
    #[serde(default)]
    replace_all: bool,
}

/// Which names to find.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct Glob {
    /// Without `/` about the name alone, at any depth; with `/` about the path below the root of the search.
    pattern: String,
    /// The root of the search; else `/workspace`.
    path: Option<String>,
    /// Directories as well as files.
    #[serde(default)]
    directories: bool,
    /// Whether `*` stands for names with a leading dot too.
    #[serde(default)]
    hidden: bool,
    /// How many at most, up to 10,000.
    limit: Option<usize>,
}

/// Which lines to find.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct Grep {
    pattern: String,
    /// A directory to search through, or a file; else `/workspace`.
    path: Option<String>,
    /// Whether the pattern is text and not a regular expression.
    #[serde(default)]
    literal: bool,
    /// Whether `a` finds `A`.
    #[serde(default)]
    ignore_case: bool,
    /// Which files, as a pattern for names.
    include: Option<String>,
    /// Lines before a match to answer with it, up to 100.
    #[serde(default)]
    before: usize,
    /// Lines after a match to answer with it, up to 100.
    #[serde(default)]
    after: usize,
    /// How many at most, up to 100,000.
    limit: Option<usize>,
}

/// What is in a directory.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Listed {
    entries: Vec<Entry>,
    /// Why there may be more: `count`, `budget`, `unreadable`, `transport`.
    cut: Option<&'static str>,
}

/// A name in a directory.
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

/// What was read.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct FileContent {
    /// Lines, joined by line feeds and without one at the end; or all bytes.
    content: String,
    /// base64 if the file is not text: then it is all of it, and there are no lines.
    encoding: Encoding,
    /// The first line, from 0.
    offset: Option<u64>,
    /// How many lines this is.
    lines: Option<u64>,
    /// Lines in the file, if that is known.
    total_lines: Option<u64>,
    /// Where the next page starts, if there is one.
    next_offset: Option<u64>,
    /// Whether the last line is cut because a page has its number of bytes.
    is_cut: bool,
}

/// What was written.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Written {
    /// Bytes that went into the file.
    bytes: u64,
}

/// What was replaced.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Edited {
    /// In how many places.
    occurrences: usize,
    /// Bytes of the file now.
    bytes: u64,
}

/// Names that were found.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Globbed {
    matches: Vec<Found>,
    /// Why there may be more: `count`, `budget`, `unreadable`, `transport`.
    cut: Option<&'static str>,
}

/// A file that was found.
#[derive(Serialize, ToSchema)]
struct Found {
    path: String,
    /// The path below the root of the search.
    relative: String,
    /// `file` or `directory`.
    kind: &'static str,
    size: u64,
    /// Milliseconds since 1970.
    modified_ms: u64,
}

/// Lines that were found.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Grepped {
    matches: Vec<Line>,
    /// Why there may be more: `count`, `budget`, `unreadable`, `transport`.
    cut: Option<&'static str>,
}

/// A line that matches.
#[derive(Serialize, ToSchema)]
struct Line {
    path: String,
    /// From 1.
    line: u64,
    text: String,
    before: Vec<String>,
    after: Vec<String>,
}

/// What is in a directory: one level, hidden names too, links not followed.
#[utoipa::path(
    post, path = "/v1/sandboxes/{id}/files/list", tag = "files", params(("id" = String, Path)), request_body = At,
    responses((status = 200, body = Listed))
)]
pub(in crate::http) async fn list(
    State(app): State<App>,
    Named(id): Named<String>,
    Json(At { path }, _): Json<At>,
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

/// A page of a text file, or all bytes of one that is not text.
#[utoipa::path(
    post, path = "/v1/sandboxes/{id}/files/read", tag = "files", params(("id" = String, Path)), request_body = Read,
    responses((status = 200, body = FileContent))
)]
pub(in crate::http) async fn read(
    State(app): State<App>,
    Named(id): Named<String>,
    Json(Read { path, offset, limit }, _): Json<Read>,
) -> Result<Answer<FileContent>> {
    let request = ReadRequest::lines(path, offset, limit.unwrap_or(LINES));
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

/// Put content into a file, with the directories it needs. A reader sees the old file or the new one.
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

/// Replace text in a file: in the one place where it is, or everywhere.
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

/// Remove a file, a link, or a directory with all that is in it.
#[utoipa::path(
    post, path = "/v1/sandboxes/{id}/files/delete", tag = "files", params(("id" = String, Path)), request_body = At,
    responses((status = 204))
)]
pub(in crate::http) async fn delete(
    State(app): State<App>,
    Named(id): Named<String>,
    Json(At { path }, _): Json<At>,
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
    let found = |found: backend::Found| Found {
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
    let line = |found: backend::GrepMatch| Line {
        path: found.path,
        line: found.line,
        text: found.text,
        before: found.before,
        after: found.after,
    };
    let matches = grepped.matches.into_iter().map(line).collect();
    Ok(Answer(Grepped { matches, cut: grepped.cut.map(Cut::word) }))
}

/// The bytes of a file.
#[utoipa::path(
    get, path = "/v1/sandboxes/{id}/files/content", tag = "files", params(("id" = String, Path), AtQuery),
    responses((status = 200, body = Vec<u8>, content_type = "application/octet-stream"))
)]
pub(in crate::http) async fn download(
    State(app): State<App>,
    Named(id): Named<String>,
    Query(AtQuery { path }): Query<AtQuery>,
) -> Result<impl IntoResponse> {
    let lease = app.lease(id.parse()?).await?;
    bytes(&*lease, path).await
}

/// The bytes of a file, as an answer.
pub(super) async fn bytes(backend: &dyn Backend, path: String) -> Result<impl IntoResponse + use<>> {
    let bytes = match backend.read(ReadRequest::bytes(path)).await? {
        Content::Bytes(bytes) => bytes,
        _ => Vec::new(),
    };
    // Whatever a browser would make of it: these are bytes of a sandbox, and no page of this server.
    let headers = [(header::CONTENT_TYPE, "application/octet-stream"), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")];
    Ok((headers, bytes))
}

/// Put bytes into a file, with the directories it needs.
#[utoipa::path(
    put, path = "/v1/sandboxes/{id}/files/content", tag = "files", params(("id" = String, Path), AtQuery),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"), responses((status = 200, body = Written))
)]
pub(in crate::http) async fn upload(
    State(app): State<App>,
    Named(id): Named<String>,
    Query(AtQuery { path }): Query<AtQuery>,
    Raw(bytes, _): Raw,
) -> Result<Answer<Written>> {
    let written = app.lease(id.parse()?).await?.write(WriteRequest::new(path, bytes)).await?;
    Ok(Answer(Written { bytes: written.bytes }))
}

fn root(path: Option<String>) -> String {
    path.unwrap_or_else(|| ".".to_owned())
}
