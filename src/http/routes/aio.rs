//! The interface of the AIO sandbox, as DeerFlow uses it. [`profile::aio`](crate::backend::profile::aio) makes the
//! answers.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use axum::Json as Answer;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::files::{self, PathQuery};
use crate::backend::profile::aio;
use crate::backend::{Backend, OutputStream, SandboxBackend};
use crate::http::App;
use crate::http::auth::sandbox_in_address;
use crate::http::body::{Json, Named, Query};
use crate::http::error::{ApiError, Kind};
use crate::kernel::Transcript;
use crate::limits::server::http::AIO_GREP_LINES;
use crate::provider::{Lease, LeasedSession, SandboxId};
use crate::sandbox::{Command, Completion, Output};
use crate::sync::lock;
use crate::units;

/// The session of calls that name none.
const DEFAULT_SESSION: &str = "default";
/// A command that puts the directories of DeerFlow's files below `/workspace`, where they last.
const USER_DATA: &str = "[ -e /mnt/user-data ] || {
    mkdir -p /mnt /workspace/workspace /workspace/uploads /workspace/outputs && ln -s /workspace /mnt/user-data
}";
/// The exit code of a command that was ended for its silence, the same as after a timeout.
const SILENT: u8 = 124;

type Result<T> = std::result::Result<Answer<aio::Answer<T>>, Refusal>;

/// A refusal in the shape of this interface. Its status is that of a refusal elsewhere: a client that takes every
/// answer with status 200 for a file would take the refusal for an empty file.
pub(in crate::http) struct Refusal(ApiError);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = aio::Answer::<()> { success: false, message: self.0.message.clone(), data: None };
        self.0.with_headers(Answer(body).into_response())
    }
}

impl<E: Into<ApiError>> From<E> for Refusal {
    fn from(error: E) -> Refusal {
        Refusal(error.into())
    }
}

fn ok<T>(data: T) -> Result<T> {
    Ok(Answer(aio::answer(Ok(data), |data| data)))
}

/// The leases whose sandboxes have the directories of DeerFlow's files.
#[derive(Default)]
pub(in crate::http) struct PreparedLeases(Mutex<HashMap<SandboxId, Weak<Lease>>>);

/// Leases the sandbox of an address and makes the directories of DeerFlow's files.
async fn open(app: &App, name: &str) -> std::result::Result<Arc<Lease>, Refusal> {
    let lease = app.lease(sandbox_in_address(name)?).await?;
    let table = || lock(&app.prepared.0);
    let known = table().get(&lease.sandbox_id()).is_some_and(|known| known.as_ptr() == Arc::as_ptr(&lease));
    if !known {
        let prepared = lease.execute(USER_DATA.into()).await?;
        if prepared.exit_code != 0 {
            let message = format!("/mnt/user-data: {}", String::from_utf8_lossy(&prepared.stderr));
            return Err(ApiError::new(Kind::Internal, message).into());
        }
        let mut table = table();
        table.retain(|_, lease| lease.strong_count() > 0);
        table.insert(lease.sandbox_id(), Arc::downgrade(&lease));
    }
    Ok(lease)
}

/// Options that this server does not know. Those that are null or false ask for nothing, and are ignored.
type UnknownOptions = BTreeMap<String, Value>;

fn refuse(more: &UnknownOptions) -> std::result::Result<(), ApiError> {
    match more.iter().find(|(_, value)| !matches!(value, Value::Null | Value::Bool(false))) {
        Some((name, _)) => Err(ApiError::new(Kind::Unsupported, format!("{name:?} is not supported"))),
        None => Ok(()),
    }
}

/// A command for a live shell.
#[derive(Deserialize, ToSchema)]
pub(in crate::http) struct ShellExec {
    command: String,
    /// The session. Calls without one share a session. A missing session is started.
    id: Option<String>,
    /// Seconds without output after which the command is ended.
    no_change_timeout: Option<f64>,
    /// Seconds after which the command is ended.
    hard_timeout: Option<f64>,
    #[serde(flatten)]
    #[schema(ignore)]
    more: UnknownOptions,
}

/// A command for a new shell.
#[derive(Deserialize, ToSchema)]
pub(in crate::http) struct BashExec {
    command: String,
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// The directory to start in.
    exec_dir: Option<String>,
    /// Seconds after which the command is ended.
    hard_timeout: Option<f64>,
    #[serde(flatten)]
    #[schema(ignore)]
    more: UnknownOptions,
}

