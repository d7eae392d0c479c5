//! The text of a script, and positions in it for messages.

use isopod_gnu::input::Input;
use isopod_sys::text;

use super::Failure;

/// The text of a script: expressions and files, separated by newlines.
#[derive(Default)]
pub(super) struct Source {
    bytes: Vec<u8>,
    parts: Vec<Part>,
    at: usize,
    expressions: usize,
}

struct Part {
    start: usize,
    name: Name,
}

enum Name {
    Expression(usize),
    File(String),
}

impl Source {
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub(super) fn add_expression(&mut self, text: &[u8]) {
        self.expressions += 1;
        self.add(text, Name::Expression(self.expressions));
    }

    pub(super) fn add_file(&mut self, path: &str) -> Result<(), Failure> {
        let bytes = Input::open(path).and_then(|input| input.read_all());
        let bytes = bytes.map_err(|errno| Failure(format!("couldn't open file {path}: {}", text(errno)), 4))?;
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(&bytes).to_vec();
        self.add(&bytes, Name::File(path.to_owned()));
        Ok(())
    }

    fn add(&mut self, text: &[u8], name: Name) {
        if !self.parts.is_empty() {
            self.bytes.push(b'\n');
        }
        self.parts.push(Part { start: self.bytes.len(), name });
        self.bytes.extend_from_slice(text);
    }

    /// Returns true if the script starts with `#n` on a line of its own.
    pub(super) fn is_quiet(&self) -> bool {
        self.bytes.starts_with(b"#n") && matches!(self.bytes.get(2), None | Some(b'\n'))
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub(super) fn next(&mut self) -> Option<u8> {
        let byte = self.peek();
        // The position moves past the end, too: positions in messages have to be GNU's.
        self.at += 1;
        byte
    }

    pub(super) fn back(&mut self) {
        self.at = self.at.saturating_sub(1);
    }

    /// Skips blanks and returns the next byte.
    pub(super) fn next_filled(&mut self) -> Option<u8> {
        loop {
            match self.next() {
                Some(byte) if byte != b'\n' && byte.is_ascii_whitespace() => {}
                byte => return byte,
            }
        }
    }

    /// Returns true at the end of an expression or a file.
    pub(super) fn is_at_part_end(&self) -> bool {
        self.at >= self.bytes.len() || self.parts.iter().any(|part| part.start == self.at + 1)
    }

    /// Returns a message that refers to the current position.
    pub(super) fn error(&self, message: &str) -> Failure {
        let at = self.at.min(self.bytes.len());
        let part = self.parts.iter().rev().find(|part| part.start <= at);
        let text = match part {
            None => message.to_owned(),
            Some(Part { name: Name::Expression(number), start }) => {
                format!("-e expression #{number}, char {}: {message}", at - start)
            }
            Some(Part { name: Name::File(path), start }) => {
                let lines = self.bytes[*start..at].iter().filter(|byte| **byte == b'\n').count();
                format!("file {path} line {}: {message}", lines + 1)
            }
        };
        Failure(text, 1)
    }

    /// Returns a message that refers to the last part as a whole.
    pub(super) fn error_at_end(&self, message: &str) -> Failure {
        match self.parts.last() {
            Some(Part { name: Name::Expression(number), .. }) => {
                Failure(format!("-e expression #{number}, char 0: {message}"), 1)
            }
            Some(Part { name: Name::File(path), .. }) => Failure(format!("file {path} line 0: {message}"), 1),
            None => Failure(message.to_owned(), 1),
        }
    }
}
