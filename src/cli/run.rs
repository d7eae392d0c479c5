//! `isopod run`: one command in a sandbox of its own.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::Args;
use isopod::backend::ExecuteRequest;
use isopod::sandbox::Outcome;
use isopod::{BuildError, Command, Exceeded, ExecuteError, Execution, Output, Sandbox};
use serde_json::{Value, json};

use super::answer::Failure;
use super::isolate::{self, Isolate};
use super::outlet::Outlets;
use super::overlay::{self, AtEnd, Ending};
use super::remote;
use super::settings::Settings;
use super::values;
use super::wall::Walled;
use super::{BROKEN_PIPE, NO_SANDBOX, USAGE, block_on, block_on_host, escape, print, read_input, refuse, say, watch};

/// Run a command in a sandbox of its own
///
/// One argument is a command line for the shell; several are a program and its arguments.
///
/// Examples:
///   isopod run -- 'echo hello | tr a-z A-Z'
///   isopod run --dir .:ro -- 'cat *.md | wc -w'
///   isopod run --dir ./data:/data --timeout 5 -- sort -u /data/names.txt
///   isopod run --overlay . --diff -- 'rm -r docs; echo hello > README'
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Run {
    #[command(flatten)]
    settings: Settings,

    #[command(flatten)]
    at_end: AtEnd,

    #[command(flatten)]
    walled: Walled,

    /// Have the sandbox in a process of its own, behind a wall, which can crash without harm
    ///
    /// Standard input is read to its end first
    #[arg(long, value_name = "WHERE", value_enum, conflicts_with = "overlay")]
    isolate: Option<Isolate>,

    /// Hand this program's standard input to the command; otherwise it reads nothing
    #[arg(long)]
    stdin: bool,

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
            self.walled.raise(|| Ok(self.settings.wall(self.at_end.ending() == Ending::Commit)))
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
        let request = remote::line(&self.command).and_then(|line| {
            let stdin = if self.stdin { read_input(config.limits.file)? } else { Vec::new() };
            let mut request = ExecuteRequest::new(line).stdin(stdin);
            request.cwd = self.settings.cwd().map(str::to_owned);
            Ok(request)
        });
        match request {
            Ok(request) => {
                let walls = self.walled.of_worker();
                block_on_host(isolate::execute(config, walls, request, self.json, self.raw))
            }
            Err(Failure { code, why }) => refuse(code, why),
        }
    }

    async fn execute(self) -> ExitCode {
        let command = match self.command() {
            Ok(command) => command,
            Err(why) => return refuse(USAGE, why),
        };
        let sandbox = match self.settings.sandbox(self.output) {
            Ok(sandbox) => sandbox,
            Err(error @ BuildError::Runtime(_)) => return refuse(NO_SANDBOX, error),
            Err(error) => return refuse(USAGE, error),
        };
        let work = async {
            if self.json {
                sandbox.execute(command).await.map(|output| self.report(&sandbox, &output))
            } else {
                match sandbox.stream(command) {
                    Ok(execution) => Ok(match pass_on(execution, self.raw).await {
                        Ok(exit_code) => settle(&sandbox, self.at_end.ending(), self.raw, exit_code),
                        Err(_) => ExitCode::from(BROKEN_PIPE),
                    }),
                    Err(error) => Err(error),
                }
            }
        };
        let work = async { work.await.unwrap_or_else(|error| refuse(code_of(&error), error)) };
        watch(sandbox.limits().wall, work).await
    }

    fn command(&self) -> Result<Command, String> {
        let words = self.command.iter().map(|word| word.clone().into_string());
        let mut words: Vec<String> =
            words.collect::<Result<_, _>>().map_err(|_| "the command is not UTF-8".to_owned())?;
        let command = match words.len() {
            1 => Command::shell(words.remove(0)),
            _ => Command::program(words),
        };
        Ok(if self.stdin { command.stdin_from(tokio::io::stdin()) } else { command })
    }

    /// Prints the answer of a command as one JSON object, with the changes of overlays.
    fn report(&self, sandbox: &Sandbox, output: &Output) -> ExitCode {
        let mut report = as_json(output);
        if self.settings.has_overlays() {
            match overlay::settle(sandbox, self.at_end.ending(), output.exit_code) {
                Ok(settled) => report["overlays"] = settled.json,
                Err(why) => return refuse(NO_SANDBOX, why),
            }
        }
        print(format!("{}\n", escape::json_for_terminal(&report.to_string())), output.exit_code)
    }
}

/// Shows, writes or discards the changes of overlays at the end.
pub(super) fn settle(sandbox: &Sandbox, ending: Ending, raw: bool, exit_code: u8) -> ExitCode {
    match overlay::settle(sandbox, ending, exit_code) {
        Ok(settled) => {
            settled.notes.iter().for_each(say);
            let is_plain = raw || !io::stdout().is_terminal();
            print(if is_plain { settled.text } else { escape::for_terminal(&settled.text) }, exit_code)
        }
        Err(why) => refuse(NO_SANDBOX, why),
    }
}

pub(super) fn code_of(error: &ExecuteError) -> u8 {
    use isopod::error::Errno;
    match error {
        ExecuteError::Program(_, Errno::NoEntry) => 127,
        ExecuteError::Program(..) => 126,
        ExecuteError::Host(_) => NO_SANDBOX,
        _ => USAGE,
    }
}

/// Writes the command's output as it comes, and returns its exit code.
pub(super) async fn pass_on(mut execution: Execution, raw: bool) -> io::Result<u8> {
    let mut outlets = Outlets::new(raw);
    while let Some(chunk) = execution.next().await {
        outlets.write(&chunk).await?;
    }
    outlets.finish().await?;
    let Outcome { exit_code, .. } = execution.finish().await;
    Ok(exit_code)
}

pub(super) fn as_json(output: &Output) -> Value {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    json!({
        "exit_code": output.exit_code,
        "stdout": text(&output.stdout),
        "stderr": text(&output.stderr),
        "output": text(&output.output),
        // Bytes that are not UTF-8 are shown as U+FFFD above.
        "lossy": std::str::from_utf8(&output.output).is_err(),
        "truncated": output.truncated,
        "timed_out": output.timed_out,
        "limits": limits_json(&output.limits),
        "usage": {
            "wall_ms": output.wall.as_secs_f64() * 1e3,
            "cpu_ms": output.usage.cpu.as_secs_f64() * 1e3,
            "peak_memory": output.usage.peak_memory,
            "processes": output.usage.processes,
            "bytes_read": output.usage.bytes_read,
            "bytes_written": output.usage.bytes_written,
            "fuel": output.usage.fuel,
        },
    })
}

/// The limits that a command hit.
pub(super) fn limits_json(limits: &[Exceeded]) -> Value {
    limits
        .iter()
        .map(|limit| json!({ "limit": limit.kind, "value": limit.value, "message": limit.to_string() }))
        .collect()
}
