//! The state of a shell: everything that a subshell inherits or a command can change.
//!
//! - `variable`, `variables`, `associative`: the variables;
//! - `lookup`, `assign`, `target`, `special`: reading and setting them by the language's rules;
//! - `files`: open files; `jobs`: background jobs; `traps`, `options`, `completions`: the settings of builtins;
//! - `snapshot`: the state as bytes, for a subshell.

mod assign;
pub mod associative;
pub mod completions;
pub mod files;
pub mod jobs;
mod lookup;
pub mod options;
mod positional;
pub mod snapshot;
mod special;
mod target;
pub mod traps;
pub mod variable;
pub mod variables;

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::exec::{Code, Control};
use crate::hash::NameMap;
use crate::regex::RegexCache;
use crate::syntax::tree::{Function, Simple};
use crate::text;

pub use assign::{Key, in_case, into_indexed};
use completions::Specification;
use files::Files;
use jobs::Jobs;
use options::Options;
pub use positional::Positional;
pub use special::{VERSION, nanoseconds};
pub use target::TargetName;
use traps::Traps;
use variables::Variables;

/// A shell.
#[derive(Default)]
pub struct Shell {
    /// The variables.
    pub variables: Variables,
    /// The functions.
    pub functions: Rc<NameMap<Rc<str>, Rc<Definition>>>,
    /// Counts changes of the functions, to invalidate what was derived from them.
    pub generation: u32,
    /// The aliases.
    pub aliases: Rc<NameMap<String, String>>,
    /// The options of `set` and `shopt`.
    pub options: Options,
    /// `$1` and the following ones.
    pub positional: Positional,
    /// `$0`
    pub name: Rc<str>,
    /// The open files.
    pub files: Files,
    /// The background jobs.
    pub jobs: Jobs,
    /// The traps.
    pub traps: Traps,
    /// `$?`
    pub status: u8,
    /// PIPESTATUS
    pub statuses: Vec<u8>,
    /// `$!`
    pub background: Option<u32>,
    /// `$_`
    pub last_argument: String,
    /// The line of the running command.
    pub line: u32,
    /// The source that messages name: the script, or the file that is being sourced.
    pub source: Rc<str>,
    /// The number of conditions that enclose the running command. In a condition failure is not an error.
    pub guards: u32,
    /// The running functions and sourced files, innermost last.
    pub calls: Vec<Call>,
    /// The control stack: state to undo and points to return to.
    pub controls: Vec<Control>,
    /// The height at which the control stack of the running code begins. The controls below belong to an outer run.
    pub floor: usize,
    /// The number of substitutions and traps nested on the native stack.
    pub nesting: u32,
    /// Output of the running builtin.
    pub out: Vec<u8>,
    /// The source of the shell's commands.
    pub origin: Origin,
    /// The status after an error that ends the shell: as in bash, 127 for `sh -c` and 1 elsewhere.
    pub fatal_status: u8,
    /// `$$`: the first shell's process, once it was asked for or inherited.
    pub pid: Cell<u32>,
    /// BASH_SUBSHELL
    pub level: u32,
    /// The depth of nested command substitutions and texts, as `set -x` shows it.
    pub texts: u32,
    /// The state of RANDOM and its last number, once it was asked for.
    pub random: Cell<Option<(u32, u32)>>,
    /// The time when SECONDS was 0, in nanoseconds of the monotonic clock; 0 if it was never asked for.
    pub epoch: Cell<i64>,
    /// BASH_EXECUTION_STRING
    pub execution: Rc<str>,
    /// The running command, for BASH_COMMAND.
    pub current_command: CurrentCommand,
    /// The builtin, `((` or `[[` that evaluates an expression, if messages name it.
    pub evaluating: &'static str,
    /// The running trap, which must not trigger itself.
    pub trapping: Option<u8>,
    /// The position of `getopts`: the OPTIND that it is for, and the offset within the argument.
    pub getopts: (i64, usize),
    /// The stack of `pushd` below its top.
    pub directories: Vec<String>,
    /// The status of the last command substitution, for assignments without a command.
    pub substituted: Option<u8>,
    /// Files of process substitutions, closed after their command.
    pub process_files: Vec<u32>,
    /// The signal that ends the shell, after its EXIT trap.
    pub fatal_signal: Option<u8>,
    /// Caught signals that have not been handled.
    pub caught: Vec<u8>,
    /// Processes of process substitutions that have not been waited for.
    pub substitution_processes: Vec<u32>,
    /// Those of them that read the output of this shell and its commands: `>( … )`.
    pub readers: Vec<u32>,
    /// The number of command substitutions that run in place. Then some files are buffers.
    pub captures: u32,
    /// For each subshell in place, the working directory and the umask to restore, once changed.
    pub in_place_states: Vec<(Option<String>, Option<u32>)>,
    /// A live session: the shell survives its commands, and an interrupt ends only the command.
    pub live: bool,
    /// Children started now survive an interrupt of the command.
    pub detaching: bool,
    /// `-i` was given.
    pub interactive: bool,
    /// Builtins that `enable -n` disabled.
    pub disabled: Vec<String>,
    /// The programs and paths given to `hash`.
    pub hashed: Vec<(String, String)>,
    /// The specifications of `complete`, by command.
    pub completions: Vec<(String, Specification)>,
    /// The commands that `history` lists.
    pub history: History,
    /// The regular expressions that `[[ =~ ]]` used last.
    pub regexes: RegexCache,
    /// The coprocesses: array and process.
    pub coprocesses: Vec<(String, u32)>,
}

