//! The parts that `run`, `shell` and `sandbox exec` share: the command, its standard input, its output and its result.

use std::ffi::OsString;
use std::io;

use clap::Args;
use isopod::backend::{OutputJson, OutputStream, SandboxBackend};
use isopod::{Command, ExecuteError, Output};
use serde_json::Value;

use super::answer::Failure;
use super::host_output::HostOutputs;
use super::host_stdin::HostStdin;
use super::{NO_SANDBOX, USAGE};

/// The choice of the command's standard input.
#[derive(Args)]
pub(super) struct StdinOptions {
    /// Give standard input to the command, even if it is a terminal
    ///
    /// Other input reaches the command in any case. At most 64 KiB are read ahead.
    #[arg(long, conflicts_with = "no_stdin")]
    stdin: bool,

    /// Take nothing from this program's standard input: the command's is empty
    #[arg(long)]
    no_stdin: bool,
}

impl StdinOptions {
    /// Returns this program's standard input, if the command gets it.
    pub(super) fn open(&self) -> Option<HostStdin> {
        match self.no_stdin {
            true => None,
            false => HostStdin::open(self.stdin),
        }
    }
}

/// Makes a command of arguments: one is a command line for the shell, several are a program and its arguments.
pub(super) fn command(words: &[OsString]) -> Result<Command, Failure> {
    let words = words.iter().map(|word| word.clone().into_string());
    let words: Vec<String> = words.collect::<Result<_, _>>().map_err(|_| Failure::usage("the command is not UTF-8"))?;
    Ok(match words.as_slice() {
        [line] => Command::shell(line),
        _ => Command::program(words),
    })
}

/// Starts a command in a backend.
pub(super) async fn stream(
    backend: &dyn SandboxBackend,
    command: Command,
    stdin: Option<HostStdin>,
) -> isopod::backend::Result<Box<dyn OutputStream>> {
    match stdin {
        Some(stdin) => backend.stream_with_stdin(command, Box::new(stdin)).await,
        None => backend.stream(command).await,
    }
}

/// Executes a command in a backend.
pub(super) async fn execute(
    backend: &dyn SandboxBackend,
    command: Command,
    stdin: Option<HostStdin>,
) -> isopod::backend::Result<Output> {
    match stdin {
        Some(stdin) => backend.execute_with_stdin(command, Box::new(stdin)).await,
        None => backend.execute(command).await,
    }
}

/// Writes a command's output to this program's outputs as it comes, and returns the exit code.
pub(super) async fn print_output(mut stream: Box<dyn OutputStream>, raw: bool) -> io::Result<u8> {
    let mut outputs = HostOutputs::new(raw);
    while let Some(chunk) = stream.next().await {
        outputs.write(&chunk).await?;
    }
    outputs.finish().await?;
    Ok(stream.finish().await.exit_code)
}

/// The result of a command, as `--json` prints it.
pub(super) fn as_json(output: Output) -> Value {
    // All fields are numbers, texts and lists of them, which no value can make fail.
    serde_json::to_value(OutputJson::from(output)).unwrap_or_default()
}

/// The exit code for a command that did not start.
pub(super) fn code_of(error: &ExecuteError) -> u8 {
    use isopod::error::Errno;
    match error {
        ExecuteError::Program(_, Errno::NoEntry) => 127,
        ExecuteError::Program(..) => 126,
        ExecuteError::Host(_) => NO_SANDBOX,
        _ => USAGE,
    }
}
