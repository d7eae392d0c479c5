//! The interface of a DeerFlow provisioner: a sandbox under a name of DeerFlow's, and an address for it.

use std::collections::BTreeMap;

use axum::Json as Answer;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::sandboxes;
use crate::http::App;
use crate::http::auth::{SANDBOX_PATH, sandbox_address};
use crate::http::body::{Json, Named};
use crate::http::error::{ApiError, Kind, Result};
use crate::provider::{Metadata, Provider, ProviderError, SandboxId};

/// The provider's user of these sandboxes. The name of the thread is DeerFlow's id of the sandbox.
const USER: &str = "deerflow";

/// A request for a sandbox.
#[derive(Deserialize, ToSchema)]
pub(in crate::http) struct ProvisionRequest {
    /// DeerFlow's own id. The same id gets the same sandbox.
    sandbox_id: String,
    thread_id: Option<String>,
    user_id: Option<String>,
    /// Fields that some versions of DeerFlow send in addition.
    #[serde(flatten)]
    #[schema(ignore)]
    more: BTreeMap<String, Value>,
}

/// A sandbox of DeerFlow.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Provisioned {
    sandbox_id: String,
    /// The address to which a client appends `/v1/…` of the AIO interface.
    sandbox_url: String,
    /// `Running`.
    status: &'static str,
}

/// All sandboxes of DeerFlow.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct ProvisionedList {
    sandboxes: Vec<Provisioned>,
    count: usize,
}

/// The answer to a deletion.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct RemovalAnswer {
    ok: bool,
    sandbox_id: String,
}

/// Create a sandbox for DeerFlow, or return the existing one.
#[utoipa::path(
    post, path = "/api/sandboxes", tag = "deerflow", request_body = ProvisionRequest,
    responses((status = 200, body = Provisioned))
)]
pub(in crate::http) async fn create(
    State(app): State<App>,
    headers: HeaderMap,
    Json(wanted, _): Json<ProvisionRequest>,
) -> Result<Answer<Provisioned>> {
    check(&wanted)?;
    let words = [("thread_id", wanted.thread_id), ("user_id", wanted.user_id)];
    let words = words.into_iter().filter_map(|(name, word)| Some((name.to_owned(), word?)));
    let id = sandboxes::acquire(&app, &wanted.sandbox_id, Some(USER), words.collect::<Metadata>()).await?;
    Ok(Answer(provisioned(&app, &headers, id, wanted.sandbox_id)))
}

/// List the sandboxes of DeerFlow.
#[utoipa::path(get, path = "/api/sandboxes", tag = "deerflow", responses((status = 200, body = ProvisionedList)))]
pub(in crate::http) async fn list(State(app): State<App>, headers: HeaderMap) -> Result<Answer<ProvisionedList>> {
    let (mut sandboxes, mut cursor) = (Vec::new(), None);
    loop {
        let page = app.provider.list(cursor).await?;
        let own = page.items.into_iter().filter(|info| info.user.as_deref() == Some(USER));
        sandboxes.extend(own.filter_map(|info| Some(provisioned(&app, &headers, info.id, info.thread?))));
        cursor = match page.cursor {
            Some(next) => Some(next),
            None => return Ok(Answer(ProvisionedList { count: sandboxes.len(), sandboxes })),
        };
    }
}

/// Get a sandbox of DeerFlow.
#[utoipa::path(
    get, path = "/api/sandboxes/{sandbox_id}", tag = "deerflow", params(("sandbox_id" = String, Path)),
    responses((status = 200, body = Provisioned))
)]
pub(in crate::http) async fn get(
    State(app): State<App>,
    Named(name): Named<String>,
    headers: HeaderMap,
) -> Result<Answer<Provisioned>> {
    let id = find(&app, &name).await?.ok_or_else(|| ApiError::new(Kind::NotFound, "no such sandbox"))?;
    Ok(Answer(provisioned(&app, &headers, id, name)))
}

/// Delete a sandbox of DeerFlow. A missing one is no error.
#[utoipa::path(
    delete, path = "/api/sandboxes/{sandbox_id}", tag = "deerflow", params(("sandbox_id" = String, Path)),
    responses((status = 200, body = RemovalAnswer))
)]
pub(in crate::http) async fn delete(
    State(app): State<App>,
    Named(name): Named<String>,
) -> Result<Answer<RemovalAnswer>> {
    if let Some(id) = find(&app, &name).await? {
        sandboxes::remove(&app, id).await?;
    }
    Ok(Answer(RemovalAnswer { ok: true, sandbox_id: name }))
}

/// Refuses requests for more than a sandbox. DeerFlow always names directories that its own provisioner could mount,
/// and works without them; these are only logged.
fn check(wanted: &ProvisionRequest) -> Result<()> {
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

/// Returns the id of the sandbox of this name, if it exists.
async fn find(app: &App, name: &str) -> Result<Option<SandboxId>> {
    let id = match Provider::id_of(name, Some(USER)) {
        Ok(id) => id,
        // No sandbox can have such a name.
        Err(_) => return Ok(None),
    };
    match app.provider.info(id).await {
        Ok(info) if info.thread.as_deref() == Some(name) && info.user.as_deref() == Some(USER) => Ok(Some(id)),
        Ok(_) | Err(ProviderError::NotFound(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn provisioned(app: &App, headers: &HeaderMap, id: SandboxId, sandbox_id: String) -> Provisioned {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
    let base = app.settings.public_url.clone().unwrap_or_else(|| format!("http://{host}"));
    Provisioned {
        sandbox_id,
        sandbox_url: format!("{base}{SANDBOX_PATH}{}", sandbox_address(app, id)),
        status: "Running",
    }
}
