//! Sandboxes: create, list, fork, release, delete.

use axum::Json as Answer;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::http::App;
use crate::http::body::{Json, Named, Query};
use crate::http::error::{ApiError, Kind, Result};
use crate::provider::{Metadata, Provider, ProviderError, SandboxId, SandboxInfo, SandboxState};

/// A request for a sandbox.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct NewSandbox {
    /// The thread of conversation. The same thread gets the same sandbox.
    thread: Option<String>,
    /// The user of the thread.
    user: Option<String>,
    /// Metadata for a new sandbox. An existing one keeps its own.
    #[serde(default)]
    metadata: Metadata,
}

/// A request for a copy.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct NewFork {
    /// Metadata of the copy.
    #[serde(default)]
    metadata: Metadata,
}

/// A sandbox.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Sandbox {
    /// Eight hexadecimal digits.
    #[schema(value_type = String, pattern = "^[0-9a-f]{8}$")]
    id: SandboxId,
    /// `leased`, `warm` or `stored`.
    state: &'static str,
    /// The thread of conversation that it belongs to.
    thread: Option<String>,
    /// The user of the thread.
    user: Option<String>,
    /// The time of its creation, in milliseconds since 1970.
    created_ms: u64,
    /// The time of its last use, in milliseconds since 1970.
    last_used_ms: u64,
    /// Metadata of the creator's choice.
    metadata: Metadata,
    /// The damage of its record, if there is any.
    damage: Option<String>,
}

/// A page of sandboxes, in the order of their ids.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Sandboxes {
    sandboxes: Vec<Sandbox>,
    /// The cursor of the next page; null on the last one.
    #[schema(value_type = Option<String>)]
    cursor: Option<SandboxId>,
}

/// The start of a page.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::http) struct ListQuery {
    /// The cursor in the answer with the previous page.
    cursor: Option<String>,
}

impl From<SandboxInfo> for Sandbox {
    fn from(info: SandboxInfo) -> Sandbox {
        Sandbox {
            id: info.id,
            state: match info.state {
                SandboxState::Leased => "leased",
                SandboxState::Warm => "warm",
                SandboxState::Stored => "stored",
            },
            thread: info.thread,
            user: info.user,
            created_ms: info.created / 1_000_000,
            last_used_ms: info.last_used / 1_000_000,
            metadata: info.metadata,
            damage: info.damage,
        }
    }
}

/// Answers with the description of a sandbox.
pub(super) async fn describe(app: &App, id: SandboxId) -> Result<Answer<Sandbox>> {
    Ok(Answer(with_worker_state(app, app.provider.info(id).await?)))
}

/// Converts the provider's description. A sandbox that a worker has in memory is warm: the provider of this process
/// only knows that it is stored.
fn with_worker_state(app: &App, mut info: SandboxInfo) -> Sandbox {
    if info.state == SandboxState::Stored && app.workers.as_ref().is_some_and(|workers| workers.contains(info.id)) {
        info.state = SandboxState::Warm;
    }
    info.into()
}

/// Leases the sandbox of a thread, or finds it leased here already.
pub(super) async fn acquire(app: &App, thread: &str, user: Option<&str>, metadata: Metadata) -> Result<SandboxId> {
    if let Some(workers) = &app.workers {
        let id = app.provider.establish(thread, user, metadata).await?;
        workers.lease(id).await?;
        return Ok(id);
    }
    match app.provider.acquire_with(thread, user, metadata).await {
        Err(ProviderError::InUse(id)) => {
            app.lease(id).await?;
            let info = app.provider.info(id).await?;
            match info.thread.as_deref() == Some(thread) && info.user.as_deref() == user {
                true => Ok(id),
                false => Err(ProviderError::OtherOwner(id).into()),
            }
        }
        answer => Ok(answer?),
    }
}

/// Creates and leases a sandbox without an owner.
async fn make(app: &App, metadata: Metadata) -> Result<SandboxId> {
    let Some(workers) = &app.workers else { return Ok(app.provider.create(metadata).await?) };
    let id = app.provider.establish_new(metadata).await?;
    if let Err(error) = workers.lease(id).await {
        // No client knows its id, so none could delete it.
        app.provider.delete(id).await?;
        return Err(error);
    }
    Ok(id)
}

