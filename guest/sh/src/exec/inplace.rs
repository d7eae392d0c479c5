//! Command substitutions that run in this process.
//!
//! A process costs tens of microseconds, a snapshot of the state included; most substitutions take less. Running them
//! in place cannot be observed as long as all their changes are undone: those of variables by a scope, the rest by
//! copies that share data. A substitution whose effects outlive it, or that inspects processes, gets a real process.

use std::rc::Rc;

use crate::state::files::File;
use crate::state::options::{SetOption, Shopt};
use crate::state::variables::ScopeKind;
use crate::state::{Definition, Positional, Shell, Stop};
use crate::syntax::tree::{
    AssignedValue, Assignment, Chain, Command, Kind, List, Name, Operation, Parameter, Part, Redirect, Word,
};

/// Limit on substitutions nested on the native stack: each level costs several kilobytes of it.
const NESTING_LIMIT: u32 = 24;

impl Shell {
    /// Returns true if a substitution may run in this process.
    pub(super) fn runs_in_place(&self, list: &List) -> bool {
        // A trap would run in the wrong shell.
        if self.nesting >= NESTING_LIMIT || self.traps.iter().next().is_some() {
            return false;
        }
        let mut survey = Survey { shell: self, visited: Vec::new() };
        let answer = survey.list(list);
        if answer {
            // None of the visited functions needs a process, in whichever order they are called.
            for definition in survey.visited {
                definition.in_place.set(Some(self.generation));
            }
        }
        answer
    }

    /// Runs a list, collects its output, and undoes its changes.
    pub(super) fn capture_in_place(&mut self, list: &Rc<List>) -> Result<(Vec<u8>, u8), Stop> {
        let buffer = File::capture();
        let saved = SavedState {
            functions: self.functions.clone(),
            aliases: self.aliases.clone(),
            options: self.options,
            positional: self.positional.clone(),
            name: self.name.clone(),
            files: self.files.clone(),
            process_files: std::mem::take(&mut self.process_files),
            background: self.background,
            last_argument: std::mem::take(&mut self.last_argument),
            line: self.line,
            guards: self.guards,
            getopts: self.getopts,
            directories: self.directories.clone(),
            statuses: self.statuses.clone(),
            generation: self.generation,
            height: self.controls.len(),
            calls: self.calls.len(),
            source: self.source.clone(),
            fatal_status: std::mem::replace(&mut self.fatal_status, 1),
        };
        self.last_argument.clone_from(&saved.last_argument);
        self.files.set(1, Some(buffer.clone()));
        if !self.options.shopt(Shopt::INHERIT_ERREXIT) {
            self.options.switch(SetOption::ERREXIT, false);
        }
        let out = std::mem::take(&mut self.out);
        self.variables.enter(ScopeKind::Subshell);
        self.in_place_states.push((None, None));
        self.captures += 1;
        self.nesting += 1;
        self.level += 1;
        self.texts += 1;
        let result = self.run(super::compile(list));
        self.unwind_to(saved.height);
        self.close_process_files();
        self.level -= 1;
        self.texts -= 1;
        self.nesting -= 1;
        self.captures -= 1;
        self.restore_process_state();
        self.variables.leave();
        self.out = out;
        self.put_back(saved);
        if result == Err(Stop::Interrupt) {
            return Err(Stop::Interrupt);
        }
        if matches!(result, Err(Stop::Discard | Stop::Abandon)) {
            self.status = 1;
        }
        let status = self.status;
        match &*buffer {
            File::Capture(bytes) => Ok((bytes.take(), status)),
            File::Kernel { .. } => Ok((Vec::new(), status)),
        }
    }

    fn put_back(&mut self, saved: SavedState) {
        self.functions = saved.functions;
        self.aliases = saved.aliases;
        self.options = saved.options;
        self.positional = saved.positional;
        self.name = saved.name;
        self.files = saved.files;
        self.process_files = saved.process_files;
        self.background = saved.background;
        self.last_argument = saved.last_argument;
        self.line = saved.line;
        self.guards = saved.guards;
        self.getopts = saved.getopts;
        self.directories = saved.directories;
        self.statuses = saved.statuses;
        self.source = saved.source;
        self.fatal_status = saved.fatal_status;
        self.calls.truncate(saved.calls);
        // Functions defined meanwhile must not be mistaken for the restored ones.
        if self.generation != saved.generation {
            self.generation += 1;
        }
    }

    /// Restores the directory and the umask.
    fn restore_process_state(&mut self) {
        if let Some((directory, umask)) = self.in_place_states.pop() {
            if let Some(directory) = directory {
                let _ = isopod_sys::process::chdir(&directory);
            }
            if let Some(umask) = umask {
                isopod_sys::process::umask(umask);
            }
        }
    }
}

