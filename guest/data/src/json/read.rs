//! A reader of JSON texts that is fed piece by piece.
//!
//! It accepts the same texts as jq: values one after the other, `nan`, numbers such as `.5` and `01`. A token that
//! spans two pieces is copied; everything else is read in place.

use std::rc::Rc;

use crate::value::{Number, Object, Text, Value};

use super::DEEPEST;

/// The number of keys that are shared rather than allocated again: most inputs have few different ones.
const KEY_SLOTS: usize = 128;

/// A reader of values.
pub(crate) struct Reader {
    /// The current piece, and the position in it.
    piece: Vec<u8>,
    at: usize,
    /// True if no piece follows.
    ended: bool,
    /// The lines and columns before this piece.
    lines: usize,
    column: usize,
    /// The begin of a number, a literal or a string at the end of the last piece.
    token: Vec<u8>,
    state: State,
    /// The open arrays and objects.
    open: Vec<Open>,
    /// A complete value that is not yet returned.
    value: Option<Value>,
    keys: Vec<Text>,
    /// True if texts are separated by the record separator.
    sequence: bool,
}

/// The token that the last byte belongs to.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Between,
    Word,
    Text,
    /// After a backslash in a string.
    Escape,
}

enum Open {
    Array(Vec<Value>),
    /// An object with the key whose value is read.
    Object(Object, Option<Text>),
}

/// Reads a text with exactly one value.
pub(crate) fn parse(text: &[u8]) -> Result<Value, String> {
    let mut reader = Reader::new(false);
    reader.feed(text.to_vec());
    reader.end();
    let value = reader.next()?.unwrap_or_default();
    match reader.next()? {
        Some(_) => Err("Unexpected extra JSON values".into()),
        None => Ok(value),
    }
}

impl Reader {
    /// Creates a reader. With `sequence`, texts have separators before them.
    pub(crate) fn new(sequence: bool) -> Reader {
        Reader {
            piece: Vec::new(),
            at: 0,
            ended: false,
            lines: 0,
            column: 0,
            token: Vec::new(),
            state: State::Between,
            open: Vec::new(),
            value: None,
            keys: vec![Text::default(); KEY_SLOTS],
            sequence,
        }
    }

    /// Adds the next piece. The last one must have been read to its end.
    pub(crate) fn feed(&mut self, piece: Vec<u8>) {
        self.count_lines(self.piece.len());
        self.piece = piece;
        self.at = 0;
        if self.lines == 0 && self.column == 0 && self.piece.starts_with(b"\xef\xbb\xbf") {
            self.at = 3;
        }
    }

    /// Marks the end of the input.
    pub(crate) fn end(&mut self) {
        self.ended = true;
    }

    /// Returns true if all pieces have been read.
    pub(crate) fn wants_more(&self) -> bool {
        self.at >= self.piece.len() && !self.ended
    }

    /// Returns the number of lines read, including the line of the last value's end.
    pub(crate) fn line(&self) -> usize {
        let read = self.piece[..self.at].iter().filter(|byte| **byte == b'\n').count();
        let rest = &self.piece[self.at..];
        let partial = !self.piece[..self.at].ends_with(b"\n") && rest.contains(&b'\n');
        self.lines + read + usize::from(partial)
    }

