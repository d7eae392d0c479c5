//! `isopod serve`: sandboxes over HTTP.

use std::io::Read;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, ValueEnum};
use isopod::http::{Key, ServeError, Server, Settings as HttpSettings};
use isopod::provider::{Config, Isolation};
use isopod::wall::Wall;
use isopod::worker::Spawner;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::filter::LevelFilter;

use super::answer::Failure;
use super::isolate::{self, Isolate};
use super::location::RootOptions;
use super::settings::Settings;
use super::values;
use super::wall::ServerWallOption;
use super::{NO_SANDBOX, USAGE, block_on_host, print, refuse, say};

/// Bytes of a file with a key.
const KEY_BYTES: u64 = 4096;

/// Serve sandboxes over HTTP
///
/// REST with OpenAPI at /openapi.json, and the routes that DeerFlow speaks. Without a key it is
/// for this machine only. SIGTERM and Ctrl-C end it: requests in progress have some time to finish.
///
/// Examples:
///   isopod serve
///   isopod serve --root ./sandboxes --dir ./skills:/mnt/skills:ro
///   isopod serve --listen 0.0.0.0:7070 --api-key-file key
///   curl -d '{}' -H 'Content-Type: application/json' http://127.0.0.1:7070/v1/sandboxes
#[derive(Args)]
#[command(verbatim_doc_comment)]
// For one command, and refused here.
#[command(mut_args(|arg| match arg.get_id().as_str() { "diff" | "commit" | "cwd" => arg.hide(true), _ => arg }))]
pub(super) struct Serve {
    /// Listen on this address; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7070")]
    listen: SocketAddr,

    /// A file with the key that requests have to show; else $ISOPOD_API_KEY
    #[arg(long, value_name = "FILE")]
    api_key_file: Option<PathBuf>,

    /// The address by which others reach it, such as https://sandbox.example.com
    #[arg(long, value_name = "URL", value_parser = public_url)]
    public_url: Option<String>,

    /// Requests in progress at the same time
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = requests)]
    max_requests: usize,

    /// Bytes of a body of JSON
    #[arg(long, value_name = "SIZE", default_value = "16M", value_parser = values::bytes)]
    max_body: u64,

    /// Time for a request [default: the longest command and 30 s]
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    request_timeout: Option<Duration>,

    /// Time for requests in progress at the end
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = values::time)]
    grace: Duration,

    /// Run each sandbox in a process of its own: a crash ends one [default: $ISOPOD_ISOLATE]
    #[arg(long, value_name = "process")]
    isolate: Option<Isolate>,

    /// The log, on standard error
    #[arg(long, value_name = "FORM", default_value = "text")]
    log: Log,

    #[command(flatten)]
    guarded: ServerWallOption,

    #[command(flatten)]
    place: RootOptions,

    #[command(flatten)]
    settings: Settings,
}

/// The form of the log.
#[derive(Clone, Copy, ValueEnum)]
enum Log {
    /// A line an event
    Text,
    /// A JSON object an event
    Json,
    /// Nothing
    Off,
}

impl Serve {
    pub(super) fn run(self) -> ExitCode {
        match self.prepare() {
            Ok((settings, config, spawner)) => {
                self.start_log();
                block_on_host(serve(settings, config, spawner))
            }
            Err(Failure { code, why }) => refuse(code, why),
        }
    }

    /// Reads the configuration and the key, and raises the wall before there are threads.
    fn prepare(&self) -> Result<(HttpSettings, Config, Option<Spawner>), Failure> {
        let (mut config, settings) = (self.config()?, self.http_settings()?);
        if self.isolate.is_some() {
            config.isolate = Isolation::Process;
        }
        let spawner = match config.isolate {
            Isolation::None => None,
            Isolation::Process => Some(self.spawner(&settings, &config)?),
        };
        self.guarded.raise(|| {
            let wall = match spawner {
                None => Wall::around(&config)?,
                // The workers open the mounted directories.
                Some(_) => Wall::around(&Config::new(&config.root))?,
            };
            Ok(wall.bind(settings.listen.port()))
        })?;
        Ok((settings, config, spawner))
    }

