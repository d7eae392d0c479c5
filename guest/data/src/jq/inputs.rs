//! The inputs of a run: values from files, one at a time.

use isopod_gnu::input::Input;
use isopod_gnu::program::Call;
use isopod_sys::text;

use super::machine::Host;
use super::options::Options;
use crate::json::{self, Reader};
use crate::value::Value;

/// A reader of inputs.
pub(crate) struct Inputs<'c> {
    call: &'c Call,
    files: std::vec::IntoIter<String>,
    current: Option<(Input, String)>,
    format: Format,
    reader: Reader,
    /// The rest of raw text, and the number of lines read.
    raw: Vec<u8>,
    raw_at: usize,
    raw_lines: usize,
    /// Events that are still to be read, the next one last.
    events: Vec<Value>,
    slurp: bool,
    is_done: bool,
    failed: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Format {
    Json,
    Raw,
    Stream,
}

impl<'c> Inputs<'c> {
    /// Creates the inputs that the options name.
    pub(crate) fn new(call: &'c Call, options: &Options) -> Inputs<'c> {
        let files = if options.files.is_empty() { vec!["-".to_owned()] } else { options.files.clone() };
        let format = match (options.raw_input, options.stream) {
            (true, _) => Format::Raw,
            (_, true) => Format::Stream,
            _ => Format::Json,
        };
        Inputs {
            call,
            files: files.into_iter(),
            current: None,
            format,
            reader: Reader::new(options.sequence),
            raw: Vec::new(),
            raw_at: 0,
            raw_lines: 0,
            events: Vec::new(),
            slurp: options.slurp,
            is_done: false,
            failed: false,
        }
    }

    /// Returns true if a file could not be read.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed
    }

    /// Returns the origin of the last input, for messages.
    pub(crate) fn origin(&self) -> String {
        match &self.current {
            Some((_, name)) => format!("{name}:{}", self.line()),
            None => "<unknown>".into(),
        }
    }

    /// Returns the next piece of the files; none at the end of all.
    fn piece(&mut self) -> Option<Vec<u8>> {
        loop {
            if self.current.is_none() || self.is_done {
                let name = self.files.next()?;
                let shown = if name == "-" { "<stdin>".to_owned() } else { name.clone() };
                match Input::open(&name) {
                    Ok(input) => {
                        self.current = Some((input, shown));
                        self.is_done = false;
                    }
                    Err(errno) => {
                        self.failed = true;
                        self.call.complain(&format!("error: Could not open file {name}: {}", text(errno)));
                        continue;
                    }
                }
            }
            let Some((input, name)) = &self.current else { return None };
            match input.read() {
                Ok(piece) if piece.is_empty() => self.is_done = true,
                Ok(piece) => return Some(piece),
                Err(errno) => {
                    self.failed = true;
                    self.call.complain(&format!("error: {name}: {}", text(errno)));
                    self.is_done = true;
                }
            }
        }
    }

    fn next_value(&mut self) -> Result<Option<Value>, String> {
        loop {
            if let Some(value) = self.reader.next()? {
                return Ok(Some(value));
            }
            if !self.reader.wants_more() {
                return Ok(None);
            }
            match self.piece() {
                Some(piece) => self.reader.feed(piece),
                None => self.reader.end(),
            }
        }
    }

    fn next_line(&mut self) -> Option<Value> {
        let mut searched = self.raw_at;
        loop {
            if let Some(step) = self.raw[searched..].iter().position(|byte| *byte == b'\n') {
                let end = searched + step;
                let line = Value::text(String::from_utf8_lossy(&self.raw[self.raw_at..end]));
                self.raw_at = end + 1;
                self.raw_lines += 1;
                return Some(line);
            }
            // Consumed text is removed when more is read, not line by line.
            self.raw.drain(..self.raw_at);
            self.raw_at = 0;
            searched = self.raw.len();
            match self.piece() {
                Some(piece) => self.raw.extend_from_slice(&piece),
                None if self.raw.is_empty() => return None,
                None => return Some(Value::text(String::from_utf8_lossy(&std::mem::take(&mut self.raw)))),
            }
        }
    }

    fn next_plain(&mut self) -> Result<Option<Value>, String> {
        match self.format {
            Format::Json => self.next_value(),
            Format::Raw => Ok(self.next_line()),
            Format::Stream => {
                while self.events.is_empty() {
                    let Some(value) = self.next_value()? else { return Ok(None) };
                    let mut events = Vec::new();
                    json::events(&value, &mut |event| events.push(event));
                    events.reverse();
                    self.events = events;
                }
                Ok(self.events.pop())
            }
        }
    }
}

impl Host for Inputs<'_> {
    fn next_input(&mut self) -> Result<Option<Value>, String> {
        if !self.slurp {
            return self.next_plain();
        }
        // The whole text is one input.
        if std::mem::take(&mut self.slurp) {
            if self.format == Format::Raw {
                let mut all = Vec::new();
                while let Some(piece) = self.piece() {
                    all.extend_from_slice(&piece);
                }
                self.raw_lines = all.iter().filter(|byte| **byte == b'\n').count();
                return Ok(Some(Value::text(String::from_utf8_lossy(&all))));
            }
            let mut all = Vec::new();
            while let Some(value) = self.next_plain()? {
                all.push(value);
            }
            return Ok(Some(Value::array(all)));
        }
        Ok(None)
    }

    fn file_name(&self) -> Option<String> {
        self.current.as_ref().map(|(_, name)| name.clone()).filter(|name| name != "<stdin>")
    }

    fn line(&self) -> usize {
        if self.format == Format::Raw { self.raw_lines } else { self.reader.line() }
    }

    fn complain(&mut self, text: &str) {
        // There is no place left to report that standard error is gone.
        let _ = isopod_sys::write_all(2, text.as_bytes());
    }
}