/// A request for a session.
#[derive(Deserialize, ToSchema)]
pub(in crate::http) struct NewShell {
    id: Option<String>,
    #[serde(flatten)]
    #[schema(ignore)]
    more: UnknownOptions,
}

/// A session.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Shell {
    session_id: String,
    working_dir: String,
}

/// A request for lines of a file.
#[derive(Deserialize, ToSchema)]
pub(in crate::http) struct FileRead {
    file: String,
    /// The first line, from 0.
    start_line: Option<u64>,
    /// The line after the last one.
    end_line: Option<u64>,
    #[serde(flatten)]
    #[schema(ignore)]
    more: UnknownOptions,
}

/// Content for a file.
#[derive(Deserialize, ToSchema)]
pub(in crate::http) struct FileWrite {
    file: String,
    content: String,
    /// `utf-8` or `base64`.
    encoding: Option<String>,
    #[serde(default)]
    append: bool,
    #[serde(flatten)]
    #[schema(ignore)]
    more: UnknownOptions,
}

/// A search for names.
#[derive(Deserialize, ToSchema)]
pub(in crate::http) struct FileFind {
    path: String,
    glob: String,
    #[serde(flatten)]
    #[schema(ignore)]
    more: UnknownOptions,
}

/// A request for the entries of a directory.
#[derive(Deserialize, ToSchema)]
pub(in crate::http) struct FileList {
    path: String,
    #[serde(default)]
    recursive: bool,
    #[serde(default)]
    show_hidden: bool,
    #[serde(flatten)]
    #[schema(ignore)]
    more: UnknownOptions,
}

/// A search for lines.
#[derive(Deserialize, ToSchema)]
pub(in crate::http) struct FileGrep {
    path: String,
    pattern: String,
    #[serde(default)]
    case_insensitive: bool,
    #[serde(default)]
    fixed_strings: bool,
    max_results: Option<usize>,
    /// The largest file to search: bytes, or a number with `K`, `M` or `G`.
    max_file_size: Option<String>,
    #[serde(default = "yes")]
    recursive: bool,
    #[serde(flatten)]
    #[schema(ignore)]
    more: UnknownOptions,
}

fn yes() -> bool {
    true
}

/// Describe the sandbox.
#[utoipa::path(
    get, path = "/s/{access}/v1/sandbox", tag = "aio", params(("access" = String, Path)),
    responses((status = 200, body = Object))
)]
pub(in crate::http) async fn sandbox(
    State(app): State<App>,
    Named(name): Named<String>,
) -> std::result::Result<Answer<Value>, Refusal> {
    open(&app, &name).await?;
    let (home, version) = ("/home/user", env!("CARGO_PKG_VERSION"));
    let tool = |name: &str| json!({ "ver": Value::Null, "bin": format!("/usr/bin/{name}"), "alias": [] });
    let python = if cfg!(feature = "python") { vec![tool("python3")] } else { Vec::new() };
    Ok(Answer(json!({
        "success": true,
        "message": "ok",
        "data": Value::Null,
        "home_dir": home,
        "workspace": "/workspace",
        "version": version,
        "detail": {
            "system": {
                "os": "isopod", "os_version": version, "arch": "wasm32", "user": "user", "home_dir": home,
                "workspace": "/workspace", "timezone": "UTC", "occupied_ports": [],
            },
            "runtime": { "python": python, "nodejs": [] },
            "utils": [],
        },
    })))
}

/// Execute a command in a live shell.
#[utoipa::path(
    post, path = "/s/{access}/v1/shell/exec", tag = "aio", params(("access" = String, Path)), request_body = ShellExec,
    responses((status = 200, body = Object))
)]
pub(in crate::http) async fn shell_exec(
    State(app): State<App>,
    Named(name): Named<String>,
    Json(body, _): Json<ShellExec>,
) -> Result<aio::ShellExec> {
    refuse(&body.more)?;
    let lease = open(&app, &name).await?;
    let (session, shell) = session_or_new(&app, &lease, body.id)?;
    let request = timed(&app, &body.command, &[], body.hard_timeout);
    let silence = body.no_change_timeout.map(seconds);
    let limit = app.limits.output;
    let (executed, was_silent) = collect_until_silent(shell.stream(request).await?, limit, silence).await;
    let mut answer = aio::shell_exec(&session, &body.command, &executed);
    if was_silent {
        answer.status = "no_change_timeout";
    }
    ok(answer)
}

