//! The router and its OpenAPI description, from one list of routes.

use axum::Router;
use axum::http::header;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi, Ref, ResponseBuilder};
use utoipa::{Modify, OpenApi as _};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::error::{ApiError, ErrorBody, Kind};
use super::routes::{aio, execute, files, provisioner, sandboxes, server, sessions, snapshots};
use super::{App, admission, auth, isolate, observe, workers};

/// The parts of the description that belong to no route.
#[derive(utoipa::OpenApi)]
#[openapi(
    info(title = "Isopod", description = "Sandboxes over HTTP. docs/http.md says more."),
    components(schemas(ErrorBody)),
    security(("key" = [])),
    modifiers(&Scheme)
)]
struct Base;

/// Adds the bearer key to the description.
struct Scheme;

impl Modify for Scheme {
    fn modify(&self, api: &mut OpenApi) {
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        api.components.get_or_insert_default().add_security_scheme("key", scheme);
    }
}

/// Returns the server's router with all middleware.
pub(super) fn router(app: App) -> Router {
    let (router, api) = routes_with_description();
    let text = text(api);
    let openapi = move || async move { ([(header::CONTENT_TYPE, "application/json")], text) };
    with_fallbacks(router.route("/openapi.json", get(openapi)))
        // The last layer is the first that a request passes.
        .route_layer(from_fn_with_state(app.clone(), isolate::forward))
        .layer(from_fn_with_state(app.clone(), admission::admit))
        .layer(from_fn_with_state(app.clone(), auth::authenticate))
        .layer(from_fn_with_state(app.clone(), observe::observe))
        .with_state(app)
}

/// Returns a worker's router. The server has authenticated and admitted the requests already.
pub(super) fn router_of_worker(app: App) -> Router {
    with_fallbacks(routes_with_description().0)
        .route(workers::USAGE_ROUTE, get(isolate::usage))
        .route(&format!("{}{{id}}", workers::LEASE_ROUTE), post(isolate::lease))
        .layer(from_fn_with_state(app.clone(), observe::observe))
        .with_state(app)
}

fn with_fallbacks(router: Router<App>) -> Router<App> {
    router.fallback(|| async { ApiError::new(Kind::NotFound, "no such route") }).method_not_allowed_fallback(|| async {
        ApiError::new(Kind::MethodNotAllowed, "the route does not take this method")
    })
}

/// Returns the description alone.
pub(super) fn description() -> String {
    text(routes_with_description().1)
}

fn routes_with_description() -> (Router<App>, OpenApi) {
    OpenApiRouter::with_openapi(Base::openapi())
        .routes(routes!(server::health))
        .routes(routes!(server::metrics))
        .routes(routes!(sandboxes::create, sandboxes::list))
        .routes(routes!(snapshots::load))
        .routes(routes!(sandboxes::get, sandboxes::delete))
        .routes(routes!(sandboxes::release))
        .routes(routes!(sandboxes::fork))
        .routes(routes!(snapshots::save))
        .routes(routes!(execute::execute))
        .routes(routes!(execute::stream))
        .routes(routes!(sessions::create, sessions::list))
        .routes(routes!(sessions::get, sessions::delete))
        .routes(routes!(sessions::execute))
        .routes(routes!(sessions::stream))
        .routes(routes!(sessions::interrupt))
        .routes(routes!(files::list))
        .routes(routes!(files::read))
        .routes(routes!(files::write))
        .routes(routes!(files::edit))
        .routes(routes!(files::delete))
        .routes(routes!(files::glob))
        .routes(routes!(files::grep))
        .routes(routes!(files::download, files::upload))
        .routes(routes!(provisioner::create, provisioner::list))
        .routes(routes!(provisioner::get, provisioner::delete))
        .routes(routes!(aio::sandbox))
        .routes(routes!(aio::shell_exec))
        .routes(routes!(aio::create_session))
        .routes(routes!(aio::delete_session))
        .routes(routes!(aio::bash_exec))
        .routes(routes!(aio::file_read))
        .routes(routes!(aio::file_write))
        .routes(routes!(aio::file_find))
        .routes(routes!(aio::file_list))
        .routes(routes!(aio::file_grep))
        .routes(routes!(aio::file_download))
        .split_for_parts()
}

/// Returns the description as JSON, with the refusal that every route may answer with.
fn text(mut api: OpenApi) -> String {
    for (path, item) in &mut api.paths.paths {
        for operation in [&mut item.get, &mut item.put, &mut item.post, &mut item.delete].into_iter().flatten() {
            let mut refusal = ResponseBuilder::new().description("A refusal.");
            // The AIO interface has its own shape of a refusal.
            if !path.starts_with(auth::SANDBOX_PATH) {
                let schema = ContentBuilder::new().schema(Some(Ref::from_schema_name("Error"))).build();
                refusal = refusal.content("application/json", schema);
            }
            operation.responses.responses.insert("default".to_owned(), refusal.build().into());
        }
    }
    // A tree of strings and numbers always serializes.
    api.to_json().unwrap_or_default()
}