    /// Starts the process that starts workers: behind its wall this process can start nothing.
    fn spawner(&self, settings: &HttpSettings, config: &Config) -> Result<Spawner, Failure> {
        let no_process = |error: std::io::Error| Failure { code: NO_SANDBOX, why: format!("no worker: {error}") };
        isolate::check(config)?;
        let program = std::env::current_exe().map_err(no_process)?;
        let walls = self.guarded.of_workers();
        settings.spawner(config, walls, program, ["worker", "spawner"], ["worker", "http"]).map_err(no_process)
    }

    /// Returns the configuration of every sandbox. It names all directories of the host that the server needs: the root, and
    /// the mounted ones.
    fn config(&self) -> Result<Config, Failure> {
        self.settings.over(self.place.config()?).map_err(Failure::usage)
    }

    fn http_settings(&self) -> Result<HttpSettings, Failure> {
        let mut settings = HttpSettings::default();
        settings.listen = self.listen;
        settings.key = self.key()?;
        settings.public_url.clone_from(&self.public_url);
        (settings.max_requests, settings.max_body) = (self.max_requests, self.max_body);
        (settings.request_timeout, settings.grace) = (self.request_timeout, self.grace);
        Ok(settings)
    }

    #[allow(clippy::disallowed_methods, reason = "the caller names the file and the variable with the key")]
    fn key(&self) -> Result<Option<Key>, Failure> {
        let (name, text) = match &self.api_key_file {
            Some(file) => {
                let name = file.display().to_string();
                let mut text = String::new();
                let read = std::fs::File::open(file).and_then(|file| file.take(KEY_BYTES).read_to_string(&mut text));
                read.map_err(|error| Failure::usage(format!("{name}: {error}")))?;
                (name, text)
            }
            None => match std::env::var("ISOPOD_API_KEY") {
                Ok(text) => ("ISOPOD_API_KEY".to_owned(), text),
                Err(std::env::VarError::NotPresent) => return Ok(None),
                Err(error) => return Err(Failure::usage(format!("ISOPOD_API_KEY: {error}"))),
            },
        };
        Key::new(&text).map(Some).map_err(|why| Failure::usage(format!("{name}: {why}")))
    }

    fn start_log(&self) {
        let log = tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(LevelFilter::INFO);
        match self.log {
            Log::Text => log.with_ansi(false).init(),
            Log::Json => log.json().flatten_event(true).init(),
            Log::Off => {}
        }
    }
}

async fn serve(settings: HttpSettings, config: Config, spawner: Option<Spawner>) -> ExitCode {
    let is_open = settings.key.is_none();
    // Before the first request, so that an early signal ends the server.
    let (mut terminate, mut interrupt) = match (signal(SignalKind::terminate()), signal(SignalKind::interrupt())) {
        (Ok(terminate), Ok(interrupt)) => (terminate, interrupt),
        (Err(error), _) | (_, Err(error)) => return refuse(NO_SANDBOX, error),
    };
    let bound = match spawner {
        Some(spawner) => Server::bind_isolated(settings, config, spawner).await,
        None => Server::bind(settings, config).await,
    };
    let server = match bound {
        Ok(server) => server,
        Err(error @ ServeError::NoKey(_)) => return refuse(USAGE, error),
        Err(error) => return refuse(NO_SANDBOX, error),
    };
    let address = match server.address() {
        Ok(address) => address,
        Err(error) => return refuse(NO_SANDBOX, error),
    };
    if is_open {
        say("there is no key: only this machine is answered");
    }
    // From here on the server needs its socket, its root and its mounts, and nothing else.
    print(format!("listening on http://{address}\n"), 0);
    let told = tokio::sync::Notify::new();
    let signals = async {
        loop {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            told.notify_one();
        }
    };
    let cut_off = tokio::select! {
        cut_off = server.run(|| told.notified()) => cut_off,
        never = signals => never,
    };
    if cut_off > 0 {
        say(format!("{cut_off} connections were cut off"));
    }
    ExitCode::SUCCESS
}

fn requests(text: &str) -> Result<usize, String> {
    text.parse()
        .ok()
        .filter(|number| (1..=100_000).contains(number))
        .ok_or("expected a number from 1 to 100000".to_owned())
}

/// An address without a path, and without a slash at its end.
fn public_url(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    match rest.map(|host| host.strip_suffix('/').unwrap_or(host)) {
        Some(host)
            if !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_graphic() && !b"/?#@".contains(&byte)) =>
        {
            Ok(text.strip_suffix('/').unwrap_or(text).to_owned())
        }
        _ => Err("expected http://HOST[:PORT] or https://HOST[:PORT]".to_owned()),
    }
}
