//! What a command would run, read from its syntax tree.
//!
//! [`Plan::of`] parses a text with the parser of the sandbox's own shell and lists each simple command in it, wherever it
//! stands: in pipelines, loops, functions, substitutions, here-documents, subscripts. Commands that run other commands
//! (`sh -c '…'`, `eval`, `xargs rm`, `env A=1 ls`, `find -exec …`) are followed as far as their words are constants.
//!
//! **It is information for whoever decides, and enforces nothing.** What a program word means is known only when it is
//! run: a variable holds a name, a function hides a program, a file that a script sources is written a line before.
//! Where the text does not tell, a step says so ([`Step::opaque`], [`Argument::dynamic`]). What may run is enforced
//! where the kernel starts a process ([`SandboxBuilder::allow_programs`](crate::SandboxBuilder::allow_programs)).
//!
//! The text is hostile: a plan takes time linear in its length, a bounded stack, and is cut off at [`bounds`] with a
//! [`Gap`] that says so.
//!
//! - `walk` goes through the tree;
//! - `argument` tells constants from what is known only later;
//! - `carrier` knows the commands that run commands.

mod argument;
mod carrier;
mod walk;

use serde::Serialize;

use super::bounds;

/// What a command would run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Plan {
    /// The simple commands in the order in which they are reached: a substitution before the command that has it, and
    /// what a command runs after that command. Both branches of an `if` are here, and a loop's body once.
    pub steps: Vec<Step>,
    /// Why there may be more.
    pub gap: Option<Gap>,
}

/// A simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Step {
    /// The program, builtin or function. None if nothing is run: assignments, and redirections alone or around a group.
    pub program: Option<Argument>,
    /// Its arguments, without those that are a command of their own and have a step of their own.
    pub arguments: Vec<Argument>,
    /// The variables that are set, for it or for what follows: `PATH=/tmp ls`.
    pub variables: Vec<String>,
    /// The files that its redirections write.
    pub writes: Vec<Argument>,
    /// The line it starts on, counted from 1.
    pub line: u32,
    /// The function in whose body it is, which runs when that is called.
    pub function: Option<String>,
    /// The step that runs it, by its place in the plan: `sh` for what is in `sh -c '…'`.
    pub within: Option<usize>,
    /// Whether it runs commands that the text does not tell.
    pub opaque: bool,
}

/// A word of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Argument {
    /// What it is after quotes are removed; if it is dynamic, how it is written, cut off if that is long.
    pub text: String,
    /// Whether it becomes something else when it is run: `$x`, `*.txt`, `{a,b}`.
    pub dynamic: bool,
}

/// Why a plan may not have all commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[non_exhaustive]
pub enum Gap {
    /// The text is no script from here on. A shell runs the lines before it all the same.
    Syntax {
        /// The line.
        line: u32,
        /// What is wrong.
        message: String,
    },
    /// The text is longer than a plan looks at.
    TooLong,
    /// There are more commands than a plan lists.
    TooMany,
    /// Words or commands are nested deeper than a plan looks.
    TooDeep,
}

impl Plan {
    /// What a text would run.
    pub fn of(command: &str) -> Plan {
        match command.len() > bounds::PLAN_BYTES {
            true => Plan { gap: Some(Gap::TooLong), ..Plan::default() },
            false => walk::plan(command),
        }
    }

    /// What a program would run that no shell starts: itself, and the commands that its arguments name (`env ls`).
    pub fn of_program(argv: &[String]) -> Plan {
        match argv.iter().map(String::len).sum::<usize>() > bounds::PLAN_BYTES {
            true => Plan { gap: Some(Gap::TooLong), ..Plan::default() },
            false => walk::plan_of_program(argv),
        }
    }

    /// Whether the steps are all commands that the text can run, by names that the text tells. What the programs do is
    /// another matter.
    pub fn is_whole(&self) -> bool {
        self.gap.is_none() && self.steps.iter().all(|step| !step.opaque)
    }
}
