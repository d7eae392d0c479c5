//! The parser of a script. Messages are those of GNU sed.

use std::rc::Rc;

use super::pattern;
use super::script::{Action, Address, Command, Range, Script};
use super::source::Source;
use super::{Failure, Options};

pub(super) struct Parser<'a> {
    pub(super) source: Source,
    pub(super) options: &'a Options,
    pub(super) script: Script,
    /// The open blocks.
    blocks: Vec<usize>,
    labels: Vec<(Vec<u8>, usize)>,
    /// Branches whose label is not resolved yet.
    branches: Vec<(Vec<u8>, usize)>,
}

/// Parses a script. `#n` as its first line sets the option `quiet`.
pub(super) fn parse(source: Source, options: &mut Options) -> Result<Script, Failure> {
    if source.is_quiet() {
        options.quiet = true;
    }
    let script = Script { commands: Vec::new(), outputs: Vec::new(), inputs: Vec::new() };
    let (blocks, labels, branches) = (Vec::new(), Vec::new(), Vec::new());
    let mut parser = Parser { source, options, script, blocks, labels, branches };
    while parser.command()? {}
    parser.finish()
}

impl Parser<'_> {
    pub(super) fn error(&self, message: &str) -> Failure {
        self.source.error(message)
    }

    fn finish(mut self) -> Result<Script, Failure> {
        if !self.blocks.is_empty() {
            return Err(self.source.error_at_end("unmatched `{'"));
        }
        let end = self.script.commands.len();
        for (label, index) in &self.branches {
            let target = match self.labels.iter().find(|(known, _)| known == label) {
                Some((_, target)) => *target,
                None if label.is_empty() => end,
                None => {
                    let label = String::from_utf8_lossy(label);
                    return Err(Failure(format!("can't find label for jump to `{label}'"), 4));
                }
            };
            let action = &mut self.script.commands[*index].action;
            *action = match action {
                Action::BranchIfReplaced(_) => Action::BranchIfReplaced(target),
                Action::BranchUnlessReplaced(_) => Action::BranchUnlessReplaced(target),
                _ => Action::Branch(target),
            };
        }
        Ok(self.script)
    }

    /// Parses one command. Returns false at the end.
    fn command(&mut self) -> Result<bool, Failure> {
        loop {
            match self.source.peek() {
                Some(b';') => {
                    self.source.next();
                }
                Some(byte) if byte.is_ascii_whitespace() => {
                    self.source.next();
                }
                None => return Ok(false),
                _ => break,
            }
        }
        let from = self.address(false)?;
        let mut to = None;
        if from.is_some() {
            if self.source.next_filled() == Some(b',') {
                self.source.next_filled();
                self.source.back();
                to = self.address(true)?;
                if to.is_none() {
                    self.source.next();
                    return Err(self.error("unexpected `,'"));
                }
            } else {
                self.source.back();
            }
        }
        let is_zero = matches!(from, Some(Address::Line(0)));
        if is_zero && (!matches!(to, Some(Address::Match(_))) || self.options.posix) {
            self.source.next();
            return Err(self.error("invalid usage of line address 0"));
        }
        let mut negated = false;
        let mut byte = self.source.next_filled();
        while byte == Some(b'!') {
            if negated {
                return Err(self.error("multiple `!'s"));
            }
            negated = true;
            byte = self.source.next_filled();
        }
        let Some(name) = byte else { return Err(self.error("missing command")) };
        let addresses = usize::from(from.is_some()) + usize::from(to.is_some());
        let index = self.script.commands.len();
        let range = if is_zero { Range::Active(None) } else { Range::Inactive };
        self.script.commands.push(Command { from, to, negated, range, action: Action::Nothing });
        let action = self.action(name, addresses, index)?;
        self.script.commands[index].action = action;
        Ok(true)
    }

    fn address(&mut self, is_second: bool) -> Result<Option<Address>, Failure> {
        let Some(byte) = self.source.next() else {
            self.source.back();
            return Ok(None);
        };
        let address = match byte {
            b'0'..=b'9' => {
                self.source.back();
                let line = self.number();
                if !is_second && self.source.next_filled() == Some(b'~') {
                    self.source.next_filled();
                    self.source.back();
                    let step =
                        if self.source.peek().is_some_and(|byte| byte.is_ascii_digit()) { self.number() } else { 0 };
                    Address::Step(line, step)
                } else {
                    if !is_second {
                        self.source.back();
                    }
                    Address::Line(line)
                }
            }
            b'$' => Address::Last,
            b'/' => self.match_address(b'/')?,
            b'\\' => match self.source.next() {
                Some(delimiter) if delimiter != b'\n' => self.match_address(delimiter)?,
                _ => {
                    self.source.back();
                    return Err(self.error("unterminated address regex"));
                }
            },
            b'+' if is_second => Address::Plus(self.number()),
            b'~' if is_second => Address::Multiple(self.number()),
            _ => {
                self.source.back();
                return Ok(None);
            }
        };
        Ok(Some(address))
    }

    fn match_address(&mut self, delimiter: u8) -> Result<Address, Failure> {
        let Some(text) = pattern::until(&mut self.source, delimiter, true) else {
            self.source.back();
            return Err(self.error("unterminated address regex"));
        };
        let (mut icase, mut multiline) = (false, false);
        loop {
            match self.source.next_filled() {
                Some(b'I') => icase = true,
                Some(b'M') => multiline = true,
                _ => break,
            }
        }
        self.source.back();
        if text.is_empty() {
            if icase || multiline {
                return Err(self.error("cannot specify modifiers on empty regexp"));
            }
            return Ok(Address::Match(None));
        }
        let regex = pattern::compile(&self.source, &text, self.options, icase, multiline)?;
        Ok(Address::Match(Some(Rc::new(regex))))
    }

    pub(super) fn number(&mut self) -> u64 {
        let mut value: u64 = 0;
        while let Some(digit @ b'0'..=b'9') = self.source.peek() {
            value = value.saturating_mul(10).saturating_add(u64::from(digit - b'0'));
            self.source.next();
        }
        value
    }

    fn action(&mut self, name: u8, addresses: usize, index: usize) -> Result<Action, Failure> {
        let most = match name {
            b':' | b'}' | b'#' => 0,
            b'q' | b'Q' => 1,
            _ => 2,
        };
        if addresses > most {
            return Err(self.error(match name {
                b':' => ": doesn't want any addresses",
                b'}' => "} doesn't want any addresses",
                b'#' => "comments don't accept any addresses",
                _ => "command only uses one address",
            }));
        }
        let action = match name {
            b'#' => {
                while !matches!(self.source.next(), None | Some(b'\n')) {}
                self.source.back();
                return Ok(Action::Nothing);
            }
            b'{' => {
                self.blocks.push(index);
                return Ok(Action::Block(0));
            }
            b'}' => {
                let Some(block) = self.blocks.pop() else { return Err(self.error("unexpected `}'")) };
                self.script.commands[block].action = Action::Block(index + 1);
                Action::Nothing
            }
            b':' => {
                self.define_label(index)?;
                return Ok(Action::Nothing);
            }
            b'b' | b't' | b'T' => {
                let label = self.label();
                self.branches.push((label, index));
                match name {
                    b't' => Action::BranchIfReplaced(0),
                    b'T' => Action::BranchUnlessReplaced(0),
                    _ => Action::Branch(0),
                }
            }
            b'a' => return Ok(Action::Append(self.text()?)),
            b'i' => return Ok(Action::Insert(self.text()?)),
            b'c' => return Ok(Action::Change(self.text()?)),
            b'=' => Action::Equals,
            b'd' => Action::Delete,
            b'D' => Action::DeleteLine,
            b'e' => {
                self.check_sandbox()?;
                return Ok(Action::Execute(self.rest()));
            }
            b'F' => Action::FileName,
            b'h' => Action::CopyToHold,
            b'H' => Action::AppendToHold,
            b'g' => Action::CopyFromHold,
            b'G' => Action::AppendFromHold,
            b'l' => Action::List(self.argument().map(|value| usize::try_from(value).unwrap_or(usize::MAX))),
            b'n' => Action::Next,
            b'N' => Action::AppendNext,
            b'p' => Action::Print,
            b'P' => Action::PrintLine,
            b'q' => Action::Quit(self.argument().unwrap_or(0) as u8),
            b'Q' => Action::QuitSilently(self.argument().unwrap_or(0) as u8),
            b'r' => return Ok(Action::ReadFile(self.file_name()?)),
            b'R' => {
                let name = self.file_name()?;
                return Ok(Action::ReadLine(index_of(&mut self.script.inputs, name)));
            }
            b'w' | b'W' => {
                let file = self.file_name()?;
                let file = index_of(&mut self.script.outputs, file);
                return Ok(if name == b'w' { Action::Write(file) } else { Action::WriteLine(file) });
            }
            b's' => self.substitute()?,
            b'v' => {
                let version = self.label();
                if version.first().is_some_and(|major| *major > b'4') {
                    return Err(self.error("expected newer version of sed"));
                }
                Action::Nothing
            }
            b'x' => Action::Exchange,
            b'y' => self.translate()?,
            b'z' => Action::Zap,
            name => {
                return Err(self.error(&format!("unknown command: `{}'", char::from(name))));
            }
        };
        self.end_of_command()?;
        Ok(action)
    }

    fn define_label(&mut self, index: usize) -> Result<(), Failure> {
        let label = self.label();
        if label.is_empty() {
            return Err(self.error("\":\" lacks a label"));
        }
        if self.labels.iter().any(|(known, _)| *known == label) {
            let label = String::from_utf8_lossy(&label).into_owned();
            return Err(self.error(&format!("duplicate label `{label}'")));
        }
        self.labels.push((label, index));
        Ok(())
    }

    fn end_of_command(&mut self) -> Result<(), Failure> {
        match self.source.next_filled() {
            None | Some(b'\n' | b';') => Ok(()),
            Some(b'}' | b'#') => {
                self.source.back();
                Ok(())
            }
            Some(_) => Err(self.error("extra characters after command")),
        }
    }

    fn label(&mut self) -> Vec<u8> {
        let mut label = Vec::new();
        let mut byte = self.source.next_filled();
        while let Some(c) = byte {
            if c.is_ascii_whitespace() || c == b';' || c == b'}' {
                break;
            }
            label.push(c);
            byte = self.source.next();
        }
        self.source.back();
        label
    }

    fn argument(&mut self) -> Option<u64> {
        self.source.next_filled();
        self.source.back();
        self.source.peek().is_some_and(|byte| byte.is_ascii_digit()).then(|| self.number())
    }

    /// Returns the rest of the line.
    fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        let mut byte = self.source.next_filled();
        while let Some(c) = byte {
            if c == b'\n' {
                break;
            }
            rest.push(c);
            byte = self.source.next();
        }
        self.source.back();
        rest
    }

    pub(super) fn check_sandbox(&self) -> Result<(), Failure> {
        if self.options.sandbox { Err(self.error("e/r/w commands disabled in sandbox mode")) } else { Ok(()) }
    }

    pub(super) fn file_name(&mut self) -> Result<String, Failure> {
        self.check_sandbox()?;
        let name = self.rest();
        if name.is_empty() {
            return Err(self.error("missing filename in r/R/w/W commands"));
        }
        String::from_utf8(name).map_err(|_| self.error("file name is not UTF-8"))
    }
}

/// Returns the index of a name in a list, and appends the name if it is new.
pub(super) fn index_of(names: &mut Vec<String>, name: String) -> usize {
    names.iter().position(|known| *known == name).unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    })
}
