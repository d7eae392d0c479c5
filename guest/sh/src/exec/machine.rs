//! The machine that runs code.

use std::rc::Rc;

use super::simple::NextAction;
use super::{Code, Control, Op, Stopwatch};
use crate::builtins;
use crate::state::options::SetOption;
use crate::state::{Definition, Origin, Shell, Stop};
use crate::syntax::tree::{Arith, Case, Function};
use crate::syntax::{arith_text, condition_text, is_name, word_text};

impl Shell {
    /// Runs code to its end, or until a stop that its own commands do not handle.
    pub fn run(&mut self, code: Rc<Code>) -> Result<(), Stop> {
        let outer = std::mem::replace(&mut self.floor, self.controls.len());
        let result = self.run_from_floor(code);
        self.floor = outer;
        result
    }

    fn run_from_floor(&mut self, mut code: Rc<Code>) -> Result<(), Stop> {
        let mut at = 0;
        loop {
            let step = match code.ops.get(at) {
                Some(op) => {
                    at += 1;
                    self.step(op, &mut at)
                }
                None => match self.return_to_caller() {
                    Ok(Some((caller, position))) => {
                        code = caller;
                        at = position;
                        continue;
                    }
                    Ok(None) => return Ok(()),
                    Err(stop) => Err(stop),
                },
            };
            let stop = match step {
                Ok(NextAction::Go) => continue,
                Ok(NextAction::Call(entry)) => match self.enter_function(*entry, &code, at) {
                    Ok(callee) => {
                        code = callee;
                        at = 0;
                        continue;
                    }
                    Err(stop) => stop,
                },
                Ok(NextAction::Script(script)) => {
                    self.enter_script(*script, code, at);
                    // Its commands are fetched one by one when the empty code ends.
                    code = Rc::default();
                    at = 0;
                    continue;
                }
                Err(stop) => stop,
            };
            match self.unwind(stop)? {
                Resume::At(position) => at = position,
                Resume::In(caller, position) => {
                    code = caller;
                    at = position;
                }
            }
        }
    }

    fn step(&mut self, op: &Op, at: &mut usize) -> Result<NextAction, Stop> {
        if self.options.has(SetOption::NOEXEC) {
            return Ok(NextAction::Go);
        }
        match op {
            Op::Simple(simple) => return self.simple(simple),
            Op::Pipeline(pipeline) => {
                self.pipeline(pipeline)?;
                self.check_failure()?;
                self.between_commands()?;
            }
            Op::Background(chain) => {
                self.background(chain)?;
                self.status = 0;
            }
            Op::Subshell(list, redirects, line) => {
                self.line = *line;
                self.note_subshell(list);
                self.subshell(list, redirects)?;
                self.finish_command()?;
            }
            Op::Arith(arith, line) => {
                self.line = *line;
                self.arith_command(arith)?;
            }
            Op::Condition(condition, line) => {
                self.line = *line;
                self.before_compound(|| condition_text(condition))?;
                self.status = self.condition_status(condition)?;
                self.finish_command()?;
            }
            Op::Define(function) => self.define(function)?,
            Op::Coproc(coproc, line) => {
                self.line = *line;
                self.coprocess(coproc)?;
            }
            Op::Redirect(redirects, end, line) => {
                self.line = *line;
                match self.redirect(redirects)? {
                    Some(undo) => self.controls.push(Control::Redirect(undo)),
                    None => {
                        self.status = 1;
                        *at = *end;
                        self.finish_command()?;
                    }
                }
            }
            Op::EndRedirect | Op::EndCase => {
                if let Some(control) = self.controls.pop() {
                    self.undo(control);
                }
            }
            Op::Jump(target) => *at = *target,
            Op::JumpIfOk(target) if self.status == 0 => *at = *target,
            Op::JumpIfFailed(target) if self.status != 0 => *at = *target,
            Op::JumpIfOk(_) | Op::JumpIfFailed(_) => {}
            Op::Guard => self.guards += 1,
            Op::Unguard => self.guards -= 1,
            Op::Negate => self.status = u8::from(self.status == 0),
            Op::Succeed => self.status = 0,
            Op::Loop { next, end } => self.begin_loop(*next, *end, Vec::new()),
            Op::For { node, next, end } => self.begin_for(node, *next, *end, at)?,
            Op::ForNext(node, end) => self.next_of_for(node, *end, at)?,
            Op::SelectNext(node, end) => self.next_of_select(node, *end, at)?,
            Op::ForInitial(node, end) => self.for_initial(node, *end, at)?,
            Op::ForTest(node, end) => self.for_test(node, *end, at)?,
            Op::ForStep(node) => self.for_step(node)?,
            Op::Again(start) => {
                let status = self.status;
                if let Some(Control::Loop(running)) = self.controls.last_mut() {
                    running.status = status;
                }
                *at = *start;
            }
            Op::EndLoop => {
                if let Some(Control::Loop(ended)) = self.controls.pop() {
                    self.status = ended.status;
                }
            }
            Op::Case { node, bodies, end } => {
                self.line = node.line;
                self.before_compound(|| format!("case {} in ", word_text(&node.word)))?;
                self.trace_case(node)?;
                let word = self.expand_string(&node.word)?;
                self.controls.push(Control::Case(word));
                *at = self.matching_arm(node, bodies, *end, 0)?;
            }
            Op::CaseFrom { node, bodies, end, arm } => {
                let status = self.status;
                *at = self.matching_arm(node, bodies, *end, *arm)?;
                // No further pattern matched: the status of the last body counts.
                if *at == *end {
                    self.status = status;
                }
            }
            Op::Time => self.controls.push(Control::Time(Stopwatch::start())),
            Op::EndTime(format) => {
                if let Some(Control::Time(start)) = self.controls.pop() {
                    self.report_time(&start, *format);
                }
            }
        }
        Ok(NextAction::Go)
    }

