//! Lists, chains, pipelines and simple commands.

use std::rc::Rc;

use super::dollar::ArithEnd;
use super::error::{Fault, SyntaxError};
use super::lexer::{Parser, ends_word, name_length};
use super::tree::{
    Arith, AssignedValue, Assignment, Chain, Command, Connector, Descriptor, Element, Function, Item, Kind, List, Part,
    Pipeline, Redirect, RedirectAction, Simple, TimeFormat, Word,
};
use super::word::WordContext;

impl Parser<'_> {
    /// Parses commands up to a token that cannot start one. Newlines separate them if `multiline`; otherwise the first
    /// newline ends the list and is not consumed.
    pub(super) fn list(&mut self, multiline: bool) -> Result<List, SyntaxError> {
        let mut items = Vec::new();
        loop {
            match multiline {
                true => self.newlines()?,
                false => self.blanks(),
            }
            if self.alias() {
                continue;
            }
            if self.at_list_end() {
                break;
            }
            let chain = Rc::new(self.chain()?);
            self.blanks();
            let (separated, background) = match (self.peek(), self.ahead(1)) {
                (b';', b';' | b'&') => (false, false),
                (b';', _) => (true, false),
                (b'&', b'&' | b'>') => (false, false),
                (b'&', _) => (true, true),
                _ => (false, false),
            };
            self.at += usize::from(separated);
            items.push(Item { chain, background });
            let newline = multiline && self.peek() == b'\n';
            if !separated && !newline {
                break;
            }
        }
        match items.is_empty() {
            true => Err(self.unexpected()),
            false => Ok(List { items }),
        }
    }

    /// Parses commands up to the `)` of a substitution, which is consumed. There may be none.
    pub(super) fn substitution_list(&mut self) -> Result<List, SyntaxError> {
        self.list_until_close().map_err(|error| match error.fault {
            Fault::EndOfFile => SyntaxError { fault: Fault::Unmatched(')'), ..error },
            _ => error,
        })
    }

    /// Parses commands up to the `)` of a subshell, which is consumed.
    pub(super) fn list_until_close(&mut self) -> Result<List, SyntaxError> {
        // Documents announced before the substitution come after the line that it ends on.
        let outer = std::mem::take(&mut self.heredocs);
        self.newlines()?;
        let list = match self.peek() {
            b')' => List::default(),
            _ => self.list(true)?,
        };
        self.newlines()?;
        match self.peek() {
            b')' => self.at += 1,
            _ => return Err(self.unexpected()),
        }
        let inner = std::mem::replace(&mut self.heredocs, outer);
        self.heredocs.extend(inner);
        Ok(list)
    }

    fn at_list_end(&mut self) -> bool {
        match self.peek() {
            0 | b')' | b'\n' => true,
            b';' => true,
            b'&' if self.ahead(1) != b'>' => true,
            b'|' => true,
            _ => matches!(self.keyword(), Some("then" | "elif" | "else" | "fi" | "do" | "done" | "esac" | "}")),
        }
    }

    fn chain(&mut self) -> Result<Chain, SyntaxError> {
        let first = Rc::new(self.pipeline()?);
        let mut rest = Vec::new();
        loop {
            self.blanks();
            let connector = match (self.peek(), self.ahead(1)) {
                (b'&', b'&') => Connector::And,
                (b'|', b'|') => Connector::Or,
                _ => return Ok(Chain { first, rest }),
            };
            self.at += 2;
            self.newlines()?;
            rest.push((connector, Rc::new(self.pipeline()?)));
        }
    }

    fn pipeline(&mut self) -> Result<Pipeline, SyntaxError> {
        let mut pipeline = Pipeline { negated: false, timed: None, stages: Vec::new() };
        loop {
            self.blanks();
            match self.keyword() {
                Some("!") => {
                    self.at += 1;
                    pipeline.negated = !pipeline.negated;
                }
                Some("time") if pipeline.timed.is_none() => {
                    self.at += 4;
                    self.blanks();
                    let posix = self.starts("-p") && ends_word(self.ahead(2));
                    self.at += if posix { 2 } else { 0 };
                    pipeline.timed = Some(if posix { TimeFormat::Posix } else { TimeFormat::Variable });
                }
                _ => break,
            }
        }
        let prefixed = pipeline.negated || pipeline.timed.is_some();
        if prefixed && matches!(self.peek(), 0 | b'\n' | b';') {
            return Ok(pipeline);
        }
        loop {
            let mut stage = self.command()?;
            self.blanks();
            if self.peek() != b'|' || self.ahead(1) == b'|' {
                pipeline.stages.push(stage);
                return Ok(pipeline);
            }
            self.at += 1;
            if self.peek() == b'&' {
                self.at += 1;
                stage.join_error_to_output();
            }
            pipeline.stages.push(stage);
            self.newlines()?;
        }
    }

    /// Parses one command with its redirections.
    pub(super) fn command(&mut self) -> Result<Command, SyntaxError> {
        self.blanks();
        while self.alias() {
            self.blanks();
        }
        let line = self.line;
        if self.peek() == b'(' || self.keyword().is_some() {
            return self.nested(|p| p.compound(line));
        }
        self.simple(line)
    }

    fn simple(&mut self, line: u32) -> Result<Command, SyntaxError> {
        let mut simple = Simple { line, ..Simple::default() };
        let mut declares = false;
        loop {
            self.blanks();
            if let Some(redirect) = self.redirect()? {
                simple.redirects.push(redirect);
                continue;
            }
            if simple.words.is_empty() || self.after_blank_alias() {
                while self.alias() {
                    self.blanks();
                }
            }
            if simple.words.is_empty() {
                if let Some(assignment) = self.assignment()? {
                    simple.assignments.push(assignment);
                    continue;
                }
            } else if declares && let Some(word) = self.declaration()? {
                simple.words.push(word);
                continue;
            }
            let start = self.at;
            let Some(word) = self.word(WordContext::Argument)? else { break };
            if simple.words.is_empty() && simple.assignments.is_empty() && simple.redirects.is_empty() {
                let after = self.at;
                self.blanks();
                if self.peek() == b'(' && self.ahead_is_parentheses() {
                    let name = self.text[start..after].to_owned();
                    return self.nested(|p| p.function_body(name, line));
                }
            }
            // `command` and `builtin` may precede a declaration.
            let names_command = match simple.words.as_slice() {
                [] => true,
                [only] => matches!(only.bare(), Some("command" | "builtin")),
                _ => false,
            };
            if names_command {
                declares = word.bare().is_some_and(is_declaration);
            }
            simple.words.push(word);
        }
        if simple.words.is_empty() && simple.assignments.is_empty() && simple.redirects.is_empty() {
            return Err(self.unexpected());
        }
        if self.peek() == b'(' {
            return Err(self.unexpected());
        }
        Ok(Command { kind: Kind::Simple(simple.into()), redirects: Rc::default(), line })
    }

    /// Parses an argument of a declaration that is an assignment. With braces it is none, since they make several
    /// words.
    fn declaration(&mut self) -> Result<Option<Word>, SyntaxError> {
        let (start, line) = (self.at, self.line);
        let Some(assignment) = self.assignment()? else { return Ok(None) };
        if let AssignedValue::Scalar(value) = &assignment.value
            && value.parts.iter().any(|p| matches!(p, Part::Bare(t) | Part::Glob(t) if t.contains('{')))
        {
            let (end, end_line) = (self.at, self.line);
            self.charge(end - start)?;
            (self.at, self.line) = (start, line);
            if let Some(word) = self.word(WordContext::Argument)?
                && word.parts.iter().any(|p| matches!(p, Part::Brace(_)))
            {
                return Ok(Some(word));
            }
            (self.at, self.line) = (end, end_line);
        }
        Ok(Some(Word::of(Part::Assignment(assignment.into()))))
    }

    fn ahead_is_parentheses(&self) -> bool {
        let mut n = 1;
        while matches!(self.ahead(n), b' ' | b'\t') {
            n += 1;
        }
        self.ahead(n) == b')'
    }

    /// Parses `() compound`, with the cursor on the parenthesis, or on the body if there is none.
    pub(super) fn function_body(&mut self, name: String, line: u32) -> Result<Command, SyntaxError> {
        if self.peek() == b'(' {
            self.at += 1;
            self.blanks();
            if self.peek() != b')' {
                return Err(self.unexpected());
            }
            self.at += 1;
        }
        self.newlines()?;
        // A body must be a compound command other than a definition or a coprocess.
        if self.peek() != b'(' && matches!(self.keyword(), None | Some("function" | "coproc")) {
            return Err(self.unexpected());
        }
        let body_line = self.line;
        self.functions += 1;
        let body = self.compound(body_line);
        self.functions -= 1;
        let body = body?;
        let function = Function { name, body };
        Ok(Command { kind: Kind::Function(function.into()), redirects: Rc::default(), line })
    }

    /// Parses the assignment that comes next, if there is one.
    pub(super) fn assignment(&mut self) -> Result<Option<Assignment>, SyntaxError> {
        self.peek();
        let length = name_length(&self.text.as_bytes()[self.at..]);
        if length == 0 {
            return Ok(None);
        }
        let start = self.at;
        let name_end = start + length;
        let mut index = None;
        if self.ahead(length) == b'[' {
            let Some(close) = self.subscript_end(name_end + 1)? else { return Ok(None) };
            let after = &self.text.as_bytes()[close + 1..];
            if !(after.starts_with(b"=") || after.starts_with(b"+=")) {
                return Ok(None);
            }
            self.at = name_end + 1;
            index = Some(self.arith_text(ArithEnd::Subscript)?);
        } else {
            self.at = name_end;
        }
        let append = self.eat("+=");
        if !append && !self.eat("=") {
            self.at = start;
            return Ok(None);
        }
        let name = self.text[start..name_end].to_owned();
        let value = match self.peek() {
            b'(' if index.is_none() => {
                self.at += 1;
                AssignedValue::Array(self.nested(|p| p.elements())?)
            }
            _ => AssignedValue::Scalar(self.word(WordContext::Value)?.unwrap_or_default()),
        };
        Ok(Some(Assignment { name, index, append, value }))
    }

    /// Finds the end of the subscript that starts here: its `]`, on this line.
    fn subscript_end(&mut self, from: usize) -> Result<Option<usize>, SyntaxError> {
        let bytes = self.text.as_bytes();
        let mut depth = 0u32;
        let mut at = from;
        let end = loop {
            match bytes.get(at) {
                None | Some(b'\n') => break None,
                Some(b'[') => depth += 1,
                Some(b']') if depth == 0 => break Some(at),
                Some(b']') => depth -= 1,
                Some(b'\\') => at += 1,
                Some(quote @ (b'\'' | b'"')) => {
                    let rest = &bytes[at + 1..];
                    at += 1 + rest.iter().position(|b| b == quote).unwrap_or(rest.len());
                }
                Some(_) => {}
            }
            at += 1;
        };
        self.charge(at - from)?;
        Ok(end)
    }

    /// Parses the elements of an array up to the `)`, which is consumed.
    fn elements(&mut self) -> Result<Vec<Element>, SyntaxError> {
        let mut elements = Vec::new();
        loop {
            self.newlines()?;
            match self.peek() {
                b')' => {
                    self.at += 1;
                    return Ok(elements);
                }
                0 => return Err(self.unmatched(')')),
                _ => {}
            }
            let (index, append) = match self.element_index()? {
                Some((index, append)) => (Some(index), append),
                None => (None, false),
            };
            let place = if index.is_some() { WordContext::Value } else { WordContext::Element };
            let word = match self.word(place)? {
                Some(word) => word,
                None if index.is_some() => Word::default(),
                None => return Err(self.unexpected()),
            };
            elements.push(Element { index, append, word });
        }
    }

    /// Parses `[i]=` or `[i]+=` before an element.
    fn element_index(&mut self) -> Result<Option<(Arith, bool)>, SyntaxError> {
        if self.peek() != b'[' {
            return Ok(None);
        }
        let Some(close) = self.subscript_end(self.at + 1)? else { return Ok(None) };
        let after = &self.text.as_bytes()[close + 1..];
        if !(after.starts_with(b"=") || after.starts_with(b"+=")) {
            return Ok(None);
        }
        self.at += 1;
        let index = self.arith_text(ArithEnd::Subscript)?;
        let append = self.eat("+=");
        if !append {
            self.eat("=");
        }
        Ok(Some((index, append)))
    }
}

impl Command {
    /// `|&`: redirects standard error to standard output after the command's own redirections.
    fn join_error_to_output(&mut self) {
        let join = Redirect {
            descriptor: Some(Descriptor::Number(2)),
            action: RedirectAction::DuplicateWrite,
            target: Word::of(Part::Bare("1".to_owned())),
            document: None,
        };
        match &mut self.kind {
            Kind::Simple(simple) => Rc::make_mut(simple).redirects.push(join),
            _ => self.redirects = self.redirects.iter().cloned().chain([join]).collect(),
        }
    }
}

/// Returns true for builtins whose arguments may be assignments.
fn is_declaration(name: &str) -> bool {
    matches!(name, "declare" | "typeset" | "local" | "export" | "readonly")
}