/// The list of commands and its state.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct History {
    /// The commands, oldest first.
    pub lines: Vec<String>,
    /// The number of commands dropped because of HISTSIZE. The numbers of the others do not change.
    pub dropped: usize,
    /// The number of commands at the end that have not been written to the file.
    pub unsaved: usize,
    /// The number of lines of the file that are in the list, or came from it.
    pub known: usize,
}

/// The command that BASH_COMMAND names. Its text is made only on demand.
#[derive(Debug, Clone, Default)]
pub enum CurrentCommand {
    /// None yet.
    #[default]
    Nothing,
    /// A simple command.
    Simple(Rc<Simple>),
    /// Another command, as text.
    Text(String),
}

/// The source of a shell's commands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Origin {
    /// `sh -c`
    #[default]
    Argument,
    /// `sh FILE`
    Script,
    /// `sh`: commands on standard input.
    Input,
}

/// A function that has been defined.
pub struct Definition {
    /// Its tree.
    pub function: Rc<Function>,
    /// Its code, made at the first call.
    pub code: OnceCell<Rc<Code>>,
    /// The file that defines it.
    pub source: Rc<str>,
    /// The generation of functions for which a substitution that calls it is known to run in place.
    pub in_place: Cell<Option<u32>>,
    /// `export -f`
    pub exported: Cell<bool>,
    /// `readonly -f`
    pub readonly: Cell<bool>,
    /// `declare -ft`: the DEBUG and RETURN traps apply inside.
    pub traced: Cell<bool>,
}

/// A running function or sourced file.
#[derive(Debug, Clone)]
pub struct Call {
    /// FUNCNAME; `source` for a sourced file.
    pub name: Rc<str>,
    /// BASH_LINENO: the line of the call.
    pub line: u32,
    /// BASH_SOURCE
    pub source: Rc<str>,
}

/// The reason why a sequence of commands is left before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The shell exits with `$?`.
    Exit,
    /// An error gives up the rest of the parsed line.
    Discard,
    /// An error that bash implements as a jump also gives up the texts of `eval`, `source` and `-c` around the line.
    Abandon,
    /// `return`
    Return,
    /// `break N`
    Break(u32),
    /// `continue N`
    Continue(u32),
    /// A live shell gives up its whole command, which was interrupted or timed out.
    Interrupt,
}

impl Stop {
    /// Turns an error that gives up a line into one that gives up the texts around it.
    pub fn abandoning(self) -> Stop {
        match self {
            Stop::Discard => Stop::Abandon,
            other => other,
        }
    }
}

impl Shell {
    /// Prints a message of the shell: `sh: line 3: text`.
    pub fn complain(&mut self, message: &str) {
        let line = format!("{}: line {}: {message}\n", self.source, self.line);
        self.write_error(&line);
    }

    /// Prints a message of a builtin: `sh: line 3: cd: text`.
    pub fn complain_as(&mut self, builtin: &str, message: &str) {
        self.complain(&format!("{builtin}: {message}"));
    }

    /// Prints a message and gives up the line.
    pub fn refuse(&mut self, message: &str) -> Stop {
        self.complain(message);
        self.status = 1;
        Stop::Discard
    }

    /// Writes to standard error.
    pub fn write_error(&mut self, message: &str) {
        if let Some(file) = self.files.get(2) {
            // A failure to report cannot be reported.
            let _ = file.write(&text::to_bytes(message));
        }
    }

    /// Appends to the output of the running builtin.
    pub fn print(&mut self, text: &str) {
        text::push_bytes(text, &mut self.out);
    }
}

impl Definition {
    /// Makes a function from its tree.
    pub fn new(function: Rc<Function>, source: Rc<str>) -> Rc<Definition> {
        Rc::new(Definition {
            function,
            code: OnceCell::new(),
            source,
            in_place: Cell::new(None),
            exported: Cell::new(false),
            readonly: Cell::new(false),
            traced: Cell::new(false),
        })
    }
}
