//! The AIO sandbox's interface, as DeerFlow uses it. What it says is in [`profile::aio`](crate::backend::profile::aio).

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use axum::Json as Answer;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::files::{self, AtQuery};
use crate::backend::profile::aio;
use crate::backend::{Backend, OutputStream, SandboxBackend};
use crate::http::App;
use crate::http::body::{Json, Named, Query};
use crate::http::error::{ApiError, Kind};
use crate::http::gate::accessed;
use crate::kernel::Transcript;
use crate::provider::{Lease, LeasedSession, SandboxId};
use crate::sandbox::{Command, Completion, Output};
use crate::units;

/// The session of the calls that name none.
const DEFAULT_SESSION: &str = "default";
/// Lines that a search answers with, unless told otherwise, and at most.
const GREP_RESULTS: (usize, usize) = (100, 10_000);
/// Where DeerFlow's files are. They are in the sandbox's own directory, so that they last.
const USER_DATA: &str = "[ -e /mnt/user-data ] || {
    mkdir -p /mnt /workspace/workspace /workspace/uploads /workspace/outputs && ln -s /workspace /mnt/user-data
}";
/// The exit code of a command that was ended because it was silent, as that of one whose time was over.
const SILENT: u8 = 124;

type Result<T> = std::result::Result<Answer<aio::Answer<T>>, Refusal>;

/// A refusal in the interface's own shape. With the status that it has elsewhere: a client that takes any answer of 200 for
/// a file would take a refusal for an empty one.
pub(in crate::http) struct Refusal(ApiError);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = aio::Answer::<()> { success: false, message: self.0.message.clone(), data: None };
        self.0.dress(Answer(body).into_response())
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

/// The leases that have a place for DeerFlow's files.
#[derive(Default)]
pub(in crate::http) struct Prepared(Mutex<HashMap<SandboxId, Weak<Lease>>>);

/// The sandbox of an address, with a place for DeerFlow's files.
async fn open(app: &App, name: &str) -> std::result::Result<Arc<Lease>, Refusal> {
    let lease = app.lease(accessed(name)?).await?;
    let table = || app.prepared.0.lock().unwrap_or_else(PoisonError::into_inner);
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

/// Options that this server does not have: one that asks for nothing does no harm.
type More = BTreeMap<String, Value>;

fn refuse(more: &More) -> std::result::Result<(), ApiError> {
    match more.iter().find(|(_, value)| !matches!(value, Value::Null | Value::Bool(false))) {
        Some((name, _)) => Err(ApiError::new(Kind::Unsupported, format!("{name:?} is not supported"))),
        None => Ok(()),
    }
}

/// A command for a live shell.
#[derive(Deserialize, ToSchema)]
pub(in crate::http) struct ShellExec {
    command: String,
    /// The session; else the one of all calls that name none. One that is not there is started.
    id: Option<String>,
    /// Seconds without output after which the command is ended.
    no_change_timeout: Option<f64>,
    /// Seconds after which the command is ended.
    hard_timeout: Option<f64>,
    #[serde(flatten)]
    #[schema(ignore)]
    more: More,
}

/// A command for a shell of its own.
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
    more: More,
}

/// A session to be.
#[derive(Deserialize, ToSchema)]
pub(in crate::http) struct NewShell {
    id: Option<String>,
    #[serde(flatten)]
    #[schema(ignore)]
    more: More,
}

/// A session.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Shell {
    session_id: String,
    working_dir: String,
}

/// Which lines of a file.
#[derive(Deserialize, ToSchema)]
pub(in crate::http) struct FileRead {
    file: String,
    /// From 0.
    start_line: Option<u64>,
    /// Without this one.
    end_line: Option<u64>,
    #[serde(flatten)]
    #[schema(ignore)]
    more: More,
}

/// What goes into a file.
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
    more: More,
}

/// Which names.
#[derive(Deserialize, ToSchema)]
pub(in crate::http) struct FileFind {
    path: String,
    glob: String,
    #[serde(flatten)]
    #[schema(ignore)]
    more: More,
}

/// Which directory.
#[derive(Deserialize, ToSchema)]
pub(in crate::http) struct FileList {
    path: String,
    #[serde(default)]
    recursive: bool,
    #[serde(default)]
    show_hidden: bool,
    #[serde(flatten)]
    #[schema(ignore)]
    more: More,
}

