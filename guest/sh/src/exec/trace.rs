//! `set -x`.

use super::simple::Arguments;
use crate::quote;
use crate::state::options::SetOption;
use crate::state::{Shell, Stop};
use crate::syntax::tree::{Arith, AssignedValue, Assignment, Case, For};
use crate::syntax::{self};

impl Shell {
    fn traces(&self) -> bool {
        self.options.has(SetOption::XTRACE)
    }

    /// Prints a line of trace.
    fn trace(&mut self, line: &str) -> Result<(), Stop> {
        // Commands in PS4 are not traced, and leave `$?` alone.
        self.options.switch(SetOption::XTRACE, false);
        let status = self.status;
        let substituted = self.substituted;
        let prefix = self.text_of("PS4").unwrap_or_default();
        let prefix = self.prompt(&prefix);
        self.status = status;
        self.substituted = substituted;
        self.options.switch(SetOption::XTRACE, true);
        let prefix = prefix?;
        // The first character is repeated for each level of substitution or text.
        let first: String = prefix.chars().take(1).collect();
        let text = format!("{}{prefix}{line}\n", first.repeat(self.texts as usize));
        let number = self.text_of("BASH_XTRACEFD").and_then(|t| t.parse().ok()).unwrap_or(2);
        if let Some(file) = self.files.get(number) {
            let _ = file.write(&crate::text::to_bytes(&text));
        }
        Ok(())
    }

    pub(super) fn trace_command(&mut self, arguments: &Arguments) -> Result<(), Stop> {
        if !self.traces() {
            return Ok(());
        }
        let words: Vec<String> = arguments.list.iter().map(|a| quote::traced(a)).collect();
        self.trace(&words.join(" "))?;
        self.trace_declared(arguments)
    }

    pub(super) fn trace_assignment(&mut self, assignment: &Assignment, value: &str) -> Result<(), Stop> {
        if !self.traces() {
            return Ok(());
        }
        let value = if value.is_empty() { String::new() } else { quote::traced(value) };
        let operator = if assignment.append { "+=" } else { "=" };
        let index = match &assignment.index {
            Some(index) => format!("[{}]", syntax::word_text(&index.text)),
            None => String::new(),
        };
        self.trace(&format!("{}{index}{operator}{value}", assignment.name))
    }

    pub(super) fn trace_array(&mut self, assignment: &Assignment) -> Result<(), Stop> {
        match (&assignment.value, self.traces()) {
            (AssignedValue::Array(_), true) => self.trace(&syntax::assignment_text(assignment)),
            _ => Ok(()),
        }
    }

    pub(super) fn trace_arith(&mut self, arith: &Arith) -> Result<(), Stop> {
        match self.traces() {
            true => self.trace(&format!("(( {} ))", syntax::arith_text(arith))),
            false => Ok(()),
        }
    }

    pub(super) fn trace_for(&mut self, node: &For) -> Result<(), Stop> {
        if !self.traces() {
            return Ok(());
        }
        self.trace(&syntax::for_text(node))
    }

    pub(super) fn trace_case(&mut self, node: &Case) -> Result<(), Stop> {
        match self.traces() {
            true => self.trace(&format!("case {} in", syntax::word_text(&node.word))),
            false => Ok(()),
        }
    }

    /// Traces one comparison of a condition. `negated` is set if a `!` precedes it.
    pub(super) fn trace_term(&mut self, negated: bool, term: impl FnOnce() -> String) -> Result<(), Stop> {
        match self.traces() {
            true => self.trace(&format!("[[ {}{} ]]", if negated { "! " } else { "" }, term())),
            false => Ok(()),
        }
    }

    /// Traces the assignments among the arguments of a declaration, which bash shows once more by themselves.
    fn trace_declared(&mut self, arguments: &Arguments) -> Result<(), Stop> {
        let list = &arguments.list;
        let declares = list.first().is_some_and(|name| matches!(name.as_str(), "export" | "readonly"));
        if !declares {
            return Ok(());
        }
        for argument in &list[1..] {
            if let Some((name, value)) = argument.split_once('=')
                && syntax::is_name(name)
            {
                let value = if value.is_empty() { String::new() } else { quote::traced(value) };
                self.trace(&format!("{name}={value}"))?;
            }
        }
        Ok(())
    }
}
