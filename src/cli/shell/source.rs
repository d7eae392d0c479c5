//! Commands on standard input, each with as many lines as it takes.

use std::cell::RefCell;
use std::io::{self, BufRead};
use std::rc::Rc;

use isopod_syntax::{MoreText, Parser};

/// The commands, one by one. A command is read once, however many lines it has.
pub(super) struct Source {
    parser: Parser<'static>,
    failed: Failure,
}

/// The error that ended the reading of lines.
type Failure = Rc<RefCell<Option<io::Error>>>;

impl Source {
    pub(super) fn new() -> Source {
        let failed = Failure::default();
        Source { parser: Parser::reading(Box::new(Lines(failed.clone()))), failed }
    }
}

impl Iterator for Source {
    type Item = io::Result<String>;

    fn next(&mut self) -> Option<io::Result<String>> {
        let start = self.parser.position();
        let parsed = self.parser.next_command();
        if let Some(error) = self.failed.take() {
            return Some(Err(error));
        }
        match parsed {
            Ok(None) => None,
            Ok(Some(_)) => Some(Ok(self.parser.consumed(start).to_owned())),
            // The shell reports the syntax error, and goes on with the next line.
            Err(_) => {
                let text = format!("{}{}", self.parser.consumed(start), self.parser.rest());
                *self = Source::new();
                Some(Ok(text))
            }
        }
    }
}

/// Standard input, line by line.
struct Lines(Failure);

impl MoreText for Lines {
    fn more(&mut self, source: &mut String) -> bool {
        match io::stdin().lock().read_line(source) {
            Ok(len) => len > 0,
            Err(error) => {
                self.0.replace(Some(error));
                false
            }
        }
    }
}
