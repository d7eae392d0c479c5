//! Wraps every request: a request id, a log line, metrics, and a catch for panics.

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::FutureExt;

use super::App;
use super::auth::{SANDBOX_PATH, sandbox_in_address};
use super::error::{ApiError, Kind};
use crate::limits::server::http::REQUEST_ID_BYTES;

/// The header with the id of a request.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Observes a request. Paths and queries are not logged: they hold file names and tokens.
pub(super) async fn observe(State(app): State<App>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let id = request_id(&request);
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let sandbox = sandbox(request.uri().path());
    let mut disconnect = DisconnectLog { route: &route, id: &id, is_sent: false };
    let response = {
        let _in_flight = app.metrics.begin();
        // A panic is a defect of this request and must not end others.
        AssertUnwindSafe(next.run(request)).catch_unwind().await
    };
    disconnect.is_sent = true;
    let mut response =
        response.unwrap_or_else(|_| ApiError::new(Kind::Internal, "the handler panicked").into_response());
    let (status, time) = (response.status().as_u16(), began.elapsed());
    let known = matches!(method.as_str(), "GET" | "POST" | "PUT" | "DELETE");
    app.metrics.count(if known { method.as_str() } else { "other" }, &route, status, time);
    let (id_text, ms) = (id.to_str().unwrap_or_default(), time.as_secs_f64() * 1e3);
    tracing::info!(target: "isopod::http", %method, route, status, ms, id = id_text, sandbox, "answered");
    response.headers_mut().insert(REQUEST_ID, id.clone());
    response
}

/// Logs a request whose client disconnected before the answer.
struct DisconnectLog<'a> {
    route: &'a str,
    id: &'a HeaderValue,
    is_sent: bool,
}

impl Drop for DisconnectLog<'_> {
    fn drop(&mut self) {
        if !self.is_sent {
            let (route, id) = (self.route, self.id.to_str().unwrap_or_default());
            tracing::info!(target: "isopod::http", route, id, "the client went away");
        }
    }
}

fn request_id(request: &Request) -> HeaderValue {
    let is_plain = |value: &&HeaderValue| {
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
        (1..=REQUEST_ID_BYTES).contains(&value.len()) && value.as_bytes().iter().all(is_plain)
    };
    match request.headers().get(&REQUEST_ID).filter(is_plain) {
        Some(id) => id.clone(),
        None => HeaderValue::from_str(&random_id()).unwrap_or(HeaderValue::from_static("none")),
    }
}

/// Returns sixteen random digits.
pub(super) fn random_id() -> String {
    let mut bytes = [0; 8];
    // Without randomness no sandbox can be created either, and a request id is no secret.
    let _ = getrandom::fill(&mut bytes);
    format!("{:016x}", u64::from_be_bytes(bytes))
}

/// Returns the id of the sandbox in a path. The rest of the path may hold file names and tokens.
fn sandbox(path: &str) -> Option<String> {
    let rest = path.strip_prefix("/v1/sandboxes/").or_else(|| path.strip_prefix(SANDBOX_PATH))?;
    sandbox_in_address(rest.split('/').next()?).ok().map(|id| id.to_string())
}
