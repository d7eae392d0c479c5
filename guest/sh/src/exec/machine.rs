//! The machine that runs code.

use std::rc::Rc;

use super::simple::Next;
use super::{Code, Control, Loop, Op, Stopwatch};
use crate::builtins;
use crate::state::options::SetOption;
use crate::state::variable::Value;
use crate::state::{Definition, Origin, Shell, Stop};
use crate::syntax::tree::{Case, For, Function};
use crate::syntax::{arith_text, condition_text, for_text, is_name, word_text};

impl Shell {
    /// Runs code to its end, or until something stops it that its commands did not start.
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
                Ok(Next::Go) => continue,
                Ok(Next::Call(entry)) => match self.enter_function(*entry, &code, at) {
                    Ok(callee) => {
                        code = callee;
                        at = 0;
                        continue;
                    }
                    Err(stop) => stop,
                },
                Ok(Next::Script(script)) => {
                    self.enter_script(*script, code, at);
                    // Its commands are fetched when empty code has been run.
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

    fn step(&mut self, op: &Op, at: &mut usize) -> Result<Next, Stop> {
        if self.options.has(SetOption::NOEXEC) {
            return Ok(Next::Go);
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
                self.before_compound(|| format!("(({}))", arith_text(arith)))?;
                self.trace_arith(arith)?;
                let status = match self.arith_for("((", arith) {
                    Ok(value) => u8::from(value == 0),
                    // A wrong expression fails the command, no more.
                    Err(Stop::Discard) => 1,
                    Err(stop) => return Err(stop),
                };
                self.status = status;
                self.finish_command()?;
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
            Op::For { node, next, end } => {
                self.line = node.line;
                if !is_name(&node.name) {
                    self.complain(&format!("`{}': not a valid identifier", node.name));
                    self.status = 1;
                    *at = *end + 1;
                    self.finish_command()?;
                    return Ok(Next::Go);
                }
                let items = match &node.words {
                    Some(words) => self.expand_words(words)?,
                    None => self.positional.to_vec(),
                };
                self.begin_loop(*next, *end, items);
            }
            Op::ForNext(node, end) => {
                let item = match self.controls.last_mut() {
                    Some(Control::Loop(running)) => running.items.next(),
                    _ => None,
                };
                match item {
                    Some(item) => {
                        self.line = node.line;
                        self.before_compound(|| for_text(node))?;
                        self.trace_for(node)?;
                        // A name reference refers to each word in turn.
                        match self.is_reference(&node.name) {
                            true => self.variables.slot(&node.name).value = Value::Scalar(item),
                            false => self.assign_for(node, item, at, *end)?,
                        }
                    }
                    None => *at = *end,
                }
            }
            Op::SelectNext(node, end) => {
                self.line = node.line;
                self.before_compound(|| for_text(node).replacen("for", "select", 1))?;
                if !self.select(node)? {
                    *at = *end;
                }
            }
            Op::ForInitial(node, end) => {
                if let Some(initial) = &node.initial {
                    self.line = node.line;
                    self.for_expression(initial, at, *end)?;
                }
            }
            Op::ForTest(node, end) => {
                if let Some(condition) = &node.condition {
                    self.line = node.line;
                    if self.for_expression(condition, at, *end)? == 0 {
                        *at = *end;
                    }
                }
            }
            Op::ForStep(node) => {
                if let Some(step) = &node.step {
                    self.line = node.line;
                    self.before_compound(|| format!("(({}))", arith_text(step)))?;
                    self.trace_arith(step)?;
                    self.arith_for("((", step)?;
                }
            }
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
                // Nothing more matched: the body that did run counts.
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
        Ok(Next::Go)
    }

    fn begin_loop(&mut self, next: usize, end: usize, items: Vec<String>) {
        let running = Loop { next, end, status: 0, guards: self.guards, items: items.into_iter(), begun: false };
        self.controls.push(Control::Loop(running));
    }

    /// Gives the variable of a `for` its next word. One that cannot be assigned ends the loop with status 1.
    fn assign_for(&mut self, node: &For, item: String, at: &mut usize, end: usize) -> Result<(), Stop> {
        match self.assign(&node.name, item) {
            Err(Stop::Discard) if !self.options.has(SetOption::POSIX) => {
                self.end_loop_with(1);
                *at = end;
                Ok(())
            }
            assigned => assigned,
        }
    }

    /// Sets the status that the innermost loop ends with.
    fn end_loop_with(&mut self, status: u8) {
        self.status = status;
        if let Some(Control::Loop(running)) = self.controls.last_mut() {
            running.status = status;
        }
    }

    /// An expression of `for ((…))`: a wrong one ends the loop with status 1.
    fn for_expression(&mut self, arith: &crate::syntax::tree::Arith, at: &mut usize, end: usize) -> Result<i64, Stop> {
        self.before_compound(|| format!("(({}))", arith_text(arith)))?;
        self.trace_arith(arith)?;
        match self.arith_for("((", arith) {
            Err(Stop::Discard) => {
                self.end_loop_with(1);
                *at = end;
                Ok(1)
            }
            other => other,
        }
    }

    /// Where the first branch from `first` on that matches the word has its body; the end if none does.
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

    /// Where a function that is defined now says it comes from.
    fn function_source(&self) -> Rc<str> {
        match self.origin {
            _ if self.source != self.name => self.source.clone(),
            Origin::Argument => "environment".into(),
            Origin::Input => "main".into(),
            Origin::Script => self.source.clone(),
        }
    }

    /// Notes the status of a command that is a pipeline by itself, and acts on failure.
    pub(super) fn finish_command(&mut self) -> Result<(), Stop> {
        self.statuses.clear();
        self.statuses.push(self.status);
        self.check_failure()?;
        self.between_commands()
    }

    /// Ends a command early: undoes what encloses it, up to where it stops.
    fn unwind(&mut self, mut stop: Stop) -> Result<Resume, Stop> {
        // In POSIX mode an error that gives up a line gives up the shell.
        if stop == Stop::Discard && self.options.has(SetOption::POSIX) && !self.interactive {
            self.status = self.fatal_status;
            stop = Stop::Exit;
        }
        // A text has code of its own: a loop around it goes on in the code that runs it.
        let mut around = None;
        // The EXIT trap sees the variables and files of the place where the shell ends.
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
                // The text goes on with its next command, but not in a subshell, which ends.
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

    /// Undoes everything down to a height of the stack, after an exit from a subshell in place.
    pub(super) fn unwind_to(&mut self, height: usize) {
        while self.controls.len() > height {
            if let Some(control) = self.controls.pop() {
                self.undo(control);
            }
        }
    }

    /// Undoes what a control stands for, without going on there.
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

    /// At the end of code: who called it, and where that goes on.
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
                // Code is compiled so that it ends what it begins.
                _ => {
                    self.controls.pop();
                }
            }
        }
    }
}

/// Where execution goes on after something was left early.
enum Resume {
    At(usize),
    In(Rc<Code>, usize),
}
