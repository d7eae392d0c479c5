//! The lexer of jq.

/// A token with its position.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) at: usize,
}

/// The kind of a token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A name, which may have `::` in it, or a keyword.
    Name(String),
    /// `.name`.
    Field(String),
    /// `$name`.
    Variable(String),
    /// `@name`.
    Format(String),
    Number(String),
    /// The start of a string. Then follow `Text`, and `Open` … `Close` for interpolations, up to `Quote`.
    StringStart,
    Text(String),
    InterpolationStart,
    InterpolationEnd,
    StringEnd,
    /// An operator or a bracket.
    Sign(&'static str),
    End,
}

/// The signs, the longest first.
const SIGNS: &[&str] = &[
    "?//=", "?//", "//=", "|=", "+=", "-=", "*=", "/=", "%=", "==", "!=", "<=", ">=", "//", "..", ".", "[", "]", "(",
    ")", "{", "}", "|", ",", ":", ";", "=", "<", ">", "+", "-", "*", "/", "%", "?", "$", "!", "&",
];

/// Splits a program into tokens. An error is a message and its position.
pub(crate) fn lex(source: &str) -> Result<Vec<Token>, (String, usize)> {
    let bytes = source.as_bytes();
    let mut tokens = Vec::new();
    // For each open string, the number of open parentheses in its interpolation.
    let mut strings: Vec<usize> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let rest = &source[at..];
        let byte = bytes[at];
        let kind = match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {
                at += 1;
                continue;
            }
            b'#' => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            b'"' => {
                at += 1;
                tokens.push(Token { kind: Kind::StringStart, at: start });
                text(source, &mut at, &mut tokens, &mut strings)?;
                continue;
            }
            b')' if strings.last() == Some(&0) => {
                strings.pop();
                at += 1;
                tokens.push(Token { kind: Kind::InterpolationEnd, at: start });
                text(source, &mut at, &mut tokens, &mut strings)?;
                continue;
            }
            b'0'..=b'9' => number(rest, &mut at),
            b'.' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => number(rest, &mut at),
            b'.' if name_length(&rest[1..]) > 0 => {
                let length = field_length(&rest[1..]);
                at += 1 + length;
                Kind::Field(rest[1..1 + length].to_owned())
            }
            b'$' if name_length(&rest[1..]) > 0 => {
                let length = name_length(&rest[1..]);
                at += 1 + length;
                Kind::Variable(rest[1..1 + length].to_owned())
            }
            b'@' if name_length(&rest[1..]) > 0 => {
                let length = name_length(&rest[1..]);
                at += 1 + length;
                Kind::Format(rest[..1 + length].to_owned())
            }
            _ if name_length(rest) > 0 => {
                let length = name_length(rest);
                at += length;
                Kind::Name(rest[..length].to_owned())
            }
            _ => match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => {
                    at += sign.len();
                    if let Some(open) = strings.last_mut() {
                        match *sign {
                            "(" => *open += 1,
                            ")" => *open -= 1,
                            _ => {}
                        }
                    }
                    Kind::Sign(sign)
                }
                None => return Err(("syntax error, unexpected INVALID_CHARACTER".into(), start)),
            },
        };
        tokens.push(Token { kind, at: start });
    }
    tokens.push(Token { kind: Kind::End, at });
    Ok(tokens)
}

/// Reads a string up to its end or up to an interpolation.
fn text(
    source: &str,
    at: &mut usize,
    tokens: &mut Vec<Token>,
    strings: &mut Vec<usize>,
) -> Result<(), (String, usize)> {
    let bytes = source.as_bytes();
    let start = *at;
    let invalid = || ("syntax error, unexpected INVALID_CHARACTER".to_owned(), start);
    let mut text = String::new();
    loop {
        let rest = &source[*at..];
        let plain = rest.find(['"', '\\']).ok_or_else(|| ("syntax error, unexpected end of string".into(), start))?;
        text.push_str(&rest[..plain]);
        *at += plain + 1;
        if bytes[*at - 1] == b'"' {
            tokens.push(Token { kind: Kind::Text(text), at: start });
            tokens.push(Token { kind: Kind::StringEnd, at: *at - 1 });
            return Ok(());
        }
        let escape = *bytes.get(*at).ok_or_else(invalid)?;
        *at += 1;
        text.push(match escape {
            b'(' => {
                tokens.push(Token { kind: Kind::Text(text), at: start });
                tokens.push(Token { kind: Kind::InterpolationStart, at: *at });
                strings.push(0);
                return Ok(());
            }
            b'"' | b'\\' | b'/' => char::from(escape),
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\x08',
            b'f' => '\x0c',
            b'u' => {
                let unit = |at: usize| source.get(at..at + 4).and_then(|hex| u32::from_str_radix(hex, 16).ok());
                let mut code = unit(*at).ok_or_else(invalid)?;
                *at += 4;
                if (0xd800..0xdc00).contains(&code)
                    && source[*at..].starts_with("\\u")
                    && let Some(low @ 0xdc00..0xe000) = unit(*at + 2)
                {
                    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
                    *at += 6;
                }
                char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => return Err(invalid()),
        });
    }
}

fn number(rest: &str, at: &mut usize) -> Kind {
    let bytes = rest.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut length = digits(0);
    if bytes.get(length) == Some(&b'.') && bytes.get(length + 1) != Some(&b'.') {
        length += 1;
        length += digits(length);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let exponent = digits((length + 1 + sign).min(bytes.len()));
        if exponent > 0 {
            length += 1 + sign + exponent;
        }
    }
    *at += length;
    Kind::Number(rest[..length].to_owned())
}

/// Returns the length of the name at the start of a text, module names included.
fn name_length(text: &str) -> usize {
    let mut length = field_length(text);
    while length > 0 && text[length..].starts_with("::") {
        match field_length(&text[length + 2..]) {
            0 => break,
            more => length += 2 + more,
        }
    }
    length
}

fn field_length(text: &str) -> usize {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return 0;
    }
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()
}
