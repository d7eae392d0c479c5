//! The tasks of this repository, run by `cargo xtask NAME`.
//!
//! Continuous integration calls the same tasks, so a green run here is a green run there. A task prints its name before it
//! starts and its time when it ends; the first command that fails ends the run with its exit code.

#![allow(clippy::disallowed_methods, reason = "a build tool starts programs and reads files of the host")]
#![allow(clippy::print_stdout, reason = "a build tool reports on standard output")]

mod bench;
mod clients;
mod dependencies;
mod lint;
mod process;
mod release;
mod setup;
mod test;

use std::process::ExitCode;
use std::time::Instant;

/// The outcome of a task: nothing, or one line that says what failed.
type Result<T = ()> = std::result::Result<T, String>;

/// A task: its name, one line of help, and its body, which gets the arguments after the name.
struct Task {
    name: &'static str,
    help: &'static str,
    run: fn(&[String]) -> Result,
}

const TASKS: &[Task] = &[
    Task { name: "setup", help: "install the programs that the suites compare with (Debian)", run: setup::run },
    Task { name: "build", help: "build the command line, optimised", run: release::build },
    Task {
        name: "lint",
        help: "format, pinned dependencies, clippy for host and guest, documentation",
        run: lint::run,
    },
    Task { name: "test", help: "cargo test and the table of attacks", run: test::run },
    Task { name: "cases", help: "the recorded cases against the local bash and GNU programs", run: test::cases },
    Task { name: "guest", help: "the tests of the guest's crates, compiled for this machine", run: test::guest },
    Task { name: "examples", help: "compile and run every example", run: test::examples },
    Task { name: "fuzz", help: "the fuzz targets with a seeded generator, short", run: test::fuzz },
    Task {
        name: "main-command",
        help: "the README's first command, and a second build that does nothing",
        run: release::main_command,
    },
    Task { name: "mcp", help: "the MCP server with the official client", run: clients::mcp },
    Task { name: "http", help: "the HTTP server against its own description", run: clients::http },
    Task { name: "typescript", help: "build and test the TypeScript client", run: clients::typescript },
    Task { name: "python", help: "build the Python package; types, tests, benchmark", run: clients::python },
    Task { name: "dependencies", help: "licences, sources and advisories of dependencies", run: dependencies::run },
    Task { name: "bench", help: "every benchmark, short; --long for the full form", run: bench::run },
    Task {
        name: "release",
        help: "an archive of the optimised build with its notes, in target/release-archive",
        run: release::archive,
    },
    Task {
        name: "notes",
        help: "the release notes of a version (default: Unreleased) from CHANGELOG.md",
        run: release::notes,
    },
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(name) = arguments.next() else {
        println!("usage: cargo xtask TASK [ARGUMENT...]\n");
        for Task { name, help, .. } in TASKS {
            println!("  {name:<14} {help}");
        }
        return ExitCode::SUCCESS;
    };
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        eprintln!("xtask: there is no task {name:?}; `cargo xtask` lists them");
        return ExitCode::from(2);
    };
    // On standard error: the standard output of `notes` is the notes.
    eprintln!("\n== {name}: {}", task.help);
    let start = Instant::now();
    let outcome = process::enter_root().and_then(|()| (task.run)(&arguments.collect::<Vec<_>>()));
    match outcome {
        Ok(()) => {
            eprintln!("== {name}: done in {} s", start.elapsed().as_secs());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("xtask {name}: {error}");
            ExitCode::FAILURE
        }
    }
}
