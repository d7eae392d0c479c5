//! `isopod sandbox exec`.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use isopod::Command;
use isopod::provider::{Config, SandboxId};
use isopod::wall::Wall;

use crate::cli::answer::{Answer, Failure, show};
use crate::cli::command::{self, StdinOptions, as_json};
use crate::cli::location::{RootOptions, open};
use crate::cli::wall::WallOption;
use crate::cli::{BROKEN_PIPE, NO_SANDBOX, REFUSED, block_on_host, refuse, values, watch};

/// Execute a command in a sandbox
///
/// One argument is a command line for the shell; several are a program and its arguments. The exit
/// code is the command's; 125 if it could not be executed, 124 if its time was over.
///
/// Examples:
///   isopod sandbox exec 1a2b3c4d -- 'ls | wc -l'
///   isopod sandbox exec 1a2b3c4d -- sort -n < numbers
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Exec {
    /// The sandbox
    id: SandboxId,

    /// Start in this directory of the sandbox [default: /workspace]
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,

    /// Set a variable. Repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = values::variable)]
    env: Vec<(String, String)>,

    /// Wall clock: seconds, or with ms, s, m, h. Exit code 124 when it is over [default: 30]
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    timeout: Option<Duration>,

    #[command(flatten)]
    stdin: StdinOptions,

    /// Bytes of output that --json keeps: head and tail [default: 100K]
    #[arg(long, value_name = "SIZE", value_parser = values::bytes, requires = "json")]
    output: Option<u64>,

    /// Do not escape control characters when the output goes to a terminal
    #[arg(long, conflicts_with = "json")]
    raw: bool,

    #[command(flatten)]
    walled: WallOption,

    /// The command
    #[arg(required = true, value_name = "COMMAND", last = true)]
    command: Vec<OsString>,
}

impl Exec {
    pub(super) fn run(&self, root: &RootOptions, json: bool) -> ExitCode {
        // The wall needs the configuration, and has to come before there are threads.
        let config = root.config().and_then(|config| {
            self.walled.raise(|| Wall::around(&config))?;
            Ok(config)
        });
        match config {
            Ok(config) => block_on_host(self.execute(config, json)),
            Err(failure) => not_started(failure),
        }
    }

    async fn execute(&self, config: Config, json: bool) -> ExitCode {
        let limits = config.limits.clone();
        let opened = self.command().and_then(|command| Ok((command, open(config)?)));
        let (command, provider) = match opened {
            Ok(opened) => opened,
            Err(failure) => return not_started(failure),
        };
        let lease = match provider.get_or_create(Some(self.id)).await {
            Ok(lease) => lease,
            Err(error) => return not_started(error.into()),
        };
        let wall = self.timeout.unwrap_or(limits.wall).min(limits.wall_max);
        let code = watch(wall, async {
            if json {
                return match command::execute(lease.as_ref(), command, self.stdin.open()).await {
                    Ok(output) => {
                        let code = output.exit_code;
                        show(Ok(Answer { code, ..Answer::new("", as_json(output)) }), true, false)
                    }
                    Err(error) => not_started(error.into()),
                };
            }
            match command::stream(lease.as_ref(), command, self.stdin.open()).await {
                Ok(stream) => ExitCode::from(command::print_output(stream, self.raw).await.unwrap_or(BROKEN_PIPE)),
                Err(error) => not_started(error.into()),
            }
        })
        .await;
        provider.shutdown().await;
        code
    }

    fn command(&self) -> Result<Command, Failure> {
        let mut command = command::command(&self.command)?;
        (command.timeout, command.cwd, command.output_limit) = (self.timeout, self.cwd.clone(), self.output);
        command.env.clone_from(&self.env);
        Ok(command)
    }
}

/// Refuses a command that did not start. Exit code 1 is left to the command.
fn not_started(failure: Failure) -> ExitCode {
    match failure.code {
        REFUSED => refuse(NO_SANDBOX, failure.why),
        code => refuse(code, failure.why),
    }
}
