//! Regular expressions in awk's syntax.

use std::cell::RefCell;
use std::rc::Rc;

use isopod_regex::{Flags, Regex, Syntax};

use crate::syntax::lexer::unescape;

/// A regular expression in the program's text, compiled on first use.
pub(crate) struct Literal {
    source: Vec<u8>,
    /// The compiled form, and the value of IGNORECASE that it was compiled with.
    compiled: RefCell<Option<(bool, Rc<Regex>)>>,
}

impl Literal {
    pub(crate) fn new(source: Vec<u8>) -> Literal {
        Literal { source, compiled: RefCell::new(None) }
    }

    pub(crate) fn source(&self) -> &[u8] {
        &self.source
    }

    pub(crate) fn regex(&self, ignore_case: bool) -> Result<Rc<Regex>, String> {
        let mut compiled = self.compiled.borrow_mut();
        match &*compiled {
            Some((ignored, regex)) if *ignored == ignore_case => Ok(Rc::clone(regex)),
            _ => {
                let regex = Rc::new(compile(&self.source, ignore_case)?);
                *compiled = Some((ignore_case, Rc::clone(&regex)));
                Ok(regex)
            }
        }
    }
}

/// Compiles a regular expression.
pub(crate) fn compile(source: &[u8], ignore_case: bool) -> Result<Regex, String> {
    let flags = Flags { icase: ignore_case, ..Flags::default() };
    Regex::new(&spelled_out(source), Syntax::Awk, flags)
        .map_err(|error| format!("invalid regexp: {error}: /{}/", String::from_utf8_lossy(source)))
}

fn is_special(byte: u8) -> bool {
    b"\\^$.[]|()*+?{}".contains(&byte)
}

/// Decodes awk's escape sequences and leaves those of regular expressions.
fn spelled_out(source: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(source.len());
    let mut at = 0;
    // The offset at which the content of a set starts. A bracket at that offset does not end the set.
    let mut set = None;
    while at < source.len() {
        let byte = source[at];
        at += 1;
        match (byte, set) {
            (b'\\', _) if at < source.len() => at += escape(&source[at..], set.is_some(), &mut text),
            (b'\\', _) => text.extend_from_slice(b"\\\\"),
            (b'[', None) => {
                text.push(b'[');
                if source.get(at) == Some(&b'^') {
                    text.push(b'^');
                    at += 1;
                }
                set = Some(at);
            }
            (b'[', Some(_)) => {
                text.push(b'[');
                if let Some(kind @ (b':' | b'.' | b'=')) = source.get(at).copied()
                    && let Some(end) = source[at + 1..].windows(2).position(|pair| pair == [kind, b']'])
                {
                    text.extend_from_slice(&source[at..at + end + 3]);
                    at += end + 3;
                }
            }
            (b']', Some(start)) => {
                text.push(b']');
                if at - 1 > start {
                    set = None;
                }
            }
            (byte, _) => text.push(byte),
        }
    }
    text
}

fn escape(rest: &[u8], in_set: bool, text: &mut Vec<u8>) -> usize {
    match rest[0] {
        b'y' | b'B' | b'<' | b'>' | b'`' | b'\'' | b'w' | b'W' | b's' | b'S' if !in_set => {
            text.extend([b'\\', rest[0]]);
        }
        b'/' | b'"' => text.push(rest[0]),
        b'\\' => text.extend_from_slice(b"\\\\"),
        b'0'..=b'7' | b'x' | b'n' | b't' | b'r' | b'a' | b'b' | b'f' | b'v' => {
            let mut plain = Vec::new();
            let used = unescape(rest, &mut plain).0;
            for byte in plain {
                // A character written as a number stands for itself.
                if is_special(byte) || (in_set && byte == b'-') {
                    text.push(b'\\');
                }
                text.push(byte);
            }
            return used;
        }
        letter if letter.is_ascii_alphanumeric() => text.push(letter),
        other => text.extend([b'\\', other]),
    }
    1
}
