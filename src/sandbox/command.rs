//! What to execute, and why it may not start.

use std::fmt;
use std::time::Duration;

use tokio::io::AsyncRead;

use crate::error::Errno;
use crate::limits::Exceeded;

/// A command: a line for the shell, or a program with its arguments.
///
/// ```
/// use std::time::Duration;
/// let command = isopod::Command::shell("sort | uniq -c").stdin("b\na\nb\n").timeout(Duration::from_secs(5));
/// let program = isopod::Command::program(["ls", "-l", "a file with spaces"]).cwd("/tmp").env("LC_ALL", "C");
/// ```
#[derive(Debug)]
pub struct Command {
    pub(super) argv: Argv,
    pub(super) stdin: Stdin,
    pub(super) timeout: Option<Duration>,
    pub(super) cwd: Option<String>,
    pub(super) env: Vec<(String, String)>,
}

#[derive(Debug)]
pub(super) enum Argv {
    Shell(String),
    Program(Vec<String>),
}

/// What a command reads from its standard input.
#[derive(Default)]
pub enum Stdin {
    /// Nothing: it is at its end.
    #[default]
    Empty,
    /// These bytes.
    Bytes(Vec<u8>),
    /// Whatever comes.
    Reader(Box<dyn AsyncRead + Send + Unpin>),
}

impl Command {
    /// A command line for the shell.
    pub fn shell(line: impl Into<String>) -> Command {
        Command::new(Argv::Shell(line.into()))
    }

    /// A program and its arguments, as they are: no shell looks at them.
    pub fn program(argv: impl IntoIterator<Item = impl Into<String>>) -> Command {
        Command::new(Argv::Program(argv.into_iter().map(Into::into).collect()))
    }

    fn new(argv: Argv) -> Command {
        Command { argv, stdin: Stdin::Empty, timeout: None, cwd: None, env: Vec::new() }
    }

    /// Bytes for its standard input.
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Command {
        self.stdin = Stdin::Bytes(bytes.into());
        self
    }

    /// A source for its standard input.
    pub fn stdin_from(mut self, reader: impl AsyncRead + Send + Unpin + 'static) -> Command {
        self.stdin = Stdin::Reader(Box::new(reader));
        self
    }

    /// Wall clock for this command instead of the sandbox's default; at most the sandbox's `wall_max`.
    pub fn timeout(mut self, timeout: Duration) -> Command {
        self.timeout = Some(timeout);
        self
    }

    /// The directory to start in.
    pub fn cwd(mut self, directory: impl Into<String>) -> Command {
        self.cwd = Some(directory.into());
        self
    }

    /// A variable of its environment, beside or instead of the sandbox's.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Command {
        self.env.push((name.into(), value.into()));
        self
    }
}

impl From<&str> for Command {
    fn from(line: &str) -> Command {
        Command::shell(line)
    }
}

impl From<String> for Command {
    fn from(line: String) -> Command {
        Command::shell(line)
    }
}

impl fmt::Debug for Stdin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stdin::Empty => f.write_str("Empty"),
            Stdin::Bytes(bytes) => write!(f, "Bytes({})", bytes.len()),
            Stdin::Reader(_) => f.write_str("Reader"),
        }
    }
}

/// Sets variables of an environment, each in place of one of the same name.
pub(super) fn set_variables(env: &mut Vec<(String, String)>, own: Vec<(String, String)>) -> Result<(), ExecuteError> {
    for (name, value) in own {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return Err(ExecuteError::Variable(name));
        }
        env.retain(|(other, _)| *other != name);
        env.push((name, value));
    }
    Ok(())
}

/// A word of ours. Not written out, because serde takes a reference for a borrow of what it reads.
type Word = &'static str;

/// Why a command did not start. One that did start has an exit code, whatever became of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum ExecuteError {
    /// Nothing but white space, or no program.
    #[error("the command is empty")]
    Empty,
    /// A NUL byte, which no argument can hold.
    #[error("the command holds a NUL byte")]
    Nul,
    /// A limit stands in the way.
    #[error(transparent)]
    Limit(#[from] Exceeded),
    /// A timeout of nothing.
    #[error("the timeout is zero")]
    ZeroTimeout,
    /// The directory to start in is not there.
    #[error("cannot start in {0:?}: {1}")]
    Cwd(String, Errno),
    /// The name of a variable is empty or holds `=`.
    #[error("{0:?} is not the name of a variable")]
    Variable(String),
    /// The program is not there, or cannot run.
    #[error("{0:?}: {1}")]
    Program(String, Errno),
    /// Something that belongs to a live session and not to a call.
    #[error("a live session has its own {0}")]
    #[serde(skip)]
    OfSession(Word),
    /// The session's shell has ended: by `exit`, by a signal, or because it was closed.
    #[error("the session has ended")]
    Ended,
    /// A blocking call from within an async runtime would stop that runtime.
    #[error("a blocking call within an async runtime; use the async one")]
    WithinRuntime,
    /// The operating system refused something the host needs.
    #[error("the host cannot run a command: {0}")]
    Host(String),
}
