//! The command line of `isopod`.
//!
//! Exit codes: that of the command; 1 if an operation on files or sandboxes was refused; 2 for a mistake of the caller;
//! 125 if the sandbox could not start; 126 and 127 as shells have them; 130 after Ctrl-C.

mod answer;
mod command;
mod doctor;
mod escape;
mod fs;
mod host_output;
mod host_stdin;
mod isolate;
mod location;
#[cfg(feature = "mcp")]
mod mcp;
mod overlay;
mod packages;
mod programs;
mod python;
mod run;
mod sandbox;
#[cfg(feature = "http")]
mod serve;
mod settings;
mod shell;
mod values;
mod wall;

use std::fmt::Display;
use std::io::{Read, Write};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use tokio::signal::unix::{SignalKind, signal};

use answer::Failure;

/// An operation on files or sandboxes was refused.
const REFUSED: u8 = 1;
/// A mistake of the caller.
const USAGE: u8 = 2;
/// The sandbox could not start.
const NO_SANDBOX: u8 = 125;

/// Run shell commands in a WebAssembly sandbox.
///
/// Nothing of this machine is visible to a command unless --dir says so.
#[derive(Parser)]
#[command(version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Run(Box<run::Run>),
    Shell(Box<shell::Shell>),
    Sandbox(sandbox::Sandbox),
    Fs(fs::Fs),
    #[cfg(feature = "mcp")]
    Mcp(Box<mcp::Mcp>),
    #[cfg(feature = "http")]
    Serve(Box<serve::Serve>),
    Programs(programs::Programs),
    Doctor(doctor::Doctor),
    #[command(hide = true)]
    Worker(isolate::Work),
    Python(python::Python),
}

/// Parses the command line and runs its subcommand.
pub(crate) fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // clap prints help and version on standard output, and mistakes on standard error.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { USAGE } else { 0 });
        }
    };
    match cli.verb {
        Verb::Run(run) => run.run(),
        Verb::Shell(shell) => shell.run(),
        Verb::Sandbox(sandbox) => sandbox.run(),
        Verb::Fs(fs) => fs.run(),
        #[cfg(feature = "mcp")]
        Verb::Mcp(mcp) => mcp.run(),
        #[cfg(feature = "http")]
        Verb::Serve(serve) => serve.run(),
        Verb::Programs(programs) => programs.run(),
        Verb::Doctor(doctor) => doctor.run(),
        Verb::Worker(work) => work.run(),
        Verb::Python(python) => python.run(),
    }
}

/// A command's time is over, as `timeout` has it.
const TIMED_OUT: u8 = 124;
/// The reader of the output has gone, as shells have it.
const BROKEN_PIPE: u8 = 141;

/// After Ctrl-C, as shells have it.
const INTERRUPTED: u8 = 130;
/// The time after the deadline for a slow reader of the output.
const GRACE: Duration = Duration::from_millis(150);

/// Runs a future to its end.
fn block_on(work: impl Future<Output = ExitCode>) -> ExitCode {
    block_on_until(Duration::ZERO, beside(), work)
}

/// Runs a future that uses directories of the host. Its blocking tasks get time at the end to remove their temporary files.
fn block_on_host(work: impl Future<Output = ExitCode>) -> ExitCode {
    block_on_until(GRACE, beside(), work)
}

/// Runs a server. All its work is done by worker threads: with one alone, a guest that computes would keep the server from
/// looking at clocks and connections for a tenth of a second at a time.
#[cfg(feature = "mcp")]
fn block_on_server(work: impl Future<Output = ExitCode>) -> ExitCode {
    block_on_until(GRACE, (beside() + 1).max(2), work)
}

/// The number of worker threads. This thread runs the shell; they run its children.
fn beside() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() - 1).max(1)
}

fn block_on_until(grace: Duration, others: usize, work: impl Future<Output = ExitCode>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(others).enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return refuse(NO_SANDBOX, error),
    };
    let code = runtime.block_on(work);
    // Not for ever: a thread may still wait for a reader of the output, which cannot be interrupted.
    runtime.shutdown_timeout(grace);
    code
}

/// Runs a command that ends within `wall` by itself, until then or until Ctrl-C.
async fn watch(wall: Duration, work: impl Future<Output = ExitCode>) -> ExitCode {
    // Before the command runs: Ctrl-C may come right after its first output.
    let mut interrupt = match signal(SignalKind::interrupt()) {
        Ok(interrupt) => interrupt,
        Err(error) => return refuse(NO_SANDBOX, error),
    };
    tokio::select! {
        code = work => code,
        // Dropping the work ends the guest.
        _ = interrupt.recv() => ExitCode::from(INTERRUPTED),
        // Reached if the reader of the output does not read.
        () = tokio::time::sleep(wall.saturating_add(GRACE)) => ExitCode::from(TIMED_OUT),
    }
}

/// Prints the reason for which nothing was done, and returns the exit code.
fn refuse(code: u8, why: impl Display) -> ExitCode {
    say(why);
    ExitCode::from(code)
}

/// Prints a line on standard error.
fn say(what: impl Display) {
    // Without a reader the exit code still tells.
    let _ = writeln!(std::io::stderr(), "isopod: {what}");
}

/// Prints an answer on standard output, and returns the exit code.
fn print(text: impl AsRef<[u8]>, code: u8) -> ExitCode {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_ref()).and_then(|()| stdout.flush()) {
        Ok(()) => ExitCode::from(code),
        Err(_) => ExitCode::from(BROKEN_PIPE),
    }
}

/// Reads standard input to its end, up to the size of a file of the sandbox.
fn read_input(most: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(most.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| Failure::refused(format!("standard input: {error}")))?;
    match bytes.len() as u64 > most {
        true => Err(Failure::refused(format!("standard input: more than {most} bytes"))),
        false => Ok(bytes),
    }
}
