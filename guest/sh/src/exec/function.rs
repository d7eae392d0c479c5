//! Function calls.

use std::rc::Rc;

use super::redirect::Undo;
use super::{Code, Control};
use crate::state::options::{Options, SetOption};
use crate::state::traps::{DEBUG, ERR, RETURN};
use crate::state::variables::ScopeKind;
use crate::state::{Call, Definition, Positional, Shell, Stop};

/// Limit on nested calls. bash has no limit and crashes at about this depth; an endless recursion should end with a
/// message before memory runs out.
const DEPTH_LIMIT: usize = 50_000;

/// A call that is about to be made.
pub(super) struct FunctionCall {
    pub(super) definition: Rc<Definition>,
    pub(super) arguments: Vec<String>,
    pub(super) undo: Undo,
    /// The assignments before the command opened a scope.
    pub(super) temporary: bool,
    /// The last argument, which becomes `$_` after the call.
    pub(super) last: String,
}

/// The state that the end of a function restores.
pub struct CallFrame {
    code: Rc<Code>,
    at: usize,
    positional: Positional,
    source: Rc<str>,
    line: u32,
    undo: Undo,
    temporary: bool,
    guards: u32,
    /// Traps that a function does not inherit.
    traps: Vec<(u8, Rc<str>)>,
    getopts: (i64, usize),
    /// The options to restore after `local -`.
    options: Option<Options>,
    last: String,
}

impl Shell {
    /// Begins a call and returns the function's code.
    pub(super) fn enter_function(&mut self, entry: FunctionCall, code: &Rc<Code>, at: usize) -> Result<Rc<Code>, Stop> {
        let name: Rc<str> = entry.definition.function.name.as_str().into();
        let limit = self.function_limit();
        if self.calls.len() >= limit {
            if entry.temporary {
                self.variables.leave();
            }
            self.restore_files(entry.undo);
            self.complain(&format!("{name}: maximum function nesting level exceeded ({limit})"));
            self.status = 1;
            return Err(Stop::Discard);
        }
        self.variables.enter(ScopeKind::Function);
        let definition = entry.definition;
        let back = CallFrame {
            code: code.clone(),
            at,
            positional: std::mem::replace(&mut self.positional, entry.arguments.into()),
            source: std::mem::replace(&mut self.source, definition.source.clone()),
            line: self.line,
            undo: entry.undo,
            temporary: entry.temporary,
            guards: self.guards,
            traps: self.hide_traps(definition.traced.get()),
            getopts: self.getopts,
            options: None,
            last: entry.last,
        };
        self.calls.push(Call { name, line: self.line, source: definition.source.clone() });
        self.controls.push(Control::Call(Box::new(back)));
        // A DEBUG trap that applies inside runs once more for the call, before the function's first command.
        if !self.traps.is_empty() && self.trapping.is_none() {
            self.debug_trap()?;
        }
        let code = definition.code.get_or_init(|| Code::of_command(&definition.function.body));
        Ok(code.clone())
    }

    /// `local -`: saves the options, which are restored when the running function ends.
    pub fn save_options(&mut self) {
        let options = self.options;
        for control in self.controls.iter_mut().rev() {
            if let Control::Call(back) = control {
                back.options.get_or_insert(options);
                return;
            }
        }
    }

    fn function_limit(&self) -> usize {
        let own = self.variables.get("FUNCNEST").and_then(|v| v.text()).and_then(|t| t.parse::<usize>().ok());
        own.filter(|n| *n > 0).map_or(DEPTH_LIMIT, |n| n.min(DEPTH_LIMIT))
    }

    /// Hides the ERR, DEBUG and RETURN traps, which functions inherit only if the options say so.
    fn hide_traps(&mut self, traced: bool) -> Vec<(u8, Rc<str>)> {
        let mut hidden = Vec::new();
        for (signal, option) in
            [(ERR, SetOption::ERRTRACE), (DEBUG, SetOption::FUNCTRACE), (RETURN, SetOption::FUNCTRACE)]
        {
            let holds = self.options.has(option) || (traced && signal != ERR);
            if !holds && let Some(action) = self.traps.get(signal).cloned() {
                self.traps.set(signal, None);
                hidden.push((signal, action));
            }
        }
        hidden
    }

    /// Ends a call. Returns the caller's code and position.
    pub(super) fn leave_function(&mut self, back: CallFrame) -> Result<(Rc<Code>, usize), Stop> {
        let trapped = self.run_return_trap();
        let place = (back.code.clone(), back.at);
        let last = back.last.clone();
        self.abandon_function(back);
        self.last_argument = last;
        trapped?;
        self.finish_command()?;
        Ok(place)
    }

    /// Restores the state that a call changed, without resuming its caller.
    pub(super) fn abandon_function(&mut self, back: CallFrame) {
        self.variables.leave();
        if back.temporary {
            self.variables.leave();
        }
        self.calls.pop();
        self.positional = back.positional;
        self.source = back.source;
        self.line = back.line;
        self.guards = back.guards;
        self.getopts = back.getopts;
        if let Some(options) = back.options {
            self.options = options;
        }
        self.restore_files(back.undo);
        for (signal, action) in back.traps {
            // A trap that the function set itself stays.
            if self.traps.get(signal).is_none() {
                self.traps.set(signal, Some(action));
            }
        }
        if !self.process_files.is_empty() {
            self.close_process_files();
        }
    }
}
