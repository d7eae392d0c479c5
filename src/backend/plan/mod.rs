//! Plans: the programs that a command would run, read from its syntax tree.
//!
//! [`Plan::of`] parses a text with the parser of the sandbox's own shell and lists each simple command in it, wherever
//! it stands: in pipelines, loops, functions, substitutions, here-documents, subscripts. Commands that run other
//! commands (`sh -c '…'`, `eval`, `xargs rm`, `env A=1 ls`, `find -exec …`) are followed as far as their words are
//! constants.
//!
//! **A plan is information for an approver and enforces nothing.** The program of a command is known only at run time:
//! a variable holds its name, a function hides it, a script sources a file that was written one line before. A step
//! marks the parts that the text does not determine ([`Step::opaque`], [`Argument::dynamic`]). The kernel enforces the
//! list of allowed programs ([`SandboxBuilder::allow_programs`](crate::SandboxBuilder::allow_programs)).
//!
//! The text may be hostile: a plan takes time linear in its length and a bounded stack. It is cut off at the limits of
//! plans in [`bounds`], and then has a [`PlanGap`].
//!
//! - `walk` visits the syntax tree;
//! - `argument` distinguishes constant words from others;
//! - `nested` knows the commands that run commands.

mod argument;
mod nested;
mod walk;

use serde::Serialize;

use super::bounds;

/// The commands that a text would run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Plan {
    /// The simple commands in the order in which they are reached: a substitution before the command that contains it,
    /// and a nested command after the command that runs it. Both branches of an `if` are listed, and a loop's body
    /// once.
    pub steps: Vec<Step>,
    /// The reason why the list may be incomplete.
    pub gap: Option<PlanGap>,
}

/// A simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Step {
    /// The program, builtin or function. `None` for assignments, and for redirections alone or around a group.
    pub program: Option<Argument>,
    /// The arguments, without those that are a command and have a step of their own.
    pub arguments: Vec<Argument>,
    /// The variables that are set, for this command or for those that follow: `PATH=/tmp ls`.
    pub variables: Vec<String>,
    /// The files that the redirections write.
    pub writes: Vec<Argument>,
    /// The first line of the command, counted from 1.
    pub line: u32,
    /// The function whose body contains the command.
    pub function: Option<String>,
    /// The index of the step that runs this one: `sh` for the commands in `sh -c '…'`.
    pub within: Option<usize>,
    /// True if it runs commands that the text does not determine.
    pub opaque: bool,
}

/// A word of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Argument {
    /// The word after quote removal. A dynamic word is as written, cut off if it is long.
    pub text: String,
    /// True if the word is expanded at run time: `$x`, `*.txt`, `{a,b}`.
    pub dynamic: bool,
}

/// The reason why a plan may lack commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
#[non_exhaustive]
pub enum PlanGap {
    /// The text has a syntax error. A shell still runs the lines before it.
    Syntax {
        /// The line.
        line: u32,
        /// The error.
        message: String,
    },
    /// The text is too long for a plan.
    TooLong,
    /// There are too many commands for a plan.
    TooMany,
    /// Words or commands are nested too deeply for a plan.
    TooDeep,
}

impl Plan {
    /// Makes the plan of a text.
    pub fn of(command: &str) -> Plan {
        match command.len() > bounds::PLAN_BYTES {
            true => Plan { gap: Some(PlanGap::TooLong), ..Plan::default() },
            false => walk::plan(command),
        }
    }

    /// Makes the plan of a program that no shell starts: itself, and the commands that its arguments name (`env ls`).
    pub fn of_program(argv: &[String]) -> Plan {
        match argv.iter().map(String::len).sum::<usize>() > bounds::PLAN_BYTES {
            true => Plan { gap: Some(PlanGap::TooLong), ..Plan::default() },
            false => walk::plan_of_program(argv),
        }
    }

    /// Returns true if the steps are all commands that the text can run, and the text names them all. The actions of
    /// the programs themselves are not part of a plan.
    pub fn is_whole(&self) -> bool {
        self.gap.is_none() && self.steps.iter().all(|step| !step.opaque)
    }
}
