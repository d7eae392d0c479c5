//! Programs of the host that run a script by fork and exec: shells, bubblewrap, the clients of containers, Isopod's own
//! command line.

#![allow(clippy::disallowed_methods, reason = "the host's side of the comparison")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::measure::Fault;
use crate::shell::{Answer, Shell};

pub const DASH: &str = "native dash";
pub const BASH: &str = "native bash";
pub const BUBBLEWRAP: &str = "bubblewrap";
pub const COMMAND_LINE: &str = "isopod run";
pub const WASMTIME: &str = "wasmtime run";

/// The core utilities that the scripts use.
const COREUTILS: [&str; 5] = ["echo", "sha256sum", "sort", "cut", "wc"];

/// A program that runs a script.
pub struct Program {
    name: String,
    argv: Vec<String>,
    directory: PathBuf,
    env: Vec<(String, String)>,
    takes: Takes,
}

/// The form in which a program gets its script.
#[derive(PartialEq, Eq)]
enum Takes {
    /// As its last argument.
    Script,
    /// As arguments, one word each: the program has no shell, so the script has to be one command.
    Words,
    /// The program has its script already.
    Nothing,
}

impl Program {
    pub fn new<S: Into<String>>(name: &str, argv: impl IntoIterator<Item = S>, directory: &Path) -> Program {
        let argv = argv.into_iter().map(Into::into).collect();
        let env = vec![("LC_ALL".to_owned(), "C".to_owned())];
        Program { name: name.to_owned(), argv, directory: directory.to_owned(), env, takes: Takes::Script }
    }

    /// Declares that the program runs `echo hi` and nothing else.
    pub fn fixed(mut self) -> Program {
        self.takes = Takes::Nothing;
        self
    }

    /// Declares that the program has no shell: it runs a command of plain words.
    fn without_shell(mut self) -> Program {
        self.takes = Takes::Words;
        self
    }

    /// Returns true if the program can run the script.
    pub fn understands(&self, script: &str) -> bool {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b" -_./".contains(&byte);
        let is_known = || script.split(' ').next().is_some_and(|program| COREUTILS.contains(&program));
        self.takes == Takes::Script || script.bytes().all(is_plain) && is_known()
    }

    pub fn env(mut self, name: &str, value: String) -> Program {
        self.env.push((name.to_owned(), value));
        self
    }

    /// Runs `echo hi`. The error ends with the last line of the program's standard error.
    pub fn probe(&self) -> Result<(), String> {
        match self.run("echo hi") {
            Ok(answer) if answer.stdout == b"hi\n" => Ok(()),
            Ok(answer) => {
                let said = String::from_utf8_lossy(&answer.stderr).trim().to_owned();
                let last = said.lines().rfind(|line| !line.contains("--help") && !line.is_empty()).unwrap_or_default();
                Err(format!("it does not work here: {last}"))
            }
            Err(Fault::Wrong(why) | Fault::Unsupported(why)) => Err(why),
        }
    }

    /// Runs `count` processes of `echo hi` at once. Returns the number of right answers.
    pub fn many(&self, count: usize) -> std::io::Result<usize> {
        let started: Result<Vec<_>, _> =
            (0..count).map(|_| self.command("echo hi").stdout(Stdio::piped()).stderr(Stdio::null()).spawn()).collect();
        let answers = started?.into_iter().map(|child| child.wait_with_output());
        Ok(answers.filter(|answer| answer.as_ref().is_ok_and(|output| output.stdout == b"hi\n")).count())
    }

    /// Returns the command that runs a script.
    pub fn command(&self, script: &str) -> Command {
        let mut command = Command::new(&self.argv[0]);
        command.args(&self.argv[1..]).current_dir(&self.directory).stdin(Stdio::null());
        match self.takes {
            Takes::Script => _ = command.arg(script),
            Takes::Words => _ = command.args(script.split_whitespace()),
            Takes::Nothing => {}
        }
        command.envs(self.env.iter().cloned());
        command
    }
}

impl Shell for Program {
    fn name(&self) -> &str {
        &self.name
    }

    fn run(&self, script: &str) -> Result<Answer, Fault> {
        let begin = Instant::now();
        let output = self.command(script).output();
        let time = begin.elapsed();
        match output {
            Ok(output) => Ok(Answer {
                exit_code: output.status.code().unwrap_or(-1),
                stdout: output.stdout,
                stderr: output.stderr,
                time,
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(Fault::Unsupported("it is not installed".to_owned()))
            }
            Err(error) => Err(Fault::Wrong(error.to_string())),
        }
    }
}

/// Returns bubblewrap as agents use it: the host's programs read-only, no network, and the files.
pub fn bubblewrap(directory: &Path) -> Program {
    let work = directory.display().to_string();
    // Its own /tmp hides the host's, which may contain the files.
    let files = ["bwrap", "--ro-bind", "/", "/", "--tmpfs", "/tmp", "--ro-bind", &work, &work];
    let rest = ["--dev", "/dev", "--proc", "/proc", "--unshare-all", "--chdir", &work, "sh", "-c"];
    Program::new(BUBBLEWRAP, files.into_iter().chain(rest), directory)
}

/// Returns wasmtime's own command, with a precompiled component of the core utilities.
pub fn wasmtime(command: &Path, coreutils: &Path, directory: &Path) -> Program {
    let [command, coreutils] = [command, coreutils].map(|path| path.display().to_string());
    let argv = [&command, "run", "--allow-precompiled", "--dir", ".", &coreutils];
    Program::new(WASMTIME, argv, directory).without_shell()
}

/// Returns the output of a command of the host, for the description of the machine.
pub fn says(argv: &[&str]) -> Option<String> {
    let output = Command::new(argv[0]).args(&argv[1..]).stdin(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
