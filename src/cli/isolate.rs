//! `--isolate process`: the sandbox in a process of its own.

use std::process::ExitCode;

use clap::ValueEnum;
use isopod::backend::{ExecuteRequest, SandboxBackend};
use isopod::provider::Config;
use isopod::worker::{Walls, Worker};

use super::answer::{Answer, Failure, show};
use super::remote::{pass_on, report};
use super::{NO_SANDBOX, refuse, watch};

/// Where a sandbox lives, if it is not this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Isolate {
    /// A process of its own
    Process,
}

/// Executes a command in a worker.
pub(super) async fn execute(
    config: Config,
    walls: Walls,
    request: ExecuteRequest,
    as_json: bool,
    raw: bool,
) -> ExitCode {
    let wall = config.limits.wall;
    let work = async {
        let program = std::env::current_exe().map_err(|error| Failure::refused(error.to_string()))?;
        let worker = Worker::start_behind(walls, program, ["worker"], &config).await?;
        Ok(match as_json {
            false => pass_on(&worker, request, raw).await?,
            true => {
                let executed = worker.execute(request).await?;
                let answer = Answer { code: executed.exit_code(), ..Answer::new("", report(&executed)) };
                show(Ok(answer), true, false)
            }
        })
    };
    watch(wall, async {
        // What the command answers with 1 is the command's.
        work.await.unwrap_or_else(|Failure { code, why }| refuse(if code == 1 { NO_SANDBOX } else { code }, why))
    })
    .await
}

/// Is a worker.
#[derive(clap::Args)]
pub(super) struct Work;

impl Work {
    pub(super) fn run(&self) -> ExitCode {
        isopod::worker::serve()
    }
}
