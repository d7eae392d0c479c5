//! Simple commands.

use std::rc::Rc;

use super::function::FunctionCall;
use super::redirect::Undo;
use super::script::Script;
use crate::builtins::{self, Builtin};
use crate::state::options::SetOption;
use crate::state::variable::{Attributes, Value};
use crate::state::{Shell, Stop};
use crate::syntax::tree::{AssignedValue, Assignment, Part, Simple, Word};

/// The machine's next action after a step.
pub(super) enum NextAction {
    /// Continues.
    Go,
    /// Calls a function.
    Call(Box<FunctionCall>),
    /// Runs a text.
    Script(Box<Script>),
}

/// The arguments of a command, its name first.
#[derive(Debug, Default)]
pub struct Arguments {
    /// The strings.
    pub list: Vec<String>,
    /// Array assignments among the arguments of a declaration, by position. The string at that position is the name.
    pub arrays: Vec<(usize, Rc<Assignment>)>,
}

impl Shell {
    /// Runs a simple command.
    pub(super) fn simple(&mut self, node: &Rc<Simple>) -> Result<NextAction, Stop> {
        self.line = node.line;
        self.before_command(node)?;
        self.substituted = None;
        let arguments = self.expand_arguments(&node.words)?;
        if arguments.list.is_empty() {
            return self.assignments_only(node);
        }
        let mut temporary = !node.assignments.is_empty();
        if temporary {
            self.assign_temporarily(&node.assignments)?;
        }
        let special = self.options.has(SetOption::POSIX) && builtins::is_special(&arguments.list[0]);
        if special && temporary {
            self.variables.keep();
            temporary = false;
        }
        self.trace_command(&arguments)?;
        let undo = match node.redirects.is_empty() {
            true => Some(Undo::default()),
            false => self.redirect(&node.redirects)?,
        };
        match undo {
            Some(undo) => self.dispatch(arguments, undo, temporary),
            None => {
                if temporary {
                    self.variables.leave();
                }
                self.status = 1;
                if special {
                    return Err(Stop::Exit);
                }
                self.done()
            }
        }
    }

    fn done(&mut self) -> Result<NextAction, Stop> {
        if !self.process_files.is_empty() {
            self.close_process_files();
        }
        self.finish_command()?;
        Ok(NextAction::Go)
    }

    /// Finds the command and runs it. Its redirections and assignments have been performed.
    fn dispatch(&mut self, mut arguments: Arguments, mut undo: Undo, temporary: bool) -> Result<NextAction, Stop> {
        let name = arguments.list[0].as_str();
        let last = arguments.list.last().cloned().unwrap_or_default();
        if let Some(definition) = self.functions.get(name).cloned() {
            arguments.list.remove(0);
            return Ok(NextAction::Call(Box::new(FunctionCall {
                definition,
                arguments: arguments.list,
                undo,
                temporary,
                last,
            })));
        }
        let special = self.options.has(SetOption::POSIX) && builtins::is_special(name);
        let result = match self.find_builtin(name) {
            Some(builtin) if special => self.special_builtin(builtin, arguments, &mut undo),
            Some(builtin) => self.builtin(builtin, arguments, &mut undo),
            None => self.program(&arguments.list).map(|()| NextAction::Go),
        };
        self.last_argument = last;
        if let Ok(NextAction::Script(mut script)) = result {
            script.undo = undo;
            script.temporary = temporary;
            script.special = special;
            return Ok(NextAction::Script(script));
        }
        if temporary {
            self.variables.leave();
        }
        self.restore_files(undo);
        result?;
        self.done()
    }

    /// Runs a builtin. An error in it fails the builtin.
    fn builtin(&mut self, builtin: Builtin, arguments: Arguments, undo: &mut Undo) -> Result<NextAction, Stop> {
        match self.call_builtin(builtin, arguments, undo) {
            Err(Stop::Discard) => {
                self.status = 1;
                Ok(NextAction::Go)
            }
            result => result,
        }
    }

    /// Runs a special builtin in POSIX mode. An error in it ends the shell.
    fn special_builtin(&mut self, builtin: Builtin, arguments: Arguments, undo: &mut Undo) -> Result<NextAction, Stop> {
        let next = match self.call_builtin(builtin, arguments, undo) {
            Err(Stop::Discard) => {
                self.status = 1;
                return Err(Stop::Exit);
            }
            next => next?,
        };
        let failed = match builtin {
            Builtin::Plain(_) | Builtin::Declaration(_) | Builtin::Eval => self.status == 2,
            Builtin::Source => self.status != 0,
            Builtin::Exec | Builtin::Command | Builtin::Builtin => false,
        };
        match next {
            NextAction::Go if failed => Err(Stop::Exit),
            next => Ok(next),
        }
    }

    /// Runs a builtin and writes its output.
    fn call_builtin(&mut self, builtin: Builtin, arguments: Arguments, undo: &mut Undo) -> Result<NextAction, Stop> {
        let status = match builtin {
            Builtin::Plain(run) => run(self, &arguments.list),
            Builtin::Declaration(run) => run(self, &arguments),
            Builtin::Eval => {
                return match builtins::eval(self, &arguments.list)? {
                    Some(script) => Ok(NextAction::Script(Box::new(script))),
                    None => Ok(NextAction::Go),
                };
            }
            Builtin::Source => {
                return match builtins::source(self, &arguments.list)? {
                    Some(script) => Ok(NextAction::Script(Box::new(script))),
                    None => Ok(NextAction::Go),
                };
            }
            Builtin::Exec => self.exec_builtin(&arguments.list, undo),
            Builtin::Command => return self.command_builtin(arguments, undo),
            Builtin::Builtin => return self.builtin_builtin(arguments, undo),
        };
        self.settle(&arguments.list, status)
    }

