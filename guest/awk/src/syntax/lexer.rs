//! The lexer: text to tokens, on demand.

use super::{Source, SyntaxError, functions};
use crate::number;

/// A token.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    End,
    Newline,
    Number(f64),
    Text(Vec<u8>),
    Name(String),
    /// A name directly followed by a parenthesis: a call.
    FunctionName(String),
    BuiltIn(functions::Function),
    Keyword(&'static str),
    Operator(&'static str),
}

const KEYWORDS: &[&str] = &[
    "BEGIN",
    "BEGINFILE",
    "END",
    "ENDFILE",
    "break",
    "case",
    "continue",
    "default",
    "delete",
    "do",
    "else",
    "exit",
    "for",
    "func",
    "function",
    "getline",
    "if",
    "in",
    "next",
    "nextfile",
    "print",
    "printf",
    "return",
    "switch",
    "while",
];

/// The operators, longest first: `**=` before `**`.
const OPERATORS: &[&str] = &[
    "**=", "**", "*=", "*", "++", "+=", "+", "--", "-=", "-", "/=", "/", "%=", "%", "^=", "^", "!~", "!=", "!", "&&",
    "||", "|&", "|", "==", "=", "<=", "<", ">>", ">=", ">", "~", "?", ":", ",", ";", "(", ")", "[", "]", "{", "}", "$",
    "@",
];

/// A position in the sources, for backtracking.
#[derive(Clone, Copy)]
pub(super) struct Position {
    pub source: usize,
    pub at: usize,
}

pub(super) struct Lexer<'a> {
    sources: &'a [Source],
    position: Position,
    pub warnings: Vec<String>,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(sources: &'a [Source]) -> Lexer<'a> {
        Lexer { sources, position: Position { source: 0, at: 0 }, warnings: Vec::new() }
    }

    pub(super) fn position(&self) -> Position {
        self.position
    }

    pub(super) fn go_to(&mut self, position: Position) {
        self.position = position;
    }

    fn text(&self) -> &'a [u8] {
        self.sources.get(self.position.source).map_or(&[], |source| source.text.as_slice())
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.text().get(self.position.at + ahead).copied().unwrap_or(0)
    }

    pub(super) fn error(&self, position: Position, message: impl Into<String>) -> SyntaxError {
        SyntaxError { source: position.source, offset: position.at, message: message.into() }
    }

    fn line(&self) -> usize {
        let text = self.text();
        text[..self.position.at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
    }

    fn skip_blanks(&mut self) {
        loop {
            match (self.peek(0), self.peek(1), self.peek(2)) {
                (b' ' | b'\t' | b'\r', _, _) => self.position.at += 1,
                (b'\\', b'\n', _) => self.position.at += 2,
                (b'\\', b'\r', b'\n') => self.position.at += 3,
                (b'#', _, _) => {
                    let rest = &self.text()[self.position.at..];
                    self.position.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    /// Returns the next token and its position.
    pub(super) fn next(&mut self) -> Result<(Token, Position), SyntaxError> {
        self.skip_blanks();
        let start = self.position;
        let text = self.text();
        let Some(&first) = text.get(start.at) else {
            if start.source >= self.sources.len() {
                return Ok((Token::End, start));
            }
            // The end of a source ends the line.
            self.position = Position { source: start.source + 1, at: 0 };
            return Ok((Token::Newline, start));
        };
        let token = match first {
            b'\n' => {
                self.position.at += 1;
                Token::Newline
            }
            b'"' => {
                self.position.at += 1;
                Token::Text(self.string(start)?)
            }
            b'0'..=b'9' => self.number(),
            b'.' if self.peek(1).is_ascii_digit() => self.number(),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => self.word(),
            _ => {
                let rest = &text[start.at..];
                match OPERATORS.iter().find(|operator| rest.starts_with(operator.as_bytes())) {
                    Some(operator) => {
                        self.position.at += operator.len();
                        Token::Operator(operator)
                    }
                    None => {
                        let shown = String::from_utf8_lossy(&rest[..rest.len().min(4)]);
                        let shown = shown.chars().next().unwrap_or(' ');
                        return Err(self.error(start, format!("invalid char '{shown}' in expression")));
                    }
                }
            }
        };
        Ok((token, start))
    }

    fn number(&mut self) -> Token {
        let rest = &self.text()[self.position.at..];
        let (number, used) = match rest {
            // As in gawk, program text can contain hexadecimal and octal numbers.
            [b'0', ..] => number::with_base(rest),
            _ => number::scan(rest).unwrap_or((0.0, 1)),
        };
        self.position.at += used.max(1);
        Token::Number(number)
    }

    fn word(&mut self) -> Token {
        let rest = &self.text()[self.position.at..];
        let length = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
        self.position.at += length;
        let word = String::from_utf8_lossy(&rest[..length]).into_owned();
        if let Ok(at) = KEYWORDS.binary_search(&word.as_str()) {
            return Token::Keyword(if KEYWORDS[at] == "func" { "function" } else { KEYWORDS[at] });
        }
        if let Some(function) = functions::find(&word) {
            return Token::BuiltIn(function);
        }
        if rest.get(length) == Some(&b'(') { Token::FunctionName(word) } else { Token::Name(word) }
    }

    /// Reads a string after its opening quote.
    fn string(&mut self, start: Position) -> Result<Vec<u8>, SyntaxError> {
        let mut value = Vec::new();
        loop {
            let text = self.text();
            let Some(&byte) = text.get(self.position.at) else {
                return Err(self.error(start, "unterminated string"));
            };
            self.position.at += 1;
            match byte {
                b'"' => return Ok(value),
                b'\n' => return Err(self.error(start, "unterminated string")),
                b'\\' if self.position.at < text.len() => self.escape(&mut value),
                byte => value.push(byte),
            }
        }
    }

    fn escape(&mut self, value: &mut Vec<u8>) {
        let rest = &self.text()[self.position.at..];
        let (used, unknown) = unescape(rest, value);
        self.position.at += used;
        if let Some(unknown) = unknown {
            let name = self.sources.get(self.position.source).map_or("cmd. line", |source| source.name.as_str());
            let line = self.line();
            let unknown = char::from(unknown);
            self.warnings
                .push(format!("{name}:{line}: warning: escape sequence `\\{unknown}' treated as plain `{unknown}'"));
        }
    }

    /// Reads a regular expression after its opening slash. A slash in brackets does not end it.
    pub(super) fn regex(&mut self, start: Position) -> Result<Vec<u8>, SyntaxError> {
        let mut value = Vec::new();
        let mut bracket_since = None;
        loop {
            let byte = match self.text().get(self.position.at) {
                None | Some(b'\n') => return Err(self.error(start, "unterminated regexp")),
                Some(byte) => *byte,
            };
            self.position.at += 1;
            match byte {
                b'/' if bracket_since.is_none() => return Ok(value),
                b'\\' => match self.peek(0) {
                    b'/' => {
                        value.push(b'/');
                        self.position.at += 1;
                    }
                    b'\n' => self.position.at += 1,
                    0 => return Err(self.error(start, "unterminated regexp ends with `\\'")),
                    other => {
                        value.extend([b'\\', other]);
                        self.position.at += 1;
                    }
                },
                b'[' if bracket_since.is_none() => {
                    value.push(b'[');
                    if self.peek(0) == b'^' {
                        value.push(b'^');
                        self.position.at += 1;
                    }
                    bracket_since = Some(value.len());
                }
                b'[' if matches!(self.peek(0), b':' | b'.' | b'=') => {
                    // The bracket in `[:alpha:]` does not end the set.
                    let kind = self.peek(0);
                    let rest = &self.text()[self.position.at + 1..];
                    value.push(b'[');
                    if let Some(end) = rest.windows(2).position(|pair| pair == [kind, b']'])
                        && rest[..end].iter().all(u8::is_ascii_alphabetic)
                    {
                        value.push(kind);
                        value.extend_from_slice(&rest[..end + 2]);
                        self.position.at += end + 3;
                    }
                }
                b']' => {
                    // A bracket at the start of a set stands for itself.
                    if bracket_since.is_some_and(|since| value.len() > since) {
                        bracket_since = None;
                    }
                    value.push(b']');
                }
                byte => value.push(byte),
            }
        }
    }
}

/// Decodes one escape sequence after its backslash. Returns its length, and its letter if the sequence is unknown.
pub(crate) fn unescape(rest: &[u8], value: &mut Vec<u8>) -> (usize, Option<u8>) {
    let Some(&letter) = rest.first() else {
        value.push(b'\\');
        return (0, None);
    };
    let plain = match letter {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'v' => 11,
        b'\\' | b'"' | b'/' => letter,
        b'\n' => return (1, None),
        b'0'..=b'7' => {
            let digits = rest.iter().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
            let code = rest[..digits].iter().fold(0u32, |code, digit| code * 8 + u32::from(digit - b'0'));
            value.push(code as u8);
            return (digits, None);
        }
        b'x' => {
            let digits = rest[1..].iter().take(2).take_while(|byte| byte.is_ascii_hexdigit()).count();
            if digits == 0 {
                value.push(b'x');
                return (1, Some(b'x'));
            }
            let digit = |byte: &u8| char::from(*byte).to_digit(16).unwrap_or(0);
            value.push(rest[1..=digits].iter().fold(0, |code, byte| code * 16 + digit(byte)) as u8);
            return (1 + digits, None);
        }
        other => {
            value.push(other);
            return (1, Some(other));
        }
    };
    value.push(plain);
    (1, None)
}

/// Decodes all escape sequences of a text: the value of `-v` or of an operand `var=value`.
pub(crate) fn unescape_all(text: &[u8]) -> Vec<u8> {
    let mut value = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        if text[at] == b'\\' && at + 1 < text.len() {
            at += 1 + unescape(&text[at + 1..], &mut value).0;
        } else {
            value.push(text[at]);
            at += 1;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_can_be_searched() {
        assert!(KEYWORDS.is_sorted());
    }
}
