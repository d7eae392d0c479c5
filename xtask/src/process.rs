//! Starting programs of the host.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::Result;

/// Makes the root of the repository the working directory, wherever the task was called from.
pub(crate) fn enter_root() -> Result {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("xtask has no parent directory")?;
    std::env::set_current_dir(root).map_err(|error| format!("{}: {error}", root.display()))
}

/// Splits a line at white space into a command. For words without spaces; others are added with `arg`.
pub(crate) fn command(line: &str) -> Command {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    // An outer `cargo xtask` must not leak its package into the cargo that a task starts.
    for name in ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_PKG_NAME", "CARGO_PKG_VERSION"] {
        command.env_remove(name);
    }
    command
}

/// Runs a command line and fails unless it succeeds.
pub(crate) fn run(line: &str) -> Result {
    check(&mut command(line))
}

/// Runs a command and fails unless it succeeds.
pub(crate) fn check(command: &mut Command) -> Result {
    let status = command.status().map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{} ended with {status}", shown(command))),
    }
}

/// Runs a command and returns its standard output; its standard error stays visible.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{} ended with {}", shown(command), output.status)),
    }
}

/// Returns true if a command line can be started and succeeds, without showing its output.
pub(crate) fn succeeds(line: &str) -> bool {
    let mut command = command(line);
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Makes an empty virtual environment of Python in `directory` and installs packages, given as pip's arguments.
pub(crate) fn virtual_environment(directory: &str, packages: &str) -> Result {
    run(&format!("python3 -m venv --clear {directory}"))?;
    run(&format!("{directory}/bin/pip install --quiet --disable-pip-version-check {packages}"))
}

/// Prints the closing line of a task that is one check.
pub(crate) fn passed(count: usize) {
    println!("{count} passed, 0 failed");
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
