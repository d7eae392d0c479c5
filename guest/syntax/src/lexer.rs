//! The cursor over the source text: characters, blanks, newlines, operators, keywords.

use std::rc::Rc;

use super::alias::Expanding;
use super::error::{Fault, SyntaxError};
use super::heredoc::{Pending, Unfinished};
use super::tree::List;
use crate::hash::NameMap;

/// Nesting of constructs in each other. Each level costs a few kilobytes of stack in the parser, and less
/// wherever the tree is walked later; a program of this size is not written by people.
const DEPTH_LIMIT: u32 = 200;

/// Bytes that may be read again, and how many more for each that is consumed. In a few places what something is shows
/// only later, and it is read twice; nested in each other these would double the work at each level. People's scripts
/// need a fraction of this.
const REREAD_LIMIT: usize = 1 << 16;
const REREAD_FACTOR: usize = 16;

/// Where more source text comes from when it does not come all at once.
pub trait MoreText {
    /// Appends the next line and says whether there was one.
    fn more(&mut self, text: &mut String) -> bool;
}

/// A parser over one source text.
pub struct Parser<'a> {
    pub(super) text: String,
    pub(super) at: usize,
    pub(super) line: u32,
    pub(super) heredocs: Vec<Pending>,
    pub(super) depth: u32,
    /// How deep commands and words may nest: who has little stack can ask for less.
    pub depth_limit: u32,
    /// Bytes that have been read again, and bytes that were consumed and are no longer in the text.
    pub(super) reread: usize,
    pub(super) forgotten: usize,
    /// How many function definitions enclose the cursor.
    pub(super) functions: u32,
    /// Whether `@(…)` and its kin are patterns in command words.
    pub extglob: bool,
    /// Whether the language is POSIX's, in which quotes in quotes hide nothing.
    pub posix: bool,
    /// Whether words keep how they were written outside functions too: something may show them.
    pub keep_sources: bool,
    /// Aliases to expand, if the shell has that switched on.
    pub aliases: Option<Rc<NameMap<String, String>>>,
    /// Here-documents that the end of the text ended, for the warning.
    pub unfinished: Vec<Unfinished>,
    /// The aliases whose text the cursor is in.
    pub(super) expanding: Vec<Expanding>,
    more: Option<Box<dyn MoreText + 'a>>,
}

