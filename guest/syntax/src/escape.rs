//! Backslash escapes: `$'…'`, `echo -e`, `printf`.

use crate::text::byte_char;

/// Decodes the text of `$'…'`.
pub fn ansi_c(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match unescape(&mut rest, Dialect::AnsiC, &mut out) {
            DecodedEscape::Text => {}
            // A NUL ends the string, as in C.
            DecodedEscape::Nul => return merge(out),
            DecodedEscape::Stop => return merge(out),
        }
    }
    out.push_str(rest);
    merge(out)
}

/// Decodes an argument of `echo -e`. Also returns whether `\c` stopped the output.
pub fn echo(text: &str) -> (String, bool) {
    with_escapes(text, Dialect::Echo)
}

/// Decodes the literal text of a `printf` format.
pub fn printf_format(text: &str) -> (String, bool) {
    with_escapes(text, Dialect::Format)
}

/// Decodes an argument of `printf %b`, where `\NNN` needs no leading zero.
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
            DecodedEscape::Text => {}
            DecodedEscape::Nul => out.push('\0'),
            DecodedEscape::Stop => return (merge(out), true),
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

enum DecodedEscape {
    Text,
    Nul,
    Stop,
}

/// Decodes the escape after a backslash.
fn unescape(rest: &mut &str, dialect: Dialect, out: &mut String) -> DecodedEscape {
    let Some(first) = rest.chars().next() else {
        out.push('\\');
        return DecodedEscape::Text;
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
            let Some(control) = rest.chars().next() else { return DecodedEscape::Text };
            *rest = &rest[control.len_utf8()..];
            match control {
                '?' => '\x7f',
                _ => match control as u8 & 0x1f {
                    0 => return DecodedEscape::Nul,
                    code => char::from(code),
                },
            }
        }
        'c' if dialect != Dialect::Format => return DecodedEscape::Stop,
        'x' => match digits(rest, 16, 2) {
            Some(code) => return byte(code, out),
            None => return literal(first, out),
        },
        'u' | 'U' => {
            let most = if first == 'u' { 4 } else { 8 };
            match digits(rest, 16, most) {
                Some(0) => return DecodedEscape::Nul,
                Some(code) => char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
                None => return literal(first, out),
            }
        }
        // echo requires a zero before the digits and takes three more; the others take three in all.
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
    DecodedEscape::Text
}

fn literal(c: char, out: &mut String) -> DecodedEscape {
    out.push('\\');
    out.push(c);
    DecodedEscape::Text
}

fn byte(code: u32, out: &mut String) -> DecodedEscape {
    match code & 0xff {
        0 => return DecodedEscape::Nul,
        code => out.push(byte_char(code as u8)),
    }
    DecodedEscape::Text
}

/// Reads up to `most` digits of a base.
fn digits(rest: &mut &str, base: u32, most: usize) -> Option<u32> {
    let length = rest.chars().take(most).take_while(|c| c.is_digit(base)).count();
    let value = u32::from_str_radix(&rest[..length], base).ok()?;
    *rest = &rest[length..];
    Some(value)
}

/// Merges bytes that were written one by one into characters.
fn merge(text: String) -> String {
    match crate::text::to_bytes(&text) {
        std::borrow::Cow::Borrowed(_) => text,
        std::borrow::Cow::Owned(bytes) => crate::text::from_bytes(bytes),
    }
}
