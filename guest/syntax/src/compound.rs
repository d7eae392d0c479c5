//! Compound commands.

use std::rc::Rc;

use super::dollar::ArithEnd;
use super::error::SyntaxError;
use super::lexer::{Parser, ends_word, name_length};
use super::tree::{Arith, Arm, ArmEnd, Case, Command, Coproc, For, ForArith, Kind, List, Redirect, Word};
use super::word::WordContext;

impl Parser<'_> {
    /// Parses the compound command that comes next, with its redirections. The cursor is on its first character.
    pub(super) fn compound(&mut self, line: u32) -> Result<Command, SyntaxError> {
        let kind = match self.keyword() {
            Some("{") => {
                self.at += 1;
                let list = self.list(true)?;
                self.newlines()?;
                self.expect_keyword("}")?;
                Kind::Group(list.into())
            }
            Some("if") => self.if_clause()?,
            Some(word @ ("while" | "until")) => {
                self.at += word.len();
                let condition = self.list(true)?;
                Kind::While { until: word == "until", condition, body: self.do_group()? }
            }
            Some("for") => {
                self.at += 3;
                self.for_clause(line)?
            }
            Some("case") => {
                self.at += 4;
                self.case_clause(line)?
            }
            Some("[[") => {
                self.at += 2;
                Kind::Condition(self.condition()?.into())
            }
            Some("function") => {
                self.at += 8;
                self.blanks();
                let start = self.at;
                self.expect_word(WordContext::Value)?;
                let name = self.text[start..self.at].to_owned();
                self.blanks();
                return self.function_body(name, line);
            }
            Some("coproc") => {
                self.at += 6;
                return self.coprocess(line);
            }
            Some("select") => {
                self.at += 6;
                Kind::Select(self.for_words(line)?.into())
            }
            None if self.peek() == b'(' => self.parenthesis()?,
            _ => return Err(self.unexpected()),
        };
        let redirects = self.trailing_redirects()?;
        self.blanks();
        match kind {
            // The body of a function or coprocess has taken them.
            Kind::Function(_) | Kind::Coproc(_) => {}
            _ if self.at_word() => return Err(self.unexpected()),
            _ => {}
        }
        Ok(Command { kind, redirects, line })
    }

    /// Returns true if a word follows a compound command, which is an error.
    fn at_word(&mut self) -> bool {
        let byte = self.peek();
        if matches!(byte, 0 | b'\n' | b';' | b'&' | b'|' | b')') {
            return false;
        }
        !matches!(self.keyword(), Some("then" | "elif" | "else" | "fi" | "do" | "done" | "esac" | "}" | "in"))
    }

    fn trailing_redirects(&mut self) -> Result<Rc<[Redirect]>, SyntaxError> {
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(redirects.into()),
            }
        }
    }

    /// Parses `(( … ))` or `( … )`.
    fn parenthesis(&mut self) -> Result<Kind, SyntaxError> {
        if self.ahead(1) == b'(' && self.closes_arithmetic(self.at + 2)? {
            self.at += 2;
            return Ok(Kind::Arith(self.arith_text(ArithEnd::Parentheses)?.into()));
        }
        self.at += 1;
        self.newlines()?;
        if self.peek() == b')' {
            return Err(self.unexpected());
        }
        Ok(Kind::Subshell(self.list_until_close()?.into()))
    }

    fn if_clause(&mut self) -> Result<Kind, SyntaxError> {
        self.at += 2;
        let mut arms = Vec::new();
        loop {
            let condition = self.list(true)?;
            self.newlines()?;
            self.expect_keyword("then")?;
            let body = self.list(true)?;
            arms.push((condition, body));
            self.newlines()?;
            match self.keyword() {
                Some("elif") => self.at += 4,
                Some("else") => {
                    self.at += 4;
                    let otherwise = self.list(true)?;
                    self.newlines()?;
                    self.expect_keyword("fi")?;
                    return Ok(Kind::If(arms, Some(otherwise)));
                }
                Some("fi") => {
                    self.at += 2;
                    return Ok(Kind::If(arms, None));
                }
                _ => return Err(self.unexpected()),
            }
        }
    }

    fn do_group(&mut self) -> Result<List, SyntaxError> {
        self.newlines()?;
        self.expect_keyword("do")?;
        let body = self.list(true)?;
        self.newlines()?;
        self.expect_keyword("done")?;
        Ok(body)
    }

    fn for_clause(&mut self, line: u32) -> Result<Kind, SyntaxError> {
        self.blanks();
        if self.starts("((") {
            self.at += 2;
            return self.for_arith(line);
        }
        Ok(Kind::For(self.for_words(line)?.into()))
    }

    /// Parses `NAME [in WORDS]; do …; done` of `for` and `select`.
    fn for_words(&mut self, line: u32) -> Result<For, SyntaxError> {
        self.blanks();
        let start = self.at;
        // An invalid name is an error only when the loop runs.
        let name = match self.word(WordContext::Value)? {
            Some(_) => self.text[start..self.at].to_owned(),
            None => return Err(self.missing_word()),
        };
        self.newlines()?;
        let mut words = None;
        if self.eat_keyword("in") {
            let mut list = Vec::new();
            loop {
                self.blanks();
                match self.word(WordContext::Argument)? {
                    Some(word) => list.push(word),
                    None => break,
                }
            }
            words = Some(list);
            if !matches!(self.peek(), b';' | b'\n') {
                return Err(self.unexpected());
            }
        }
        if self.peek() == b';' {
            self.at += 1;
        }
        let body = self.loop_body()?;
        Ok(For { name, words, body, line })
    }

    /// Parses `do … done`, or `{ … }`, which bash accepts too.
    fn loop_body(&mut self) -> Result<List, SyntaxError> {
        self.newlines()?;
        if !self.eat_keyword("{") {
            return self.do_group();
        }
        let body = self.list(true)?;
        self.newlines()?;
        self.expect_keyword("}")?;
        Ok(body)
    }

    fn for_arith(&mut self, line: u32) -> Result<Kind, SyntaxError> {
        let initial = self.arith_text(ArithEnd::Semicolon)?;
        let condition = self.arith_text(ArithEnd::Semicolon)?;
        let step = self.arith_text(ArithEnd::Parentheses)?;
        self.blanks();
        if self.peek() == b';' {
            self.at += 1;
        }
        let body = self.loop_body()?;
        let given = |arith: Arith| if is_blank(&arith.text) { None } else { Some(arith) };
        let node = ForArith { initial: given(initial), condition: given(condition), step: given(step), body, line };
        Ok(Kind::ForArith(node.into()))
    }

    fn case_clause(&mut self, line: u32) -> Result<Kind, SyntaxError> {
        let word = self.expect_word(WordContext::Value)?;
        self.newlines()?;
        self.expect_keyword("in")?;
        let mut arms = Vec::new();
        loop {
            self.newlines()?;
            if self.eat_keyword("esac") {
                break;
            }
            if self.peek() == 0 {
                return Err(self.unexpected());
            }
            if self.peek() == b'(' {
                self.at += 1;
            }
            let mut patterns = vec![self.expect_word(WordContext::Value)?];
            self.blanks();
            while self.peek() == b'|' {
                self.at += 1;
                patterns.push(self.expect_word(WordContext::Value)?);
                self.blanks();
            }
            if self.peek() != b')' {
                return Err(self.unexpected());
            }
            self.at += 1;
            self.newlines()?;
            let body = match self.at_arm_end() {
                true => List::default(),
                false => self.list(true)?,
            };
            self.newlines()?;
            let end = match () {
                () if self.eat(";;&") => ArmEnd::Continue,
                () if self.eat(";&") => ArmEnd::FallThrough,
                () if self.eat(";;") => ArmEnd::Break,
                () if self.keyword() == Some("esac") => ArmEnd::Break,
                () => return Err(self.unexpected()),
            };
            arms.push(Arm { patterns, body, end });
        }
        Ok(Kind::Case(Case { word, arms, line }.into()))
    }

    fn at_arm_end(&mut self) -> bool {
        self.starts(";;") || self.starts(";&") || self.keyword() == Some("esac")
    }

    /// Parses `coproc [NAME] compound` or `coproc simple`: only a compound command can have a name.
    fn coprocess(&mut self, line: u32) -> Result<Command, SyntaxError> {
        self.blanks();
        let mut name = "COPROC".to_owned();
        let (start, start_line) = (self.at, self.line);
        let length = name_length(&self.text.as_bytes()[start..]);
        if self.keyword().is_none() && length > 0 && ends_word(self.ahead(length)) {
            self.at += length;
            self.blanks();
            match self.peek() == b'(' || self.keyword().is_some() {
                true => name = self.text[start..start + length].to_owned(),
                false => (self.at, self.line) = (start, start_line),
            }
        }
        if matches!(self.keyword(), Some("function" | "coproc")) {
            return Err(self.unexpected());
        }
        let body = self.command()?;
        Ok(Command { kind: Kind::Coproc(Coproc { name, body }.into()), redirects: Rc::default(), line })
    }
}

fn is_blank(word: &Word) -> bool {
    use super::tree::Part;
    word.parts.iter().all(|p| matches!(p, Part::Bare(text) if text.trim().is_empty()))
}