/// Which lines.
#[derive(Deserialize, ToSchema)]
pub(in crate::http) struct FileGrep {
    path: String,
    pattern: String,
    #[serde(default)]
    case_insensitive: bool,
    #[serde(default)]
    fixed_strings: bool,
    max_results: Option<usize>,
    /// Larger files are left out: bytes, or a number with `K`, `M` or `G`.
    max_file_size: Option<String>,
    #[serde(default = "yes")]
    recursive: bool,
    #[serde(flatten)]
    #[schema(ignore)]
    more: More,
}

fn yes() -> bool {
    true
}

/// What the sandbox is.
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
    let (session, shell) = live(&app, &lease, body.id)?;
    let request = timed(&app, &body.command, &[], body.hard_timeout);
    let silence = body.no_change_timeout.map(seconds);
    let limit = app.limits.output;
    let (executed, was_silent) = listen(shell.stream(request).await?, limit, silence).await;
    let mut answer = aio::shell_exec(&session, &body.command, &executed);
    if was_silent {
        answer.status = "no_change_timeout";
    }
    ok(answer)
}

/// Start a live shell, or find it.
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
        Some(id) => live(&app, &lease, Some(id))?,
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
    app.sessions.close(accessed(&name)?, &session).await?;
    ok(())
}

/// Execute a command in a shell of its own.
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

/// What is in a directory, or below it.
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
    let most = body.max_results.unwrap_or(GREP_RESULTS.0).min(GREP_RESULTS.1);
    let FileGrep { path, pattern, case_insensitive, fixed_strings, recursive, .. } = &body;
    let mut request = aio::grep_request(path, pattern, *case_insensitive, *fixed_strings, most, *recursive)?;
    let size = body.max_file_size.as_deref().map(units::bytes).transpose();
    request.largest = size.map_err(|error| ApiError::new(Kind::BadRequest, format!("max_file_size: {error}")))?;
    let lease = open(&app, &name).await?;
    ok(aio::file_grep(path, pattern, lease.grep(request).await?))
}

/// The bytes of a file.
#[utoipa::path(
    get, path = "/s/{access}/v1/file/download", tag = "aio", params(("access" = String, Path), AtQuery),
    responses((status = 200, body = Vec<u8>, content_type = "application/octet-stream"))
)]
pub(in crate::http) async fn file_download(
    State(app): State<App>,
    Named(name): Named<String>,
    Query(AtQuery { path }): Query<AtQuery>,
) -> std::result::Result<impl IntoResponse, Refusal> {
    let lease = open(&app, &name).await?;
    Ok(files::bytes(&*lease, path).await?)
}

/// The session of this name, or a new one.
fn live(
    app: &App,
    lease: &Arc<Lease>,
    name: Option<String>,
) -> std::result::Result<(String, Arc<LeasedSession>), ApiError> {
    let name = name.unwrap_or_else(|| DEFAULT_SESSION.to_owned());
    match app.sessions.get(lease.sandbox_id(), &name) {
        Ok(session) if session.is_open() => Ok((name, session)),
        _ => match app.sessions.open(lease, Some(name.clone())) {
            // Someone else was faster.
            Err(ApiError { kind: Kind::Exists, .. }) => {
                Ok((name.clone(), app.sessions.get(lease.sandbox_id(), &name)?))
            }
            answer => answer,
        },
    }
}

/// A command with its time: DeerFlow's is longer than any command may take here, and says so whatever the command is.
fn timed(app: &App, command: &str, env: &[(String, String)], hard_timeout: Option<f64>) -> Command {
    let mut request = aio::exec_request(command, env, hard_timeout);
    request.timeout = Some(request.timeout.map_or(app.limits.wall_max, |time| time.min(app.limits.wall_max)));
    request
}

/// Keeps what a stream brings, until it ends or is silent for too long; whether it was.
async fn listen(mut stream: Box<dyn OutputStream>, limit: u64, silence: Option<Duration>) -> (Output, bool) {
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

/// A time that a caller wrote as a number: what is none is no time at all.
fn seconds(number: f64) -> Duration {
    Duration::try_from_secs_f64(number).unwrap_or(Duration::ZERO)
}
