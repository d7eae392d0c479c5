//! Traps, and the consequences of failure.

use std::rc::Rc;

use isopod_sys::process;

use crate::state::options::SetOption;
use crate::state::traps::{DEBUG, ERR, EXIT, INTERRUPT, RETURN, TIME_OVER};
use crate::state::{CurrentCommand, Shell, Stop};
use crate::syntax::tree::{Command, Kind, List, Simple};

impl Shell {
    /// Runs the DEBUG trap before a simple command.
    pub(super) fn before_command(&mut self, node: &Rc<Simple>) -> Result<(), Stop> {
        if self.trapping.is_none() {
            self.current_command = CurrentCommand::Simple(node.clone());
            if !self.traps.is_empty() {
                self.debug_trap()?;
            }
        }
        Ok(())
    }

    /// Runs the DEBUG trap before another command, or a turn of a loop.
    pub(super) fn before_compound(&mut self, text: impl FnOnce() -> String) -> Result<(), Stop> {
        if !self.traps.is_empty() && self.trapping.is_none() {
            self.current_command = CurrentCommand::Text(text());
            self.debug_trap()?;
        }
        Ok(())
    }

    /// Runs the DEBUG trap before a stage of a pipeline, in this shell.
    pub(super) fn before_stage(&mut self, stage: &Command) -> Result<(), Stop> {
        match &stage.kind {
            Kind::Simple(simple) => self.before_command(simple),
            _ => Ok(()),
        }
    }

    /// Makes a subshell BASH_COMMAND for an ERR trap. The DEBUG trap does not run for it.
    pub(super) fn note_subshell(&mut self, list: &List) {
        if !self.traps.is_empty() && self.trapping.is_none() {
            self.current_command = CurrentCommand::Text(format!("( {} )", crate::syntax::list_text(list)));
        }
    }

    pub(super) fn debug_trap(&mut self) -> Result<(), Stop> {
        match self.traps.get(DEBUG).cloned() {
            Some(action) => self.run_trap(DEBUG, &action),
            None => Ok(()),
        }
    }

    /// Handles the signals that were caught.
    pub(super) fn between_commands(&mut self) -> Result<(), Stop> {
        if !self.live && !self.traps.catches_signals() {
            return Ok(());
        }
        self.take_signals();
        self.check_deadly()?;
        while !self.caught.is_empty() {
            let signal = self.caught.remove(0);
            if let Some(action) = self.traps.get(signal).cloned() {
                self.run_trap(signal, &action)?;
            }
        }
        Ok(())
    }

    /// Handles a signal without a trap, which ends the shell; it was caught only to run the EXIT trap. An interrupted
    /// live shell gives up its command. No trap can prevent this when the command's time is over.
    pub(super) fn check_deadly(&mut self) -> Result<(), Stop> {
        let interrupts = |signal: u8| signal == TIME_OVER || signal == INTERRUPT && self.traps.get(INTERRUPT).is_none();
        if self.live
            && let Some(at) = self.caught.iter().position(|signal| interrupts(*signal))
        {
            self.status = 128u8.wrapping_add(self.caught.remove(at));
            return Err(Stop::Interrupt);
        }
        match self.caught.iter().find(|s| self.traps.get(**s).is_none()) {
            Some(signal) => {
                self.fatal_signal = Some(*signal);
                self.status = 128u8.wrapping_add(*signal);
                Err(Stop::Exit)
            }
            None => Ok(()),
        }
    }

    /// Ends the process by the signal that ends the shell.
    pub fn raise_fatal_signal(&self) {
        if let Some(signal) = self.fatal_signal
            && process::on_signal(signal, process::Disposition::Default).is_ok()
        {
            // If that fails, the status still tells.
            let _ = process::kill(process::id(), signal);
        }
    }

    /// Acts on the status of a command: the ERR trap and `set -e`, unless it is part of a condition.
    pub(super) fn check_failure(&mut self) -> Result<(), Stop> {
        if self.status == 0 || self.guards > 0 {
            return Ok(());
        }
        if let Some(action) = self.traps.get(ERR).cloned()
            && self.trapping != Some(ERR)
        {
            self.run_trap(ERR, &action)?;
        }
        match self.options.has(SetOption::ERREXIT) {
            true => Err(Stop::Exit),
            false => Ok(()),
        }
    }

    pub(super) fn run_return_trap(&mut self) -> Result<(), Stop> {
        match self.traps.get(RETURN).cloned() {
            Some(action) => self.run_trap(RETURN, &action),
            None => Ok(()),
        }
    }

    /// Runs the action of a trap and restores `$?`.
    fn run_trap(&mut self, signal: u8, action: &str) -> Result<(), Stop> {
        if action.is_empty() || self.trapping == Some(signal) {
            return Ok(());
        }
        let (status, line) = (self.status, self.line);
        let statuses = self.statuses.clone();
        let last_argument = self.last_argument.clone();
        let outer = self.trapping.replace(signal);
        let guards = std::mem::replace(&mut self.guards, u32::from(matches!(signal, ERR | DEBUG)));
        self.nesting += 1;
        self.texts += 1;
        let result = self.run_text(action, "trap");
        self.texts -= 1;
        self.nesting -= 1;
        self.guards = guards;
        self.trapping = outer;
        self.line = line;
        if result != Err(Stop::Exit) {
            self.status = status;
            self.statuses = statuses;
            self.last_argument = last_argument;
        }
        match result {
            Err(Stop::Discard | Stop::Abandon) | Ok(()) => Ok(()),
            Err(stop) => Err(stop),
        }
    }

    /// Runs the EXIT trap at the end of the shell. Its own `exit` decides the status.
    pub fn run_exit_trap(&mut self) {
        let Some(action) = self.traps.get(EXIT).cloned() else { return };
        self.traps.set(EXIT, None);
        self.caught.clear();
        let status = self.status;
        self.guards = 0;
        // The rest of the line after `exit` is given up, so there is no control to return to.
        self.floor = self.controls.len();
        if self.run_trap(EXIT, &action) != Err(Stop::Exit) {
            self.status = status;
        }
    }
}