/// Create a sandbox, or return the one of a thread.
#[utoipa::path(
    post, path = "/v1/sandboxes", tag = "sandboxes", request_body = NewSandbox,
    responses((status = 201, body = Sandbox), (status = 200, description = "The thread has one.", body = Sandbox))
)]
pub(in crate::http) async fn create(
    State(app): State<App>,
    Json(new, _): Json<NewSandbox>,
) -> Result<(StatusCode, Answer<Sandbox>)> {
    let NewSandbox { thread, user, metadata } = new;
    let (status, id) = match (thread, user) {
        (Some(thread), user) => {
            let id = Provider::id_of(&thread, user.as_deref())?;
            let status = if app.provider.info(id).await.is_ok() { StatusCode::OK } else { StatusCode::CREATED };
            (status, acquire(&app, &thread, user.as_deref(), metadata).await?)
        }
        (None, Some(_)) => return Err(ApiError::new(Kind::BadRequest, "a user without a thread")),
        (None, None) => (StatusCode::CREATED, make(&app, metadata).await?),
    };
    Ok((status, describe(&app, id).await?))
}

/// List the sandboxes.
#[utoipa::path(
    get, path = "/v1/sandboxes", tag = "sandboxes", params(ListQuery), responses((status = 200, body = Sandboxes))
)]
pub(in crate::http) async fn list(State(app): State<App>, Query(from): Query<ListQuery>) -> Result<Answer<Sandboxes>> {
    let cursor = from.cursor.map(|cursor| cursor.parse()).transpose();
    let cursor = cursor.map_err(|_| ApiError::new(Kind::BadRequest, "cursor: not the cursor of a page"))?;
    let page = app.provider.list(cursor).await?;
    let sandboxes = page.items.into_iter().map(|info| with_worker_state(&app, info)).collect();
    Ok(Answer(Sandboxes { sandboxes, cursor: page.cursor }))
}

/// Get a sandbox.
#[utoipa::path(
    get, path = "/v1/sandboxes/{id}", tag = "sandboxes", params(("id" = String, Path)),
    responses((status = 200, body = Sandbox))
)]
pub(in crate::http) async fn get(State(app): State<App>, Named(id): Named<String>) -> Result<Answer<Sandbox>> {
    describe(&app, id.parse()?).await
}

/// Delete a sandbox with its files. Running commands are ended.
#[utoipa::path(
    delete, path = "/v1/sandboxes/{id}", tag = "sandboxes", params(("id" = String, Path)),
    responses((status = 204))
)]
pub(in crate::http) async fn delete(State(app): State<App>, Named(id): Named<String>) -> Result<StatusCode> {
    let id: SandboxId = id.parse()?;
    match remove(&app, id).await? {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(ProviderError::NotFound(id).into()),
    }
}

/// Deletes a sandbox. Returns whether it existed.
pub(super) async fn remove(app: &App, id: SandboxId) -> Result<bool> {
    if let Some(workers) = &app.workers {
        workers.end(id).await;
    }
    let was_there = app.provider.delete(id).await?;
    app.sessions.forget(id);
    Ok(was_there)
}

/// Release a sandbox. Running commands and sessions are ended.
#[utoipa::path(
    post, path = "/v1/sandboxes/{id}/release", tag = "sandboxes", params(("id" = String, Path)),
    responses((status = 204))
)]
pub(in crate::http) async fn release(State(app): State<App>, Named(id): Named<String>) -> Result<StatusCode> {
    let id: SandboxId = id.parse()?;
    app.provider.info(id).await?;
    match app.provider.release(id).await {
        Ok(()) | Err(ProviderError::NotLeased(_)) => {}
        Err(error) => return Err(error.into()),
    }
    app.sessions.forget(id);
    Ok(StatusCode::NO_CONTENT)
}

/// Create a sandbox with a copy of the `/workspace` of another.
#[utoipa::path(
    post, path = "/v1/sandboxes/{id}/fork", tag = "sandboxes", params(("id" = String, Path)), request_body = NewFork,
    responses((status = 201, body = Sandbox))
)]
pub(in crate::http) async fn fork(
    State(app): State<App>,
    Named(id): Named<String>,
    Json(new, _): Json<NewFork>,
) -> Result<(StatusCode, Answer<Sandbox>)> {
    let lease = app.lease(id.parse()?).await?;
    let copy = app.provider.fork(lease.sandbox_id(), new.metadata).await?;
    Ok((StatusCode::CREATED, describe(&app, copy).await?))
}