    /// Writes a builtin's output and records its status.
    fn settle(&mut self, arguments: &[String], status: Result<u8, Stop>) -> Result<NextAction, Stop> {
        let written = self.flush_output();
        self.status = status?;
        if let Err(errno) = written {
            let message = format!("write error: {}", isopod_sys::text(errno));
            self.complain_as(&arguments[0], &message);
            self.status = 1;
        }
        Ok(NextAction::Go)
    }

    /// Writes the buffered output of a builtin.
    pub fn flush_output(&mut self) -> Result<(), isopod_sys::Errno> {
        if self.out.is_empty() {
            return Ok(());
        }
        let written = match self.files.get(1) {
            Some(file) => file.write(&self.out),
            None => Err(isopod_sys::Errno::BadDescriptor),
        };
        self.out.clear();
        written
    }

    /// `command`: runs a builtin or a program, but no function.
    fn command_builtin(&mut self, mut arguments: Arguments, undo: &mut Undo) -> Result<NextAction, Stop> {
        match builtins::command(self, &arguments.list)? {
            builtins::CommandRequest::Done(status) => self.settle(&arguments.list, Ok(status)),
            builtins::CommandRequest::Run(first) => {
                arguments.shift(first);
                match self.find_builtin(&arguments.list[0]) {
                    Some(builtin) => self.builtin(builtin, arguments, undo),
                    None => {
                        self.program(&arguments.list)?;
                        Ok(NextAction::Go)
                    }
                }
            }
        }
    }

    /// `builtin`: runs a builtin only.
    fn builtin_builtin(&mut self, mut arguments: Arguments, undo: &mut Undo) -> Result<NextAction, Stop> {
        let first = match arguments.list.get(1).map(String::as_str) {
            Some("--") => 2,
            Some(option) if option.starts_with('-') => {
                self.status = self.reject_option("builtin", &option.chars().take(2).collect::<String>());
                return Ok(NextAction::Go);
            }
            _ => 1,
        };
        if arguments.list.len() <= first {
            self.status = 0;
            return Ok(NextAction::Go);
        }
        arguments.shift(first);
        match self.find_builtin(&arguments.list[0]) {
            Some(builtin) => self.builtin(builtin, arguments, undo),
            None => {
                let message = format!("{}: not a shell builtin", arguments.list[0]);
                self.complain_as("builtin", &message);
                self.status = 1;
                Ok(NextAction::Go)
            }
        }
    }

    /// `exec`: without a command it makes the redirections permanent.
    fn exec_builtin(&mut self, arguments: &[String], undo: &mut Undo) -> Result<u8, Stop> {
        match builtins::exec_request(self, arguments)? {
            builtins::ExecRequest::Files => {
                undo.keep();
                Ok(0)
            }
            builtins::ExecRequest::Failed(status) => Ok(status),
            builtins::ExecRequest::Program { arguments, name, empty } => {
                self.lower_level();
                self.exec_program(arguments, name, empty)?;
                Ok(self.status)
            }
        }
    }

    /// Lowers SHLVL for a program that replaces the shell: a shell counts itself.
    fn lower_level(&mut self) {
        if self.level == 0
            && let Some(variable) = self.variables.get_mut("SHLVL")
            && let Some(level) = variable.text().and_then(|text| text.parse::<i64>().ok())
        {
            variable.value = Value::Scalar(level.saturating_sub(1).max(0).to_string());
        }
    }

    /// Performs assignments without a command.
    fn assignments_only(&mut self, node: &Simple) -> Result<NextAction, Stop> {
        // Redirections without a command are performed for their effect: `> file` creates a file.
        if !node.redirects.is_empty() {
            match self.redirect(&node.redirects)? {
                Some(undo) => self.restore_files(undo),
                None => {
                    self.status = 1;
                    return self.done();
                }
            }
        }
        for assignment in &node.assignments {
            let assigned = self.assign_node(assignment);
            // Elsewhere such an error gives up only the line; `set -e` treats it as a failure, even in a condition.
            if assigned == Err(Stop::Discard)
                && self.options.has(SetOption::ERREXIT)
                && self.variables.get(&assignment.name).is_some_and(|v| v.is(Attributes::READONLY))
            {
                return Err(Stop::Exit);
            }
            assigned?;
        }
        self.status = self.substituted.unwrap_or(0);
        self.last_argument.clear();
        self.done()
    }

    /// Expands the words of a command.
    fn expand_arguments(&mut self, words: &[Word]) -> Result<Arguments, Stop> {
        let mut arguments = Arguments { list: Vec::with_capacity(words.len()), arrays: Vec::new() };
        for word in words {
            match word.parts.as_slice() {
                [Part::Assignment(assignment)] => {
                    if let AssignedValue::Array(_) = assignment.value {
                        arguments.arrays.push((arguments.list.len(), assignment.clone()));
                        arguments.list.push(assignment.name.clone());
                        continue;
                    }
                    let text = self.assignment_argument(assignment)?;
                    arguments.list.push(text);
                }
                _ => self.expand_word(word, &mut arguments.list)?,
            }
        }
        Ok(arguments)
    }
}

impl Arguments {
    /// Drops the first arguments.
    fn shift(&mut self, count: usize) {
        self.list.drain(..count);
        for (at, _) in &mut self.arrays {
            *at -= count;
        }
    }
}
