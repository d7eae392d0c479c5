//! Splitting a text into fields.

use std::rc::Rc;

use isopod_regex::Regex;
use memchr::{memchr, memchr2};

use crate::text;

/// Start and end of a field.
pub(crate) type Span = (u32, u32);

/// A method of splitting.
#[derive(Clone)]
pub(crate) enum Splitter {
    /// Fields are separated by white space, which is ignored at both ends: `FS = " "`.
    Blanks,
    /// Fields are separated by a byte, and with `newlines` also by a newline, as for `RS = ""`.
    Byte { byte: u8, newlines: bool },
    /// Fields are separated by matches.
    Regex(Rc<Regex>),
    /// Every character is a field, or with `bytes` every byte: `FS = ""`.
    Characters { bytes: bool },
    /// Fields have fixed widths, each after a number of skipped characters. The last one can take the rest.
    Widths(Rc<Vec<(usize, Option<usize>)>>),
    /// Every match is a field: `FPAT`.
    Content(Rc<Regex>),
}

/// The progress of splitting a text.
#[derive(Default, Clone, Copy)]
pub(crate) struct Progress {
    /// The offset at which to continue.
    pub at: usize,
    /// The end of the text was reached.
    pub complete: bool,
}

impl Splitter {
    /// Appends fields until there are `wanted`, or all of them.
    #[inline]
    pub(crate) fn split(&self, text: &[u8], progress: &mut Progress, wanted: usize, fields: &mut Vec<Span>) {
        if text.is_empty() {
            progress.complete = true;
            return;
        }
        match self {
            Splitter::Blanks => blanks(text, progress, wanted, fields),
            Splitter::Byte { byte, newlines } => {
                while fields.len() < wanted {
                    let rest = &text[progress.at..];
                    let found = if *newlines { memchr2(*byte, b'\n', rest) } else { memchr(*byte, rest) };
                    match found {
                        Some(length) => {
                            fields.push((progress.at as u32, (progress.at + length) as u32));
                            progress.at += length + 1;
                        }
                        None => {
                            fields.push((progress.at as u32, text.len() as u32));
                            progress.complete = true;
                            return;
                        }
                    }
                }
            }
            other => {
                other.each(text, |field, _| fields.push((field.0 as u32, field.1 as u32)));
                progress.complete = true;
            }
        }
    }

    /// Calls `found` with each field and the separator after it.
    pub(crate) fn each(&self, text: &[u8], mut found: impl FnMut((usize, usize), (usize, usize))) {
        if text.is_empty() {
            return;
        }
        match self {
            Splitter::Blanks => {
                let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n');
                let mut at = text.iter().take_while(|byte| is_blank(byte)).count();
                while at < text.len() {
                    let end = text[at..].iter().position(is_blank).map_or(text.len(), |length| at + length);
                    let next = text[end..].iter().position(|byte| !is_blank(byte)).map_or(text.len(), |gap| end + gap);
                    found((at, end), (end, next));
                    at = next;
                }
            }
            Splitter::Byte { byte, newlines } => {
                let mut at = 0;
                for (end, other) in text.iter().enumerate() {
                    if other == byte || (*newlines && *other == b'\n') {
                        found((at, end), (end, end + 1));
                        at = end + 1;
                    }
                }
                found((at, text.len()), (text.len(), text.len()));
            }
            Splitter::Regex(regex) => {
                let (mut at, mut from) = (0, 0);
                while let Some((start, end)) = regex.find_at(text, from) {
                    if end == start {
                        // An empty match does not separate.
                        from = start + text::length_of_first(&text[start..]).max(1);
                        if from > text.len() {
                            break;
                        }
                        continue;
                    }
                    found((at, start), (start, end));
                    (at, from) = (end, end);
                }
                found((at, text.len()), (text.len(), text.len()));
            }
            Splitter::Characters { bytes } => {
                let mut at = 0;
                while at < text.len() {
                    let end = at + if *bytes { 1 } else { text::length_of_first(&text[at..]) };
                    found((at, end), (end, end));
                    at = end;
                }
            }
            Splitter::Widths(widths) => {
                let mut at = 0;
                for (skipped, width) in widths.iter() {
                    at += text::offset(&text[at..], *skipped);
                    if at >= text.len() {
                        break;
                    }
                    let end = width.map_or(text.len(), |width| at + text::offset(&text[at..], width));
                    found((at, end), (end, end));
                    at = end;
                }
            }
            Splitter::Content(regex) => content(regex, text, found),
        }
    }
}

/// Splits by content. An empty match right after a field is not a field.
fn content(regex: &Regex, text: &[u8], mut found: impl FnMut((usize, usize), (usize, usize))) {
    let mut fields: Vec<(usize, usize)> = Vec::new();
    let mut from = 0;
    while from <= text.len() {
        let Some((start, end)) = regex.find_at(text, from) else { break };
        let touches = fields.last().is_some_and(|last| last.1 == start);
        if start == end && touches {
            from = start + text::length_of_first(&text[start..]).max(1);
            continue;
        }
        fields.push((start, end));
        from = end;
    }
    for (index, field) in fields.iter().enumerate() {
        let next = fields.get(index + 1).map_or(text.len(), |next| next.0);
        found(*field, (field.1, next));
    }
}

#[inline]
fn blanks(text: &[u8], progress: &mut Progress, wanted: usize, fields: &mut Vec<Span>) {
    let mut at = progress.at;
    while fields.len() < wanted {
        while at < text.len() && matches!(text[at], b' ' | b'\t' | b'\n') {
            at += 1;
        }
        if at == text.len() {
            progress.complete = true;
            break;
        }
        let start = at;
        while at < text.len() && !matches!(text[at], b' ' | b'\t' | b'\n') {
            at += 1;
        }
        fields.push((start as u32, at as u32));
    }
    progress.at = at;
}
