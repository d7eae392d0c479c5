//! The workers of `--isolate process`: one process for each sandbox.
//!
//! The server's own process then authenticates, admits, counts, lists and creates, and runs no guest. Every other
//! request is forwarded to the worker of its sandbox, which is this same server for one sandbox.
//!
//! A worker is not evicted while its sandbox is leased, because a lease keeps live shells.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::Method;
use axum::response::Response;
use futures::FutureExt;

use super::error::{ApiError, ErrorBody, Kind, Result};
use crate::limits::server::workers::{USAGE_BYTES, USAGE_TIME};
use crate::provider::{ProviderError, SandboxId};
use crate::worker::Spawner;
use crate::worker::pool::{ActiveWorker, PooledWorker, WorkerPool};
use crate::worker::process::{Lost, Process};
use crate::worker::relay::{self, Pieces};

/// Route of a worker that answers with its [`Usage`].
pub(super) const USAGE_ROUTE: &str = "/worker/usage";
/// Route of a worker that leases the sandbox whose id follows.
pub(super) const LEASE_ROUTE: &str = "/worker/lease/";

/// The workers of a server, by sandbox.
pub(super) struct SandboxWorkers {
    pool: WorkerPool<SandboxId>,
}

/// The sandboxes and live shells that a process holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Usage {
    pub(super) leased: usize,
    pub(super) warm: usize,
    pub(super) sessions: usize,
}

/// The body of a worker's answer. The worker is in use until the body is dropped.
pub(super) struct WorkerBody {
    pub(super) pieces: Pieces,
    _worker: Option<ActiveWorker>,
}

impl SandboxWorkers {
    pub(super) fn new(spawner: Spawner, max_workers: usize, idle_timeout: Option<Duration>) -> SandboxWorkers {
        SandboxWorkers { pool: WorkerPool::new(spawner, max_workers, idle_timeout, |worker| may_evict(worker).boxed()) }
    }

    /// Returns whether a sandbox has a worker.
    pub(super) fn contains(&self, id: SandboxId) -> bool {
        self.pool.contains(&id)
    }

    /// Sends a request to the worker of a sandbox, and starts that worker if need be.
    pub(super) async fn forward(&self, id: SandboxId, request: Request) -> Result<Response<WorkerBody>> {
        let full = || ApiError::from(ProviderError::AllLeased(self.pool.max_workers()));
        let worker = self.pool.acquire(&id).await.ok_or_else(full)?;
        let process = self.pool.start(&worker).await?;
        send(&process, request, Some(worker)).await
    }

    /// Sends a request to the worker of a sandbox if that is alive. Gives the request back otherwise.
    pub(super) async fn forward_if_live(
        &self,
        id: SandboxId,
        request: Request,
    ) -> std::result::Result<Result<Response<WorkerBody>>, Request> {
        let Some(worker) = self.pool.get_active(&id) else { return Err(request) };
        let Some(process) = worker.worker().live_process().await else { return Err(request) };
        Ok(send(&process, request, Some(worker)).await)
    }

    /// Sends a request that names no sandbox to a process that is started for this request alone.
    pub(super) async fn forward_to_temporary(&self, request: Request) -> Result<Response<WorkerBody>> {
        let process = self.pool.start_unpooled().await?;
        send(&process, request, None).await
    }

    /// Has the worker of a sandbox lease it.
    pub(super) async fn lease(&self, id: SandboxId) -> Result<()> {
        let mut answer = self.forward(id, internal(Method::POST, &format!("{LEASE_ROUTE}{id}"))?).await?;
        if answer.status().is_success() {
            return Ok(());
        }
        let refusal = read_short(&mut answer.body_mut().pieces).await;
        let refusal = refusal.and_then(|bytes| serde_json::from_slice::<ErrorBody>(&bytes).ok());
        Err(refusal.map_or_else(
            || ApiError::new(Kind::Internal, "worker: the lease was refused without a reason"),
            ApiError::from,
        ))
    }

    /// Ends the worker of a sandbox, also if requests use it. The sandbox's lease is free afterwards.
    pub(super) async fn end(&self, id: SandboxId) {
        self.pool.end(&id).await;
    }

    /// Ends all workers.
    pub(super) async fn end_all(&self) {
        self.pool.end_all().await;
    }

    /// Returns the number of live workers and their usage added up.
    pub(super) async fn usage(&self) -> (usize, Usage) {
        let workers = self.pool.all();
        let all = futures::future::join_all(workers.iter().map(|worker| usage(worker))).await;
        let live = all.iter().flatten();
        let sum = live.clone().fold(Usage::default(), |sum, one| Usage {
            leased: sum.leased + one.leased,
            warm: sum.warm + one.warm,
            sessions: sum.sessions + one.sessions,
        });
        (live.count(), sum)
    }

    /// Ends dead and idle workers. Runs for ever.
    pub(super) async fn tend(&self) {
        self.pool.tend().await;
    }
}

async fn send(process: &Arc<Process>, request: Request, worker: Option<ActiveWorker>) -> Result<Response<WorkerBody>> {
    let answer = relay::ask(process, request).await?;
    Ok(answer.map(|pieces| WorkerBody { pieces, _worker: worker }))
}

/// Returns whether a worker leases nothing. A dead one does not.
async fn may_evict(worker: Arc<PooledWorker>) -> bool {
    usage(&worker).await.is_none_or(|usage| usage.leased == 0)
}

/// Asks a worker for its usage. `None` if it is not alive.
async fn usage(worker: &PooledWorker) -> Option<Usage> {
    let process = worker.live_process().await?;
    let ask = async {
        let mut answer = relay::ask(&process, internal(Method::GET, USAGE_ROUTE).ok()?).await.ok()?;
        let bytes = read_short(answer.body_mut()).await?;
        serde_json::from_slice(&bytes).ok()
    };
    match tokio::time::timeout(USAGE_TIME, ask).await {
        Ok(usage) => usage,
        // A worker too busy to answer has work, so it counts as leased.
        Err(_) => Some(Usage { leased: 1, warm: 0, sessions: 0 }),
    }
}

/// Reads a short body. `None` if it breaks off or is longer than any of ours.
async fn read_short(pieces: &mut Pieces) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(piece) = pieces.next().await {
        bytes.extend_from_slice(&piece.ok()?);
        if bytes.len() > USAGE_BYTES {
            return None;
        }
    }
    Some(bytes)
}

/// A request of the server's own.
fn internal(method: Method, path: &str) -> Result<Request> {
    let request = Request::builder().method(method).uri(path).header("host", "worker").body(Body::empty());
    request.map_err(|error| ApiError::new(Kind::Internal, error.to_string()))
}

impl From<Lost> for ApiError {
    fn from(lost: Lost) -> ApiError {
        let kind = match &lost {
            Lost::Died(_) => Kind::WorkerDied,
            Lost::Request(_) => Kind::BadRequest,
            Lost::Broken(_) => Kind::Internal,
        };
        ApiError::new(kind, lost.to_string())
    }
}