/// The state that a substitution in place restores.
struct SavedState {
    functions: Rc<crate::hash::NameMap<Rc<str>, Rc<Definition>>>,
    aliases: Rc<crate::hash::NameMap<String, String>>,
    options: crate::state::options::Options,
    positional: Positional,
    name: Rc<str>,
    files: crate::state::files::Files,
    process_files: Vec<u32>,
    background: Option<u32>,
    last_argument: String,
    line: u32,
    guards: u32,
    getopts: (i64, usize),
    directories: Vec<String>,
    statuses: Vec<u8>,
    generation: u32,
    height: usize,
    calls: usize,
    source: Rc<str>,
    fatal_status: u8,
}

/// Searches commands for anything that needs a process of its own.
struct Survey<'a> {
    shell: &'a Shell,
    /// Functions that have been searched or are being searched.
    visited: Vec<Rc<Definition>>,
}

impl Survey<'_> {
    fn list(&mut self, list: &List) -> bool {
        list.items.iter().all(|item| !item.background && self.chain(&item.chain))
    }

    fn chain(&mut self, chain: &Chain) -> bool {
        std::iter::once(&chain.first)
            .chain(chain.rest.iter().map(|(_, pipeline)| pipeline))
            .all(|pipeline| pipeline.stages.len() > 1 || pipeline.stages.iter().all(|c| self.command(c)))
    }

    fn command(&mut self, command: &Command) -> bool {
        self.redirects(&command.redirects)
            && match &command.kind {
                Kind::Simple(simple) => {
                    self.redirects(&simple.redirects)
                        && simple.assignments.iter().all(|a| self.assignment(a))
                        && simple.words.iter().all(|w| self.word(w))
                        && simple.words.first().is_none_or(|name| self.name(name))
                }
                Kind::Group(list) => self.list(list),
                // They get processes of their own in any case.
                Kind::Subshell(_) | Kind::Function(_) => true,
                Kind::If(arms, otherwise) => {
                    arms.iter().all(|(c, b)| self.list(c) && self.list(b))
                        && otherwise.as_ref().is_none_or(|l| self.list(l))
                }
                Kind::While { condition, body, .. } => self.list(condition) && self.list(body),
                Kind::For(node) | Kind::Select(node) => {
                    node.words.iter().flatten().all(|w| self.word(w)) && self.list(&node.body)
                }
                Kind::ForArith(node) => self.list(&node.body),
                Kind::Case(node) => self.word(&node.word) && node.arms.iter().all(|arm| self.list(&arm.body)),
                Kind::Arith(_) | Kind::Condition(_) => true,
                Kind::Coproc(_) => false,
            }
    }

    /// Returns false for builtins that set up state for a subshell, or that run text unknown at this point.
    fn name(&mut self, word: &Word) -> bool {
        let Some(name) = word.literal() else { return false };
        match name {
            "eval" | "." | "source" | "trap" | "exec" | "wait" | "jobs" | "fg" | "bg" | "disown" | "kill"
            | "suspend" | "ulimit" | "command" | "builtin" | "logout" => false,
            _ => match self.shell.functions.get(name) {
                Some(definition) => self.function(definition),
                None => true,
            },
        }
    }

    fn function(&mut self, definition: &Rc<Definition>) -> bool {
        let known = definition.in_place.get() == Some(self.shell.generation);
        if known || self.visited.iter().any(|d| Rc::ptr_eq(d, definition)) {
            return true;
        }
        // Searching many functions would cost more than the process that it may save.
        if self.visited.len() >= 20 {
            return false;
        }
        self.visited.push(definition.clone());
        self.command(&definition.function.body)
    }

    fn assignment(&mut self, assignment: &Assignment) -> bool {
        match &assignment.value {
            AssignedValue::Scalar(word) => self.word(word),
            AssignedValue::Array(elements) => elements.iter().all(|e| self.word(&e.word)),
        }
    }

    fn redirects(&mut self, redirects: &[Redirect]) -> bool {
        redirects.iter().all(|r| self.word(&r.target))
    }

    /// Returns false for words that show the difference: process substitutions outlive their command, and BASHPID names
    /// the process.
    fn word(&mut self, word: &Word) -> bool {
        word.parts.iter().all(|part| match part {
            Part::Process(..) => false,
            Part::Parameter(parameter) => self.parameter(parameter),
            Part::Assignment(assignment) => self.assignment(assignment),
            _ => true,
        })
    }

    fn parameter(&mut self, parameter: &Parameter) -> bool {
        let telling = matches!(&parameter.name, Name::Variable(name) if name == "BASHPID");
        let operand = match &parameter.operation {
            Operation::Fallback { word, .. } => self.word(word),
            _ => true,
        };
        !telling && operand
    }
}
