//! Quoting for text that the shell reads back: `printf %q`, `${x@Q}`, `declare -p`, `set -x`.

use crate::text;

/// Quotes by single quotes, or by `$'…'` if there are control characters: `${x@Q}`, `trap -p`, `alias`.
pub fn single(text: &str) -> String {
    if needs_escapes(text) {
        return escaped(text);
    }
    in_quotes(text)
}

fn in_quotes(text: &str) -> String {
    match text {
        "'" => "\\'".to_owned(),
        _ => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// Quotes as little as possible, by backslashes: `printf %q`.
pub fn minimal(text: &str) -> String {
    if text.is_empty() {
        return "''".to_owned();
    }
    if needs_escapes(text) {
        return escaped(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut last = None;
    for c in text.chars() {
        let special = match c {
            ' ' | '!' | '"' | '$' | '&' | '\'' | '(' | ')' | '*' | ',' | ';' | '<' | '>' | '?' | '[' | '\\' | ']'
            | '^' | '`' | '{' | '|' | '}' => true,
            '#' => last.is_none(),
            '~' => matches!(last, None | Some(':' | '=')),
            _ => false,
        };
        if special {
            out.push('\\');
        }
        out.push(c);
        last = Some(c);
    }
    out
}

/// Quotes by single quotes, if needed: `set -x`, `set`.
pub fn if_needed(text: &str) -> String {
    if text.is_empty() {
        return "''".to_owned();
    }
    if needs_escapes(text) {
        return escaped(text);
    }
    let special = |c: char| {
        matches!(
            c,
            ' ' | '!'
                | '"'
                | '$'
                | '&'
                | '\''
                | '('
                | ')'
                | '*'
                | ';'
                | '<'
                | '>'
                | '?'
                | '['
                | '\\'
                | ']'
                | '^'
                | '`'
                | '{'
                | '|'
                | '}'
        )
    };
    if text.contains(special) || text.starts_with(['#', '~']) || text.contains(":~") || text.contains("=~") {
        return single(text);
    }
    text.to_owned()
}

/// Like `if_needed`, for `set -x`, which prefers plain quotes even around newlines and tabs.
pub fn traced(text: &str) -> String {
    match text.contains(['\n', '\t', ' ']) {
        true => in_quotes(text),
        false => if_needed(text),
    }
}

/// Quotes by double quotes, or by `$'…'` if there are control characters: `declare -p`.
pub fn double(text: &str) -> String {
    if needs_escapes(text) {
        return escaped(text);
    }
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        if matches!(c, '"' | '$' | '`' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}

fn needs_escapes(text: &str) -> bool {
    text.chars().any(|c| c.is_control() || u32::from(c) >= 0x10_FF80)
}

/// Quotes by `$'…'`.
fn escaped(text: &str) -> String {
    let mut out = String::from("$'");
    for c in text.chars() {
        match c {
            '\x07' => out.push_str("\\a"),
            '\x08' => out.push_str("\\b"),
            '\x1b' => out.push_str("\\E"),
            '\x0c' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x0b' => out.push_str("\\v"),
            '\\' => out.push_str("\\\\"),
            '\'' => out.push_str("\\'"),
            c if c.is_control() || u32::from(c) >= 0x10_FF80 => {
                let mut bytes = Vec::new();
                text::push_bytes(c.encode_utf8(&mut [0; 4]), &mut bytes);
                for byte in bytes {
                    out.push_str(&format!("\\{byte:03o}"));
                }
            }
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}
