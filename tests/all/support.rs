//! Helpers for tests of the form: a tiny set-up, a command, the exact answer.

use std::path::PathBuf;
use std::process::{Command as HostCommand, Output as HostOutput, Stdio};
use std::time::{Duration, Instant};

use isopod::{Command, Limits, Output, Sandbox};

/// A sandbox with the default limits.
pub fn sandbox() -> Sandbox {
    Sandbox::builder().build().unwrap()
}

/// A sandbox with other limits.
pub fn limited(change: impl FnOnce(&mut Limits)) -> Sandbox {
    let mut limits = Limits::default();
    change(&mut limits);
    Sandbox::builder().limits(limits).build().unwrap()
}

/// The output of a command, with assertions for each part.
pub struct Answer(pub Output);

/// Executes a command in a new sandbox.
pub fn run(command: impl Into<Command>) -> Answer {
    run_in(&sandbox(), command)
}

/// Executes a command.
pub fn run_in(sandbox: &Sandbox, command: impl Into<Command>) -> Answer {
    Answer(sandbox.execute_blocking(command).unwrap())
}

impl Answer {
    pub fn stdout(self, expected: &str) -> Answer {
        assert_eq!(String::from_utf8_lossy(&self.0.stdout), expected, "stderr: {}", self.err());
        self
    }

    pub fn stderr(self, expected: &str) -> Answer {
        assert_eq!(self.err(), expected);
        self
    }

    pub fn stderr_has(self, expected: &str) -> Answer {
        assert!(self.err().contains(expected), "no {expected:?} in {:?}", self.err());
        self
    }

    pub fn code(self, expected: u8) -> Answer {
        assert_eq!(self.0.exit_code, expected, "stderr: {}", self.err());
        self
    }

    /// Asserts success with this standard output and an empty standard error.
    pub fn prints(self, expected: &str) -> Answer {
        self.stdout(expected).stderr("").code(0)
    }

    pub fn within(self, time: Duration) -> Answer {
        assert!(self.0.usage.wall <= time, "took {:?}", self.0.usage.wall);
        self
    }

    fn err(&self) -> String {
        String::from_utf8_lossy(&self.0.stderr).into_owned()
    }
}

/// Returns the tested program with these arguments.
pub fn isopod(args: &[&str]) -> HostCommand {
    let mut command = HostCommand::new(env!("CARGO_BIN_EXE_isopod"));
    command.args(args).stdin(Stdio::null());
    command
}

/// The output and the exit code of the program.
pub struct CliAnswer {
    pub stdout: String,
    pub stderr: String,
    pub code: Option<i32>,
    pub time: Duration,
}

/// Runs the program with these arguments.
pub fn cli(args: &[&str]) -> CliAnswer {
    cli_answer(isopod(args))
}

/// Runs a prepared command of the host.
pub fn cli_answer(mut command: HostCommand) -> CliAnswer {
    let begin = Instant::now();
    let HostOutput { status, stdout, stderr } = command.output().unwrap();
    CliAnswer {
        stdout: String::from_utf8_lossy(&stdout).into_owned(),
        stderr: String::from_utf8_lossy(&stderr).into_owned(),
        code: status.code(),
        time: begin.elapsed(),
    }
}

/// Creates a directory of the host with these files.
pub fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path: PathBuf = directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    directory
}

/// Returns the number of seccomp filters of a process of the host.
#[cfg(all(feature = "wall", any(feature = "http", feature = "mcp")))]
pub fn filters(pid: u32) -> u32 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let count = status.lines().find_map(|line| line.strip_prefix("Seccomp_filters:")).unwrap();
    count.trim().parse().unwrap()
}
