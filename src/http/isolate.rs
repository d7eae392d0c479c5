//! `--isolate process`: what goes to the worker of a sandbox, and what such a worker is.
//!
//! The front never leases a sandbox and never runs a guest. A request is sent on by the route that it matched and by the
//! id as the router read it, never by its path as text: what two parsers read differently would be a way around.

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

use super::body::Named;
use super::crew::{self, Census};
use super::error::Result;
use super::gate::{SANDBOX_PATH, accessed};
use super::routes::aio::Refusal;
use super::{App, Settings, Shared, listener, openapi};
use crate::provider::{Config, Provider, SandboxId};
use crate::runtime::Runtime;
use crate::wall::Wall;
use crate::worker::process::Lost;
use crate::worker::{DIED, connections};

/// What a worker is told: what its server was told, without what is the server's own affair.
#[derive(Serialize, Deserialize)]
pub(super) struct Task {
    pub(super) config: Config,
    pub(super) max_body: u64,
    pub(super) request_timeout: Duration,
}

/// Who answers a request.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// This process.
    Front,
    /// The worker of the sandbox, which may have to be started.
    Worker(SandboxId),
    /// The worker of the sandbox if it has one: without, there is nothing to ask it about.
    Living(SandboxId),
    /// A worker that is there for this alone.
    Errand,
}

fn place(method: &Method, route: &str, parameter: Option<&str>) -> Result<Place> {
    let id = || -> Result<SandboxId> { Ok(parameter.unwrap_or_default().parse()?) };
    if route.starts_with(SANDBOX_PATH) {
        return Ok(Place::Worker(accessed(parameter.unwrap_or_default())?));
    }
    Ok(match (route.strip_prefix("/v1/sandboxes/{id}/"), method) {
        (Some("release"), _) => Place::Living(id()?),
        (Some("sessions"), &Method::POST) => Place::Worker(id()?),
        (Some(rest), _) if rest.starts_with("sessions") => Place::Living(id()?),
        (Some(_), _) => Place::Worker(id()?),
        (None, _) if route == "/v1/sandboxes/load" => Place::Errand,
        (None, _) => Place::Front,
    })
}

/// Sends a request to where it belongs.
pub(super) async fn relay(
    State(app): State<App>,
    matched: MatchedPath,
    parameters: RawPathParams,
    request: Request,
    next: Next,
) -> Response {
    if app.crew.is_none() {
        return next.run(request).await;
    }
    let parameter = parameters.iter().next().map(|(_, value)| value);
    let place = place(request.method(), matched.as_str(), parameter);
    let answer = match place {
        Ok(place) => send(&app, place, request, next).await,
        Err(error) => Err(error),
    };
    answer.unwrap_or_else(|error| match matched.as_str().starts_with(SANDBOX_PATH) {
        true => Refusal::from(error).into_response(),
        false => error.into_response(),
    })
}

async fn send(app: &App, place: Place, request: Request, next: Next) -> Result<Response> {
    let Some(crew) = app.crew.as_ref().filter(|_| place != Place::Front) else {
        return Ok(next.run(request).await);
    };
    let request = of_origin(request);
    let answer = match place {
        Place::Front => return Ok(next.run(request).await),
        Place::Errand => crew.errand(request).await?,
        Place::Living(id) => match crew.ask_living(id, request).await {
            Ok(answer) => answer?,
            Err(request) => return Ok(next.run(request).await),
        },
        Place::Worker(id) => {
            if !crew.has(id) {
                // A process for a sandbox that is not there would be too much to ask for.
                app.provider.info(id).await?;
            }
            crew.ask(id, request).await?
        }
    };
    Ok(streamed(answer))
}

/// The request as it goes to an origin: with a path, and without the address of a server.
fn of_origin(mut request: Request) -> Request {
    let path = request.uri().path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
    *request.uri_mut() = Uri::from(path);
    request
}

