//! What is being done, on standard error: one line that changes at a terminal, a line a row elsewhere.

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

    /// Something that is no row, such as making files.
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
        // Whoever does not want to see progress may close it.
        let _ = if self.is_terminal { write!(stderr, "\r\x1b[K{line}") } else { Ok(()) };
        let _ = match (self.is_terminal, is_last) {
            (true, true) => writeln!(stderr),
            (false, true) => writeln!(stderr, "{line}"),
            _ => stderr.flush(),
        };
    }
}
