//! The commands, carried out on one line after the other.

use std::collections::VecDeque;
use std::rc::Rc;

use isopod_gnu::input::Input as Source;
use isopod_gnu::program::Call;
use isopod_regex::Regex;
use memchr::memchr;

use super::input::{Input, Line};
use super::list::list;
use super::output::{Edited, Output};
use super::script::{Action, Address, Command, Prints, Range, Script};
use super::substitute::{self, Room};
use super::{Failure, Options};

/// The stream editor at work.
pub(super) struct Editor<'a> {
    call: &'a Call,
    options: &'a Options,
    script: Script,
    input: Input<'a>,
    /// Standard output first, then the files that `w` names.
    outputs: Vec<Output>,
    /// Which output each file of the script is.
    places: Vec<usize>,
    edited: Option<Edited>,
    /// What `w /dev/stdout` wrote last had no end.
    named_lacks_end: bool,
    /// Lines of the files that `R` names.
    sources: Vec<Option<VecDeque<(Vec<u8>, bool)>>>,
    space: Space,
    hold: Space,
    /// What is printed after the line.
    queue: Vec<Queued>,
    last_regex: Option<Rc<Regex>>,
    replaced: bool,
    room: Room,
}

/// A text, and whether its last line had an end.
#[derive(Default)]
struct Space {
    text: Vec<u8>,
    has_end: bool,
}

enum Queued {
    Text(Vec<u8>),
    File(String),
    Line(Vec<u8>, bool),
}

/// How a script ended for a line.
enum End {
    /// The line is printed, unless that is turned off.
    Cycle,
    /// Without printing the line.
    Deleted,
    /// The next cycle goes on with what is left in the space.
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
        let mut places = Vec::new();
        for name in &script.outputs {
            places.push(match name.as_str() {
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
            places,
            edited: None,
            named_lacks_end: false,
            sources,
            space: Space::default(),
            hold: Space { text: Vec::new(), has_end: true },
            queue: Vec::new(),
            last_regex: None,
            replaced: false,
            room: Room::default(),
        })
    }

    /// Edits everything and returns the exit code.
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
                // What was printed before comes before.
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
                    // A line without an end gets one here, as in GNU's.
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

    fn output(&mut self) -> &mut Output {
        match &mut self.edited {
            Some(edited) => &mut edited.output,
            None => &mut self.outputs[0],
        }
    }

    /// Reads the next line into the pattern space; with `keep`, after what is there. False if there is none.
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
                        self.edited = Some(Edited::start(&name, self.options)?);
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

    fn print_space(&mut self) -> Result<(), Failure> {
        let has_end = self.space.has_end;
        match &mut self.edited {
            Some(edited) => edited.output.line(&self.space.text, has_end),
            None => self.outputs[0].line(&self.space.text, has_end),
        }
    }

    /// The text up to its first line end, and whether there is one.
    fn first_line(&self) -> (Vec<u8>, bool) {
        let text = &self.space.text;
        match memchr(self.options.end, text) {
            Some(at) => (text[..at].to_vec(), true),
            None => (text.clone(), self.space.has_end),
        }
    }

    fn execute(&mut self) -> Result<End, Failure> {
        let mut index = 0;
        // The commands are lent out while they work: nothing else looks at them.
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
            Address::Step(first, step) => line >= *first && (line - first) % step == 0,
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

    /// A pattern, or the one that was used last.
    fn regex(&mut self, regex: Option<&Rc<Regex>>) -> Result<Rc<Regex>, Failure> {
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
            Action::Append(text) => self.queue.push(Queued::Text(text.clone())),
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
            Action::Next => {
                if self.input.is_at_end()? {
                    return Ok(Step::End(if self.options.posix { End::Deleted } else { End::Cycle }));
                }
                if !self.options.quiet {
                    self.print_space()?;
                }
                self.empty_queue()?;
                if !self.read(false)? {
                    return Ok(Step::End(End::Deleted));
                }
            }
            Action::AppendNext => {
                // The line is printed all the same; POSIX would have it deleted.
                if self.input.is_at_end()? {
                    return Ok(Step::End(if self.options.posix { End::Deleted } else { End::Cycle }));
                }
                self.empty_queue()?;
                if !self.read(true)? {
                    return Ok(Step::End(End::Cycle));
                }
            }
            Action::Print => self.print_space()?,
            Action::PrintLine => {
                let (line, has_end) = self.first_line();
                self.output().line(&line, has_end)?;
            }
            Action::Quit(code) => return Ok(Step::End(End::Quit(*code))),
            Action::QuitSilently(code) => return Ok(Step::End(End::QuitSilently(*code))),
            Action::ReadFile(name) => self.queue.push(Queued::File(name.clone())),
            Action::ReadLine(place) => {
                if let Some((line, has_end)) = self.next_of(*place)? {
                    self.queue.push(Queued::Line(line, has_end));
                }
            }
            Action::Write(file) => {
                self.write(*file)?;
            }
            Action::WriteLine(file) => {
                let (line, has_end) = self.first_line();
                self.outputs[self.places[*file]].line(&line, has_end)?;
            }
            Action::Substitute(what) => self.substitute(what)?,
            Action::Translate(what) => substitute::translate(what, &mut self.space.text),
            Action::Zap => self.space.text.clear(),
        }
        Ok(Step::Next)
    }

    /// Prints the text of `i` or `c`.
    fn insert(&mut self, text: &[u8]) -> Result<(), Failure> {
        match text.strip_suffix(b"\n") {
            Some(line) => self.output().line(line, true),
            None => self.output().text(text),
        }
    }

    fn substitute(&mut self, what: &super::script::Substitute) -> Result<(), Failure> {
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
    fn write(&mut self, file: usize) -> Result<(), Failure> {
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
    fn run_command(&mut self, command: &[u8]) -> Result<(), Failure> {
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
    fn flush(&mut self) -> Result<(), Failure> {
        self.outputs.iter_mut().try_for_each(Output::flush)
    }

    fn empty_queue(&mut self) -> Result<(), Failure> {
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
    fn next_of(&mut self, place: usize) -> Result<Option<(Vec<u8>, bool)>, Failure> {
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

/// Where a script goes on.
enum Step {
    Next,
    To(usize),
    End(End),
}

fn check(regex: &Regex) -> Result<(), Failure> {
    if regex.gave_up() {
        return Err(Failure("regex: exceeded the limit on back-references".to_owned(), 4));
    }
    Ok(())
}
