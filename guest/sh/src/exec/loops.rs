//! The loops `for`, `for ((…))` and `select`. The menu and the answers of `select` have a file of their own.

use super::{Control, Loop};
use crate::state::options::SetOption;
use crate::state::variable::Value;
use crate::state::{Shell, Stop};
use crate::syntax::tree::{Arith, For, ForArith};
use crate::syntax::{arith_text, for_text, is_name};

impl Shell {
    /// Expands the words of a `for` or `select` and begins the loop. An invalid variable name fails the command
    /// instead.
    pub(super) fn begin_for(&mut self, node: &For, next: usize, end: usize, at: &mut usize) -> Result<(), Stop> {
        self.line = node.line;
        if !is_name(&node.name) {
            self.complain(&format!("`{}': not a valid identifier", node.name));
            self.status = 1;
            *at = end + 1;
            return self.finish_command();
        }
        let items = match &node.words {
            Some(words) => self.expand_words(words)?,
            None => self.positional.to_vec(),
        };
        self.begin_loop(next, end, items);
        Ok(())
    }

    /// Assigns the next word of a `for` to its variable, or ends the loop.
    pub(super) fn next_of_for(&mut self, node: &For, end: usize, at: &mut usize) -> Result<(), Stop> {
        let item = match self.controls.last_mut() {
            Some(Control::Loop(running)) => running.items.next(),
            _ => None,
        };
        let Some(item) = item else {
            *at = end;
            return Ok(());
        };
        self.line = node.line;
        self.before_compound(|| for_text(node))?;
        self.trace_for(node)?;
        // A name reference refers to each word in turn.
        match self.is_reference(&node.name) {
            true => self.variables.slot(&node.name).value = Value::Scalar(item),
            false => self.assign_for(node, item, at, end)?,
        }
        Ok(())
    }

    /// Assigns the next answer of a `select` to its variable, or ends the loop.
    pub(super) fn next_of_select(&mut self, node: &For, end: usize, at: &mut usize) -> Result<(), Stop> {
        self.line = node.line;
        self.before_compound(|| for_text(node).replacen("for", "select", 1))?;
        if !self.select(node)? {
            *at = end;
        }
        Ok(())
    }

    /// Evaluates the first expression of `for ((…))`.
    pub(super) fn for_initial(&mut self, node: &ForArith, end: usize, at: &mut usize) -> Result<(), Stop> {
        if let Some(initial) = &node.initial {
            self.line = node.line;
            self.for_expression(initial, at, end)?;
        }
        Ok(())
    }

    /// Evaluates the condition of `for ((…))` and ends the loop if it is 0.
    pub(super) fn for_test(&mut self, node: &ForArith, end: usize, at: &mut usize) -> Result<(), Stop> {
        if let Some(condition) = &node.condition {
            self.line = node.line;
            if self.for_expression(condition, at, end)? == 0 {
                *at = end;
            }
        }
        Ok(())
    }

    /// Evaluates the last expression of `for ((…))`.
    pub(super) fn for_step(&mut self, node: &ForArith) -> Result<(), Stop> {
        if let Some(step) = &node.step {
            self.line = node.line;
            self.before_compound(|| format!("(({}))", arith_text(step)))?;
            self.trace_arith(step)?;
            self.arith_for("((", step)?;
        }
        Ok(())
    }

    pub(super) fn begin_loop(&mut self, next: usize, end: usize, items: Vec<String>) {
        let running = Loop { next, end, status: 0, guards: self.guards, items: items.into_iter(), begun: false };
        self.controls.push(Control::Loop(running));
    }

    /// Assigns a word to the variable of a `for`. A failure ends the loop with status 1.
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

    /// Evaluates an expression of `for ((…))`. A wrong one ends the loop with status 1.
    fn for_expression(&mut self, arith: &Arith, at: &mut usize, end: usize) -> Result<i64, Stop> {
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
}
