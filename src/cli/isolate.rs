//! `--isolate process`: the sandbox in a process of its own.

use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;
use isopod::Command;
use isopod::provider::Config;
use isopod::worker::{Walls, Worker};

use super::answer::{Answer, Failure, show};
use super::command::{self, as_json};
use super::host_stdin::HostStdin;
use super::{BROKEN_PIPE, NO_SANDBOX, REFUSED, refuse, watch};

/// The place of a sandbox outside this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Isolate {
    /// A process of its own
    Process,
}

/// Reads the default of `--isolate` from the environment.
#[cfg(feature = "mcp")]
#[allow(clippy::disallowed_methods, reason = "the caller's own settings")]
pub(super) fn from_environment() -> Result<Option<Isolate>, Failure> {
    match std::env::var("ISOPOD_ISOLATE").as_deref() {
        Ok("process") => Ok(Some(Isolate::Process)),
        Ok("none") | Err(std::env::VarError::NotPresent) => Ok(None),
        _ => Err(Failure::usage("ISOPOD_ISOLATE: expected none or process")),
    }
}

/// Checks that the directories exist that workers will mount, so that a mistake shows at the start of a server and not in its
/// first request.
#[cfg(any(feature = "http", feature = "mcp"))]
#[allow(clippy::disallowed_methods, reason = "the caller names the directories")]
pub(super) fn check(config: &Config) -> Result<(), Failure> {
    for mount in &config.mounts {
        let found = std::fs::metadata(&mount.host);
        found.map_err(|error| Failure::usage(format!("{}: {error}", mount.host.display())))?;
    }
    Ok(())
}

/// Executes a command in a worker.
pub(super) async fn execute(
    config: Config,
    walls: Walls,
    command: Command,
    stdin: Option<HostStdin>,
    json: bool,
    raw: bool,
) -> ExitCode {
    // Exit code 1 is left to the command.
    let not_started = |Failure { code, why }| refuse(if code == REFUSED { NO_SANDBOX } else { code }, why);
    let program = std::env::current_exe().map_err(|error| Failure::refused(error.to_string()));
    let worker = match program {
        Ok(program) => Worker::start_behind(walls, program, ["worker"], &config).await.map_err(Failure::from),
        Err(failure) => Err(failure),
    };
    let worker = match worker {
        Ok(worker) => worker,
        Err(failure) => return not_started(failure),
    };
    // The worker keeps the command's time.
    watch(config.limits.wall.saturating_add(LATE), async {
        if json {
            return match command::execute(&worker, command, stdin).await {
                Ok(output) => {
                    let answer = Answer { code: output.exit_code, ..Answer::new("", as_json(output)) };
                    show(Ok(answer), true, false)
                }
                Err(error) => not_started(error.into()),
            };
        }
        match command::stream(&worker, command, stdin).await {
            Ok(stream) => ExitCode::from(command::print_output(stream, raw).await.unwrap_or(BROKEN_PIPE)),
            Err(error) => not_started(error.into()),
        }
    })
    .await
}

/// The delay after a command's deadline within which its worker reports the end.
const LATE: Duration = Duration::from_secs(1);

/// Run a worker, or the process that starts workers
#[derive(clap::Args)]
pub(super) struct Work {
    #[cfg(any(feature = "http", feature = "mcp"))]
    role: Option<Role>,
}

/// The server that a worker belongs to.
#[cfg(any(feature = "http", feature = "mcp"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Role {
    #[cfg(feature = "http")]
    Http,
    #[cfg(feature = "mcp")]
    Mcp,
    Spawner,
}

impl Work {
    pub(super) fn run(&self) -> ExitCode {
        #[cfg(any(feature = "http", feature = "mcp"))]
        if let Some(role) = self.role {
            return match role {
                #[cfg(feature = "http")]
                Role::Http => isopod::http::work(),
                #[cfg(feature = "mcp")]
                Role::Mcp => isopod::mcp::work(),
                Role::Spawner => isopod::worker::spawner(),
            };
        }
        isopod::worker::serve()
    }
}