    /// `(( … ))`: a wrong expression fails the command, and the line goes on.
    fn arith_command(&mut self, arith: &Arith) -> Result<(), Stop> {
        self.before_compound(|| format!("(({}))", arith_text(arith)))?;
        self.trace_arith(arith)?;
        self.status = match self.arith_for("((", arith) {
            Ok(value) => u8::from(value == 0),
            Err(Stop::Discard) => 1,
            Err(stop) => return Err(stop),
        };
        self.finish_command()
    }

    /// Returns the position of the body of the first branch, from `first` on, that matches the word, or `end` if none
    /// does.
    fn matching_arm(&mut self, node: &Case, bodies: &[usize], end: usize, first: usize) -> Result<usize, Stop> {
        let word = match self.controls.last() {
            Some(Control::Case(word)) => word.clone(),
            _ => String::new(),
        };
        for (arm, body) in node.arms.iter().zip(bodies).skip(first) {
            for pattern in &arm.patterns {
                let matches = match pattern.literal() {
                    Some(text) if !self.options.shopt(crate::state::options::Shopt::NOCASEMATCH) => word == text,
                    _ => {
                        let text = self.expand_pattern(pattern)?;
                        self.pattern(&text).matches(&word)
                    }
                };
                if matches {
                    return Ok(*body);
                }
            }
        }
        self.status = 0;
        Ok(end)
    }

    fn define(&mut self, function: &Rc<Function>) -> Result<(), Stop> {
        let posix = self.options.has(SetOption::POSIX);
        let fault = match function.name.as_str() {
            name if posix && builtins::is_special(name) => "is a special builtin",
            name if posix && !is_name(name) => "not a valid identifier",
            name if name.contains(['$', '"', '\'', '`', '\\']) => "not a valid identifier",
            _ => "",
        };
        if !fault.is_empty() {
            self.complain(&format!("`{}': {fault}", function.name));
            self.status = if posix { 2 } else { 1 };
            return if posix { Err(Stop::Exit) } else { Ok(()) };
        }
        let readonly = self.functions.get(function.name.as_str()).is_some_and(|d| d.readonly.get());
        if readonly {
            let message = format!("{}: readonly function", function.name);
            self.complain(&message);
            self.status = 1;
            return Ok(());
        }
        let definition = Definition::new(function.clone(), self.function_source());
        Rc::make_mut(&mut self.functions).insert(function.name.as_str().into(), definition);
        self.generation += 1;
        self.status = 0;
        Ok(())
    }

    /// Returns the source that a function defined now is attributed to.
    fn function_source(&self) -> Rc<str> {
        match self.origin {
            _ if self.source != self.name => self.source.clone(),
            Origin::Argument => "environment".into(),
            Origin::Input => "main".into(),
            Origin::Script => self.source.clone(),
        }
    }

