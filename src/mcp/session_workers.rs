//! `--isolate process` over HTTP: sessions whose sandboxes are in worker processes.
//!
//! This process checks the key, counts the sessions, and forwards each request to the worker of the session that it
//! names. The worker is this same server for one session; it gives the session its id.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Frame};
use hyper::header::{CONTENT_TYPE, RETRY_AFTER};
use hyper::{Method, Request, Response, StatusCode};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc;

use super::endpoint::{Answer, plain, with};
use super::session_table::SESSION_ID;
use crate::limits::server::mcp::PENDING_FRAMES;
use crate::worker::Spawner;
use crate::worker::pool::{ActiveWorker, PooledWorker, WorkerPool};
use crate::worker::process::Lost;
use crate::worker::relay::{self, Pieces};

/// JSON-RPC's code of an internal error.
const INTERNAL_ERROR: i32 = -32603;

/// The workers of the sessions, by session id.
pub(super) struct SessionWorkers {
    pool: WorkerPool<String>,
}

/// Keeps a worker until its answer is sent.
struct AnswerHold {
    /// Counts the request as a use of the session.
    _active: Option<ActiveWorker>,
    /// A worker without a session has no other holder: it ends with its answer.
    _worker: Arc<PooledWorker>,
}

impl SessionWorkers {
    pub(super) fn new(spawner: Spawner, max_sessions: usize, idle_timeout: Duration) -> SessionWorkers {
        // An idle session may always end: it has no lease.
        let pool = WorkerPool::new(spawner, max_sessions, Some(idle_timeout), |_| async { true }.boxed());
        SessionWorkers { pool }
    }

    /// Returns whether there are as many sessions as there may be.
    pub(super) fn is_full(&self) -> bool {
        self.pool.is_full()
    }

    /// Returns whether a session exists. One whose worker died does not.
    pub(super) fn contains(&self, id: &str) -> bool {
        self.pool.contains_live(&id.to_owned())
    }

    /// Forwards a request to the worker of its session, or to a new worker.
    pub(super) async fn answer(&self, request: Request<Full<Bytes>>) -> Answer {
        let id = request.headers().get(SESSION_ID).and_then(|id| id.to_str().ok()).map(str::to_owned);
        let method = request.method().clone();
        let is_post = method == Method::POST;
        let message = if is_post { message_id(&request) } else { None };
        // A client that only listens does not keep its session from timing out.
        let active = match &id {
            Some(id) if is_post => self.pool.get_active(id),
            Some(_) => None,
            None => match self.start().await {
                Ok(active) => Some(active),
                Err(answer) => return answer,
            },
        };
        let worker = match (&active, &id) {
            (Some(active), _) => Some(active.worker().clone()),
            (None, Some(id)) => self.pool.get(id),
            (None, None) => None,
        };
        let process = match &worker {
            Some(worker) => worker.process().await,
            None => None,
        };
        let (Some(worker), Some(process)) = (worker, process) else {
            return plain(StatusCode::NOT_FOUND, "there is no such session");
        };
        let answer = match relay::ask(&process, request).await {
            Ok(answer) => answer,
            Err(lost) => return lost_answer(message.as_ref(), &lost),
        };
        let given = answer.headers().get(SESSION_ID).and_then(|id| id.to_str().ok()).map(str::to_owned);
        if let (None, Some(given)) = (&id, given) {
            self.pool.insert(given, worker.clone());
        }
        if let (Some(id), &Method::DELETE, true) = (&id, &method, answer.status().is_success()) {
            self.pool.end(id).await;
        }
        let active = active.filter(|_| is_post);
        streamed(answer, AnswerHold { _active: active, _worker: worker }, message)
    }

    /// Starts a worker for a client that has no session yet.
    async fn start(&self) -> Result<ActiveWorker, Answer> {
        let full = || with(plain(StatusCode::SERVICE_UNAVAILABLE, "there are too many sessions"), RETRY_AFTER, "10");
        let worker = self.pool.add_unnamed().ok_or_else(full)?;
        let started = self.pool.start(&worker).await;
        started.map_err(|lost| plain(StatusCode::INTERNAL_SERVER_ERROR, lost.to_string()))?;
        Ok(worker)
    }

    /// Ends sessions that got no message for too long, and those whose worker died. Runs for ever.
    pub(super) async fn tend(&self) {
        self.pool.tend().await;
    }

    /// Ends all sessions.
    pub(super) async fn close(&self) {
        self.pool.end_all().await;
    }
}

/// Returns the id of a request's message, if the message expects an answer.
fn message_id(request: &Request<Full<Bytes>>) -> Option<Value> {
    #[derive(Deserialize)]
    struct Message {
        id: Option<Value>,
        method: Option<String>,
    }
    let body = request.body().clone();
    // The body is in memory, so collecting it never waits.
    let bytes = body.collect().now_or_never()?.ok()?.to_bytes();
    let message: Message = serde_json::from_slice(&bytes).ok()?;
    message.id.filter(|_| message.method.is_some())
}

/// The answer to a message whose worker is gone.
fn lost_answer(message: Option<&Value>, lost: &Lost) -> Answer {
    match message {
        Some(id) => with(plain(StatusCode::OK, error(id, lost)), CONTENT_TYPE, "application/json"),
        None => plain(StatusCode::BAD_GATEWAY, lost.to_string()),
    }
}

/// The JSON-RPC error of a call whose worker is gone.
pub(super) fn error(id: &Value, lost: &Lost) -> String {
    let error = serde_json::json!({ "code": INTERNAL_ERROR, "message": lost.to_string() });
    serde_json::json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()
}

/// Makes a worker's answer the server's own. A task copies the body, because a body that the client does not read would
/// not notice the worker's death.
fn streamed(answer: Response<Pieces>, hold: AnswerHold, message: Option<Value>) -> Answer {
    let is_events = answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
    answer.map(|mut pieces| {
        let (to, from) = mpsc::channel(PENDING_FRAMES);
        tokio::spawn(async move {
            let _hold = hold;
            let copy = async {
                while let Some(piece) = pieces.next().await {
                    let piece = match (piece, &message) {
                        (Ok(piece), _) => piece,
                        // The blank lines end an event that the worker's death cut off.
                        (Err(lost), Some(id)) if is_events => {
                            Bytes::from(format!("\n\ndata: {}\n\n", error(id, &lost)))
                        }
                        (Err(_), _) => return,
                    };
                    if to.send(piece).await.is_err() {
                        return;
                    }
                }
            };
            tokio::select! {
                () = copy => {}
                // The client has disconnected.
                () = to.closed() => {}
            }
        });
        ChannelBody(from).boxed()
    })
}

/// A body whose pieces come over a channel.
struct ChannelBody(mpsc::Receiver<Bytes>);

impl Body for ChannelBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}
