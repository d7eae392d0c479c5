//! `--isolate process`: the choice of the process that answers a request, and the worker's own entry point.
//!
//! The server's process never leases a sandbox and never runs a guest. A request is forwarded by the route that it
//! matched and by the id as the router parsed it, never by its path as text: two parsers that read one path differently
//! would be a way around the check.

use std::process::ExitCode;
use std::time::Duration;

use axum::Json as Answer;
use axum::body::Body;
use axum::extract::{MatchedPath, RawPathParams, Request, State};
use axum::http::uri::PathAndQuery;
use axum::http::{Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::net::UnixStream;

use super::auth::{SANDBOX_PATH, sandbox_in_address};
use super::body::Named;
use super::error::Result;
use super::routes::aio::Refusal;
use super::workers::{Usage, WorkerBody};
use super::{App, AppState, Settings, listener, openapi};
use crate::provider::{Config, Provider, SandboxId};
use crate::runtime::Runtime;
use crate::wall::Wall;
use crate::worker::process::Lost;
use crate::worker::{DIED, connections};

/// The settings of a worker: those of its server without the ones that concern only clients of the server.
#[derive(Serialize, Deserialize)]
pub(super) struct WorkerTask {
    pub(super) config: Config,
    pub(super) max_body: u64,
    pub(super) request_timeout: Duration,
}

/// The process that answers a request.
#[derive(Debug, PartialEq, Eq)]
enum Target {
    /// This one.
    Server,
    /// The worker of the sandbox. It is started if need be.
    Worker(SandboxId),
    /// The worker of the sandbox if it is alive, otherwise this process: without a worker there are no sessions.
    LiveWorker(SandboxId),
    /// A worker that is started for this request alone.
    TemporaryWorker,
}

fn target(method: &Method, route: &str, parameter: Option<&str>) -> Result<Target> {
    let id = || -> Result<SandboxId> { Ok(parameter.unwrap_or_default().parse()?) };
    if route.starts_with(SANDBOX_PATH) {
        return Ok(Target::Worker(sandbox_in_address(parameter.unwrap_or_default())?));
    }
    Ok(match (route.strip_prefix("/v1/sandboxes/{id}/"), method) {
        (Some("release"), _) => Target::LiveWorker(id()?),
        (Some("sessions"), &Method::POST) => Target::Worker(id()?),
        (Some(rest), _) if rest.starts_with("sessions") => Target::LiveWorker(id()?),
        (Some(_), _) => Target::Worker(id()?),
        (None, _) if route == "/v1/sandboxes/load" => Target::TemporaryWorker,
        (None, _) => Target::Server,
    })
}

/// Answers a request here or forwards it to a worker.
pub(super) async fn forward(
    State(app): State<App>,
    matched: MatchedPath,
    parameters: RawPathParams,
    request: Request,
    next: Next,
) -> Response {
    if app.workers.is_none() {
        return next.run(request).await;
    }
    let parameter = parameters.iter().next().map(|(_, value)| value);
    let answer = match target(request.method(), matched.as_str(), parameter) {
        Ok(target) => send(&app, target, request, next).await,
        Err(error) => Err(error),
    };
    answer.unwrap_or_else(|error| match matched.as_str().starts_with(SANDBOX_PATH) {
        true => Refusal::from(error).into_response(),
        false => error.into_response(),
    })
}

async fn send(app: &App, target: Target, request: Request, next: Next) -> Result<Response> {
    let Some(workers) = app.workers.as_ref().filter(|_| target != Target::Server) else {
        return Ok(next.run(request).await);
    };
    let request = without_authority(request);
    let answer = match target {
        Target::Server => return Ok(next.run(request).await),
        Target::TemporaryWorker => workers.forward_to_temporary(request).await?,
        Target::LiveWorker(id) => match workers.forward_if_live(id, request).await {
            Ok(answer) => answer?,
            Err(request) => return Ok(next.run(request).await),
        },
        Target::Worker(id) => {
            if !workers.contains(id) {
                // No process is started for a sandbox that does not exist.
                app.provider.info(id).await?;
            }
            workers.forward(id, request).await?
        }
    };
    Ok(streamed(answer))
}

/// Removes scheme and host from a request's address, as a request to an origin server has it.
fn without_authority(mut request: Request) -> Request {
    let path = request.uri().path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
    *request.uri_mut() = Uri::from(path);
    request
}

/// Makes a worker's answer the server's own.
fn streamed(answer: Response<WorkerBody>) -> Response {
    let (head, body) = answer.into_parts();
    let is_events = head.headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
    // The flag says that the last event sent is whole.
    let start = Some((body, true));
    let pieces = futures::stream::unfold(start, move |state| async move {
        let (mut body, is_whole) = state?;
        match body.pieces.next().await? {
            Ok(piece) if piece.is_empty() => Some((Ok(piece), Some((body, is_whole)))),
            Ok(piece) => {
                let is_whole = piece.ends_with(b"\n\n");
                Some((Ok(piece), Some((body, is_whole))))
            }
            // The status line was sent already, but a reader of events can still be told that the worker died.
            Err(Lost::Died(how)) if is_events => Some((Ok(last_events(&how, is_whole)), None)),
            // A body that breaks off tells the client that the answer is incomplete.
            Err(lost) => Some((Err(lost), None)),
        }
    });
    Response::from_parts(head, Body::from_stream(pieces))
}

/// The last events of a command whose worker died.
fn last_events(how: &str, is_whole: bool) -> Bytes {
    let said = json!({ "text": format!("isopod: {}\n", Lost::Died(how.to_owned())) });
    let exit = json!({ "exit_code": DIED, "timed_out": false, "limits": [], "wall_ms": null });
    let end = if is_whole { "" } else { "\n\n" };
    Bytes::from(format!("{end}event: stderr\ndata: {said}\n\nevent: exit\ndata: {exit}\n\n"))
}

/// Runs a worker of `isopod serve`. `main` calls this before it starts any thread.
pub fn work() -> ExitCode {
    let open = |WorkerTask { config, max_body, request_timeout }: WorkerTask| {
        // This process has one sandbox, so the pool needs one slot for each process of it.
        let runtime = Runtime::pooling(config.limits.processes).map_err(|error| error.to_string())?;
        let limits = config.limits.clone();
        let provider = Provider::builder(config).runtime(runtime).open().map_err(|error| error.to_string())?;
        let settings = Settings { max_body, request_timeout: Some(request_timeout), ..Settings::default() };
        let app = AppState::new(settings, provider, limits, None);
        tokio::spawn(super::tend(app.clone()));
        Ok(openapi::router_of_worker(app))
    };
    let serve = |router, stream: UnixStream| listener::answer(stream, router);
    connections::serve(|task: &WorkerTask| Wall::around(&task.config), open, serve)
}

/// Answers with this worker's usage.
pub(super) async fn usage(State(app): State<App>) -> Answer<Usage> {
    Answer(app.usage())
}

/// Leases a sandbox, so that the next request finds it leased.
pub(super) async fn lease(State(app): State<App>, Named(id): Named<String>) -> Result<StatusCode> {
    app.lease(id.parse()?).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_needs_a_sandbox_goes_to_its_worker() {
        let id: SandboxId = "0000000a".parse().unwrap();
        let target = |method: Method, route: &str| target(&method, route, Some("0000000a")).unwrap();
        assert_eq!(target(Method::POST, "/v1/sandboxes/{id}/execute"), Target::Worker(id));
        assert_eq!(target(Method::GET, "/v1/sandboxes/{id}/files/content"), Target::Worker(id));
        assert_eq!(target(Method::POST, "/v1/sandboxes/{id}/sessions"), Target::Worker(id));
        assert_eq!(target(Method::GET, "/v1/sandboxes/{id}/sessions"), Target::LiveWorker(id));
        assert_eq!(target(Method::POST, "/v1/sandboxes/{id}/sessions/{session}/execute"), Target::LiveWorker(id));
        assert_eq!(target(Method::GET, "/s/{access}/v1/sandbox"), Target::Worker(id));
        assert_eq!(target(Method::GET, "/v1/sandboxes/{id}"), Target::Server);
        assert_eq!(target(Method::POST, "/v1/sandboxes/load"), Target::TemporaryWorker);
        assert_eq!(target(Method::GET, "/health"), Target::Server);
        assert!(super::target(&Method::POST, "/v1/sandboxes/{id}/execute", Some("..")).is_err());
    }
}