    /// Returns the next value; none if more must be fed, or at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Value>, String> {
        match self.scan() {
            Ok(value) => Ok(value),
            Err(reason) => {
                let (line, column) = self.position();
                self.reset();
                Err(format!("{reason} at line {line}, column {column}"))
            }
        }
    }

    fn scan(&mut self) -> Result<Option<Value>, &'static str> {
        while self.at < self.piece.len() {
            match self.state {
                State::Text | State::Escape => self.scan_text()?,
                State::Word => self.scan_word()?,
                State::Between => {
                    let byte = self.piece[self.at];
                    self.at += 1;
                    match byte {
                        b' ' | b'\t' | b'\r' | b'\n' => {}
                        0x1e if self.sequence => {
                            if !self.open.is_empty() {
                                self.reset();
                                return Err("Unfinished abandoned text");
                            }
                        }
                        b'"' => {
                            self.state = State::Text;
                            self.scan_text()?;
                        }
                        b'[' | b'{' | b']' | b'}' | b',' | b':' => self.punctuation(byte)?,
                        _ => {
                            self.at -= 1;
                            self.state = State::Word;
                            self.scan_word()?;
                        }
                    }
                }
            }
            if self.open.is_empty() && self.value.is_some() {
                return Ok(self.value.take());
            }
        }
        if !self.ended {
            return Ok(None);
        }
        match self.state {
            State::Word => self.end_word()?,
            State::Text | State::Escape => return Err("Unfinished string at EOF"),
            State::Between => {}
        }
        if !self.open.is_empty() {
            return Err("Unfinished JSON term at EOF");
        }
        Ok(self.value.take())
    }

    fn punctuation(&mut self, byte: u8) -> Result<(), &'static str> {
        match byte {
            b'[' | b'{' => {
                self.separate()?;
                if self.open.len() >= DEEPEST {
                    return Err("Exceeds depth limit for parsing");
                }
                self.open.push(match byte {
                    b'[' => Open::Array(Vec::new()),
                    _ => Open::Object(Object::default(), None),
                });
            }
            b':' => match (self.open.last_mut(), self.value.take()) {
                (_, None) => return Err("Expected string key before ':'"),
                (None, _) => return Err("':' not as part of an object"),
                (Some(Open::Array(_)), _) | (Some(Open::Object(_, Some(_))), _) => {
                    return Err("':' not as part of an object");
                }
                (Some(Open::Object(_, key)), Some(Value::Text(text))) => *key = Some(text),
                (Some(Open::Object(..)), Some(_)) => return Err("Object keys must be strings"),
            },
            b',' => match (self.open.last_mut(), self.value.take()) {
                (_, None) => return Err("Expected value before ','"),
                (None, _) => return Err("',' not as part of an object or array"),
                (Some(Open::Array(items)), Some(value)) => items.push(value),
                (Some(Open::Object(object, key)), Some(value)) => match key.take() {
                    Some(key) => object.insert(key, value),
                    None => return Err("Objects must consist of key:value pairs"),
                },
            },
            b']' => match self.open.pop() {
                Some(Open::Array(mut items)) => {
                    match self.value.take() {
                        Some(value) => items.push(value),
                        None if items.is_empty() => {}
                        None => return Err("Expected another array element"),
                    }
                    self.value = Some(Value::array(items));
                }
                _ => return Err("Unmatched ']'"),
            },
            _ => match self.open.pop() {
                Some(Open::Object(mut object, key)) => {
                    match (key, self.value.take()) {
                        (Some(key), Some(value)) => object.insert(key, value),
                        (None, Some(_)) => return Err("Objects must consist of key:value pairs"),
                        (Some(_), None) => return Err("Unmatched '}'"),
                        (None, None) if object.is_empty() => {}
                        (None, None) => return Err("Expected another key-value pair"),
                    }
                    self.value = Some(Value::object(object));
                }
                _ => return Err("Unmatched '}'"),
            },
        }
        Ok(())
    }

    /// Checks that no other value stands directly before the one that begins.
    fn separate(&self) -> Result<(), &'static str> {
        if self.value.is_some() { Err("Expected separator between values") } else { Ok(()) }
    }

    fn scan_word(&mut self) -> Result<(), &'static str> {
        let rest = &self.piece[self.at..];
        let ends = |byte: &u8| {
            matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'[' | b']' | b'{' | b'}' | b',' | b':' | b'"' | 0x1e)
        };
        let Some(length) = rest.iter().position(ends) else {
            self.token.extend_from_slice(rest);
            self.at = self.piece.len();
            return Ok(());
        };
        if self.token.is_empty() {
            let value = self.separate().and_then(|()| word(&rest[..length]));
            self.at += length;
            self.state = State::Between;
            self.value = Some(value.inspect_err(|_| self.at += 1)?);
            return Ok(());
        }
        let rest = rest[..length].to_vec();
        self.token.extend_from_slice(&rest);
        self.at += length;
        self.end_word().inspect_err(|_| self.at += 1)
    }

    fn end_word(&mut self) -> Result<(), &'static str> {
        self.state = State::Between;
        self.separate()?;
        self.value = Some(word(&std::mem::take(&mut self.token))?);
        Ok(())
    }

    fn scan_text(&mut self) -> Result<(), &'static str> {
        let start = self.at;
        let mut escaped = self.state == State::Escape;
        let mut plain = self.token.is_empty() && !escaped;
        let mut at = start;
        while at < self.piece.len() {
            let byte = self.piece[at];
            at += 1;
            if escaped {
                escaped = false;
            } else if byte == b'\\' {
                (escaped, plain) = (true, false);
            } else if byte == b'"' {
                self.at = at;
                self.state = State::Between;
                self.separate()?;
                let body = &self.piece[start..at - 1];
                if body.iter().chain(&self.token).any(|byte| *byte < 0x20) {
                    return Err("Invalid string: control characters from U+0000 through U+001F must be escaped");
                }
                let value = if plain {
                    if matches!(self.open.last(), Some(Open::Object(_, None))) {
                        Value::Text(shared(&mut self.keys, body))
                    } else {
                        Value::Text(Rc::new(lossy(body)))
                    }
                } else if self.token.is_empty() {
                    Value::text(unescape(body)?)
                } else {
                    self.token.extend_from_slice(body);
                    Value::text(unescape(&std::mem::take(&mut self.token))?)
                };
                self.value = Some(value);
                return Ok(());
            }
        }
        self.token.extend_from_slice(&self.piece[start..]);
        // The state and not the token says that a string has begun: its token may be empty.
        self.state = if escaped { State::Escape } else { State::Text };
        self.at = at;
        Ok(())
    }

    /// Discards an unfinished text.
    fn reset(&mut self) {
        self.open.clear();
        self.value = None;
        self.token.clear();
        self.state = State::Between;
    }

    fn position(&self) -> (usize, usize) {
        let read = &self.piece[..self.at.min(self.piece.len())];
        let lines = read.iter().filter(|byte| **byte == b'\n').count();
        let column = match read.iter().rposition(|byte| *byte == b'\n') {
            Some(newline) => read.len() - newline - 1,
            None => self.column + read.len(),
        };
        (self.lines + lines + 1, column)
    }

    fn count_lines(&mut self, until: usize) {
        let read = &self.piece[..until];
        self.lines += read.iter().filter(|byte| **byte == b'\n').count();
        self.column = match read.iter().rposition(|byte| *byte == b'\n') {
            Some(newline) => read.len() - newline - 1,
            None => self.column + read.len(),
        };
    }
}

