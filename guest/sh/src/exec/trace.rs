//! `set -x` and `time`.

use super::simple::Arguments;
use crate::quote;
use crate::state::options::SetOption;
use crate::state::{Shell, Stop, nanoseconds};
use crate::syntax::tree::{Arith, Assigned, Assignment, Case, For, TimeFormat};
use crate::syntax::{self};

impl Shell {
    fn traces(&self) -> bool {
        self.options.has(SetOption::XTRACE)
    }

    /// Prints a line of trace.
    fn trace(&mut self, line: &str) -> Result<(), Stop> {
        // What PS4 runs is not traced itself, and leaves no mark.
        self.options.switch(SetOption::XTRACE, false);
        let status = self.status;
        let substituted = self.substituted;
        let prefix = self.text_of("PS4").unwrap_or_default();
        let prefix = self.prompt(&prefix);
        self.status = status;
        self.substituted = substituted;
        self.options.switch(SetOption::XTRACE, true);
        let prefix = prefix?;
        // The first character is repeated for each substitution and text that is run.
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
            (Assigned::Array(_), true) => self.trace(&syntax::assignment_text(assignment)),
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

    /// One comparison of a condition, as it turned out; `negated` if a `!` stands right before it.
    pub(super) fn trace_term(&mut self, negated: bool, term: impl FnOnce() -> String) -> Result<(), Stop> {
        match self.traces() {
            true => self.trace(&format!("[[ {}{} ]]", if negated { "! " } else { "" }, term())),
            false => Ok(()),
        }
    }

    /// The assignments among the arguments of a declaration, which bash shows once more by themselves.
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

    /// What `time` prints. Processes do not tell how long they computed, so user and system time are zero.
    pub(super) fn report_time(&mut self, start: i64, format: TimeFormat) {
        let elapsed = (nanoseconds() - start).max(0);
        let text = match (format, self.text_of("TIMEFORMAT")) {
            (TimeFormat::Posix, _) => {
                format!("real {}\nuser 0.00\nsys 0.00\n", seconds(elapsed, 2))
            }
            (TimeFormat::Variable, None) => {
                format!("\nreal\t{}\nuser\t0m0.000s\nsys\t0m0.000s\n", minutes(elapsed, 3))
            }
            (TimeFormat::Variable, Some(format)) if format.is_empty() => return,
            (TimeFormat::Variable, Some(format)) => formatted(&format, elapsed) + "\n",
        };
        self.write_error(&text);
    }
}

fn minutes(nanoseconds: i64, digits: u32) -> String {
    let minute = 60_000_000_000;
    format!("{}m{}s", nanoseconds / minute, seconds(nanoseconds % minute, digits))
}

/// Seconds with some digits after the point, the rest cut off.
fn seconds(nanoseconds: i64, digits: u32) -> String {
    let whole = nanoseconds / 1_000_000_000;
    if digits == 0 {
        return whole.to_string();
    }
    let fraction = nanoseconds % 1_000_000_000 / 10i64.pow(9 - digits);
    format!("{whole}.{fraction:0width$}", width = digits as usize)
}

/// TIMEFORMAT: `%R`, `%U`, `%S`, `%P`, with a precision and `l`.
fn formatted(format: &str, elapsed: i64) -> String {
    let mut out = String::new();
    let mut chars = format.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let mut digits = 3;
        if let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
            digits = digit.min(3);
            chars.next();
        }
        let long = chars.peek() == Some(&'l');
        if long {
            chars.next();
        }
        let time = |nanoseconds: i64| match long {
            true => minutes(nanoseconds, digits),
            false => seconds(nanoseconds, digits),
        };
        match chars.next() {
            Some('%') => out.push('%'),
            Some('R') => out.push_str(&time(elapsed)),
            Some('U' | 'S') => out.push_str(&time(0)),
            Some('P') => out.push_str("0.00"),
            Some(other) => {
                out.push('%');
                out.push(other);
            }
            None => out.push('%'),
        }
    }
    out
}
