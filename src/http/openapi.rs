//! The routes and their description, from one list.

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
use super::{App, admission, crew, gate, isolate, observe};

/// What the description has beside the routes.
#[derive(utoipa::OpenApi)]
#[openapi(
    info(title = "Isopod", description = "Sandboxes over HTTP. docs/http.md says more."),
    components(schemas(ErrorBody)),
    security(("key" = [])),
    modifiers(&Scheme)
)]
struct Base;

/// How a key is shown.
struct Scheme;

impl Modify for Scheme {
    fn modify(&self, api: &mut OpenApi) {
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        api.components.get_or_insert_default().add_security_scheme("key", scheme);
    }
}

/// All routes, with what is around them.
pub(super) fn router(app: App) -> Router {
    let (router, api) = described();
    let text = text(api);
    let openapi = move || async move { ([(header::CONTENT_TYPE, "application/json")], text) };
    answering(router.route("/openapi.json", get(openapi)))
        // The last one is the first that a request meets.
        .route_layer(from_fn_with_state(app.clone(), isolate::relay))
        .layer(from_fn_with_state(app.clone(), admission::admit))
        .layer(from_fn_with_state(app.clone(), gate::guard))
        .layer(from_fn_with_state(app.clone(), observe::observe))
        .with_state(app)
}

/// The routes of a worker, whose server has asked who asks and how many do.
pub(super) fn router_of_worker(app: App) -> Router {
    answering(described().0)
        .route(crew::CENSUS, get(isolate::census))
        .route(&format!("{}{{id}}", crew::LEASE), post(isolate::lease))
        .layer(from_fn_with_state(app.clone(), observe::observe))
        .with_state(app)
}

fn answering(router: Router<App>) -> Router<App> {
    router
        .fallback(|| async { ApiError::new(Kind::NotFound, "no such route") })
        .method_not_allowed_fallback(|| async { ApiError::new(Kind::MethodNotAllowed, "the route has other methods") })
}

/// The description alone.
pub(super) fn description() -> String {
    text(described().1)
}

fn described() -> (Router<App>, OpenApi) {
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

/// The description with what every route has in common: it may refuse, in one shape, for one of many reasons.
fn text(mut api: OpenApi) -> String {
    for (path, item) in &mut api.paths.paths {
        for operation in [&mut item.get, &mut item.put, &mut item.post, &mut item.delete].into_iter().flatten() {
            let mut refusal = ResponseBuilder::new().description("A refusal.");
            // What a sandbox of DeerFlow says is in the shape of that interface.
            if !path.starts_with(gate::SANDBOX_PATH) {
                let schema = ContentBuilder::new().schema(Some(Ref::from_schema_name("Error"))).build();
                refusal = refusal.content("application/json", schema);
            }
            operation.responses.responses.insert("default".to_owned(), refusal.build().into());
        }
    }
    // A tree of strings and numbers.
    api.to_json().unwrap_or_default()
}
