//! What DeerFlow asks of a provisioner: a sandbox by a name of its own, and an address for it.

use std::collections::BTreeMap;

use axum::Json as Answer;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::sandboxes;
use crate::http::App;
use crate::http::body::{Json, Named};
use crate::http::error::{ApiError, Kind, Result};
use crate::http::gate::{SANDBOX_PATH, access};
use crate::provider::{Metadata, Provider, ProviderError, SandboxId};

/// Whose sandboxes these are to the provider. The name of the thread is DeerFlow's id of the sandbox.
const USER: &str = "deerflow";

/// A sandbox that DeerFlow wants.
#[derive(Deserialize, ToSchema)]
pub(in crate::http) struct Wanted {
    /// DeerFlow's own id: the same one gets the same sandbox.
    sandbox_id: String,
    thread_id: Option<String>,
    user_id: Option<String>,
    /// What versions of DeerFlow send beside these.
    #[serde(flatten)]
    #[schema(ignore)]
    more: BTreeMap<String, Value>,
}

/// A sandbox that DeerFlow has.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Provided {
    sandbox_id: String,
    /// What `/v1/…` of the AIO interface is appended to.
    sandbox_url: String,
    /// `Running`.
    status: &'static str,
}

/// All of them.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct ProvidedList {
    sandboxes: Vec<Provided>,
    count: usize,
}

/// That it has gone.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Removed {
    ok: bool,
    sandbox_id: String,
}

/// Make a sandbox for DeerFlow, or find it again.
#[utoipa::path(
    post, path = "/api/sandboxes", tag = "deerflow", request_body = Wanted, responses((status = 200, body = Provided))
)]
pub(in crate::http) async fn create(
    State(app): State<App>,
    headers: HeaderMap,
    Json(wanted, _): Json<Wanted>,
) -> Result<Answer<Provided>> {
    check(&wanted)?;
    let words = [("thread_id", wanted.thread_id), ("user_id", wanted.user_id)];
    let words = words.into_iter().filter_map(|(name, word)| Some((name.to_owned(), word?)));
    let id = sandboxes::acquire(&app, &wanted.sandbox_id, Some(USER), words.collect::<Metadata>()).await?;
    Ok(Answer(provided(&app, &headers, id, wanted.sandbox_id)))
}

/// The sandboxes of DeerFlow.
#[utoipa::path(get, path = "/api/sandboxes", tag = "deerflow", responses((status = 200, body = ProvidedList)))]
pub(in crate::http) async fn list(State(app): State<App>, headers: HeaderMap) -> Result<Answer<ProvidedList>> {
    let (mut sandboxes, mut cursor) = (Vec::new(), None);
    loop {
        let page = app.provider.list(cursor).await?;
        let own = page.items.into_iter().filter(|info| info.user.as_deref() == Some(USER));
        sandboxes.extend(own.filter_map(|info| Some(provided(&app, &headers, info.id, info.thread?))));
        cursor = match page.cursor {
            Some(next) => Some(next),
            None => return Ok(Answer(ProvidedList { count: sandboxes.len(), sandboxes })),
        };
    }
}

/// A sandbox of DeerFlow.
#[utoipa::path(
    get, path = "/api/sandboxes/{sandbox_id}", tag = "deerflow", params(("sandbox_id" = String, Path)),
    responses((status = 200, body = Provided))
)]
pub(in crate::http) async fn get(
    State(app): State<App>,
    Named(name): Named<String>,
    headers: HeaderMap,
) -> Result<Answer<Provided>> {
    let id = find(&app, &name).await?.ok_or_else(|| ApiError::new(Kind::NotFound, "no such sandbox"))?;
    Ok(Answer(provided(&app, &headers, id, name)))
}

/// Delete a sandbox of DeerFlow. One that is not there is no error.
#[utoipa::path(
    delete, path = "/api/sandboxes/{sandbox_id}", tag = "deerflow", params(("sandbox_id" = String, Path)),
    responses((status = 200, body = Removed))
)]
pub(in crate::http) async fn delete(State(app): State<App>, Named(name): Named<String>) -> Result<Answer<Removed>> {
    if let Some(id) = find(&app, &name).await? {
        sandboxes::remove(&app, id).await?;
    }
    Ok(Answer(Removed { ok: true, sandbox_id: name }))
}

/// Says no to what this is asked for beyond a sandbox, as far as that can be said no to. DeerFlow always names directories
/// that a provisioner of its own could mount, and does without where they are not; so these only get a line in the log.
fn check(wanted: &Wanted) -> Result<()> {
    if wanted.more.get("required_mount_contract_version").and_then(Value::as_i64).unwrap_or(0) != 0 {
        return Err(ApiError::new(Kind::Conflict, "this provisioner has mount contract 0"));
    }
    for name in ["provision_lark_cli_runtime", "provision_lark_cli_broker"] {
        if wanted.more.get(name).and_then(Value::as_bool).unwrap_or(false) {
            return Err(ApiError::new(Kind::Unsupported, format!("{name} is not supported")));
        }
    }
    let mounts = wanted.more.get("extra_mounts").and_then(Value::as_array).map_or(0, Vec::len);
    if mounts > 0 {
        tracing::warn!(target: "isopod::http", mounts, "extra mounts of DeerFlow are not made");
    }
    Ok(())
}

/// The sandbox of this name, if it is there.
async fn find(app: &App, name: &str) -> Result<Option<SandboxId>> {
    let id = match Provider::id_of(name, Some(USER)) {
        Ok(id) => id,
        // A name that none can have.
        Err(_) => return Ok(None),
    };
    match app.provider.info(id).await {
        Ok(info) if info.thread.as_deref() == Some(name) && info.user.as_deref() == Some(USER) => Ok(Some(id)),
        Ok(_) | Err(ProviderError::NotFound(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn provided(app: &App, headers: &HeaderMap, id: SandboxId, sandbox_id: String) -> Provided {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
    let base = app.settings.public_url.clone().unwrap_or_else(|| format!("http://{host}"));
    Provided { sandbox_id, sandbox_url: format!("{base}{SANDBOX_PATH}{}", access(app, id)), status: "Running" }
}