    /// Records the status of a command that is a pipeline by itself, and acts on failure.
    pub(super) fn finish_command(&mut self) -> Result<(), Stop> {
        self.statuses.clear();
        self.statuses.push(self.status);
        self.check_failure()?;
        self.between_commands()
    }

    /// Ends a command early: undoes the enclosing controls up to the one that handles the stop.
    fn unwind(&mut self, mut stop: Stop) -> Result<Resume, Stop> {
        // In POSIX mode an error that gives up a line gives up the shell.
        if stop == Stop::Discard && self.options.has(SetOption::POSIX) && !self.interactive {
            self.status = self.fatal_status;
            stop = Stop::Exit;
        }
        // A text has code of its own: a loop around it resumes in the code that runs the text.
        let mut around = None;
        // The EXIT trap sees the variables and files of the point where the shell ends.
        while stop != Stop::Exit && self.controls.len() > self.floor {
            let Some(control) = self.controls.pop() else { break };
            match (control, &mut stop) {
                (Control::Loop(mut running), Stop::Break(levels) | Stop::Continue(levels)) => {
                    *levels -= 1;
                    self.guards = running.guards;
                    if *levels > 0 {
                        continue;
                    }
                    let to = match stop {
                        Stop::Break(_) => {
                            running.status = self.status;
                            running.end
                        }
                        _ => running.next,
                    };
                    self.controls.push(Control::Loop(running));
                    return Ok(match around {
                        Some(code) => Resume::In(code, to),
                        None => Resume::At(to),
                    });
                }
                (Control::Script(script), Stop::Break(_) | Stop::Continue(_)) => {
                    around = Some(self.leave_script(*script).0);
                }
                (Control::Call(back), Stop::Return) => match self.leave_function(*back) {
                    Ok((code, at)) => return Ok(Resume::In(code, at)),
                    Err(next) => stop = next,
                },
                (Control::Script(script), Stop::Return) if script.is_file() => {
                    let trapped = self.run_return_trap();
                    let (code, at) = self.leave_script(*script);
                    match trapped.and_then(|()| self.finish_command()) {
                        Ok(()) => return Ok(Resume::In(code, at)),
                        Err(next) => stop = next,
                    }
                }
                // The text resumes with its next command, except in a subshell, which ends.
                (Control::Script(script), Stop::Discard) if self.level == 0 => {
                    self.guards = script.guards;
                    self.controls.push(Control::Script(script));
                    return Ok(Resume::In(Rc::default(), 0));
                }
                (control, _) => self.undo(control),
            }
        }
        Err(stop)
    }

    /// Undoes all controls above a height of the stack, after an exit from a subshell in place.
    pub(super) fn unwind_to(&mut self, height: usize) {
        while self.controls.len() > height {
            if let Some(control) = self.controls.pop() {
                self.undo(control);
            }
        }
    }

    /// Undoes the effect of a control without resuming there.
    fn undo(&mut self, control: Control) {
        match control {
            Control::Loop(running) => self.guards = running.guards,
            Control::Redirect(undo) => self.restore_files(undo),
            Control::Call(back) => self.abandon_function(*back),
            Control::Script(script) => {
                self.leave_script(*script);
            }
            Control::Case(_) | Control::Time(_) => {}
        }
    }

    /// Returns the caller's code and position at the end of code. `None` at the floor of the stack.
    fn return_to_caller(&mut self) -> Result<Option<(Rc<Code>, usize)>, Stop> {
        loop {
            if self.controls.len() == self.floor {
                return Ok(None);
            }
            match self.controls.last_mut() {
                Some(Control::Script(_)) => {
                    if let Some(code) = self.next_of_script()? {
                        return Ok(Some((code, 0)));
                    }
                    if let Some(Control::Script(script)) = self.controls.pop() {
                        let trapped = if script.is_file() { self.run_return_trap() } else { Ok(()) };
                        let back = self.leave_script(*script);
                        trapped?;
                        self.finish_command()?;
                        return Ok(Some(back));
                    }
                }
                Some(Control::Call(_)) => {
                    if let Some(Control::Call(back)) = self.controls.pop() {
                        return self.leave_function(*back).map(Some);
                    }
                }
                // Compiled code ends every control that it begins.
                _ => {
                    self.controls.pop();
                }
            }
        }
    }
}

/// The point where execution resumes after an early end.
enum Resume {
    At(usize),
    In(Rc<Code>, usize),
}
