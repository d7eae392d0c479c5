//! The server itself.

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::App;

/// Whether the server answers.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Health {
    status: &'static str,
    version: &'static str,
}

/// Whether the server answers. Needs no key.
#[utoipa::path(get, path = "/health", tag = "server", security(()), responses((status = 200, body = Health)))]
pub(in crate::http) async fn health() -> axum::Json<Health> {
    axum::Json(Health { status: "ok", version: env!("CARGO_PKG_VERSION") })
}

/// What has been counted, as Prometheus reads it.
#[utoipa::path(
    get, path = "/metrics", tag = "server",
    responses((status = 200, body = String, content_type = "text/plain; version=0.0.4"))
)]
pub(in crate::http) async fn metrics(State(app): State<App>) -> impl IntoResponse {
    let (workers, census) = match &app.crew {
        Some(crew) => crew.census().await,
        None => (0, app.census()),
    };
    let sandboxes = [("{state=\"leased\"}", census.leased), ("{state=\"warm\"}", census.warm)];
    let text = app.metrics.text(&[
        ("isopod_sandboxes", "Sandboxes in memory.", &sandboxes),
        ("isopod_sessions", "Live sessions.", &[("", census.sessions)]),
        ("isopod_workers", "Processes that have a sandbox each.", &[("", workers)]),
    ]);
    ([(header::CONTENT_TYPE, "text/plain; version=0.0.4")], text)
}
