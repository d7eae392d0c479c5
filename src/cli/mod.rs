//! `isopod`: reads the command line and goes to work.
//!
//! Exit codes: that of the command; 2 for what the caller got wrong; 125 if the sandbox could not start; 126 and
//! 127 as shells have them; 130 after Ctrl-C.

mod escape;
mod outlet;
mod overlay;
mod programs;
mod run;
mod values;

use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// What the caller got wrong.
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
    Programs(programs::Programs),
}

/// Does what the command line says.
pub(crate) fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, on standard output; clap knows which is which.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { USAGE } else { 0 });
        }
    };
    match cli.verb {
        Verb::Run(run) => run.run(),
        Verb::Programs(programs) => programs.run(),
    }
}

/// A command's time is over, as `timeout` has it.
const TIMED_OUT: u8 = 124;
/// When nobody reads our output any more, as shells have it.
const BROKEN_PIPE: u8 = 141;

/// Says in one line why nothing was done.
fn refuse(code: u8, why: impl Display) -> ExitCode {
    say(why);
    ExitCode::from(code)
}

/// Says something in one line, on standard error.
fn say(what: impl Display) {
    // If nobody listens, the exit code still tells.
    let _ = writeln!(std::io::stderr(), "isopod: {what}");
}

/// Prints an answer on standard output, and returns the exit code that goes with it.
fn print(text: &str, code: u8) -> ExitCode {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => ExitCode::from(code),
        Err(_) => ExitCode::from(BROKEN_PIPE),
    }
}
