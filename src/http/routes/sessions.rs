//! Live shells: start, list, use, interrupt, end.

use axum::Json as Answer;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::execute::{Event, Execute, events};
use crate::backend::OutputJson;
use crate::http::App;
use crate::http::body::{Json, Named};
use crate::http::error::Result;
use crate::provider::LeasedSession;

/// A request for a session.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct NewSession {
    /// The name of the session; random if it is missing.
    #[schema(pattern = "^[A-Za-z0-9._-]{1,64}$")]
    id: Option<String>,
}

/// A live shell.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Session {
    id: String,
    /// The working directory; null after the shell has ended.
    cwd: Option<String>,
    /// The shell is alive.
    open: bool,
}

/// The live shells of a sandbox.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Sessions {
    sessions: Vec<Session>,
}

impl Session {
    fn of(id: String, session: &LeasedSession) -> Session {
        Session { id, cwd: session.cwd(), open: session.is_open() }
    }
}

/// Start a live shell.
#[utoipa::path(
    post, path = "/v1/sandboxes/{id}/sessions", tag = "sessions", params(("id" = String, Path)),
    request_body = NewSession, responses((status = 201, body = Session))
)]
pub(in crate::http) async fn create(
    State(app): State<App>,
    Named(id): Named<String>,
    Json(new, _): Json<NewSession>,
) -> Result<(StatusCode, Answer<Session>)> {
    let lease = app.lease(id.parse()?).await?;
    let (name, session) = app.sessions.open(&lease, new.id)?;
    Ok((StatusCode::CREATED, Answer(Session::of(name, &session))))
}

/// List the live shells of a sandbox.
#[utoipa::path(
    get, path = "/v1/sandboxes/{id}/sessions", tag = "sessions", params(("id" = String, Path)),
    responses((status = 200, body = Sessions))
)]
pub(in crate::http) async fn list(State(app): State<App>, Named(id): Named<String>) -> Result<Answer<Sessions>> {
    let info = app.provider.info(id.parse()?).await?;
    let of = app.sessions.of(info.id).into_iter();
    Ok(Answer(Sessions { sessions: of.map(|(name, session)| Session::of(name, &session)).collect() }))
}

/// Get a live shell.
#[utoipa::path(
    get, path = "/v1/sandboxes/{id}/sessions/{session}", tag = "sessions",
    params(("id" = String, Path), ("session" = String, Path)), responses((status = 200, body = Session))
)]
pub(in crate::http) async fn get(
    State(app): State<App>,
    Named((id, name)): Named<(String, String)>,
) -> Result<Answer<Session>> {
    let session = app.sessions.get(id.parse()?, &name)?;
    Ok(Answer(Session::of(name, &session)))
}

/// End a live shell with all its processes.
#[utoipa::path(
    delete, path = "/v1/sandboxes/{id}/sessions/{session}", tag = "sessions",
    params(("id" = String, Path), ("session" = String, Path)), responses((status = 204))
)]
pub(in crate::http) async fn delete(
    State(app): State<App>,
    Named((id, name)): Named<(String, String)>,
) -> Result<StatusCode> {
    app.sessions.close(id.parse()?, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Execute a command in a live shell, after the commands that came before.
#[utoipa::path(
    post, path = "/v1/sandboxes/{id}/sessions/{session}/execute", tag = "sessions",
    params(("id" = String, Path), ("session" = String, Path)), request_body = Execute,
    responses((status = 200, body = OutputJson))
)]
pub(in crate::http) async fn execute(
    State(app): State<App>,
    Named((id, name)): Named<(String, String)>,
    Json(body, _): Json<Execute>,
) -> Result<Answer<OutputJson>> {
    let command = body.command()?;
    let session = app.sessions.get(id.parse()?, &name)?;
    Ok(Answer(session.execute(command).await?.into()))
}

/// Execute a command in a live shell, and answer with events while it runs.
#[utoipa::path(
    post, path = "/v1/sandboxes/{id}/sessions/{session}/stream", tag = "sessions",
    params(("id" = String, Path), ("session" = String, Path)), request_body = Execute,
    responses((status = 200, body = Event, content_type = "text/event-stream"))
)]
pub(in crate::http) async fn stream(
    State(app): State<App>,
    Named((id, name)): Named<(String, String)>,
    Json(body, _): Json<Execute>,
) -> Result<Response> {
    let command = body.command()?;
    let session = app.sessions.get(id.parse()?, &name)?;
    Ok(events(session.stream(command).await?, app.request_timeout))
}

/// Interrupt the running command of a live shell, as Ctrl-C would.
#[utoipa::path(
    post, path = "/v1/sandboxes/{id}/sessions/{session}/interrupt", tag = "sessions",
    params(("id" = String, Path), ("session" = String, Path)), responses((status = 204))
)]
pub(in crate::http) async fn interrupt(
    State(app): State<App>,
    Named((id, name)): Named<(String, String)>,
) -> Result<StatusCode> {
    app.sessions.get(id.parse()?, &name)?.interrupt();
    Ok(StatusCode::NO_CONTENT)
}
