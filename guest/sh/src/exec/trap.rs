//! Traps, and what failure does.

use std::rc::Rc;

use isopod_sys::process;

use crate::state::options::SetOption;
use crate::state::traps::{DEBUG, ERR, EXIT, INTERRUPT, RETURN, TIME_OVER};
use crate::state::{Running, Shell, Stop};
use crate::syntax::tree::{Command, Kind, List, Simple};

impl Shell {
    /// What is due before a simple command: the DEBUG trap.
    pub(super) fn before_command(&mut self, node: &Rc<Simple>) -> Result<(), Stop> {
        if self.trapping.is_none() {
            self.running = Running::Simple(node.clone());
            if !self.traps.is_empty() {
                self.debug_trap()?;
            }
        }
        Ok(())
    }

    /// The same before another command, or a turn of a loop, that the DEBUG trap sees.
    pub(super) fn before_compound(&mut self, text: impl FnOnce() -> String) -> Result<(), Stop> {
        if !self.traps.is_empty() && self.trapping.is_none() {
            self.running = Running::Text(text());
            self.debug_trap()?;
        }
        Ok(())
    }

    /// The same before a stage of a pipeline: the trap is this shell's, not the stage's.
    pub(super) fn before_stage(&mut self, stage: &Command) -> Result<(), Stop> {
        match &stage.kind {
            Kind::Simple(simple) => self.before_command(simple),
            _ => Ok(()),
        }
    }

    /// A subshell is BASH_COMMAND to an ERR trap, but the DEBUG trap does not see it.
    pub(super) fn note_subshell(&mut self, list: &List) {
        if !self.traps.is_empty() && self.trapping.is_none() {
            self.running = Running::Text(format!("( {} )", crate::syntax::list_text(list)));
        }
    }

    pub(super) fn debug_trap(&mut self) -> Result<(), Stop> {
        match self.traps.get(DEBUG).cloned() {
            Some(action) => self.run_trap(DEBUG, &action),
            None => Ok(()),
        }
    }

    /// Deals with signals that were caught.
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

    /// A signal without a trap ends the shell; it was caught only for the EXIT trap's sake. A live shell gives up its
    /// command if it is interrupted; that its time is over, no trap can keep from it.
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
                self.dying = Some(*signal);
                self.status = 128u8.wrapping_add(*signal);
                Err(Stop::Exit)
            }
            None => Ok(()),
        }
    }

    /// Ends a process that a signal was to end, by that signal.
    pub fn die_of_signal(&self) {
        if let Some(signal) = self.dying
            && process::on_signal(signal, process::Disposition::Default).is_ok()
        {
            // If it does not work, the status says it.
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

    /// Runs what a trap says; `$?` is as it was before.
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

    /// At the end of the shell: the EXIT trap, whose own `exit` decides the status.
    pub fn run_exit_trap(&mut self) {
        let Some(action) = self.traps.get(EXIT).cloned() else { return };
        self.traps.set(EXIT, None);
        self.caught.clear();
        let status = self.status;
        self.guards = 0;
        // What follows `exit` on its line has been given up; nothing is left to return to.
        self.floor = self.controls.len();
        if self.run_trap(EXIT, &action) != Err(Stop::Exit) {
            self.status = status;
        }
    }
}
