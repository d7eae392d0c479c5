//! The lexer of bc. It reads input as needed: a typed line is answered before the next one is read.

use isopod_gnu::input::Input;

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number(Vec<u8>),
    Name(String),
    Text(Vec<u8>),
    /// An operator or a bracket.
    Sign(&'static str),
    Newline,
    End,
    /// A byte that starts no token.
    Wrong(u8),
}

/// The signs, the longest first.
const SIGNS: &[&str] = &[
    "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "==", "<=", ">=", "!=", "&&", "||", "+", "-", "*", "/", "%", "^",
    "=", "<", ">", "!", "(", ")", "{", "}", "[", "]", ";", ",", "&", "|", ":", "?",
];

/// A lexer of one file.
pub(super) struct Lexer {
    input: Input,
    buffer: Vec<u8>,
    at: usize,
    ended: bool,
    /// The number of the current line.
    pub(super) line: usize,
    /// The name of the file in messages.
    pub(super) name: String,
}

impl Lexer {
    pub(super) fn new(input: Input, name: &str) -> Lexer {
        Lexer { input, buffer: Vec::new(), at: 0, ended: false, line: 1, name: name.into() }
    }

    /// Returns the next token; `before` is called before the lexer waits for input.
    pub(super) fn next(&mut self, before: &mut dyn FnMut()) -> Token {
        loop {
            let Some(byte) = self.peek(0, before) else { return Token::End };
            match byte {
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'\\' if self.peek(1, before) == Some(b'\n') => {
                    self.at += 2;
                    self.line += 1;
                }
                b'#' => {
                    while self.peek(0, before).is_some_and(|byte| byte != b'\n') {
                        self.at += 1;
                    }
                }
                b'/' if self.peek(1, before) == Some(b'*') => self.skip_comment(before),
                b'\n' => {
                    self.at += 1;
                    self.line += 1;
                    return Token::Newline;
                }
                b'"' => return self.text(before),
                b'0'..=b'9' | b'A'..=b'Z' | b'.' => return self.number(before),
                b'a'..=b'z' => {
                    let mut name = String::new();
                    while let Some(byte @ (b'a'..=b'z' | b'0'..=b'9' | b'_')) = self.peek(0, before) {
                        name.push(char::from(byte));
                        self.at += 1;
                    }
                    return Token::Name(name);
                }
                _ => {
                    let second = self.peek(1, before).unwrap_or(0);
                    let found = SIGNS.iter().find(|sign| match sign.as_bytes() {
                        [a, b] => *a == byte && *b == second,
                        [a] => *a == byte,
                        _ => false,
                    });
                    self.at += found.map_or(1, |sign| sign.len());
                    return found.map_or(Token::Wrong(byte), |sign| Token::Sign(sign));
                }
            }
        }
    }

    /// Returns the next line unchanged, for `read()`.
    pub(super) fn rest_of_line(&mut self, before: &mut dyn FnMut()) -> Option<Vec<u8>> {
        self.peek(0, before)?;
        let mut line = Vec::new();
        while let Some(byte) = self.peek(0, before) {
            self.at += 1;
            if byte == b'\n' {
                self.line += 1;
                break;
            }
            line.push(byte);
        }
        Some(line)
    }

    fn skip_comment(&mut self, before: &mut dyn FnMut()) {
        self.at += 2;
        while let Some(byte) = self.peek(0, before) {
            self.at += 1;
            if byte == b'\n' {
                self.line += 1;
            }
            if byte == b'*' && self.peek(0, before) == Some(b'/') {
                self.at += 1;
                return;
            }
        }
    }

    fn text(&mut self, before: &mut dyn FnMut()) -> Token {
        self.at += 1;
        let mut text = Vec::new();
        while let Some(byte) = self.peek(0, before) {
            self.at += 1;
            if byte == b'"' {
                break;
            }
            if byte == b'\n' {
                self.line += 1;
            }
            text.push(byte);
        }
        Token::Text(text)
    }

    fn number(&mut self, before: &mut dyn FnMut()) -> Token {
        let mut digits = Vec::new();
        let mut has_point = false;
        loop {
            match self.peek(0, before) {
                Some(b'.') if !has_point => has_point = true,
                Some(b'0'..=b'9' | b'A'..=b'Z') => {}
                Some(b'\\') if self.peek(1, before) == Some(b'\n') => {
                    self.at += 2;
                    self.line += 1;
                    continue;
                }
                _ => break,
            }
            digits.push(self.buffer[self.at]);
            self.at += 1;
        }
        Token::Number(digits)
    }

    fn peek(&mut self, ahead: usize, before: &mut dyn FnMut()) -> Option<u8> {
        while self.at + ahead >= self.buffer.len() && !self.ended {
            self.buffer.drain(..self.at);
            self.at = 0;
            before();
            match self.input.read() {
                Ok(piece) if !piece.is_empty() => self.buffer.extend_from_slice(&piece),
                _ => self.ended = true,
            }
        }
        self.buffer.get(self.at + ahead).copied()
    }
}
