//! The execution of a script, line by line.

use std::collections::VecDeque;
use std::rc::Rc;

use isopod_gnu::program::Call;
use isopod_regex::Regex;
use memchr::memchr;

use super::input::{Input, Line};
use super::list::list;
use super::output::{InPlaceEdit, Output};
use super::script::{Action, Address, Command, Range, Script};
use super::substitute::{self, Buffers};
use super::{Failure, Options};

/// The state of the editor.
pub(super) struct Editor<'a> {
    call: &'a Call,
    pub(super) options: &'a Options,
    pub(super) script: Script,
    pub(super) input: Input<'a>,
    /// Standard output, then the files named by `w`.
    pub(super) outputs: Vec<Output>,
    /// The index in `outputs` of each file of the script.
    pub(super) output_indices: Vec<usize>,
    pub(super) edited: Option<InPlaceEdit>,
    /// The last line written by `w /dev/stdout` had no terminator.
    pub(super) named_lacks_end: bool,
    /// The remaining lines of the files named by `R`.
    pub(super) sources: Vec<Option<VecDeque<Piece>>>,
    pub(super) space: Space,
    hold: Space,
    /// Output to print at the end of the cycle.
    pub(super) queue: Vec<QueueEntry>,
    pub(super) last_regex: Option<Rc<Regex>>,
    pub(super) replaced: bool,
    pub(super) buffers: Buffers,
}

/// A text. `has_end` tells if its last line had a terminator.
#[derive(Default)]
pub(super) struct Space {
    pub(super) text: Vec<u8>,
    pub(super) has_end: bool,
}

/// A line, and a flag that tells if it had a terminator.
pub(super) type Piece = (Vec<u8>, bool);

pub(super) enum QueueEntry {
    Text(Vec<u8>),
    File(String),
    Line(Vec<u8>, bool),
}

/// The end of a cycle.
enum End {
    /// Prints the pattern space, unless `--quiet` is given.
    Cycle,
    /// Does not print the pattern space.
    Deleted,
    /// Starts the next cycle with the rest of the pattern space.
    Again,
    Quit(u8),
    QuitSilently(u8),
}