/// Reads a literal or a number.
fn word(text: &[u8]) -> Result<Value, &'static str> {
    match text {
        b"true" => Ok(Value::Bool(true)),
        b"false" => Ok(Value::Bool(false)),
        b"null" => Ok(Value::Null),
        b"nan" | b"NaN" => Ok(Value::number(f64::NAN)),
        [b't' | b'f', ..] => Err("Invalid literal"),
        text => {
            let number = std::str::from_utf8(text).ok().and_then(Number::read);
            number.map(Value::Number).ok_or("Invalid numeric literal")
        }
    }
}

/// Returns a key without escapes, shared with the last equal one if it is still cached.
fn shared(keys: &mut [Text], body: &[u8]) -> Text {
    let hash = body.iter().fold(body.len(), |hash, byte| hash.wrapping_mul(31).wrapping_add(usize::from(*byte)));
    let slot = &mut keys[hash % KEY_SLOTS];
    if slot.as_bytes() != body {
        *slot = Rc::new(lossy(body));
    }
    slot.clone()
}

fn lossy(body: &[u8]) -> String {
    match std::str::from_utf8(body) {
        Ok(text) => text.to_owned(),
        Err(_) => String::from_utf8_lossy(body).into_owned(),
    }
}

fn unescape(body: &[u8]) -> Result<String, &'static str> {
    let mut out: Vec<u8> = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some(slash) = rest.iter().position(|byte| *byte == b'\\') {
        out.extend_from_slice(&rest[..slash]);
        rest = &rest[slash + 1..];
        let Some((&kind, after)) = rest.split_first() else { break };
        rest = after;
        let byte = match kind {
            b'"' | b'\\' | b'/' => kind,
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => {
                let first = hex(&mut rest)?;
                let mut code = u32::from(first);
                if (0xd800..0xdc00).contains(&first) && rest.starts_with(b"\\u") {
                    let mut ahead = &rest[2..];
                    let second = hex(&mut ahead)?;
                    if (0xdc00..0xe000).contains(&second) {
                        code = 0x10000 + ((u32::from(first) - 0xd800) << 10) + (u32::from(second) - 0xdc00);
                        rest = ahead;
                    }
                }
                let c = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                continue;
            }
            _ => return Err("Invalid escape"),
        };
        out.push(byte);
    }
    out.extend_from_slice(rest);
    Ok(lossy(&out))
}

fn hex(rest: &mut &[u8]) -> Result<u16, &'static str> {
    let digits = rest.get(..4).ok_or("Invalid escape")?;
    let mut code = 0;
    for digit in digits {
        code = code << 4 | char::from(*digit).to_digit(16).ok_or("Invalid escape")? as u16;
    }
    *rest = &rest[4..];
    Ok(code)
}
