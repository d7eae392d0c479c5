//! What commands do to files and to the pattern space.

use std::collections::VecDeque;

use isopod_gnu::input::Input as Source;

use super::Failure;
use super::output::Output;
use super::run::{Editor, Piece, Queued, check};
use super::script::{Prints, Substitute};
use super::substitute;

impl Editor<'_> {
    /// Prints the text of `i` or `c`.
    pub(super) fn insert(&mut self, text: &[u8]) -> Result<(), Failure> {
        match text.strip_suffix(b"\n") {
            Some(line) => self.output().line(line, true),
            None => self.output().text(text),
        }
    }

    pub(super) fn substitute(&mut self, what: &Substitute) -> Result<(), Failure> {
        let regex = self.regex(what.regex.as_ref())?;
        let highest = what.replacement.highest;
        if highest >= regex.groups() {
            let message = format!("-e expression #1, char 0: invalid reference \\{highest} on `s' command's RHS");
            return Err(Failure(message, 1));
        }
        let replaced = substitute::substitute(what, &regex, &mut self.space.text, &mut self.room);
        check(&regex)?;
        if !replaced {
            return Ok(());
        }
        self.replaced = true;
        if what.prints == Prints::Before {
            self.print_space()?;
        }
        if what.executes {
            self.flush()?;
            let command = std::mem::take(&mut self.space.text);
            self.space.text = substitute::execute(&command)?;
            if self.space.text.last() == Some(&self.options.end) {
                self.space.text.pop();
            }
        }
        if what.prints == Prints::After {
            self.print_space()?;
        }
        if let Some(file) = what.file {
            self.write(file)?;
        }
        Ok(())
    }

    /// Writes the space to a file of the script. Standard output by its name has line ends of its own, as in GNU's.
    pub(super) fn write(&mut self, file: usize) -> Result<(), Failure> {
        let place = self.places[file];
        let output = &mut self.outputs[place];
        if place == 0 {
            output.change_ends(&mut self.named_lacks_end);
        }
        output.line(&self.space.text, self.space.has_end)?;
        if place == 0 {
            output.change_ends(&mut self.named_lacks_end);
        }
        Ok(())
    }

    /// `e`: a command's output comes first; without a command, the space is one and becomes its output.
    pub(super) fn run_command(&mut self, command: &[u8]) -> Result<(), Failure> {
        self.flush()?;
        if command.is_empty() {
            let command = std::mem::take(&mut self.space.text);
            self.space.text = substitute::execute(&command)?;
            self.space.has_end = true;
            if self.space.text.last() == Some(&self.options.end) {
                self.space.text.pop();
            }
            return Ok(());
        }
        let output = substitute::execute(command)?;
        self.output().text(&output)
    }

    /// Writes out everything, so that a command or a file that is read shows it.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        self.outputs.iter_mut().try_for_each(Output::flush)
    }

    pub(super) fn empty_queue(&mut self) -> Result<(), Failure> {
        if self.queue.is_empty() {
            return Ok(());
        }
        for queued in std::mem::take(&mut self.queue) {
            match queued {
                Queued::Text(text) => self.output().text(&text)?,
                Queued::Line(line, has_end) => self.output().line(&line, has_end)?,
                Queued::File(name) => {
                    self.flush()?;
                    let name = if name == "/dev/stdin" { "-" } else { &name };
                    // A file that cannot be read is as good as empty.
                    let Ok(source) = Source::open(name) else { continue };
                    while let Ok(piece) = source.read() {
                        if piece.is_empty() {
                            break;
                        }
                        self.output().text(&piece)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The next line of a file that `R` names.
    pub(super) fn next_of(&mut self, place: usize) -> Result<Option<Piece>, Failure> {
        if self.sources[place].is_none() {
            self.flush()?;
            let name = &self.script.inputs[place];
            let name = if name == "/dev/stdin" { "-" } else { name };
            let bytes = Source::open(name).and_then(|source| source.read_all()).unwrap_or_default();
            let end = self.options.end;
            let lines = bytes.split_inclusive(|byte| *byte == end).map(|line| match line.strip_suffix(&[end]) {
                Some(line) => (line.to_vec(), true),
                None => (line.to_vec(), false),
            });
            self.sources[place] = Some(lines.collect());
        }
        Ok(self.sources[place].as_mut().and_then(VecDeque::pop_front))
    }
}
