//! `isopod sandbox exec`.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use isopod::backend::{ExecuteRequest, SandboxBackend};
use isopod::provider::{Config, SandboxId};
use isopod::wall::Wall;

use crate::cli::answer::{Answer, Failure, show};
use crate::cli::place::{Place, open};
use crate::cli::remote::{line, pass_on, report};
use crate::cli::wall::Walled;
use crate::cli::{NO_SANDBOX, REFUSED, block_on_host, read_input, refuse, values, watch};

/// Execute a command in a sandbox
///
/// One argument is a command line for the shell; several are a program and its arguments. The exit
/// code is the command's; 125 if it could not be executed, 124 if its time was over.
///
/// Examples:
///   isopod sandbox exec 1a2b3c4d -- 'ls | wc -l'
///   isopod sandbox exec 1a2b3c4d --stdin -- sort -n < numbers
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

    /// Read this program's standard input to its end and hand it to the command
    #[arg(long)]
    stdin: bool,

    /// Bytes of output that --json keeps: head and tail [default: 100K]
    #[arg(long, value_name = "SIZE", value_parser = values::bytes, requires = "json")]
    output: Option<u64>,

    /// Do not escape control characters when the output goes to a terminal
    #[arg(long, conflicts_with = "json")]
    raw: bool,

    #[command(flatten)]
    walled: Walled,

    /// The command
    #[arg(required = true, value_name = "COMMAND", last = true)]
    command: Vec<OsString>,
}

impl Exec {
    pub(super) fn run(&self, place: &Place, as_json: bool) -> ExitCode {
        // The wall comes when the configuration is read, and before there are threads.
        let config = place.config().and_then(|config| {
            self.walled.raise(|| Wall::around(&config))?;
            Ok(config)
        });
        match config {
            Ok(config) => block_on_host(self.execute(config, as_json)),
            Err(failure) => not_started(failure),
        }
    }

    async fn execute(&self, config: Config, as_json: bool) -> ExitCode {
        let limits = config.limits.clone();
        let opened = self.request(limits.file).and_then(|request| Ok((request, open(config)?)));
        let (request, provider) = match opened {
            Ok(opened) => opened,
            Err(failure) => return not_started(failure),
        };
        let lease = match provider.get_or_create(Some(self.id)).await {
            Ok(lease) => lease,
            Err(error) => return not_started(error.into()),
        };
        let wall = self.timeout.unwrap_or(limits.wall).min(limits.wall_max);
        let code = watch(wall, async {
            let done = match as_json {
                true => lease.execute(request).await.map(|executed| {
                    let code = executed.exit_code();
                    show(Ok(Answer { code, ..Answer::new("", report(&executed)) }), true, false)
                }),
                false => pass_on(lease.as_ref(), request, self.raw).await,
            };
            done.unwrap_or_else(|error| not_started(error.into()))
        })
        .await;
        provider.shutdown().await;
        code
    }

    fn request(&self, most: u64) -> Result<ExecuteRequest, Failure> {
        let mut request = ExecuteRequest::new(line(&self.command)?);
        (request.timeout, request.cwd, request.output) = (self.timeout, self.cwd.clone(), self.output);
        request.env.clone_from(&self.env);
        if self.stdin {
            request.stdin = read_input(most)?.into();
        }
        Ok(request)
    }
}

/// What the command answers with 1 is the command's.
fn not_started(failure: Failure) -> ExitCode {
    match failure.code {
        REFUSED => refuse(NO_SANDBOX, failure.why),
        code => refuse(code, failure.why),
    }
}
