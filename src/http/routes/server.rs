//! The server itself: health and metrics.

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::App;

/// The state of the server.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Health {
    status: &'static str,
    version: &'static str,
}

/// Report that the server answers. Needs no key.
#[utoipa::path(get, path = "/health", tag = "server", security(()), responses((status = 200, body = Health)))]
pub(in crate::http) async fn health() -> axum::Json<Health> {
    axum::Json(Health { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

/// Report the metrics, in the text format of Prometheus.
#[utoipa::path(
    get, path = "/metrics", tag = "server",
    responses((status = 200, body = String, content_type = "text/plain; version=0.0.4"))
)]
pub(in crate::http) async fn metrics(State(app): State<App>) -> impl IntoResponse {
    let (count, usage) = match &app.workers {
        Some(workers) => workers.usage().await,
        None => (0, app.usage()),
    };
    let sandboxes = [("{state=\"leased\"}", usage.leased), ("{state=\"warm\"}", usage.warm)];
    let text = app.metrics.text(&[
        ("isopod_sandboxes", "Sandboxes in memory.", &sandboxes),
        ("isopod_sessions", "Live sessions.", &[("", usage.sessions)]),
        ("isopod_workers", "Processes that have a sandbox each.", &[("", count)]),
    ]);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text)
}
