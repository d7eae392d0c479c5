//! Bounds the number of requests in progress and the time of each.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use tokio::sync::OwnedSemaphorePermit;

use super::App;
use super::error::{ApiError, Kind};

/// Paths that are answered at any load.
const UNLIMITED: [&str; 2] = ["/health", "/metrics"];

/// Admits a request if the number of requests allows it, and ends it at its timeout.
pub(super) async fn admit(State(app): State<App>, request: Request, next: Next) -> Result<Response, ApiError> {
    if UNLIMITED.contains(&request.uri().path()) {
        return Ok(next.run(request).await);
    }
    let Ok(permit) = app.admission.clone().try_acquire_owned() else {
        let message = format!("{} requests are in progress: try again", app.settings.max_requests);
        return Err(ApiError::new(Kind::Overloaded, message));
    };
    match tokio::time::timeout(app.request_timeout, next.run(request)).await {
        // A stream keeps its permit until its end.
        Ok(response) => Ok(response.map(|body| Body::new(AdmittedBody { body, _permit: permit }))),
        Err(_) => Err(ApiError::new(Kind::TimedOut, "the request took too long")),
    }
}

/// A body that holds the permit of its request until it is sent or dropped.
struct AdmittedBody {
    body: Body,
    _permit: OwnedSemaphorePermit,
}

impl HttpBody for AdmittedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
