//! Writing values as YAML in block style, in `yq`'s format.

use crate::json;
use crate::value::{Text, Value};

/// An open array or object.
enum Level<'v> {
    Array(std::slice::Iter<'v, Value>),
    Object(std::vec::IntoIter<(&'v Text, &'v Value)>),
}

/// Adds a document, which ends with a newline.
pub(crate) fn dump(value: &Value, indent: usize, out: &mut Vec<u8>) {
    let mut levels: Vec<(Level, usize)> = Vec::new();
    // True if the line has begun with a dash: the next item continues it.
    let mut is_inline = true;
    open(value, 0, 0, &mut levels, out);
    while let Some((level, column)) = levels.last_mut() {
        let column = *column;
        match level {
            Level::Array(items) => match items.next() {
                None => {
                    levels.pop();
                }
                Some(item) => {
                    begin(&mut is_inline, column, out);
                    out.extend_from_slice(b"- ");
                    is_inline = true;
                    open(item, column + 2, column + 2, &mut levels, out);
                    set_inline(item, &mut is_inline);
                }
            },
            Level::Object(entries) => match entries.next() {
                None => {
                    levels.pop();
                }
                Some((key, item)) => {
                    begin(&mut is_inline, column, out);
                    out.extend_from_slice(scalar(key).as_bytes());
                    out.push(b':');
                    match item {
                        Value::Array(items) if !items.is_empty() => {
                            out.push(b'\n');
                            is_inline = false;
                        }
                        Value::Object(object) if !object.is_empty() => {
                            out.push(b'\n');
                            is_inline = false;
                        }
                        _ => out.push(b' '),
                    }
                    open(item, column + indent, column + indent, &mut levels, out);
                    if !matches!(item, Value::Array(_) | Value::Object(_)) {
                        is_inline = false;
                    }
                }
            },
        }
    }
}

fn begin(is_inline: &mut bool, column: usize, out: &mut Vec<u8>) {
    if !std::mem::take(is_inline) {
        out.extend(std::iter::repeat_n(b' ', column));
    }
}

/// Decides whether the next item starts a new line: it does after a leaf, but not at the begin of a list or a map.
fn set_inline(item: &Value, is_inline: &mut bool) {
    *is_inline = match item {
        Value::Array(items) => !items.is_empty(),
        Value::Object(object) => !object.is_empty(),
        _ => false,
    };
}

fn open<'v>(
    value: &'v Value,
    column: usize,
    text_column: usize,
    levels: &mut Vec<(Level<'v>, usize)>,
    out: &mut Vec<u8>,
) {
    match value {
        Value::Array(items) if !items.is_empty() => levels.push((Level::Array(items.iter()), column)),
        Value::Object(object) if !object.is_empty() => {
            let entries: Vec<_> = object.iter().collect();
            levels.push((Level::Object(entries.into_iter()), column));
        }
        Value::Text(text) if text.contains('\n') && is_block(text) => block(text, text_column.max(2), out),
        Value::Text(text) => {
            out.extend_from_slice(scalar(text).as_bytes());
            out.push(b'\n');
        }
        other => {
            out.extend_from_slice(json::compact(other).as_bytes());
            out.push(b'\n');
        }
    }
}

fn is_block(text: &str) -> bool {
    !text.starts_with([' ', '\n', '\t']) && text.chars().all(|c| c == '\n' || c == '\t' || !c.is_control())
}

/// Adds literal lines, with a sign for the newlines at the end.
fn block(text: &str, column: usize, out: &mut Vec<u8>) {
    let body = text.trim_end_matches('\n');
    out.push(b'|');
    match text.len() - body.len() {
        0 => out.push(b'-'),
        1 => {}
        _ => out.push(b'+'),
    }
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        out.push(b'\n');
        if !line.is_empty() {
            out.extend(std::iter::repeat_n(b' ', column));
            out.extend_from_slice(line.as_bytes());
        }
    }
    out.push(b'\n');
}

/// Returns a string: plain if it is read back as a string, in quotes otherwise.
fn scalar(text: &str) -> String {
    let looks_like_other = !matches!(super::read::scalar(text), Value::Text(_));
    if looks_like_other || text.chars().any(char::is_control) {
        return json::compact(&Value::text(text));
    }
    let first = text.chars().next().unwrap_or(' ');
    let is_special = "!&*{}[],#|>@`\"'%".contains(first)
        || matches!(first, '-' | '?' | ':') && text[1..].chars().next().is_none_or(char::is_whitespace)
        || text.starts_with(' ')
        || text.ends_with([' ', ':'])
        || text.contains(": ")
        || text.contains(" #")
        || matches!(text, "---" | "..." | "<<" | "=");
    if !is_special {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "''"))
}
