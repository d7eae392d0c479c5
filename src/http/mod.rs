//! Sandboxes over HTTP: `isopod serve`.
//!
//! REST for any client, and the routes that DeerFlow speaks. `docs/http.md` has the routes, the limits and the errors.
//!
//! # Layout
//! - `listener` accepts connections and ends them; `patience` is a stream that does not wait for ever.
//! - `observe` is around everything: an id, a line in the log and a number for each request, and no panic gets out.
//! - `gate` asks for the key and looks at the host name; `admission` has the number of requests and their time.
//! - `body` reads what comes, within bounds; `error` is the one table of refusals.
//! - `routes` has the handlers, a file a subject: they translate, and what they translate to is a
//!   [`Lease`](crate::provider::Lease). `sessions` keeps the live shells between requests.
//! - `openapi` puts the routes and their description together.
//! - `isolate` sends requests to workers, where each sandbox has a process of its own; `crew` is who has which.
//!
//! # What holds
//! - **Nothing is read before it is known who asks**: key and host first, then the number of requests, then the body.
//! - **Cancel is drop**: when a client goes away hyper drops the handler, and with it the command.
//! - The host's directories and the socket are opened in [`Server::bind`], and nowhere else but by the provider, which
//!   opens what its configuration names.

mod admission;
mod body;
mod crew;
mod error;
mod gate;
mod isolate;
mod listener;
mod metrics;
mod observe;
mod openapi;
mod patience;
mod routes;
mod sessions;

use std::ffi::OsStr;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

pub use gate::Key;
pub use isolate::work;

use crate::limits::Limits;
use crate::provider::{Config, Isolation, Provider, ProviderError};
use crate::runtime::Runtime;
use crate::sandbox::BuildError;
use crate::worker::{Spawner, Walls};
use crew::{Census, Crew};
use metrics::Metrics;
use routes::aio::Prepared;
use sessions::Sessions;

/// How long a lease lasts that nobody uses, unless the configuration says otherwise: a moment after the last request a
/// sandbox is warm, so that it can make room for others and other processes can have it.
const LEASE_TIME: Duration = Duration::from_secs(30);
/// What a request has beyond the longest command.
const MARGIN: Duration = Duration::from_secs(30);

/// What a server is told.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// Where to listen.
    pub listen: SocketAddr,
    /// What requests have to show. Without it the server listens on loopback only.
    pub key: Option<Key>,
    /// By what address others reach it, as `http://HOST[:PORT]` without a path.
    pub public_url: Option<String>,
    /// Requests in work at the same time.
    pub max_requests: usize,
    /// Bytes of a body of JSON.
    pub max_body: u64,
    /// How long a request may take; else the longest command, and some time for the rest.
    pub request_timeout: Option<Duration>,
    /// How long requests in work have when the server is told to stop.
    pub grace: Duration,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            listen: SocketAddr::from(([127, 0, 0, 1], 7070)),
            key: None,
            public_url: None,
            max_requests: 256,
            max_body: 16 << 20,
            request_timeout: None,
            grace: Duration::from_secs(10),
        }
    }
}

/// A server that listens and does not answer yet.
pub struct Server {
    listener: TcpListener,
    app: App,
}

/// A server without a socket: for whoever has connections already, from another kind of socket or from the same process.
#[derive(Clone)]
pub struct Service {
    app: App,
    router: axum::Router,
}

/// What all requests share.
type App = Arc<Shared>;

struct Shared {
    settings: Settings,
    provider: Provider,
    /// Those who have the sandboxes, if this process has not.
    crew: Option<Crew>,
    /// Those of every sandbox.
    limits: Limits,
    sessions: Sessions,
    prepared: Prepared,
    metrics: Metrics,
    /// A permit for each request in work.
    admission: Arc<Semaphore>,
    /// Room for bodies.
    room: Arc<Semaphore>,
    request_timeout: Duration,
}

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// Anyone could execute commands.
    #[error("{0} is not loopback, and there is no key: name one with --api-key-file or ISOPOD_API_KEY")]
    NoKey(SocketAddr),
    /// The address cannot be had.
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, io::Error),
    /// The sandboxes cannot be had.
    #[error(transparent)]
    Provider(#[from] ProviderError),
    /// Each sandbox is to have a process, and there is nobody to start it.
    #[error("sandboxes are to be in processes of their own, and there is no spawner")]
    NoSpawner,
}

impl Settings {
    /// How long a request may take where sandboxes have these limits.
    fn time(&self, limits: &Limits) -> Duration {
        self.request_timeout.unwrap_or_else(|| limits.wall.max(limits.wall_max).saturating_add(MARGIN))
    }