impl<'a> Parser<'a> {
    /// A parser over text that is all there. `line` is the number of its first line.
    pub fn new(text: impl Into<String>, line: u32) -> Parser<'a> {
        Parser {
            text: text.into(),
            at: 0,
            line,
            heredocs: Vec::new(),
            depth: 0,
            depth_limit: DEPTH_LIMIT,
            reread: 0,
            forgotten: 0,
            functions: 0,
            extglob: false,
            posix: false,
            keep_sources: false,
            aliases: None,
            unfinished: Vec::new(),
            expanding: Vec::new(),
            more: None,
        }
    }

    /// A parser over text that arrives line by line, and is asked for no sooner than it is needed.
    pub fn reading(more: Box<dyn MoreText + 'a>) -> Parser<'a> {
        let mut parser = Parser::new(String::new(), 1);
        parser.more = Some(more);
        parser
    }

    /// The next complete command, or `None` at the end of the text.
    pub fn next_command(&mut self) -> Result<Option<List>, SyntaxError> {
        // What has been run is not needed again: a script that comes through a pipe may be endless.
        if self.more.is_some() && self.at > 0 && self.expanding.is_empty() {
            self.text.drain(..self.at);
            self.forgotten += std::mem::take(&mut self.at);
        }
        loop {
            self.blanks();
            match self.peek() {
                0 => return Ok(None),
                b'\n' => self.newline()?,
                // It may stand for nothing at all.
                _ if self.alias() => {}
                _ => break,
            }
        }
        let list = self.list(false)?;
        match self.peek() {
            0 => self.finish_heredocs(),
            b'\n' => self.newline()?,
            _ => return Err(self.unexpected()),
        }
        Ok(Some(list))
    }

    /// How much of the text has been consumed, in bytes.
    pub fn position(&self) -> usize {
        self.forgotten + self.at
    }

    /// What has been consumed since a position, or since then as far as it is still there.
    pub fn consumed(&self, since: usize) -> &str {
        let since = since.saturating_sub(self.forgotten);
        self.text.get(since..self.at).unwrap_or_default()
    }

    /// The text that has not been consumed.
    pub fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The line the cursor is on.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// The next byte, 0 at the end.
    #[inline]
    pub(super) fn peek(&mut self) -> u8 {
        match self.text.as_bytes().get(self.at) {
            Some(byte) => *byte,
            None => self.refill(),
        }
    }

    /// The byte after the next ones, 0 at the end. Never asks for another line.
    #[inline]
    pub(super) fn ahead(&self, n: usize) -> u8 {
        self.text.as_bytes().get(self.at + n).copied().unwrap_or(0)
    }

    /// Whether the text goes on with this.
    pub(super) fn starts(&self, s: &str) -> bool {
        self.text.as_bytes()[self.at.min(self.text.len())..].starts_with(s.as_bytes())
    }

    /// Consumes this if it comes next.
    pub(super) fn eat(&mut self, s: &str) -> bool {
        let found = self.starts(s);
        if found {
            self.at += s.len();
        }
        found
    }

    #[cold]
    fn refill(&mut self) -> u8 {
        let Some(more) = &mut self.more else { return 0 };
        if !more.more(&mut self.text) {
            self.more = None;
        }
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    /// Skips blanks, escaped newlines and a comment.
    pub(super) fn blanks(&mut self) {
        loop {
            match self.peek() {
                b' ' | b'\t' => self.at += 1,
                b'\\' if self.ahead(1) == b'\n' => {
                    self.at += 2;
                    self.line += 1;
                }
                b'#' => {
                    while !matches!(self.text.as_bytes().get(self.at), None | Some(b'\n')) {
                        self.at += 1;
                    }
                    return;
                }
                _ => return,
            }
        }
    }

    /// Consumes a newline, and the here-documents that wait for it.
    pub(super) fn newline(&mut self) -> Result<(), SyntaxError> {
        self.at += 1;
        self.line += 1;
        if !self.heredocs.is_empty() {
            self.read_heredocs()?;
        }
        Ok(())
    }

    /// Skips blanks, comments and newlines.
    pub(super) fn newlines(&mut self) -> Result<(), SyntaxError> {
        loop {
            self.blanks();
            if self.peek() != b'\n' {
                return Ok(());
            }
            self.newline()?;
        }
    }

    /// The keyword that comes next, without consuming it.
    pub(super) fn keyword(&mut self) -> Option<&'static str> {
        let first = self.peek();
        if !matches!(first, b'a'..=b'z' | b'{' | b'}' | b'!' | b'[' | b']') {
            return None;
        }
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest.iter().position(|b| ends_word(*b)).unwrap_or(rest.len());
        if length > 8 {
            return None;
        }
        KEYWORDS.iter().find(|k| k.as_bytes() == &rest[..length]).copied()
    }

    /// Consumes this keyword if it comes next.
    pub(super) fn eat_keyword(&mut self, keyword: &str) -> bool {
        let found = self.keyword() == Some(keyword);
        if found {
            self.at += keyword.len();
        }
        found
    }

    /// Consumes this keyword or complains about what is there instead.
    pub(super) fn expect_keyword(&mut self, keyword: &str) -> Result<(), SyntaxError> {
        match self.eat_keyword(keyword) {
            true => Ok(()),
            false => Err(self.unexpected()),
        }
    }

    /// Runs a parse one level deeper.
    pub(super) fn nested<T>(
        &mut self,
        parse: impl FnOnce(&mut Self) -> Result<T, SyntaxError>,
    ) -> Result<T, SyntaxError> {
        if self.depth >= self.depth_limit {
            return Err(self.fault(Fault::TooDeep(self.depth_limit)));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    /// Charges for bytes that are looked at and not consumed, or consumed and given back.
    pub(super) fn charge(&mut self, bytes: usize) -> Result<(), SyntaxError> {
        self.reread += bytes;
        if self.reread > REREAD_LIMIT + REREAD_FACTOR * (self.forgotten + self.at) {
            return Err(self.fault(Fault::Refused("too much text that has to be read more than once".to_owned())));
        }
        Ok(())
    }

    /// A parser for a text within this one, which goes on with its bounds. What it has reread is to be taken back.
    pub(super) fn within(&self, text: String, line: u32) -> Parser<'static> {
        Parser {
            depth: self.depth,
            depth_limit: self.depth_limit,
            reread: self.reread,
            forgotten: self.forgotten + self.at,
            extglob: self.extglob,
            functions: self.functions,
            keep_sources: self.keep_sources,
            ..Parser::new(text, line)
        }
    }

    /// An error here.
    pub(super) fn fault(&self, fault: Fault) -> SyntaxError {
        SyntaxError { line: self.line, fault }
    }

    /// The error of something that is never closed.
    pub(super) fn unmatched(&self, close: char) -> SyntaxError {
        self.fault(Fault::Unmatched(close))
    }

    /// An error at the end of the text: bash ends the last line if nothing else does.
    pub(super) fn at_end(&self, fault: Fault) -> SyntaxError {
        let open = self.at > 0 && !self.text[..self.at].ends_with('\n');
        SyntaxError { line: self.line + u32::from(open), fault }
    }

    /// The token that comes next, as messages name it; `None` at the end.
    pub(super) fn next_token(&mut self) -> Option<String> {
        self.blanks();
        let first = self.peek();
        if first == 0 {
            return None;
        }
        let rest = &self.text.as_bytes()[self.at..];
        Some(if first == b'\n' {
            "newline".to_owned()
        } else if let Some(operator) = OPERATORS.iter().find(|o| rest.starts_with(o.as_bytes())) {
            (*operator).to_owned()
        } else {
            let length = rest.iter().position(|b| ends_word(*b)).unwrap_or(rest.len());
            String::from_utf8_lossy(&rest[..length]).into_owned()
        })
    }

    /// The error of whatever token comes next.
    pub(super) fn unexpected(&mut self) -> SyntaxError {
        let Some(token) = self.next_token() else { return self.at_end(Fault::EndOfFile) };
        let start = self.text[..self.at].rfind('\n').map_or(0, |i| i + 1);
        let line = self.text[start..].lines().next().unwrap_or_default().to_owned();
        self.fault(Fault::Unexpected(token, line))
    }
}

/// Whether a token is an operator of the grammar.
pub(super) fn is_operator(token: &str) -> bool {
    OPERATORS.contains(&token)
}

/// Whether a byte ends an unquoted word.
#[inline]
pub(super) fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' | 0)
}

/// The length of the name (letters, digits, underscores, no digit first) that the text starts with.
pub fn name_length(text: &[u8]) -> usize {
    match text.first() {
        Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => {}
        _ => return 0,
    }
    text.iter().position(|b| !(b.is_ascii_alphanumeric() || *b == b'_')).unwrap_or(text.len())
}

/// Whether the whole text is a name.
pub fn is_name(text: &str) -> bool {
    !text.is_empty() && name_length(text.as_bytes()) == text.len()
}

const KEYWORDS: [&str; 22] = [
    "if", "then", "elif", "else", "fi", "do", "done", "case", "esac", "while", "until", "for", "in", "function",
    "select", "time", "coproc", "{", "}", "!", "[[", "]]",
];

/// Longest first, so that the first that fits is the token.
const OPERATORS: [&str; 23] = [
    "&>>", ";;&", "<<<", "<<-", "&&", "||", ";;", ";&", "|&", "&>", ">>", ">|", ">&", "<<", "<>", "<&", ";", "&", "|",
    "<", ">", "(", ")",
];
