//! Backslash escapes: `$'…'`, `echo -e`, `printf`.

use crate::text::byte_char;

/// The text of `$'…'`.
pub fn ansi_c(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match unescape(&mut rest, Dialect::AnsiC, &mut out) {
            Outcome::Text => {}
            // A NUL ends the string, as in C.
            Outcome::Nul => return merge(out),
            Outcome::Stop => return merge(out),
        }
    }
    out.push_str(rest);
    merge(out)
}

/// The text of `echo -e` and `printf %b` arguments, and whether `\c` stopped the output.
pub fn echo(text: &str) -> (String, bool) {
    with_escapes(text, Dialect::Echo)
}

/// The literal text of a `printf` format.
pub fn printf_format(text: &str) -> (String, bool) {
    with_escapes(text, Dialect::Format)
}

/// The argument of `printf %b`, where `\NNN` needs no leading zero.
pub fn printf_argument(text: &str) -> (String, bool) {
    with_escapes(text, Dialect::Argument)
}

fn with_escapes(text: &str, dialect: Dialect) -> (String, bool) {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match unescape(&mut rest, dialect, &mut out) {
            Outcome::Text => {}
            Outcome::Nul => out.push('\0'),
            Outcome::Stop => return (merge(out), true),
        }
    }
    out.push_str(rest);
    (merge(out), false)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    AnsiC,
    Echo,
    Format,
    Argument,
}

enum Outcome {
    Text,
    Nul,
    Stop,
}

/// Decodes what follows a backslash.
fn unescape(rest: &mut &str, dialect: Dialect, out: &mut String) -> Outcome {
    let Some(first) = rest.chars().next() else {
        out.push('\\');
        return Outcome::Text;
    };
    *rest = &rest[first.len_utf8()..];
    let simple = match first {
        'a' => '\x07',
        'b' => '\x08',
        'e' | 'E' => '\x1b',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        '\\' => '\\',
        '\'' | '"' | '?' if matches!(dialect, Dialect::AnsiC | Dialect::Format) => first,
        'c' if dialect == Dialect::AnsiC => {
            let Some(control) = rest.chars().next() else { return Outcome::Text };
            *rest = &rest[control.len_utf8()..];
            match control {
                '?' => '\x7f',
                _ => match control as u8 & 0x1f {
                    0 => return Outcome::Nul,
                    code => char::from(code),
                },
            }
        }
        'c' if dialect != Dialect::Format => return Outcome::Stop,
        'x' => match digits(rest, 16, 2) {
            Some(code) => return byte(code, out),
            None => return literal(first, out),
        },
        'u' | 'U' => {
            let most = if first == 'u' { 4 } else { 8 };
            match digits(rest, 16, most) {
                Some(0) => return Outcome::Nul,
                Some(code) => char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
                None => return literal(first, out),
            }
        }
        // echo wants a zero before the digits and takes three more; the others take three in all.
        '0' if matches!(dialect, Dialect::Echo | Dialect::Argument) => {
            return byte(digits(rest, 8, 3).unwrap_or(0), out);
        }
        '0'..='7' if dialect != Dialect::Echo => {
            let head = first as u32 - '0' as u32;
            let before = rest.len();
            let code = match digits(rest, 8, 2) {
                Some(tail) => (head << (3 * (before - rest.len()))) + tail,
                None => head,
            };
            return byte(code, out);
        }
        _ => return literal(first, out),
    };
    out.push(simple);
    Outcome::Text
}

fn literal(c: char, out: &mut String) -> Outcome {
    out.push('\\');
    out.push(c);
    Outcome::Text
}

fn byte(code: u32, out: &mut String) -> Outcome {
    match code & 0xff {
        0 => return Outcome::Nul,
        code => out.push(byte_char(code as u8)),
    }
    Outcome::Text
}

/// Up to `most` digits of a base.
fn digits(rest: &mut &str, base: u32, most: usize) -> Option<u32> {
    let length = rest.chars().take(most).take_while(|c| c.is_digit(base)).count();
    let value = u32::from_str_radix(&rest[..length], base).ok()?;
    *rest = &rest[length..];
    Some(value)
}

/// Bytes that were written one by one may make up characters together.
fn merge(text: String) -> String {
    match crate::text::to_bytes(&text) {
        std::borrow::Cow::Borrowed(_) => text,
        std::borrow::Cow::Owned(bytes) => crate::text::from_bytes(bytes),
    }
}
