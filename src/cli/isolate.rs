//! `--isolate process`: the sandbox in a process of its own.

use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;
use isopod::backend::{ExecuteRequest, SandboxBackend};
use isopod::provider::Config;
use isopod::worker::{Walls, Worker};

use super::answer::{Answer, Failure, show};
use super::remote::{pass_on, report};
use super::{NO_SANDBOX, REFUSED, refuse, watch};

/// Where a sandbox lives, if it is not this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Isolate {
    /// A process of its own
    Process,
}

/// What the environment says, where an option says nothing.
#[cfg(feature = "mcp")]
#[allow(clippy::disallowed_methods, reason = "the caller's own settings")]
pub(super) fn from_environment() -> Result<Option<Isolate>, Failure> {
    match std::env::var("ISOPOD_ISOLATE").as_deref() {
        Ok("process") => Ok(Some(Isolate::Process)),
        Ok("none") | Err(std::env::VarError::NotPresent) => Ok(None),
        _ => Err(Failure::usage("ISOPOD_ISOLATE: expected none or process")),
    }
}

/// Looks whether the directories are there that workers will mount: who starts a server is to hear it, and not its clients.
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
    request: ExecuteRequest,
    as_json: bool,
    raw: bool,
) -> ExitCode {
    // What the command answers with 1 is the command's.
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
        let done = match as_json {
            false => pass_on(&worker, request, raw).await,
            true => worker.execute(request).await.map(|executed| {
                let answer = Answer { code: executed.exit_code(), ..Answer::new("", report(&executed)) };
                show(Ok(answer), true, false)
            }),
        };
        done.unwrap_or_else(|error| not_started(error.into()))
    })
    .await
}

/// How much later than a command's time is over its worker may say so.
const LATE: Duration = Duration::from_secs(1);

/// Is a worker, or what starts workers.
#[derive(clap::Args)]
pub(super) struct Work {
    #[cfg(any(feature = "http", feature = "mcp"))]
    role: Option<Role>,
}

/// Whose worker.
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
