//! Progress on standard error: one changing line at a terminal, else one line per row.

use std::io::{IsTerminal, Write};
use std::time::Instant;

pub struct Progress {
    begin: Instant,
    row: usize,
    rows: usize,
    name: String,
    is_terminal: bool,
}

impl Progress {
    pub fn new(rows: usize) -> Progress {
        Progress {
            begin: Instant::now(),
            row: 0,
            rows,
            name: String::new(),
            is_terminal: std::io::stderr().is_terminal(),
        }
    }

    /// Shows a step that is no row, such as making files.
    pub fn say(&self, what: &str) {
        self.show(&format!("[{}] {what}", self.elapsed()), !self.is_terminal);
    }

    pub fn row(&mut self, name: &str) {
        self.row += 1;
        name.clone_into(&mut self.name);
        self.show(&format!("[{}] {} of {}: {name}", self.elapsed(), self.row, self.rows), !self.is_terminal);
    }

    pub fn contender(&self, name: &str) {
        if self.is_terminal {
            let line = format!("[{}] {} of {}: {}: {name}", self.elapsed(), self.row, self.rows, self.name);
            self.show(&line, false);
        }
    }

    pub fn done(&self) {
        self.show(&format!("[{}] done", self.elapsed()), true);
    }

    fn elapsed(&self) -> String {
        let seconds = self.begin.elapsed().as_secs();
        format!("{}:{:02}", seconds / 60, seconds % 60)
    }

    fn show(&self, line: &str, is_last: bool) {
        let mut stderr = std::io::stderr().lock();
        // Standard error may be closed.
        let _ = if self.is_terminal { write!(stderr, "\r\x1b[K{line}") } else { Ok(()) };
        let _ = match (self.is_terminal, is_last) {
            (true, true) => writeln!(stderr),
            (false, true) => writeln!(stderr, "{line}"),
            _ => stderr.flush(),
        };
    }
}