/// A worker's answer as ours.
fn streamed(answer: Response<crew::Answer>) -> Response {
    let (head, body) = answer.into_parts();
    let is_events = head.headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
    // Whether the last event is whole.
    let start = Some((body, true));
    let pieces = futures::stream::unfold(start, move |state| async move {
        let (mut body, is_whole) = state?;
        match body.pieces.next().await? {
            Ok(piece) if piece.is_empty() => Some((Ok(piece), Some((body, is_whole)))),
            Ok(piece) => {
                let is_whole = piece.ends_with(b"\n\n");
                Some((Ok(piece), Some((body, is_whole))))
            }
            // The head is gone, but who reads events can be told how the command ended: its worker was killed.
            Err(Lost::Died(how)) if is_events => Some((Ok(last_events(&how, is_whole)), None)),
            // An answer that breaks off says that it is not whole.
            Err(lost) => Some((Err(lost), None)),
        }
    });
    Response::from_parts(head, Body::from_stream(pieces))
}

/// What a reader of events is told when the worker has died.
fn last_events(how: &str, is_whole: bool) -> Bytes {
    let said = json!({ "text": format!("isopod: {}\n", Lost::Died(how.to_owned())) });
    let exit = json!({ "exit_code": DIED, "timed_out": false, "limits": [], "wall_ms": null });
    let end = if is_whole { "" } else { "\n\n" };
    Bytes::from(format!("{end}event: stderr\ndata: {said}\n\nevent: exit\ndata: {exit}\n\n"))
}

/// Is a worker of `isopod serve`. For `main`, before it starts any thread.
pub fn work() -> ExitCode {
    let open = |Task { config, max_body, request_timeout }: Task| {
        // As many slots as there can be processes: this process has one sandbox.
        let runtime = Runtime::pooling(config.limits.processes).map_err(|error| error.to_string())?;
        let limits = config.limits.clone();
        let provider = Provider::builder(config).runtime(runtime).open().map_err(|error| error.to_string())?;
        let settings = Settings { max_body, request_timeout: Some(request_timeout), ..Settings::default() };
        let app = Shared::new(settings, provider, limits, None);
        tokio::spawn(super::tend(app.clone()));
        Ok(openapi::router_of_worker(app))
    };
    let talk = |router, stream: UnixStream| listener::answer(stream, router);
    connections::serve(|task: &Task| Wall::around(&task.config), open, talk)
}

/// What this worker holds.
pub(super) async fn census(State(app): State<App>) -> Answer<Census> {
    Answer(app.census())
}

/// Leases a sandbox for whoever asks for it next.
pub(super) async fn lease(State(app): State<App>, Named(id): Named<String>) -> Result<StatusCode> {
    app.lease(id.parse()?).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_a_sandbox_goes_to_its_worker() {
        let id: SandboxId = "0000000a".parse().unwrap();
        let place = |method: Method, route: &str| place(&method, route, Some("0000000a")).unwrap();
        assert_eq!(place(Method::POST, "/v1/sandboxes/{id}/execute"), Place::Worker(id));
        assert_eq!(place(Method::GET, "/v1/sandboxes/{id}/files/content"), Place::Worker(id));
        assert_eq!(place(Method::POST, "/v1/sandboxes/{id}/sessions"), Place::Worker(id));
        assert_eq!(place(Method::GET, "/v1/sandboxes/{id}/sessions"), Place::Living(id));
        assert_eq!(place(Method::POST, "/v1/sandboxes/{id}/sessions/{session}/execute"), Place::Living(id));
        assert_eq!(place(Method::GET, "/s/{access}/v1/sandbox"), Place::Worker(id));
        assert_eq!(place(Method::GET, "/v1/sandboxes/{id}"), Place::Front);
        assert_eq!(place(Method::POST, "/v1/sandboxes/load"), Place::Errand);
        assert_eq!(place(Method::GET, "/health"), Place::Front);
        assert!(super::place(&Method::POST, "/v1/sandboxes/{id}/execute", Some("..")).is_err());
    }
}
