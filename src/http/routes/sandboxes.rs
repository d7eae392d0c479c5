//! Sandboxes: made, listed, forked, released, deleted.

use axum::Json as Answer;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::http::App;
use crate::http::body::{Json, Named, Query};
use crate::http::error::{ApiError, Kind, Result};
use crate::provider::{Info, Metadata, Provider, ProviderError, SandboxId, State as InfoState};

/// A sandbox to be.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct NewSandbox {
    /// The thread of conversation that it is for: the same thread gets the same sandbox.
    thread: Option<String>,
    /// The user whose thread that is.
    user: Option<String>,
    /// The caller's own words. A sandbox that is there keeps its own.
    #[serde(default)]
    metadata: Metadata,
}

/// A copy to be.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct NewFork {
    /// The caller's own words.
    #[serde(default)]
    metadata: Metadata,
}

/// What is known of a sandbox.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Sandbox {
    /// Eight hexadecimal digits.
    #[schema(value_type = String, pattern = "^[0-9a-f]{8}$")]
    id: SandboxId,
    /// `leased`, `warm` or `stored`.
    state: &'static str,
    /// The thread that it is for.
    thread: Option<String>,
    /// The user whose thread that is.
    user: Option<String>,
    /// When it was made: milliseconds since 1970.
    created_ms: u64,
    /// When it was last used.
    last_used_ms: u64,
    /// The caller's own words.
    metadata: Metadata,
    /// What is wrong with it, if something is.
    damage: Option<String>,
}

/// Sandboxes, in the order of their ids.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Sandboxes {
    sandboxes: Vec<Sandbox>,
    /// What to ask for next, if there are more.
    #[schema(value_type = Option<String>)]
    cursor: Option<SandboxId>,
}

/// Where a list starts.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::http) struct From {
    /// The cursor of the page before.
    cursor: Option<String>,
}

impl std::convert::From<Info> for Sandbox {
    fn from(info: Info) -> Sandbox {
        Sandbox {
            id: info.id,
            state: match info.state {
                InfoState::Leased => "leased",
                InfoState::Warm => "warm",
                InfoState::Stored => "stored",
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

/// What is known of a sandbox that is there.
pub(super) async fn about(app: &App, id: SandboxId) -> Result<Answer<Sandbox>> {
    Ok(Answer(known(app, app.provider.info(id).await?)))
}

/// What this server knows of a sandbox: one that waits in a worker of its own is as warm as one that waits here.
fn known(app: &App, mut info: Info) -> Sandbox {
    if info.state == InfoState::Stored && app.crew.as_ref().is_some_and(|crew| crew.has(info.id)) {
        info.state = InfoState::Warm;
    }
    info.into()
}

/// Leases the sandbox of a thread, which may be leased here already.
pub(super) async fn acquire(app: &App, thread: &str, user: Option<&str>, metadata: Metadata) -> Result<SandboxId> {
    if let Some(crew) = &app.crew {
        let id = app.provider.establish(thread, user, metadata).await?;
        crew.lease(id).await?;
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

/// Makes and leases a sandbox of nobody's.
async fn make(app: &App, metadata: Metadata) -> Result<SandboxId> {
    let Some(crew) = &app.crew else { return Ok(app.provider.create(metadata).await?) };
    let id = app.provider.establish_new(metadata).await?;
    if let Err(error) = crew.lease(id).await {
        // Nobody knows its name, so nobody would ever delete it.
        app.provider.delete(id).await?;
        return Err(error);
    }
    Ok(id)
}

/// Make a sandbox, or find that of a thread.
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
    Ok((status, about(&app, id).await?))
}

/// List the sandboxes.
#[utoipa::path(get, path = "/v1/sandboxes", tag = "sandboxes", params(From), responses((status = 200, body = Sandboxes)))]
pub(in crate::http) async fn list(State(app): State<App>, Query(from): Query<From>) -> Result<Answer<Sandboxes>> {
    let cursor = from.cursor.map(|cursor| cursor.parse()).transpose();
    let cursor = cursor.map_err(|_| ApiError::new(Kind::BadRequest, "cursor: not one of a page before"))?;
    let page = app.provider.list(cursor).await?;
    let sandboxes = page.items.into_iter().map(|info| known(&app, info)).collect();
    Ok(Answer(Sandboxes { sandboxes, cursor: page.cursor }))
}

/// What is known of a sandbox.
#[utoipa::path(
    get, path = "/v1/sandboxes/{id}", tag = "sandboxes", params(("id" = String, Path)),
    responses((status = 200, body = Sandbox))
)]
pub(in crate::http) async fn get(State(app): State<App>, Named(id): Named<String>) -> Result<Answer<Sandbox>> {
    about(&app, id.parse()?).await
}

/// Delete a sandbox with its files. What runs in it is stopped.
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

/// Deletes a sandbox; whether it was there.
pub(super) async fn remove(app: &App, id: SandboxId) -> Result<bool> {
    if let Some(crew) = &app.crew {
        crew.dismiss(id).await;
    }
    let was_there = app.provider.delete(id).await?;
    app.sessions.forget(id);
    Ok(was_there)
}

/// Let go of a sandbox. What runs in it is stopped, and its sessions end.
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

/// Make a sandbox with a copy of another one's `/workspace`.
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
    Ok((StatusCode::CREATED, about(&app, copy).await?))
}