/// Start a live shell, or return the one of this name.
#[utoipa::path(
    post, path = "/s/{access}/v1/shell/sessions/create", tag = "aio", params(("access" = String, Path)),
    request_body = NewShell, responses((status = 200, body = Object))
)]
pub(in crate::http) async fn create_session(
    State(app): State<App>,
    Named(name): Named<String>,
    Json(body, _): Json<NewShell>,
) -> Result<Shell> {
    refuse(&body.more)?;
    let lease = open(&app, &name).await?;
    let (session_id, shell) = match body.id {
        Some(id) => session_or_new(&app, &lease, Some(id))?,
        None => app.sessions.open(&lease, None)?,
    };
    ok(Shell { session_id, working_dir: shell.cwd().unwrap_or_default() })
}

/// End a live shell.
#[utoipa::path(
    delete, path = "/s/{access}/v1/shell/sessions/{session}", tag = "aio",
    params(("access" = String, Path), ("session" = String, Path)), responses((status = 200, body = Object))
)]
pub(in crate::http) async fn delete_session(
    State(app): State<App>,
    Named((name, session)): Named<(String, String)>,
) -> Result<()> {
    app.sessions.close(sandbox_in_address(&name)?, &session).await?;
    ok(())
}

/// Execute a command in a new shell.
#[utoipa::path(
    post, path = "/s/{access}/v1/bash/exec", tag = "aio", params(("access" = String, Path)), request_body = BashExec,
    responses((status = 200, body = Object))
)]
pub(in crate::http) async fn bash_exec(
    State(app): State<App>,
    Named(name): Named<String>,
    Json(body, _): Json<BashExec>,
) -> Result<aio::BashExec> {
    refuse(&body.more)?;
    let lease = open(&app, &name).await?;
    let env: Vec<(String, String)> = body.env.into_iter().collect();
    let mut request = timed(&app, &body.command, &env, body.hard_timeout);
    request.cwd = body.exec_dir;
    let executed = lease.execute(request).await?;
    ok(aio::bash_exec(&lease.id(), &body.command, &executed))
}

/// Read a file, or lines of it.
#[utoipa::path(
    post, path = "/s/{access}/v1/file/read", tag = "aio", params(("access" = String, Path)), request_body = FileRead,
    responses((status = 200, body = Object))
)]
pub(in crate::http) async fn file_read(
    State(app): State<App>,
    Named(name): Named<String>,
    Json(body, _): Json<FileRead>,
) -> Result<aio::FileRead> {
    refuse(&body.more)?;
    let lease = open(&app, &name).await?;
    let content = lease.read(aio::read_request(&body.file, body.start_line, body.end_line)).await;
    ok(aio::file_read(&body.file, content)?)
}

/// Write a file.
#[utoipa::path(
    post, path = "/s/{access}/v1/file/write", tag = "aio", params(("access" = String, Path)), request_body = FileWrite,
    responses((status = 200, body = Object))
)]
pub(in crate::http) async fn file_write(
    State(app): State<App>,
    Named(name): Named<String>,
    Json(body, _): Json<FileWrite>,
) -> Result<aio::FileWrite> {
    refuse(&body.more)?;
    let lease = open(&app, &name).await?;
    let encoding = body.encoding.as_deref().unwrap_or("utf-8");
    let written = lease.write(aio::write_request(&body.file, &body.content, encoding, body.append)?).await?;
    ok(aio::file_write(&body.file, written.bytes))
}

/// Find files by name.
#[utoipa::path(
    post, path = "/s/{access}/v1/file/find", tag = "aio", params(("access" = String, Path)), request_body = FileFind,
    responses((status = 200, body = Object))
)]
pub(in crate::http) async fn file_find(
    State(app): State<App>,
    Named(name): Named<String>,
    Json(body, _): Json<FileFind>,
) -> Result<aio::FileFind> {
    refuse(&body.more)?;
    let lease = open(&app, &name).await?;
    let found = lease.glob(aio::find_request(&body.path, &body.glob)).await?;
    ok(aio::file_find(&body.path, found))
}

