//! The cursor over the source text: characters, blanks, newlines, operators, keywords.

use std::rc::Rc;

use super::alias::ActiveAlias;
use super::error::{Fault, SyntaxError};
use super::heredoc::{PendingDocument, UnfinishedDocument};
use super::tree::List;
use crate::hash::NameMap;

/// Limit on the nesting of constructs. Each level costs a few kilobytes of stack in the parser, and less in later walks
/// of the tree. People do not write programs of this depth.
const DEPTH_LIMIT: u32 = 200;

/// Limit on bytes that are read again, and the growth of that limit for each byte consumed. In a few places the kind of
/// a construct shows only later, so it is read twice; nested in each other, such constructs would double the work at
/// each level. Real scripts need a fraction of this.
const REREAD_LIMIT: usize = 1 << 16;
const REREAD_FACTOR: usize = 16;

/// A source of further text, for input that does not come all at once.
pub trait MoreText {
    /// Appends the next line. Returns false at the end.
    fn more(&mut self, text: &mut String) -> bool;
}

/// A parser over one source text.
pub struct Parser<'a> {
    pub(super) text: String,
    pub(super) at: usize,
    pub(super) line: u32,
    pub(super) heredocs: Vec<PendingDocument>,
    pub(super) depth: u32,
    /// Limit on the nesting of commands and words. A caller with little stack can lower it.
    pub depth_limit: u32,
    /// Bytes that have been read again, and bytes that were consumed and dropped from the text.
    pub(super) reread: usize,
    pub(super) forgotten: usize,
    /// The number of function definitions that enclose the cursor.
    pub(super) functions: u32,
    /// `@(…)` and similar patterns are recognised in command words.
    pub extglob: bool,
    /// The language is POSIX's, in which quotes in quotes hide nothing.
    pub posix: bool,
    /// Words keep their source outside of functions too, because they may be shown.
    pub keep_sources: bool,
    /// The aliases to expand, if the shell has them switched on.
    pub aliases: Option<Rc<NameMap<String, String>>>,
    /// Here-documents that the end of the text ended, for a warning.
    pub unfinished: Vec<UnfinishedDocument>,
    /// The aliases whose text contains the cursor.
    pub(super) expanding: Vec<ActiveAlias>,
    more: Option<Box<dyn MoreText + 'a>>,
}

impl<'a> Parser<'a> {
    /// Makes a parser over a complete text. `line` is the number of its first line.
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

    /// Makes a parser over text that arrives line by line. Lines are requested no sooner than they are needed.
    pub fn reading(more: Box<dyn MoreText + 'a>) -> Parser<'a> {
        let mut parser = Parser::new(String::new(), 1);
        parser.more = Some(more);
        parser
    }

    /// Parses the next complete command. Returns `None` at the end of the text.
    pub fn next_command(&mut self) -> Result<Option<List>, SyntaxError> {
        // Text that has been run is dropped: a script from a pipe may be endless.
        if self.more.is_some() && self.at > 0 && self.expanding.is_empty() {
            self.text.drain(..self.at);
            self.forgotten += std::mem::take(&mut self.at);
        }
        loop {
            self.blanks();
            match self.peek() {
                0 => return Ok(None),
                b'\n' => self.newline()?,
                // An alias may expand to nothing.
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

    /// Returns the number of bytes consumed.
    pub fn position(&self) -> usize {
        self.forgotten + self.at
    }

    /// Returns the text consumed since a position, as far as it has not been dropped.
    pub fn consumed(&self, since: usize) -> &str {
        let since = since.saturating_sub(self.forgotten);
        self.text.get(since..self.at).unwrap_or_default()
    }

    /// Returns the text that has not been consumed.
    pub fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Returns the line of the cursor.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// Returns the next byte, 0 at the end.
    #[inline]
    pub(super) fn peek(&mut self) -> u8 {
        match self.text.as_bytes().get(self.at) {
            Some(byte) => *byte,
            None => self.refill(),
        }
    }

    /// Returns the byte `n` positions ahead, 0 at the end. Never requests another line.
    #[inline]
    pub(super) fn ahead(&self, n: usize) -> u8 {
        self.text.as_bytes().get(self.at + n).copied().unwrap_or(0)
    }

    /// Returns true if the remaining text starts with `s`.
    pub(super) fn starts(&self, s: &str) -> bool {
        self.text.as_bytes()[self.at.min(self.text.len())..].starts_with(s.as_bytes())
    }

    /// Consumes `s` if it comes next.
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

    /// Consumes a newline and the here-documents that follow it.
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

    /// Returns the keyword that comes next without consuming it.
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

    /// Consumes this keyword, or returns an error about the token in its place.
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

    /// Charges for bytes that are read without being consumed, or consumed and given back.
    pub(super) fn charge(&mut self, bytes: usize) -> Result<(), SyntaxError> {
        self.reread += bytes;
        if self.reread > REREAD_LIMIT + REREAD_FACTOR * (self.forgotten + self.at) {
            return Err(self.fault(Fault::Refused("too much text that has to be read more than once".to_owned())));
        }
        Ok(())
    }

    /// Makes a parser for a text within this one, under the same limits. The caller copies its `reread`
    /// back.
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

    /// Makes an error at the cursor.
    pub(super) fn fault(&self, fault: Fault) -> SyntaxError {
        SyntaxError { line: self.line, fault }
    }

    /// Makes the error of a construct that is never closed.
    pub(super) fn unmatched(&self, close: char) -> SyntaxError {
        self.fault(Fault::Unmatched(close))
    }

    /// Makes an error at the end of the text. bash ends the last line if it has no newline.
    pub(super) fn at_end(&self, fault: Fault) -> SyntaxError {
        let open = self.at > 0 && !self.text[..self.at].ends_with('\n');
        SyntaxError { line: self.line + u32::from(open), fault }
    }

    /// Returns the token that comes next, as messages name it; `None` at the end.
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

    /// Makes the error of an unexpected token.
    pub(super) fn unexpected(&mut self) -> SyntaxError {
        let Some(token) = self.next_token() else { return self.at_end(Fault::EndOfFile) };
        let start = self.text[..self.at].rfind('\n').map_or(0, |i| i + 1);
        let line = self.text[start..].lines().next().unwrap_or_default().to_owned();
        self.fault(Fault::Unexpected(token, line))
    }
}

/// Returns true if a token is an operator of the grammar.
pub(super) fn is_operator(token: &str) -> bool {
    OPERATORS.contains(&token)
}

/// Returns true if a byte ends an unquoted word.
#[inline]
pub(super) fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' | 0)
}

/// Returns the length of the name (letters, digits, underscores, no digit first) that the text starts with.
pub fn name_length(text: &[u8]) -> usize {
    match text.first() {
        Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => {}
        _ => return 0,
    }
    text.iter().position(|b| !(b.is_ascii_alphanumeric() || *b == b'_')).unwrap_or(text.len())
}

/// Returns true if the whole text is a name.
pub fn is_name(text: &str) -> bool {
    !text.is_empty() && name_length(text.as_bytes()) == text.len()
}

const KEYWORDS: [&str; 22] = [
    "if", "then", "elif", "else", "fi", "do", "done", "case", "esac", "while", "until", "for", "in", "function",
    "select", "time", "coproc", "{", "}", "!", "[[", "]]",
];

/// The operators, longest first, so that the first that fits is the token.
const OPERATORS: [&str; 23] = [
    "&>>", ";;&", "<<<", "<<-", "&&", "||", ";;", ";&", "|&", "&>", ">>", ">|", ">&", "<<", "<>", "<&", ";", "&", "|",
    "<", ">", "(", ")",
];