impl<'a> Editor<'a> {
    pub(super) fn new(
        call: &'a Call,
        options: &'a Options,
        script: Script,
        files: &'a [String],
    ) -> Result<Editor<'a>, Failure> {
        let mut outputs = vec![Output::standard(options.end)];
        let mut output_indices = Vec::new();
        for name in &script.outputs {
            output_indices.push(match name.as_str() {
                "/dev/stdout" => 0,
                "/dev/stderr" => {
                    outputs.push(Output::standard_error(options.end));
                    outputs.len() - 1
                }
                name => {
                    outputs.push(Output::create(name, options.end)?);
                    outputs.len() - 1
                }
            });
        }
        let sources = script.inputs.iter().map(|_| None).collect();
        Ok(Editor {
            call,
            options,
            script,
            input: Input::new(call, options, files),
            outputs,
            output_indices,
            edited: None,
            named_lacks_end: false,
            sources,
            space: Space::default(),
            hold: Space { text: Vec::new(), has_end: true },
            queue: Vec::new(),
            last_regex: None,
            replaced: false,
            buffers: Buffers::default(),
        })
    }

    /// Edits all files and returns the exit code.
    pub(super) fn run(mut self) -> Result<u8, u8> {
        let result = self.cycles();
        if let Some(edited) = self.edited.take() {
            edited.abandon();
        }
        self.input.give_back();
        let flushed = self.outputs.iter_mut().skip(1).try_for_each(Output::flush);
        let code = match result.and_then(|code| flushed.map(|()| code)) {
            Ok(0) => self.input.failure,
            Ok(code) => code,
            Err(Failure(message, code)) => {
                // Output comes before the message.
                let _ = self.outputs[0].flush();
                self.call.complain(&message);
                code
            }
        };
        match self.outputs.swap_remove(0).into_standard() {
            Some(out) => match self.call.finish(out, code) {
                done if done == code => Ok(code),
                _ => Err(4),
            },
            None => Ok(code),
        }
    }

    fn cycles(&mut self) -> Result<u8, Failure> {
        let mut again = false;
        loop {
            if !again && !self.read(false)? {
                self.finish_file()?;
                return Ok(0);
            }
            again = false;
            let end = self.execute()?;
            if matches!(end, End::Cycle | End::Quit(_)) && !self.options.quiet {
                self.print_space()?;
            }
            if let End::QuitSilently(code) = end {
                self.finish_file()?;
                return Ok(code);
            }
            self.empty_queue()?;
            if self.options.unbuffered {
                self.output().flush()?;
            }
            match end {
                End::Quit(code) => {
                    // As in GNU sed, a missing terminator is added here.
                    self.output().text(b"")?;
                    self.finish_file()?;
                    return Ok(code);
                }
                End::Again => again = true,
                _ => {}
            }
            if self.outputs[0].has_failed() {
                return Ok(4);
            }
        }
    }

    pub(super) fn output(&mut self) -> &mut Output {
        match &mut self.edited {
            Some(edited) => &mut edited.output,
            None => &mut self.outputs[0],
        }
    }

    /// Reads the next line into the pattern space. With `keep` it is appended. Returns false if there is none.
    fn read(&mut self, keep: bool) -> Result<bool, Failure> {
        self.replaced = false;
        loop {
            match self.input.read(&mut self.space.text, keep)? {
                Line::Read(has_end) => {
                    self.space.has_end = has_end;
                    return Ok(true);
                }
                Line::End => return Ok(false),
                Line::FileEnd => self.finish_file()?,
                Line::FileStart(name) => {
                    self.hold = Space { text: Vec::new(), has_end: true };
                    self.sources.fill(None);
                    for command in &mut self.script.commands {
                        let is_zero = matches!(command.from, Some(Address::Line(0)));
                        command.range = if is_zero { Range::Active(None) } else { Range::Inactive };
                    }
                    if self.options.in_place.is_some() {
                        self.edited = Some(InPlaceEdit::start(&name, self.options)?);
                    }
                }
            }
        }
    }

    fn finish_file(&mut self) -> Result<(), Failure> {
        match (self.edited.take(), &self.options.in_place) {
            (Some(edited), Some(suffix)) => edited.finish(suffix),
            _ => Ok(()),
        }
    }

    pub(super) fn print_space(&mut self) -> Result<(), Failure> {
        let has_end = self.space.has_end;
        match &mut self.edited {
            Some(edited) => edited.output.line(&self.space.text, has_end),
            None => self.outputs[0].line(&self.space.text, has_end),
        }
    }

    /// Returns the text up to its first line end, and true if it had one.
    fn first_line(&self) -> (Vec<u8>, bool) {
        let text = &self.space.text;
        match memchr(self.options.end, text) {
            Some(at) => (text[..at].to_vec(), true),
            None => (text.clone(), self.space.has_end),
        }
    }

    fn execute(&mut self) -> Result<End, Failure> {
        let mut index = 0;
        // The commands are taken out of `self` while they run; no command accesses them.
        let mut commands = std::mem::take(&mut self.script.commands);
        let result = loop {
            let Some(command) = commands.get_mut(index) else { break Ok(End::Cycle) };
            let fits = match self.fits(command) {
                Ok(fits) => fits != command.negated,
                Err(failure) => break Err(failure),
            };
            if !fits {
                index = if let Action::Block(end) = command.action { end } else { index + 1 };
                continue;
            }
            match self.act(command) {
                Ok(Step::Next) => index += 1,
                Ok(Step::To(target)) => index = target,
                Ok(Step::End(end)) => break Ok(end),
                Err(failure) => break Err(failure),
            }
        };
        self.script.commands = commands;
        result
    }

    fn fits(&mut self, command: &mut Command) -> Result<bool, Failure> {
        let Some(from) = &command.from else { return Ok(true) };
        let line = self.input.line;
        let Some(to) = &command.to else { return self.is_at(from) };
        if let Range::Active(last) = command.range {
            let (fits, ends) = match (last, to) {
                (Some(last), _) => (line <= last, line >= last),
                (None, Address::Line(last)) => (line <= *last, line >= *last),
                (None, to) => (true, self.is_at(to)?),
            };
            if ends {
                command.range = Range::Closed;
            }
            return Ok(fits);
        }
        if !self.is_at(from)? {
            return Ok(false);
        }
        let last = match to {
            Address::Line(last) => Some(*last),
            Address::Plus(more) => Some(line.saturating_add(*more)),
            Address::Multiple(0) => Some(line),
            Address::Multiple(of) => Some((line / of + 1).saturating_mul(*of)),
            _ => None,
        };
        command.range = if last.is_some_and(|last| last <= line) { Range::Closed } else { Range::Active(last) };
        Ok(true)
    }

    fn is_at(&mut self, address: &Address) -> Result<bool, Failure> {
        let line = self.input.line;
        Ok(match address {
            Address::Line(number) => line == *number,
            Address::Step(first, 0) => line == *first,
            Address::Step(first, step) => line >= *first && (line - first).is_multiple_of(*step),
            Address::Last => self.input.is_at_end()?,
            Address::Match(regex) => {
                let regex = self.regex(regex.as_ref())?;
                let found = regex.is_match(&self.space.text);
                check(&regex)?;
                found
            }
            Address::Plus(_) | Address::Multiple(_) => false,
        })
    }

    /// Returns the given pattern, or the last one used if there is none.
    pub(super) fn regex(&mut self, regex: Option<&Rc<Regex>>) -> Result<Rc<Regex>, Failure> {
        match (regex, &self.last_regex) {
            (Some(regex), _) => {
                self.last_regex = Some(regex.clone());
                Ok(regex.clone())
            }
            (None, Some(last)) => Ok(last.clone()),
            (None, None) => Err(Failure("-e expression #1, char 0: no previous regular expression".to_owned(), 1)),
        }
    }

    fn act(&mut self, command: &Command) -> Result<Step, Failure> {
        let end = self.options.end;
        match &command.action {
            Action::Block(_) | Action::Nothing => {}
            Action::Equals => {
                let number = self.input.line.to_string();
                self.output().line(number.as_bytes(), true)?;
            }
            Action::Append(text) => self.queue.push(QueueEntry::Text(text.clone())),
            Action::Insert(text) => self.insert(text)?,
            Action::Change(text) => {
                if !matches!(command.range, Range::Active(_)) || command.negated {
                    self.insert(text)?;
                }
                return Ok(Step::End(End::Deleted));
            }
            Action::Branch(target) => return Ok(Step::To(*target)),
            Action::BranchIfReplaced(target) => {
                if std::mem::take(&mut self.replaced) {
                    return Ok(Step::To(*target));
                }
            }
            Action::BranchUnlessReplaced(target) => {
                if !std::mem::take(&mut self.replaced) {
                    return Ok(Step::To(*target));
                }
            }
            Action::Delete => return Ok(Step::End(End::Deleted)),
            Action::DeleteLine => {
                return Ok(Step::End(match memchr(end, &self.space.text) {
                    None => End::Deleted,
                    Some(at) => {
                        self.space.text.drain(..=at);
                        End::Again
                    }
                }));
            }
            Action::Execute(command) => self.run_command(command)?,
            Action::FileName => {
                let name = self.input.name.clone();
                self.output().line(name.as_bytes(), true)?;
            }
            Action::CopyToHold => {
                self.hold.text.clone_from(&self.space.text);
                self.hold.has_end = self.space.has_end;
            }
            Action::AppendToHold => {
                self.hold.has_end = self.space.has_end;
                self.hold.text.push(end);
                self.hold.text.extend_from_slice(&self.space.text);
            }
            Action::CopyFromHold => {
                self.space.text.clone_from(&self.hold.text);
                self.space.has_end = self.hold.has_end;
            }
            Action::AppendFromHold => {
                self.space.has_end = self.hold.has_end;
                self.space.text.push(end);
                self.space.text.extend_from_slice(&self.hold.text);
            }
            Action::Exchange => std::mem::swap(&mut self.space, &mut self.hold),
            Action::List(length) => {
                let mut shown = Vec::new();
                list(&self.space.text, length.unwrap_or(self.options.line_length), end, &mut shown);
                self.output().text(&shown)?;
            }
            Action::Next => return self.next_line(false),
            Action::AppendNext => return self.next_line(true),
            Action::Print => self.print_space()?,
            Action::PrintLine => {
                let (line, has_end) = self.first_line();
                self.output().line(&line, has_end)?;
            }
            Action::Quit(code) => return Ok(Step::End(End::Quit(*code))),
            Action::QuitSilently(code) => return Ok(Step::End(End::QuitSilently(*code))),
            Action::ReadFile(name) => self.queue.push(QueueEntry::File(name.clone())),
            Action::ReadLine(index) => {
                if let Some((line, has_end)) = self.next_of(*index)? {
                    self.queue.push(QueueEntry::Line(line, has_end));
                }
            }
            Action::Write(file) => {
                self.write(*file)?;
            }
            Action::WriteLine(file) => {
                let (line, has_end) = self.first_line();
                self.outputs[self.output_indices[*file]].line(&line, has_end)?;
            }
            Action::Substitute(what) => self.substitute(what)?,
            Action::Translate(what) => substitute::translate(what, &mut self.space.text),
            Action::Zap => self.space.text.clear(),
        }
        Ok(Step::Next)
    }

    /// Runs `n`, or with `append` `N`.
    fn next_line(&mut self, append: bool) -> Result<Step, Failure> {
        // At the end GNU prints the pattern space; POSIX deletes it.
        if self.input.is_at_end()? {
            return Ok(Step::End(if self.options.posix { End::Deleted } else { End::Cycle }));
        }
        if !append && !self.options.quiet {
            self.print_space()?;
        }
        self.empty_queue()?;
        Ok(match (self.read(append)?, append) {
            (true, _) => Step::Next,
            (false, true) => Step::End(End::Cycle),
            (false, false) => Step::End(End::Deleted),
        })
    }
}

/// The next command to execute.
enum Step {
    Next,
    To(usize),
    End(End),
}

pub(super) fn check(regex: &Regex) -> Result<(), Failure> {
    if regex.gave_up() {
        return Err(Failure("regex: exceeded the limit on back-references".to_owned(), 4));
    }
    Ok(())
}
