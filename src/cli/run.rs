//! `isopod run`: one command in a sandbox of its own.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::Args;
use isopod::{BuildError, Command, Output, Sandbox};

use super::answer::Failure;
use super::command::{StdinOptions, as_json, code_of, command, print_output};
use super::isolate::{self, Isolate};
use super::overlay::{self, OverlayAction, OverlayOptions};
use super::settings::Settings;
use super::values;
use super::wall::WallOption;
use super::{BROKEN_PIPE, NO_SANDBOX, USAGE, block_on, block_on_host, escape, print, refuse, say, watch};

/// Run a command in a sandbox of its own
///
/// One argument is a command line for the shell; several are a program and its arguments.
///
/// Examples:
///   isopod run -- 'echo hello | tr a-z A-Z'
///   isopod run --dir .:ro -- 'cat *.md | wc -w'
///   isopod run --dir ./data:/data --timeout 5 -- sort -u /data/names.txt
///   isopod run --overlay . --diff -- 'rm -r docs; echo hello > README'
///   isopod run -- sort -n < numbers
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Run {
    #[command(flatten)]
    settings: Settings,

    #[command(flatten)]
    overlay: OverlayOptions,

    #[command(flatten)]
    walled: WallOption,

    /// Have the sandbox in a process of its own, behind a wall, which can crash without harm
    #[arg(long, value_name = "WHERE", value_enum, conflicts_with = "overlay")]
    isolate: Option<Isolate>,

    #[command(flatten)]
    stdin: StdinOptions,

    /// Print one JSON object at the end: exit code, output, limits hit, usage
    #[arg(long)]
    json: bool,

    /// Bytes of output that --json keeps [default: 100K]
    #[arg(long, value_name = "SIZE", value_parser = values::bytes, requires = "json")]
    output: Option<u64>,

    /// Do not escape control characters when the output goes to a terminal
    #[arg(long, conflicts_with = "json")]
    raw: bool,

    /// The command
    #[arg(required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Run {
    pub(super) fn run(self) -> ExitCode {
        if self.isolate.is_some() {
            return self.isolated();
        }
        // Before there are threads.
        if let Err(Failure { code, why }) =
            self.walled.raise(|| Ok(self.settings.wall(self.overlay.action() == OverlayAction::Commit)))
        {
            return refuse(code, why);
        }
        match self.settings.has_mounts() {
            true => block_on_host(self.execute()),
            false => block_on(self.execute()),
        }
    }

    fn isolated(self) -> ExitCode {
        let config = self.settings.config(self.output);
        match self.command() {
            Ok(command) => {
                let (walls, stdin) = (self.walled.of_worker(), self.stdin.open());
                block_on_host(isolate::execute(config, walls, command, stdin, self.json, self.raw))
            }
            Err(Failure { code, why }) => refuse(code, why),
        }
    }

    async fn execute(self) -> ExitCode {
        let command = match self.command() {
            Ok(command) => command,
            Err(Failure { code, why }) => return refuse(code, why),
        };
        let sandbox = match self.settings.sandbox(self.output) {
            Ok(sandbox) => sandbox,
            Err(error @ BuildError::Runtime(_)) => return refuse(NO_SANDBOX, error),
            Err(error) => return refuse(USAGE, error),
        };
        let work = async {
            if self.json {
                let output = match self.stdin.open() {
                    Some(stdin) => sandbox.execute_with_stdin(command, stdin).await,
                    None => sandbox.execute(command).await,
                };
                return output.map(|output| self.report(&sandbox, output));
            }
            let execution = match self.stdin.open() {
                Some(stdin) => sandbox.stream_with_stdin(command, stdin),
                None => sandbox.stream(command),
            };
            Ok(match print_output(Box::new(execution?), self.raw).await {
                Ok(exit_code) => finish_overlays(&sandbox, self.overlay.action(), self.raw, exit_code),
                Err(_) => ExitCode::from(BROKEN_PIPE),
            })
        };
        let work = async { work.await.unwrap_or_else(|error| refuse(code_of(&error), error)) };
        watch(sandbox.limits().wall, work).await
    }

    fn command(&self) -> Result<Command, Failure> {
        let mut command = command(&self.command)?;
        // A sandbox of this process has it as its default; a worker does not.
        command.cwd = self.isolate.and(self.settings.cwd()).map(str::to_owned);
        Ok(command)
    }

    /// Prints the result of a command as one JSON object, with the changes of overlays.
    fn report(&self, sandbox: &Sandbox, output: Output) -> ExitCode {
        let exit_code = output.exit_code;
        let mut report = as_json(output);
        if self.settings.has_overlays() {
            match overlay::finish(sandbox, self.overlay.action(), exit_code) {
                Ok(overlays) => report["overlays"] = overlays.json,
                Err(why) => return refuse(NO_SANDBOX, why),
            }
        }
        print(format!("{}\n", escape::json_for_terminal(&report.to_string())), exit_code)
    }
}

/// Shows, writes or discards the changes of overlays at the end.
pub(super) fn finish_overlays(sandbox: &Sandbox, action: OverlayAction, raw: bool, exit_code: u8) -> ExitCode {
    match overlay::finish(sandbox, action, exit_code) {
        Ok(report) => {
            report.notes.iter().for_each(say);
            let is_plain = raw || !io::stdout().is_terminal();
            print(if is_plain { report.text } else { escape::for_terminal(&report.text) }, exit_code)
        }
        Err(why) => refuse(NO_SANDBOX, why),
    }
}
