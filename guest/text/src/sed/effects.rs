//! Commands that affect files, or the pattern space as a whole.

use std::collections::VecDeque;

use isopod_gnu::input::Input as Source;

use super::Failure;
use super::output::Output;
use super::run::{Editor, Piece, QueueEntry, check};
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
        let replaced = substitute::substitute(what, &regex, &mut self.space.text, &mut self.buffers);
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

    /// Writes the pattern space to a file of the script. As in GNU sed, `/dev/stdout` tracks missing line ends on its
    /// own.
    pub(super) fn write(&mut self, file: usize) -> Result<(), Failure> {
        let index = self.output_indices[file];
        let output = &mut self.outputs[index];
        if index == 0 {
            output.change_ends(&mut self.named_lacks_end);
        }
        output.line(&self.space.text, self.space.has_end)?;
        if index == 0 {
            output.change_ends(&mut self.named_lacks_end);
        }
        Ok(())
    }

    /// Runs `e`: prints the output of a command. Without a command, executes the pattern space and replaces it by the
    /// output.
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

    /// Flushes all outputs, so that a command or a file read afterwards sees them.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        self.outputs.iter_mut().try_for_each(Output::flush)
    }

    pub(super) fn empty_queue(&mut self) -> Result<(), Failure> {
        if self.queue.is_empty() {
            return Ok(());
        }
        for queued in std::mem::take(&mut self.queue) {
            match queued {
                QueueEntry::Text(text) => self.output().text(&text)?,
                QueueEntry::Line(line, has_end) => self.output().line(&line, has_end)?,
                QueueEntry::File(name) => {
                    self.flush()?;
                    let name = if name == "/dev/stdin" { "-" } else { &name };
                    // A file that cannot be read counts as empty.
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

    /// Returns the next line of a file named by `R`.
    pub(super) fn next_of(&mut self, index: usize) -> Result<Option<Piece>, Failure> {
        if self.sources[index].is_none() {
            self.flush()?;
            let name = &self.script.inputs[index];
            let name = if name == "/dev/stdin" { "-" } else { name };
            let bytes = Source::open(name).and_then(|source| source.read_all()).unwrap_or_default();
            let end = self.options.end;
            let lines = bytes.split_inclusive(|byte| *byte == end).map(|line| match line.strip_suffix(&[end]) {
                Some(line) => (line.to_vec(), true),
                None => (line.to_vec(), false),
            });
            self.sources[index] = Some(lines.collect());
        }
        Ok(self.sources[index].as_mut().and_then(VecDeque::pop_front))
    }
}
