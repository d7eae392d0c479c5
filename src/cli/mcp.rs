//! `isopod mcp`: the sandbox as a server of the Model Context Protocol.

use std::io::{self, IsTerminal};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use isopod::BuildError;
use isopod::mcp::{
    HttpSettings, SessionTemplate, WorkerSettings, serve_http, serve_http_isolated, serve_stdio, serve_stdio_isolated,
};
use isopod::wall::Wall;
use isopod::worker::Spawner;
use tokio::signal::unix::{SignalKind, signal};

use super::answer::Failure;
use super::isolate::{self, Isolate};
use super::settings::Settings;
use super::wall::ServerWallOption;
use super::{NO_SANDBOX, block_on_server, refuse, say, values};

/// Serve a sandbox to an agent, by the Model Context Protocol
///
/// Over standard input and output for the program that started it, or with --http for several.
/// Each session has a sandbox of its own, with a shell that lives as long as the session.
///
/// Examples:
///   isopod mcp --dir .
///   isopod mcp --overlay . --commit
///   isopod mcp --http 127.0.0.1:8000 --dir ./data:/data:ro
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Mcp {
    #[command(flatten)]
    settings: Settings,

    /// Offer a tool that writes the changes to --overlay directories
    #[arg(long, requires = "overlay")]
    commit: bool,

    /// Serve http://ADDRESS/mcp instead. Without --api-key-file only on loopback addresses
    #[arg(long, value_name = "ADDRESS:PORT")]
    http: Option<SocketAddr>,

    /// Only for clients that send the key in this file, as `Authorization: Bearer KEY`
    #[arg(long, value_name = "FILE", requires = "http")]
    api_key_file: Option<PathBuf>,

    /// Let pages of this origin connect from a browser, such as http://localhost:6274. Repeatable
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    allow_origin: Vec<String>,

    /// Sessions at a time [default: 16]
    #[arg(long, value_name = "N", requires = "http", value_parser = clap::value_parser!(u16).range(1..))]
    sessions: Option<u16>,

    /// End a session without a message for this time [default: 10m]
    #[arg(long, value_name = "TIME", requires = "http", value_parser = values::time)]
    idle: Option<Duration>,

    /// Run each session in a process of its own: a crash ends one [default: $ISOPOD_ISOLATE]
    #[arg(long, value_name = "process")]
    isolate: Option<Isolate>,

    #[command(flatten)]
    guarded: ServerWallOption,
}

/// The resources that are open before the first client is served.
struct Opened {
    runner: SessionRunner,
    http: Option<(TcpListener, HttpSettings)>,
}

/// Runs the sessions of clients, in this process or in workers.
enum SessionRunner {
    InProcess(Arc<SessionTemplate>),
    Isolated(Spawner),
}

impl Mcp {
    pub(super) fn run(self) -> ExitCode {
        match self.open() {
            Ok(opened) => block_on_server(serve(opened)),
            Err(Failure { code, why }) => refuse(code, why),
        }
    }

    /// Opens the key and the socket, raises the wall, and then opens the directories, because the sandbox has threads of its
    /// own. Nothing of the host is opened by its name after this.
    fn open(&self) -> Result<Opened, Failure> {
        let http = self.http.map(|address| self.listen(address)).transpose()?;
        if self.isolate.map_or_else(isolate::from_environment, |isolate| Ok(Some(isolate)))?.is_some() {
            let spawner = self.spawner(http.as_ref())?;
            // Everything else that the server needs is open.
            self.guarded.raise(|| Ok(Wall::new()))?;
            return Ok(Opened { runner: SessionRunner::Isolated(spawner), http });
        }
        self.guarded.raise(|| Ok(self.settings.wall(self.commit)))?;
        let mut builder = self.settings.builder(None);
        if !self.settings.mounts_at("/workspace") {
            builder = builder.mount_tracked("/workspace");
        }
        let sandbox = builder.build().map_err(|error| match error {
            BuildError::Runtime(_) => Failure { code: NO_SANDBOX, why: error.to_string() },
            _ => Failure::usage(error.to_string()),
        })?;
        Ok(Opened { runner: SessionRunner::InProcess(Arc::new(SessionTemplate::new(&sandbox, self.commit))), http })
    }

    /// Starts the process that starts workers: behind its wall this process can start nothing.
    fn spawner(&self, http: Option<&(TcpListener, HttpSettings)>) -> Result<Spawner, Failure> {
        let no_process = |error: io::Error| Failure { code: NO_SANDBOX, why: format!("no worker: {error}") };
        let mut worker = WorkerSettings::new(self.settings.config(None));
        isolate::check(&worker.config)?;
        (worker.cwd, worker.commit) = (self.settings.cwd().map(str::to_owned), self.commit);
        let http = match http {
            Some((listener, settings)) => Some((listener.local_addr().map_err(no_process)?.ip(), settings)),
            None => None,
        };
        let program = std::env::current_exe().map_err(no_process)?;
        let walls = self.guarded.of_workers();
        worker.spawner(http, walls, program, ["worker", "spawner"], ["worker", "mcp"]).map_err(no_process)
    }

    fn listen(&self, address: SocketAddr) -> Result<(TcpListener, HttpSettings), Failure> {
        if self.api_key_file.is_none() && !address.ip().is_loopback() {
            return Err(Failure::usage(format!("{address}: others can reach this address; --api-key-file is needed")));
        }
        let mut settings = HttpSettings::default();
        settings.api_key = self.api_key_file.as_deref().map(read_key).transpose()?;
        settings.allow_origins = self.allow_origin.clone();
        settings.sessions = self.sessions.map_or(settings.sessions, usize::from);
        settings.idle = self.idle.unwrap_or(settings.idle);
        let listener = TcpListener::bind(address).map_err(|error| Failure::usage(format!("{address}: {error}")))?;
        Ok((listener, settings))
    }
}

async fn serve(Opened { runner, http }: Opened) -> ExitCode {
    let signals = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
    let (Ok(mut interrupt), Ok(mut terminate)) = signals else {
        return refuse(NO_SANDBOX, "cannot listen for signals");
    };
    let stop = async {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    };
    let served = match http {
        Some((listener, settings)) => {
            if let Ok(address) = listener.local_addr() {
                say(format_args!("serving http://{address}/mcp"));
            }
            match runner {
                SessionRunner::InProcess(origin) => serve_http(origin, listener, settings, stop).await,
                SessionRunner::Isolated(spawner) => serve_http_isolated(spawner, listener, settings, stop).await,
            }
        }
        None => {
            if io::stdin().is_terminal() {
                say("waiting for an MCP client on standard input; docs/mcp.md has what to put into its configuration");
            }
            let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
            let served = async {
                match runner {
                    SessionRunner::InProcess(origin) => serve_stdio(origin, input, output).await,
                    SessionRunner::Isolated(spawner) => serve_stdio_isolated(spawner, input, output).await,
                }
            };
            tokio::select! {
                served = served => served,
                () = stop => Ok(()),
            }
        }
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => refuse(NO_SANDBOX, error),
    }
}

#[allow(clippy::disallowed_methods, reason = "the caller names a file of their own")]
fn read_key(file: &Path) -> Result<String, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| Failure::usage(format!("{}: {error}", file.display())))?;
    match text.trim() {
        "" => Err(Failure::usage(format!("{}: holds no key", file.display()))),
        key => Ok(key.to_owned()),
    }
}
