//! Patterns and their escapes.

use isopod_regex::{Flags, Lines, Regex, Syntax};

use super::source::Source;
use super::{Failure, Options};

/// Reads up to a delimiter, or returns `None` if there is none. In a pattern, `\n` is a newline and a bracket
/// expression may contain the delimiter.
pub(super) fn until(source: &mut Source, delimiter: u8, is_pattern: bool) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    loop {
        let byte = source.next()?;
        if byte == delimiter {
            return Some(text);
        }
        match byte {
            b'\n' if is_pattern => {
                source.back();
                return None;
            }
            b'\\' => match source.next()? {
                b'n' if is_pattern && delimiter != b'n' => text.push(b'\n'),
                b'\n' if is_pattern => text.push(b'\n'),
                next if next == delimiter && (is_pattern || next != b'&') => text.push(next),
                next => text.extend([b'\\', next]),
            },
            b'[' if is_pattern => {
                text.push(b'[');
                bracket(source, &mut text)?;
            }
            byte => text.push(byte),
        }
    }
}

/// Reads a bracket expression after its `[`.
fn bracket(source: &mut Source, text: &mut Vec<u8>) -> Option<()> {
    let mut first = true;
    loop {
        let byte = source.next()?;
        match byte {
            b'\n' => return None,
            b']' if !first => {
                text.push(byte);
                return Some(());
            }
            b'^' if first && text.last() == Some(&b'[') => {
                text.push(byte);
                continue;
            }
            b'[' => {
                text.push(byte);
                if let Some(kind @ (b':' | b'.' | b'=')) = source.peek() {
                    let start = text.len();
                    while text.len() < start + 2 || !text.ends_with(&[kind, b']']) {
                        text.push(source.next()?);
                    }
                }
            }
            b'\\' => match source.next()? {
                b'n' => text.push(b'\n'),
                b']' => {
                    text.extend(b"\\]");
                    return Some(());
                }
                next => text.extend([b'\\', next]),
            },
            byte => text.push(byte),
        }
        first = false;
    }
}

/// Compiles a pattern.
pub(super) fn compile(
    source: &Source,
    pattern: &[u8],
    options: &Options,
    icase: bool,
    multiline: bool,
) -> Result<Regex, Failure> {
    let syntax = if options.extended { Syntax::Extended } else { Syntax::Basic };
    let lines = if multiline { Lines::Within(b'\n') } else { Lines::None };
    let flags = Flags { icase, lines, bytes: isopod_gnu::locale::is_bytes(), ..Flags::default() };
    let plain;
    let pattern = if options.posix && !options.extended {
        plain = without_extensions(pattern);
        plain.as_slice()
    } else {
        pattern
    };
    let pattern = unescape(pattern, &mut |byte, out| {
        if byte == b'\\' {
            out.push(b'\\');
        }
        out.push(byte);
    });
    Regex::new(&pattern, syntax, flags).map_err(|error| match error {
        isopod_regex::Error::ClassOutside => Failure(error.to_string(), 4),
        error => source.error(&error.to_string()),
    })
}

/// Turns the operators that POSIX does not have into literal text.
fn without_extensions(pattern: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(pattern.len());
    let mut bytes = pattern.iter();
    while let Some(byte) = bytes.next() {
        match (byte, bytes.as_slice().first()) {
            (b'\\', Some(next @ (b'+' | b'?' | b'|'))) => {
                out.extend([b'[', *next, b']']);
                bytes.next();
            }
            (b'\\', Some(next)) => {
                out.extend([b'\\', *next]);
                bytes.next();
            }
            _ => out.push(*byte),
        }
    }
    out
}

/// Decodes `\t`, `\x41` and the like, and passes the decoded byte to `put`. Other escapes stay.
pub(super) fn unescape(text: &[u8], put: &mut dyn FnMut(u8, &mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        if text[at] != b'\\' || at + 1 >= text.len() {
            out.push(text[at]);
            at += 1;
            continue;
        }
        match escape(&text[at + 1..]) {
            Some((byte, length)) => {
                put(byte, &mut out);
                at += 1 + length;
            }
            None => {
                out.extend_from_slice(&text[at..at + 2]);
                at += 2;
            }
        }
    }
    out
}

/// Returns the byte that an escape stands for, and the length of the escape without its backslash.
pub(super) fn escape(text: &[u8]) -> Option<(u8, usize)> {
    let number = |base: u32, most: usize| {
        let digits = text[1..].iter().take(most).take_while(|byte| char::from(**byte).is_digit(base)).count();
        let value = text[1..=digits]
            .iter()
            .fold(0u32, |value, byte| value * base + char::from(*byte).to_digit(base).unwrap_or_default());
        (digits > 0).then_some((value as u8, digits + 1))
    };
    match text.first()? {
        b'a' => Some((7, 1)),
        b'f' => Some((12, 1)),
        b'r' => Some((13, 1)),
        b't' => Some((9, 1)),
        b'v' => Some((11, 1)),
        b'c' => text.get(1).map(|byte| (byte.to_ascii_uppercase() ^ 0x40, 2)),
        b'd' => number(10, 3),
        b'o' => number(8, 3),
        b'x' => number(16, 2),
        _ => None,
    }
}
