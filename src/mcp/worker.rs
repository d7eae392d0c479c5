//! `--isolate process`: a session in a process of its own.
//!
//! A worker is the same server for one client, so all tools work in it, and a crash ends one session.

use std::ffi::OsStr;
use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::net::UnixStream;
use tokio_util::sync::CancellationToken;

use super::endpoint::{Endpoint, HttpSettings, serve_connection};
use super::session::SessionTemplate;
use super::stdio::serve_stdio;
use crate::provider::{Config, HostAccess};
use crate::runtime::Runtime;
use crate::wall::Wall;
use crate::worker::{Spawner, Walls, connections};

/// The settings of sessions in worker processes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct WorkerSettings {
    /// Limits, mounts, variables, programs. Its root is not used.
    pub config: Config,
    /// The directory in which commands start, instead of `/workspace`.
    pub cwd: Option<String>,
    /// Offers the tool that writes the changes of overlays to the host.
    pub commit: bool,
}

/// The task of a worker.
#[derive(Serialize, Deserialize)]
struct WorkerTask {
    settings: WorkerSettings,
    /// Settings of the protocol over HTTP. `None` for one client over stdio.
    http: Option<HttpTask>,
}

/// The settings that the protocol over HTTP needs.
#[derive(Serialize, Deserialize)]
struct HttpTask {
    address: IpAddr,
    allow_origins: Vec<String>,
    idle: Duration,
}

impl WorkerSettings {
    /// Makes settings of a configuration, without `commit`.
    pub fn new(config: Config) -> WorkerSettings {
        WorkerSettings { config, cwd: None, commit: false }
    }

    /// Starts the process that starts workers, for clients over HTTP at this address or for one client over stdio.
    /// `program` calls [`worker::spawner`](crate::worker::spawner) when it is started with `arguments`, and [`work`]
    /// when it is started with `of_worker`. `main` calls this before it raises the wall and before it starts any
    /// thread.
    pub fn spawner<A: AsRef<OsStr>>(
        &self,
        http: Option<(IpAddr, &HttpSettings)>,
        walls: Walls,
        program: impl AsRef<Path>,
        arguments: impl IntoIterator<Item = A>,
        of_worker: impl IntoIterator<Item = A>,
    ) -> io::Result<Spawner> {
        let mut settings = self.clone();
        settings.config = settings.config.made_absolute();
        let web = |(address, settings): (IpAddr, &HttpSettings)| HttpTask {
            address,
            allow_origins: settings.allow_origins.clone(),
            idle: settings.idle,
        };
        Spawner::start(program, arguments, of_worker, walls, &WorkerTask { settings, http: http.map(web) })
    }

    fn template(self) -> Result<Arc<SessionTemplate>, String> {
        let WorkerSettings { config, cwd, commit } = self;
        // One sandbox at a time is in use, so the pool needs one slot for each process of it.
        let runtime = Runtime::pooling(config.limits.processes).map_err(|error| error.to_string())?;
        let mut builder = config.builder(false).runtime(runtime);
        if !config.mounts.iter().any(|mount| mount.guest.trim_end_matches('/') == "/workspace") {
            builder = builder.mount_tracked("/workspace");
        }
        if let Some(cwd) = cwd {
            builder = builder.cwd(cwd);
        }
        let sandbox = builder.build().map_err(|error| error.to_string())?;
        Ok(Arc::new(SessionTemplate::new(&sandbox, commit)))
    }

    /// Returns the wall of one session. A commit writes to the directories of overlays.
    fn wall(&self) -> Wall {
        let overlays = self.config.mounts.iter().filter(|mount| self.commit && mount.access == HostAccess::Overlay);
        overlays.fold(Wall::within(&self.config), |wall, mount| wall.read_write(&mount.host))
    }
}

/// The protocol between a worker and its client.
#[derive(Clone)]
enum Protocol {
    Stdio(Arc<SessionTemplate>),
    Http(Arc<Endpoint>),
}

/// Runs a worker of `isopod mcp`. `main` calls this before it starts any thread.
pub fn work() -> ExitCode {
    let open = |WorkerTask { settings, http }: WorkerTask| {
        let template = settings.template()?;
        Ok(match http {
            None => Protocol::Stdio(template),
            Some(HttpTask { address, allow_origins, idle }) => {
                let mut settings = HttpSettings::default();
                (settings.allow_origins, settings.idle, settings.sessions) = (allow_origins, idle, 1);
                Protocol::Http(Arc::new(Endpoint::new(template, settings, address, CancellationToken::new())))
            }
        })
    };
    let serve = |protocol, stream: UnixStream| async move {
        match protocol {
            Protocol::Http(endpoint) => serve_connection(stream, endpoint).await,
            Protocol::Stdio(template) => {
                let (input, output) = stream.into_split();
                // The relay at the other end of the socket reports errors to the client.
                let _ = serve_stdio(template, input, output).await;
            }
        }
    };
    connections::serve(|task: &WorkerTask| Ok(task.settings.wall()), open, serve)
}