/// List the entries of a directory, or all entries below it.
#[utoipa::path(
    post, path = "/s/{access}/v1/file/list", tag = "aio", params(("access" = String, Path)), request_body = FileList,
    responses((status = 200, body = Object))
)]
pub(in crate::http) async fn file_list(
    State(app): State<App>,
    Named(name): Named<String>,
    Json(body, _): Json<FileList>,
) -> Result<aio::FileList> {
    refuse(&body.more)?;
    let lease = open(&app, &name).await?;
    let found = lease.glob(aio::list_request(&body.path, body.recursive, body.show_hidden)).await?;
    ok(aio::file_list(&body.path, found))
}

/// Find lines in files.
#[utoipa::path(
    post, path = "/s/{access}/v1/file/grep", tag = "aio", params(("access" = String, Path)), request_body = FileGrep,
    responses((status = 200, body = Object))
)]
pub(in crate::http) async fn file_grep(
    State(app): State<App>,
    Named(name): Named<String>,
    Json(body, _): Json<FileGrep>,
) -> Result<aio::FileGrep> {
    refuse(&body.more)?;
    let most = body.max_results.unwrap_or(AIO_GREP_LINES.0).min(AIO_GREP_LINES.1);
    let FileGrep { path, pattern, case_insensitive, fixed_strings, recursive, .. } = &body;
    let mut request = aio::grep_request(path, pattern, *case_insensitive, *fixed_strings, most, *recursive)?;
    let size = body.max_file_size.as_deref().map(units::bytes).transpose();
    request.largest = size.map_err(|error| ApiError::new(Kind::BadRequest, format!("max_file_size: {error}")))?;
    let lease = open(&app, &name).await?;
    ok(aio::file_grep(path, pattern, lease.grep(request).await?))
}

/// Download the bytes of a file.
#[utoipa::path(
    get, path = "/s/{access}/v1/file/download", tag = "aio", params(("access" = String, Path), PathQuery),
    responses((status = 200, body = Vec<u8>, content_type = "application/octet-stream"))
)]
pub(in crate::http) async fn file_download(
    State(app): State<App>,
    Named(name): Named<String>,
    Query(PathQuery { path }): Query<PathQuery>,
) -> std::result::Result<impl IntoResponse, Refusal> {
    let lease = open(&app, &name).await?;
    Ok(files::bytes(&*lease, path).await?)
}

/// Returns the session of this name, and starts it if it is missing.
fn session_or_new(
    app: &App,
    lease: &Arc<Lease>,
    name: Option<String>,
) -> std::result::Result<(String, Arc<LeasedSession>), ApiError> {
    let name = name.unwrap_or_else(|| DEFAULT_SESSION.to_owned());
    match app.sessions.get(lease.sandbox_id(), &name) {
        Ok(session) if session.is_open() => Ok((name, session)),
        _ => match app.sessions.open(lease, Some(name.clone())) {
            // Another request has started it in between.
            Err(ApiError { kind: Kind::Exists, .. }) => {
                Ok((name.clone(), app.sessions.get(lease.sandbox_id(), &name)?))
            }
            answer => answer,
        },
    }
}

/// Makes a command with a timeout of at most the sandbox's longest. DeerFlow sends a longer one with every command.
fn timed(app: &App, command: &str, env: &[(String, String)], hard_timeout: Option<f64>) -> Command {
    let mut request = aio::exec_request(command, env, hard_timeout);
    request.timeout = Some(request.timeout.map_or(app.limits.wall_max, |time| time.min(app.limits.wall_max)));
    request
}

/// Collects the output of a stream until it ends or is silent for too long. The flag says that it was silent.
async fn collect_until_silent(
    mut stream: Box<dyn OutputStream>,
    limit: u64,
    silence: Option<Duration>,
) -> (Output, bool) {
    let mut transcript = Transcript::new(limit);
    loop {
        let next = match silence {
            Some(silence) => tokio::time::timeout(silence, stream.next()).await,
            None => Ok(stream.next().await),
        };
        match next {
            Ok(Some(chunk)) => transcript.push(chunk.channel, &chunk.bytes),
            Ok(None) => return (Output::new(transcript, stream.finish().await), false),
            Err(_) => {
                let completion = Completion::new(SILENT).took(silence.unwrap_or_default());
                return (Output::new(transcript, completion), true);
            }
        }
    }
}

/// Converts seconds. A number that is no time is zero.
fn seconds(number: f64) -> Duration {
    Duration::try_from_secs_f64(number).unwrap_or(Duration::ZERO)
}
