//! The request to execute a command, and the reasons for which one does not start.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::AsyncRead;

use crate::error::Errno;
use crate::limits::Exceeded;

/// A command with its surroundings. Every interface takes this: sandboxes, sessions, backends, providers and workers.
///
/// ```
/// use std::time::Duration;
/// let command = isopod::Command::shell("sort | uniq -c").stdin("b\na\nb\n").timeout(Duration::from_secs(5));
/// let program = isopod::Command::program(["ls", "-l", "a file with spaces"]).cwd("/tmp").env("LC_ALL", "C");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Command {
    /// The text for a shell, or the program with its arguments.
    pub line: CommandLine,
    /// Wall clock for this command instead of the default; at most the sandbox's `wall_max`.
    pub timeout: Option<Duration>,
    /// The directory to start in instead of the default.
    pub cwd: Option<String>,
    /// Variables of its environment, beside or instead of those of the sandbox.
    pub env: Vec<(String, String)>,
    /// Bytes for its standard input. `None` is no input: a device at its end, as `/dev/null` is.
    pub stdin: Option<Bytes>,
    /// Bytes of output to keep instead of the default. Streams are not limited.
    pub output_limit: Option<u64>,
}

/// The text for a shell, or a program with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum CommandLine {
    /// A command line for the shell.
    Shell(String),
    /// A program and its arguments. No shell looks at them.
    Program(Vec<String>),
}

/// A standard input that is read while the command runs.
pub type StdinReader = Box<dyn AsyncRead + Send + Unpin>;

impl Command {
    /// A command line for the shell.
    pub fn shell(line: impl Into<String>) -> Command {
        Command::new(CommandLine::Shell(line.into()))
    }

    /// A program and its arguments, as they are: no shell looks at them.
    pub fn program(argv: impl IntoIterator<Item = impl Into<String>>) -> Command {
        Command::new(CommandLine::Program(argv.into_iter().map(Into::into).collect()))
    }

    /// A command with all else as the sandbox has it.
    pub fn new(line: CommandLine) -> Command {
        Command { line, timeout: None, cwd: None, env: Vec::new(), stdin: None, output_limit: None }
    }

    /// Sets the bytes for its standard input.
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Command {
        self.stdin = Some(Bytes::from(bytes.into()));
        self
    }

    /// Sets its wall clock; at most the sandbox's `wall_max`.
    pub fn timeout(mut self, timeout: Duration) -> Command {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the directory to start in.
    pub fn cwd(mut self, directory: impl Into<String>) -> Command {
        self.cwd = Some(directory.into());
        self
    }

    /// Adds a variable to its environment, beside or instead of the sandbox's.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Command {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Sets the bytes of output to keep.
    pub fn output_limit(mut self, bytes: u64) -> Command {
        self.output_limit = Some(bytes);
        self
    }
}

impl CommandLine {
    /// The text by which a POSIX shell runs the same. Arguments of a program are quoted, so that the shell changes nothing
    /// in them.
    pub fn to_shell(&self) -> Cow<'_, str> {
        match self {
            CommandLine::Shell(line) => Cow::Borrowed(line),
            CommandLine::Program(argv) => {
                let mut words: Vec<String> = argv.iter().map(|word| quote(word)).collect();
                if let Some(first) = words.first_mut().filter(|first| RESERVED.contains(&first.as_str())) {
                    *first = format!("'{first}'");
                }
                Cow::Owned(words.join(" "))
            }
        }
    }

    /// The arguments that run it by way of a shell of this name: `sh -c LINE`, or the program itself.
    pub fn to_argv(&self, shell: &str) -> Vec<String> {
        match self {
            CommandLine::Shell(line) => vec![shell.to_owned(), "-c".to_owned(), line.clone()],
            CommandLine::Program(argv) => argv.clone(),
        }
    }

    /// Checks that there is something to run, and that arguments can hold it.
    pub(crate) fn check(&self, limit: u64) -> Result<(), ExecuteError> {
        let words = match self {
            CommandLine::Shell(line) if line.trim().is_empty() => return Err(ExecuteError::Empty),
            CommandLine::Shell(line) => std::slice::from_ref(line),
            CommandLine::Program(argv) if argv.first().is_none_or(String::is_empty) => return Err(ExecuteError::Empty),
            CommandLine::Program(argv) => argv,
        };
        if words.iter().map(|word| word.len() as u64).sum::<u64>() > limit {
            return Err(Exceeded { kind: crate::limits::Limit::Command, value: limit }.into());
        }
        if words.iter().any(|word| word.contains('\0')) {
            return Err(ExecuteError::Nul);
        }
        Ok(())
    }
}

/// Words that start a construct of the shell's grammar where they stand first and without quotes.
const RESERVED: [&str; 16] = [
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "select", "then", "time",
    "until", "while",
];

/// One word for a POSIX shell, which expands nothing in it.
fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-+./,:@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
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

impl From<CommandLine> for Command {
    fn from(line: CommandLine) -> Command {
        Command::new(line)
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

/// A text of the library. An alias, because serde takes a written-out reference for a borrow of its input.
type StaticText = &'static str;

/// The reason for which a command did not start. A command that did start has an exit code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum ExecuteError {
    /// Nothing but white space, or no program.
    #[error("the command is empty")]
    Empty,
    /// A NUL byte, which no argument can hold.
    #[error("the command holds a NUL byte")]
    Nul,
    /// The command exceeds a limit.
    #[error(transparent)]
    Limit(#[from] Exceeded),
    /// A timeout of zero.
    #[error("the timeout is zero")]
    ZeroTimeout,
    /// The directory to start in does not exist.
    #[error("cannot start in {0:?}: {1}")]
    Cwd(String, Errno),
    /// The name of a variable is empty or holds `=`.
    #[error("{0:?} is not the name of a variable")]
    Variable(String),
    /// The program does not exist, or cannot run.
    #[error("{0:?}: {1}")]
    Program(String, Errno),
    /// A setting that belongs to a live session and not to one command in it.
    #[error("a live session has its own {0}")]
    #[serde(skip)]
    OfSession(StaticText),
    /// The session's shell has ended: by `exit`, by a signal, or because it was closed.
    #[error("the session has ended")]
    Ended,
    /// A blocking call from within an async runtime would stop that runtime.
    #[error("a blocking call within an async runtime; use the async one")]
    WithinRuntime,
    /// The operating system refused something that the host needs.
    #[error("the host cannot run a command: {0}")]
    Host(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_quoted_only_where_a_shell_would_change_them() {
        let line = CommandLine::Program(["echo", "a b", "it's", "$HOME", "*", "", "-n"].map(str::to_owned).to_vec());
        assert_eq!(line.to_shell(), r"echo 'a b' 'it'\''s' '$HOME' '*' '' -n");
        assert_eq!(CommandLine::Program(vec!["if".to_owned(), "if".to_owned()]).to_shell(), "'if' if");
    }
}