    /// Starts a process that starts workers for a server of these settings: `program` calls
    /// [`worker::spawner`](crate::worker::spawner) with the first arguments, and [`work`] with the second. For `main`, before
    /// the wall is raised and before there are threads.
    pub fn spawner<A: AsRef<OsStr>>(
        &self,
        config: &Config,
        walls: Walls,
        program: impl AsRef<Path>,
        arguments: impl IntoIterator<Item = A>,
        of_worker: impl IntoIterator<Item = A>,
    ) -> io::Result<Spawner> {
        let config = leasing(config.clone().made_absolute());
        let task = isolate::Task { request_timeout: self.time(&config.limits), max_body: self.max_body, config };
        Spawner::start(program, arguments, of_worker, walls, &task)
    }
}

/// With leases that end by themselves.
fn leasing(mut config: Config) -> Config {
    config.lease_timeout = config.lease_timeout.or(Some(LEASE_TIME));
    config
}

impl Shared {
    fn new(settings: Settings, provider: Provider, limits: Limits, crew: Option<Crew>) -> App {
        Arc::new(Shared {
            admission: Arc::new(Semaphore::new(settings.max_requests)),
            room: Arc::new(body::room()),
            sessions: Sessions::default(),
            prepared: Prepared::default(),
            metrics: Metrics::default(),
            request_timeout: settings.time(&limits),
            settings,
            provider,
            crew,
            limits,
        })
    }

    /// What this process holds.
    fn census(&self) -> Census {
        let (leased, warm) = self.provider.count();
        Census { leased, warm, sessions: self.sessions.count() }
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

    /// As `bind`, with each sandbox in a process of its own that a [`Settings::spawner`] starts.
    pub async fn bind_isolated(settings: Settings, config: Config, spawner: Spawner) -> Result<Server, ServeError> {
        Server::open(settings, config, Some(spawner)).await
    }

    async fn open(settings: Settings, config: Config, spawner: Option<Spawner>) -> Result<Server, ServeError> {
        if settings.key.is_none() && !settings.listen.ip().is_loopback() {
            return Err(ServeError::NoKey(settings.listen));
        }
        let config = leasing(config);
        let limits = config.limits.clone();
        let crew = spawner.map(|spawner| Crew::new(spawner, config.max_count, config.idle_timeout));
        let mut builder = Provider::builder(config);
        if crew.is_some() {
            // It runs nothing here.
            builder = builder.runtime(Runtime::on_demand().map_err(BuildError::from).map_err(ProviderError::from)?);
        }
        let provider = builder.open()?;
        let listener = TcpListener::bind(settings.listen).await;
        let listener = listener.map_err(|error| ServeError::Listen(settings.listen, error))?;
        Ok(Server { listener, app: Shared::new(settings, provider, limits, crew) })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers until `stop` is there for the first time, and what is in work then until `stop` is there again or the grace
    /// is over. Answers how many connections were cut off.
    pub async fn run<F: Future<Output = ()>>(self, stop: impl FnMut() -> F) -> usize {
        let Server { listener, app } = self;
        let tend = tokio::spawn(tend(app.clone()));
        let cut_off = listener::serve(listener, openapi::router(app.clone()), app.settings.grace, stop).await;
        tend.abort();
        app.sessions.close_all().await;
        if let Some(crew) = &app.crew {
            crew.dismiss_all().await;
        }
        app.provider.shutdown().await;
        cut_off
    }
}

impl Service {
    /// Opens the root of the sandboxes. Where the settings would listen means nothing here, and neither does their grace.
    ///
    /// # Panics
    /// Outside a tokio runtime, or in one without timers.
    pub fn open(settings: Settings, config: Config) -> Result<Service, ServeError> {
        if config.isolate != Isolation::None {
            return Err(ServeError::NoSpawner);
        }
        let config = leasing(config);
        let limits = config.limits.clone();
        let app = Shared::new(settings, Provider::open(config)?, limits, None);
        Ok(Service { router: openapi::router(app.clone()), app })
    }

    /// Answers what comes on a connection until it ends.
    pub async fn serve(&self, connection: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        // A client that went away, or that spoke something else: there is nobody to tell.
        let _ = listener::serve_on(connection, self.router.clone()).await;
    }

    /// Puts sandboxes and sessions to rest that nobody uses, for ever: for a task of its own.
    pub async fn tend(&self) {
        tend(self.app.clone()).await;
    }
}

/// The description of the interface, as `/openapi.json` has it.
pub fn description() -> String {
    openapi::description()
}

/// Puts sandboxes and sessions to rest that nobody uses.
async fn tend(app: App) {
    let workers = async {
        if let Some(crew) = &app.crew {
            crew.tend().await;
        }
    };
    tokio::join!(app.provider.tend(), app.sessions.tend(), workers);
}
