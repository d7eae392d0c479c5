//! The state of a shell: all that a subshell inherits, and all that a command can change.
//!
//! - `variable`, `variables`, `associative`: the variables;
//! - `lookup`, `assign`, `special`: reading and setting them by the language's rules;
//! - `files`: open files; `jobs`: background jobs; `traps`, `options`, `completions`: what builtins set;
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
pub mod traps;
pub mod variable;
pub mod variables;

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::exec::{Code, Control};
use crate::hash::NameMap;
use crate::syntax::tree::{Function, Simple};
use crate::text;

pub use assign::{Key, in_case, into_indexed};
use completions::Specification;
use files::Files;
use jobs::Jobs;
use options::Options;
pub use positional::Positional;
pub use special::{VERSION, nanoseconds};
use traps::Traps;
use variables::Variables;

/// A shell.
#[derive(Default)]
pub struct Shell {
    /// The variables.
    pub variables: Variables,
    /// The functions.
    pub functions: Rc<NameMap<Rc<str>, Rc<Definition>>>,
    /// Counts changes of the functions, so that what was found out about them can be kept until then.
    pub generation: u32,
    /// The aliases.
    pub aliases: Rc<NameMap<String, String>>,
    /// What `set` and `shopt` switched.
    pub options: Options,
    /// `$1` and on.
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
    /// Where messages say they come from: the script, or the file that is being sourced.
    pub source: Rc<str>,
    /// How many conditions enclose the running command: in one, failure is not an error.
    pub guards: u32,
    /// The functions and sourced files that are running, innermost last.
    pub calls: Vec<Call>,
    /// What the running commands have to undo or return to.
    pub controls: Vec<Control>,
    /// Where the stack of controls begins for the code that runs: what is below belongs to someone else.
    pub floor: usize,
    /// Substitutions and traps that run inside each other on the native stack.
    pub nesting: u32,
    /// Output of the running builtin.
    pub out: Vec<u8>,
    /// Where the shell got its commands from.
    pub origin: Origin,
    /// The status after an error that ends the shell: bash has 127 for `sh -c`, and 1 elsewhere.
    pub fatal_status: u8,
    /// `$$`: the first shell's number, once asked for or inherited.
    pub pid: Cell<u32>,
    /// BASH_SUBSHELL
    pub level: u32,
    /// Command substitutions and texts in each other, as `set -x` shows them.
    pub texts: u32,
    /// The state of RANDOM and the number it gave last, once asked for.
    pub random: Cell<Option<(u32, u32)>>,
    /// When SECONDS was 0, in nanoseconds of the monotonic clock; 0 if never asked.
    pub epoch: Cell<i64>,
    /// BASH_EXECUTION_STRING
    pub execution: Rc<str>,
    /// The command that runs, for BASH_COMMAND.
    pub running: Running,
    /// What evaluates an expression, if that is to be named in messages: a builtin, `((`, `[[`.
    pub evaluating: &'static str,
    /// The trap that is running, so that it does not trigger itself.
    pub trapping: Option<u8>,
    /// Where `getopts` is within the current argument, and for which OPTIND.
    pub getopts: (i64, usize),
    /// The directories below the top of the stack of `pushd`.
    pub directories: Vec<String>,
    /// The status of the last command substitution, for assignments without a command.
    pub substituted: Option<u8>,
    /// Files of process substitutions, closed after the command that they belong to.
    pub process_files: Vec<u32>,
    /// The signal that ends the shell, after its EXIT trap.
    pub dying: Option<u8>,
    /// Signals that were caught and not yet dealt with.
    pub caught: Vec<u8>,
    /// Processes of process substitutions that have not been waited for.
    pub strays: Vec<u32>,
    /// Those of them that read what this shell and its commands write: `>( … )`.
    pub readers: Vec<u32>,
    /// How many command substitutions run in place: then some files are buffers.
    pub captures: u32,
    /// For each subshell in place, the working directory and the umask to go back to, once changed.
    pub places: Vec<(Option<String>, Option<u32>)>,
    /// It lives on between the commands of whoever started the session: what is interrupted is the command.
    pub live: bool,
    /// What is started now goes on when the command is interrupted.
    pub detaching: bool,
    /// `-i` was given.
    pub interactive: bool,
    /// Builtins that `enable -n` took away.
    pub disabled: Vec<String>,
    /// Programs that `hash` was told to remember, with their paths.
    pub hashed: Vec<(String, String)>,
    /// What `complete` was told, by command.
    pub completions: Vec<(String, Specification)>,
    /// The commands that `history` lists.
    pub history: History,
    /// Coprocesses: their array and process.
    pub coprocesses: Vec<(String, u32)>,
}

/// The list of commands, and what became of it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct History {
    /// The commands, oldest first.
    pub lines: Vec<String>,
    /// How many HISTSIZE made the list forget: numbers go on counting.
    pub dropped: usize,
    /// How many at the end are not in the file yet.
    pub unsaved: usize,
    /// How many lines of the file are in the list, or came from it.
    pub known: usize,
}

/// The command that BASH_COMMAND names: its text is made only if someone asks.
#[derive(Debug, Clone, Default)]
pub enum Running {
    /// None yet.
    #[default]
    Nothing,
    /// A simple command.
    Simple(Rc<Simple>),
    /// Another one, as text.
    Text(String),
}

/// How the shell was started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Origin {
    /// `sh -c`
    #[default]
    Argument,
    /// `sh FILE`
    Script,
    /// `sh`, commands on standard input
    Input,
}

/// A function that has been defined.
pub struct Definition {
    /// Its tree.
    pub function: Rc<Function>,
    /// Its code, made at the first call.
    pub code: OnceCell<Rc<Code>>,
    /// Where it was defined.
    pub source: Rc<str>,
    /// The generation of functions for which a substitution that calls it may run in place.
    pub in_place: Cell<Option<u32>>,
    /// `export -f`
    pub exported: Cell<bool>,
    /// `readonly -f`
    pub readonly: Cell<bool>,
    /// `declare -ft`: the DEBUG and RETURN traps hold inside.
    pub traced: Cell<bool>,
}

/// A running function or sourced file.
#[derive(Debug, Clone)]
pub struct Call {
    /// FUNCNAME; `source` for a sourced file.
    pub name: Rc<str>,
    /// BASH_LINENO: the line it was called from.
    pub line: u32,
    /// BASH_SOURCE
    pub source: Rc<str>,
}

/// Why a sequence of commands is left before its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The shell ends with `$?`.
    Exit,
    /// The rest of the line that was parsed is given up, after an error.
    Discard,
    /// So are the texts of `eval`, `source` and `-c` that the line is in: an error that bash jumps from.
    Abandon,
    /// `return`
    Return,
    /// `break N`
    Break(u32),
    /// `continue N`
    Continue(u32),
    /// A live shell gives up everything that its command is in: the command was interrupted, or its time is over.
    Interrupt,
}

impl Stop {
    /// An error that was to end a line ends more.
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
            // There is nowhere to report that the report failed.
            let _ = file.write(&text::to_bytes(message));
        }
    }

    /// Adds to the running builtin's output.
    pub fn print(&mut self, text: &str) {
        text::push_bytes(text, &mut self.out);
    }
}

impl Definition {
    /// A new function.
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
