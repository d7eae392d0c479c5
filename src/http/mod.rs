//! Sandboxes over HTTP: `isopod serve`.
//!
//! A REST interface for any client, and the routes that DeerFlow uses. `docs/http.md` lists routes, limits and errors.
//!
//! # Layout
//! - `listener` accepts connections and ends them. `write_timeout` ends those whose client stops reading.
//! - `observe` wraps every request: request id, log line, metrics (`metrics`), and a catch for panics.
//! - `auth` checks key and host name. `admission` bounds the number of requests and their time.
//! - `body` reads bodies within bounds. `error` is the one table of refusals.
//! - `routes` has the handlers, one file for each subject. A handler translates a request into a call of a
//!   [`Lease`](crate::provider::Lease). `sessions` keeps the live shells between requests.
//! - `openapi` assembles the router and its description from one list.
//! - `isolate` forwards requests with `--isolate process`. `workers` has the worker process of each sandbox.
//!
//! # The way of a request
//! ```text
//! client ─► listener ─► observe ─► auth ─► admission ─► isolate ─┬─► routes ─► provider ─► sandbox
//!                                                                └─► worker process: observe ─► routes ─► …
//! ```
//!
//! # Failures
//! | case | answer |
//! |---|---|
//! | the client disconnects | hyper drops the handler, and the drop ends the command |
//! | a request takes too long | `timed_out`; the handler is dropped |
//! | too many requests, bodies or sandboxes | `overloaded` with `Retry-After` |
//! | another process has leased the sandbox | `in_use`, after a wait of half a second |
//! | the worker of a sandbox dies | `worker_died`; a stream ends with exit code 137; the next request starts a worker |
//! | a handler panics | `internal`; other requests go on |
//!
//! # Invariants
//! - **Nothing is read from an unknown client**: key and host name are checked first, then the number of requests, then
//!   the body is read.
//! - **Cancel is drop**: the command of a request ends when the handler's future is dropped.
//! - Only [`Server::bind`] and the provider open directories and sockets of the host.
//!
//! # Locks
//! The mutexes of `sessions`, `metrics` and `routes::aio` are leaves: each is held for a look-up, never across an
//! await, and no other lock is taken under it. `sessions` is the one exception: it starts a shell under its lock, so
//! that two requests with one name start one shell.

mod admission;
mod auth;
mod body;
mod error;
mod isolate;
mod listener;
mod metrics;
mod observe;
mod openapi;
mod routes;
mod sessions;
mod workers;
mod write_timeout;

use std::ffi::OsStr;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

pub use auth::Key;
pub use isolate::work;

use crate::limits::Limits;
use crate::limits::server::http as limits;
use crate::provider::{Config, Isolation, Provider, ProviderError};
use crate::runtime::Runtime;
use crate::sandbox::BuildError;
use crate::worker::{Spawner, Walls};
use metrics::Metrics;
use routes::aio::PreparedLeases;
use sessions::LiveSessions;
use workers::{SandboxWorkers, Usage};

/// The settings of a server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// The key that requests must present. Without a key the server listens on loopback only.
    pub key: Option<Key>,
    /// The address by which clients reach the server, as `http://HOST[:PORT]` without a path.
    pub public_url: Option<String>,
    /// Requests in progress at the same time.
    pub max_requests: usize,
    /// Bytes of a JSON body.
    pub max_body: u64,
    /// The time of a request. By default the longest command's, plus some time for the transfer.
    pub request_timeout: Option<Duration>,
    /// The time that requests in progress have when the server stops.
    pub grace: Duration,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            listen: SocketAddr::from(([127, 0, 0, 1], 7070)),
            key: None,
            public_url: None,
            max_requests: limits::DEFAULT_REQUESTS,
            max_body: limits::DEFAULT_BODY_BYTES,
            request_timeout: None,
            grace: limits::DEFAULT_GRACE,
        }
    }
}

/// A server that listens, and does not answer before [`run`](Server::run).
pub struct Server {
    listener: TcpListener,
    app: App,
}

/// A server without a listener: for connections that the embedder has accepted itself.
#[derive(Clone)]
pub struct Service {
    app: App,
    router: axum::Router,
}

/// The state that all requests share.
type App = Arc<AppState>;

struct AppState {
    settings: Settings,
    provider: Provider,
    /// The worker processes, if the sandboxes are not in this process.
    workers: Option<SandboxWorkers>,
    /// The limits of every sandbox.
    limits: Limits,
    sessions: LiveSessions,
    prepared: PreparedLeases,
    metrics: Metrics,
    /// One permit for each request in progress.
    admission: Arc<Semaphore>,
    /// The budget of memory for bodies.
    body_budget: Arc<Semaphore>,
    request_timeout: Duration,
}

/// The reason why a server did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Without a key, every client of the network could execute commands.
    #[error("{0} is not loopback, and there is no key: name one with --api-key-file or ISOPOD_API_KEY")]
    NoKey(SocketAddr),
    /// The address cannot be listened on.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, io::Error),
    /// The provider cannot be opened.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// The sandboxes are to have processes of their own, and no spawner was given.
    #[error("isolation by process needs a spawner")]
    NoSpawner,
}

impl Settings {
    /// Returns the time of a request to sandboxes with these limits.
    fn time(&self, limits: &Limits) -> Duration {
        self.request_timeout.unwrap_or_else(|| limits.wall.max(limits.wall_max).saturating_add(limits::REQUEST_MARGIN))
    }

