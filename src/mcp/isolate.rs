//! `--isolate process`: a seat in a process of its own. Such a worker is the very server that it stands behind, for one
//! client: so all tools work, and a crash takes down one seat.

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

use super::http::{Front, HttpSettings, talk};
use super::seat::Origin;
use super::stdio::serve_stdio;
use crate::provider::{Config, HostAccess};
use crate::runtime::Runtime;
use crate::wall::Wall;
use crate::worker::{Spawner, Walls, connections};

/// What seats in processes of their own are made of.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Isolated {
    /// Limits, mounts, variables, programs. The root of it means nothing here.
    pub config: Config,
    /// Where commands start, instead of `/workspace`.
    pub cwd: Option<String>,
    /// Whether there is a tool that writes the changes of overlays to the host.
    pub commit: bool,
}

/// What a worker is told.
#[derive(Serialize, Deserialize)]
struct Task {
    seat: Isolated,
    /// Who may connect over HTTP; else it is one client over stdio.
    http: Option<Web>,
}

/// What of the settings is for the protocol to look at.
#[derive(Serialize, Deserialize)]
struct Web {
    address: IpAddr,
    allow_origins: Vec<String>,
    idle: Duration,
}

impl Isolated {
    /// A seat of this configuration.
    pub fn new(config: Config) -> Isolated {
        Isolated { config, cwd: None, commit: false }
    }

    /// Starts a process that starts workers, for clients over HTTP at this address or for one over stdio: `program` calls
    /// [`worker::spawner`](crate::worker::spawner) with the first arguments, and [`work`] with the second. For `main`, before
    /// the wall is raised and before there are threads.
    pub fn spawner<A: AsRef<OsStr>>(
        &self,
        http: Option<(IpAddr, &HttpSettings)>,
        walls: Walls,
        program: impl AsRef<Path>,
        arguments: impl IntoIterator<Item = A>,
        of_worker: impl IntoIterator<Item = A>,
    ) -> io::Result<Spawner> {
        let mut seat = self.clone();
        seat.config = seat.config.made_absolute();
        let web = |(address, settings): (IpAddr, &HttpSettings)| Web {
            address,
            allow_origins: settings.allow_origins.clone(),
            idle: settings.idle,
        };
        Spawner::start(program, arguments, of_worker, walls, &Task { seat, http: http.map(web) })
    }

    fn origin(self) -> Result<Arc<Origin>, String> {
        let Isolated { config, cwd, commit } = self;
        // As many slots as there can be processes, for the sandbox that is in use.
        let runtime = Runtime::pooling(config.limits.processes).map_err(|error| error.to_string())?;
        let mut builder = config.builder(false).runtime(runtime);
        if !config.mounts.iter().any(|mount| mount.guest.trim_end_matches('/') == "/workspace") {
            builder = builder.mount_tracked("/workspace");
        }
        if let Some(cwd) = cwd {
            builder = builder.cwd(cwd);
        }
        let sandbox = builder.build().map_err(|error| error.to_string())?;
        Ok(Arc::new(Origin::new(&sandbox, commit)))
    }

    /// What one seat needs: what is committed to an overlay is written.
    fn wall(&self) -> Wall {
        let overlays = self.config.mounts.iter().filter(|mount| self.commit && mount.access == HostAccess::Overlay);
        overlays.fold(Wall::within(&self.config), |wall, mount| wall.read_write(&mount.host))
    }
}

/// Where a worker's client sits.
#[derive(Clone)]
enum Table {
    Stdio(Arc<Origin>),
    Http(Arc<Front>),
}

/// Is a worker of `isopod mcp`. For `main`, before it starts any thread.
pub fn work() -> ExitCode {
    let open = |Task { seat, http }: Task| {
        let origin = seat.origin()?;
        Ok(match http {
            None => Table::Stdio(origin),
            Some(Web { address, allow_origins, idle }) => {
                let mut settings = HttpSettings::default();
                (settings.allow_origins, settings.idle, settings.sessions) = (allow_origins, idle, 1);
                Table::Http(Arc::new(Front::new(origin, settings, address, CancellationToken::new())))
            }
        })
    };
    let talk = |table, stream: UnixStream| async move {
        match table {
            Table::Http(front) => talk(stream, front).await,
            Table::Stdio(origin) => {
                let (input, output) = stream.into_split();
                // How it ended is the client's affair, who is at the other end.
                let _ = serve_stdio(origin, input, output).await;
            }
        }
    };
    connections::serve(|task: &Task| Ok(task.seat.wall()), open, talk)
}
