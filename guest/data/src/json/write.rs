//! Writing values as JSON, in jq's format.

use crate::value::{Text, Value};

/// The layout of the output.
#[derive(Clone, Default)]
pub(crate) struct Layout {
    /// The indent of a level; none is all in one line.
    pub(crate) indent: Option<Vec<u8>>,
    /// True if keys are sorted.
    pub(crate) sorted: bool,
    /// True if only ASCII is printed.
    pub(crate) ascii: bool,
    /// The colours, if there are any.
    pub(crate) colors: Option<Colors>,
}

/// The colours of the kinds of values: null, false, true, numbers, strings, arrays, objects, keys.
#[derive(Clone)]
pub(crate) struct Colors([Vec<u8>; 8]);

const RESET: &[u8] = b"\x1b[0m";

impl Colors {
    /// Returns jq's colours, with those of `JQ_COLORS` in place of the first ones. An invalid list is ignored.
    pub(crate) fn new(chosen: Option<&str>) -> (Colors, bool) {
        let mut codes = ["1;30", "0;39", "0;39", "0;39", "0;32", "1;39", "1;39", "34;1"].map(str::to_owned);
        let mut valid = true;
        if let Some(chosen) = chosen {
            let fields: Vec<&str> = chosen.split(':').collect();
            valid = fields.iter().all(|field| field.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'));
            if valid {
                for (code, field) in codes.iter_mut().zip(fields) {
                    field.clone_into(code);
                }
            }
        }
        (Colors(codes.map(|code| format!("\x1b[{code}m").into_bytes())), valid)
    }

    fn of(&self, value: &Value) -> &[u8] {
        &self.0[match value {
            Value::Null => 0,
            Value::Bool(false) => 1,
            Value::Bool(true) => 2,
            Value::Number(_) => 3,
            Value::Text(_) => 4,
            Value::Array(_) => 5,
            Value::Object(_) => 6,
        }]
    }
}

/// An open array or object.
struct Level<'v> {
    items: Items<'v>,
    /// True if nothing of it has been written yet.
    is_new: bool,
}

enum Items<'v> {
    Array(std::slice::Iter<'v, Value>),
    Object(std::vec::IntoIter<(&'v Text, &'v Value)>),
}

/// Returns a value in one line.
pub(crate) fn compact(value: &Value) -> String {
    let mut out = Vec::new();
    dump(value, &Layout::default(), &mut out);
    String::from_utf8(out).unwrap_or_default()
}

/// Adds a value's text.
pub(crate) fn dump(value: &Value, layout: &Layout, out: &mut Vec<u8>) {
    if layout.colors.is_some() {
        return colored(value, layout, out);
    }
    let mut levels: Vec<Level> = Vec::new();
    open(value, layout, &mut levels, out);
    while let Some(level) = levels.last_mut() {
        let is_new = std::mem::take(&mut level.is_new);
        match level.next() {
            None => {
                let close = level.close();
                levels.pop();
                line(layout, levels.len(), out);
                out.push(close);
            }
            Some((key, child)) => {
                if !is_new {
                    out.push(b',');
                }
                line(layout, levels.len(), out);
                if let Some(key) = key {
                    quote(key, layout.ascii, out);
                    out.push(b':');
                    if layout.indent.is_some() {
                        out.push(b' ');
                    }
                }
                open(child, layout, &mut levels, out);
            }
        }
    }
}

/// Adds a leaf, or the begin of an array or an object that is not empty.
fn open<'v>(value: &'v Value, layout: &Layout, levels: &mut Vec<Level<'v>>, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Number(number) => number.print(out),
        Value::Text(text) => quote(text, layout.ascii, out),
        Value::Array(items) if items.is_empty() => out.extend_from_slice(b"[]"),
        Value::Array(items) => {
            out.push(b'[');
            levels.push(Level { items: Items::Array(items.iter()), is_new: true });
        }
        Value::Object(object) if object.is_empty() => out.extend_from_slice(b"{}"),
        Value::Object(object) => {
            out.push(b'{');
            let entries: Vec<_> = if layout.sorted { object.sorted() } else { object.iter().collect() };
            levels.push(Level { items: Items::Object(entries.into_iter()), is_new: true });
        }
    }
}

fn line(layout: &Layout, level: usize, out: &mut Vec<u8>) {
    if let Some(indent) = &layout.indent {
        out.push(b'\n');
        for _ in 0..level {
            out.extend_from_slice(indent);
        }
    }
}

/// Adds a string in quotes.
fn quote(text: &str, ascii: bool, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut plain = 0;
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        let escape: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\t' => b"\\t",
            b'\r' => b"\\r",
            8 => b"\\b",
            12 => b"\\f",
            0..0x20 | 0x7f => &format!("\\u{byte:04x}").into_bytes(),
            0x80.. if ascii => {
                out.extend_from_slice(&bytes[plain..at]);
                if let Some(c) = text[at..].chars().next() {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        out.extend_from_slice(format!("\\u{unit:04x}").as_bytes());
                    }
                    at += c.len_utf8();
                }
                plain = at;
                continue;
            }
            _ => {
                at += 1;
                continue;
            }
        };
        out.extend_from_slice(&bytes[plain..at]);
        out.extend_from_slice(escape);
        at += 1;
        plain = at;
    }
    out.extend_from_slice(&bytes[plain..]);
    out.push(b'"');
}

/// Adds a value's text in colours. Each colour begins and ends at the same byte as in jq's output.
fn colored(value: &Value, layout: &Layout, out: &mut Vec<u8>) {
    let Some(colors) = &layout.colors else { return };
    let plain = Layout { colors: None, indent: None, ..layout.clone() };
    let mut levels: Vec<(Level, &Value)> = Vec::new();
    let mut next = Some(value);
    loop {
        if let Some(value) = next.take() {
            let color = colors.of(value);
            out.extend_from_slice(color);
            let mut opened = Vec::new();
            open(value, &plain, &mut opened, out);
            match opened.pop() {
                Some(level) => levels.push((level, value)),
                None => out.extend_from_slice(RESET),
            }
        }
        let depth = levels.len();
        let Some((level, holder)) = levels.last_mut() else { return };
        let color = colors.of(holder);
        let is_new = std::mem::take(&mut level.is_new);
        match level.next() {
            Some((key, child)) => {
                if !is_new {
                    out.extend_from_slice(color);
                    out.push(b',');
                }
                line(layout, depth, out);
                if let Some(key) = key {
                    out.extend_from_slice(RESET);
                    out.extend_from_slice(&colors.0[7]);
                    quote(key, layout.ascii, out);
                    out.extend_from_slice(RESET);
                    out.extend_from_slice(color);
                    out.push(b':');
                    if layout.indent.is_some() {
                        out.push(b' ');
                    }
                    out.extend_from_slice(RESET);
                }
                next = Some(child);
            }
            None => {
                out.extend_from_slice(color);
                let close = level.close();
                line(layout, depth - 1, out);
                out.extend_from_slice(color);
                out.push(close);
                out.extend_from_slice(RESET);
                levels.pop();
            }
        }
    }
}

impl<'v> Level<'v> {
    fn next(&mut self) -> Option<(Option<&'v Text>, &'v Value)> {
        match &mut self.items {
            Items::Array(items) => items.next().map(|item| (None, item)),
            Items::Object(entries) => entries.next().map(|(key, value)| (Some(key), value)),
        }
    }

    fn close(&self) -> u8 {
        match self.items {
            Items::Array(_) => b']',
            Items::Object(_) => b'}',
        }
    }
}
