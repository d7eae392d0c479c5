//! A command line that is filled with arguments up to its limits.

use super::settings::{Settings, Split};

/// A command and the arguments it has so far.
pub(super) struct Line<'a> {
    settings: &'a Settings,
    args: Vec<String>,
    chars: usize,
    /// The number of input lines that it uses.
    pub(super) lines: usize,
}

/// The reason why an argument was not added.
pub(super) enum Full {
    /// It fits into the next command line.
    Line(String),
    /// It fits into none.
    Never,
    /// It would need a second command line, which `-x` refuses.
    Refused,
}

impl<'a> Line<'a> {
    pub(super) fn new(settings: &'a Settings) -> Line<'a> {
        Line { settings, args: Vec::new(), chars: Line::fixed(settings), lines: 0 }
    }

    fn fixed(settings: &Settings) -> usize {
        settings.command.iter().map(|arg| arg.len() + 1).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.args.is_empty()
    }

    /// Returns true if the command has all its arguments.
    pub(super) fn is_full(&self) -> bool {
        match self.settings.split {
            Split::Args(most) => self.args.len() >= most,
            Split::Lines(most) => self.lines >= most,
            _ => false,
        }
    }

    /// Adds an argument, if it fits.
    pub(super) fn push(&mut self, arg: String) -> Result<(), Full> {
        let length = arg.len() + 1;
        if Line::fixed(self.settings) + length > self.settings.max_chars {
            return Err(Full::Never);
        }
        if self.chars + length > self.settings.max_chars {
            // Without a number of arguments to keep together, the argument goes to the next command line.
            let refuses = self.settings.exits_when_full && !matches!(self.settings.split, Split::Fill);
            return Err(if refuses { Full::Refused } else { Full::Line(arg) });
        }
        self.chars += length;
        self.args.push(arg);
        Ok(())
    }

    /// Returns the whole command, and starts an empty one.
    pub(super) fn take(&mut self) -> Vec<String> {
        self.chars = Line::fixed(self.settings);
        self.lines = 0;
        let mut argv = self.settings.command.clone();
        argv.append(&mut self.args);
        argv
    }
}