    /// Starts the process that starts workers for a server of these settings. `program` calls
    /// [`worker::spawner`](crate::worker::spawner) when it is started with `arguments`, and [`work`] when it is started
    /// with `of_worker`. `main` calls this before it raises the wall and before it starts any thread.
    pub fn spawner<A: AsRef<OsStr>>(
        &self,
        config: &Config,
        walls: Walls,
        program: impl AsRef<Path>,
        arguments: impl IntoIterator<Item = A>,
        of_worker: impl IntoIterator<Item = A>,
    ) -> io::Result<Spawner> {
        let config = with_lease_timeout(config.clone().made_absolute());
        let task = isolate::WorkerTask { request_timeout: self.time(&config.limits), max_body: self.max_body, config };
        Spawner::start(program, arguments, of_worker, walls, &task)
    }
}

/// Adds a lease timeout to a configuration that has none.
fn with_lease_timeout(mut config: Config) -> Config {
    config.lease_timeout = config.lease_timeout.or(Some(limits::DEFAULT_LEASE_TIMEOUT));
    config
}

impl AppState {
    fn new(settings: Settings, provider: Provider, limits: Limits, workers: Option<SandboxWorkers>) -> App {
        Arc::new(AppState {
            admission: Arc::new(Semaphore::new(settings.max_requests)),
            body_budget: Arc::new(body::body_budget()),
            sessions: LiveSessions::default(),
            prepared: PreparedLeases::default(),
            metrics: Metrics::default(),
            request_timeout: settings.time(&limits),
            settings,
            provider,
            workers,
            limits,
        })
    }

    /// Returns the numbers of sandboxes and sessions in this process.
    fn usage(&self) -> Usage {
        let (leased, warm) = self.provider.count();
        Usage { leased, warm, sessions: self.sessions.count() }
    }
}

impl Server {
    /// Opens the root of the sandboxes and listens.
    ///
    /// # Panics
    /// Outside a tokio runtime, or in one without timers.
    pub async fn bind(settings: Settings, config: Config) -> Result<Server, ServeError> {
        match config.isolate {
            Isolation::None => Server::open(settings, config, None).await,
            Isolation::Process => Err(ServeError::NoSpawner),
        }
    }

    /// Does the same as [`bind`](Server::bind), with each sandbox in a process that the [`Settings::spawner`] starts.
    pub async fn bind_isolated(settings: Settings, config: Config, spawner: Spawner) -> Result<Server, ServeError> {
        Server::open(settings, config, Some(spawner)).await
    }

    async fn open(settings: Settings, config: Config, spawner: Option<Spawner>) -> Result<Server, ServeError> {
        if settings.key.is_none() && !settings.listen.ip().is_loopback() {
            return Err(ServeError::NoKey(settings.listen));
        }
        let config = with_lease_timeout(config);
        let limits = config.limits.clone();
        let workers = spawner.map(|spawner| SandboxWorkers::new(spawner, config.max_count, config.idle_timeout));
        let mut builder = Provider::builder(config);
        if workers.is_some() {
            // This process runs no guest, so it needs no pool.
            builder = builder.runtime(Runtime::on_demand().map_err(BuildError::from).map_err(ProviderError::from)?);
        }
        let provider = builder.open()?;
        let listener = TcpListener::bind(settings.listen).await;
        let listener = listener.map_err(|error| ServeError::Listen(settings.listen, error))?;
        Ok(Server { listener, app: AppState::new(settings, provider, limits, workers) })
    }

    /// Returns the address that the server listens on.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves requests until the first `stop`. Requests in progress may finish until the second `stop` or the end of
    /// the grace period. Returns the number of connections that were cut off.
    pub async fn run<F: Future<Output = ()>>(self, stop: impl FnMut() -> F) -> usize {
        let Server { listener, app } = self;
        let tend = tokio::spawn(tend(app.clone()));
        let cut_off = listener::serve(listener, openapi::router(app.clone()), app.settings.grace, stop).await;
        tend.abort();
        app.sessions.close_all().await;
        if let Some(workers) = &app.workers {
            workers.end_all().await;
        }
        app.provider.shutdown().await;
        cut_off
    }
}

impl Service {
    /// Opens the root of the sandboxes. The settings `listen` and `grace` are not used.
    ///
    /// # Panics
    /// Outside a tokio runtime, or in one without timers.
    pub fn open(settings: Settings, config: Config) -> Result<Service, ServeError> {
        if config.isolate != Isolation::None {
            return Err(ServeError::NoSpawner);
        }
        let config = with_lease_timeout(config);
        let limits = config.limits.clone();
        let app = AppState::new(settings, Provider::open(config)?, limits, None);
        Ok(Service { router: openapi::router(app.clone()), app })
    }

    /// Serves a connection until it ends.
    pub async fn serve(&self, connection: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        // An error means that the client disconnected or spoke another protocol, so it cannot be reported.
        let _ = listener::serve_on(connection, self.router.clone()).await;
    }

    /// Releases unused sandboxes and ends unused sessions. Runs for ever, in a task of its own.
    pub async fn tend(&self) {
        tend(self.app.clone()).await;
    }
}

/// Returns the OpenAPI description, as `/openapi.json` has it.
pub fn description() -> String {
    openapi::description()
}

/// Releases unused sandboxes, and ends unused sessions and workers. Runs for ever.
async fn tend(app: App) {
    let tend_workers = async {
        if let Some(workers) = &app.workers {
            workers.tend().await;
        }
    };
    tokio::join!(app.provider.tend(), app.sessions.tend(), tend_workers);
}
