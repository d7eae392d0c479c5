//! Perl regular expressions by `fancy-regex`, with PCRE's differences translated.

use fancy_regex::{Regex, RegexBuilder};
use isopod_regex::Whole;

/// A compiled expression.
pub(crate) struct Perl {
    regex: Regex,
}

impl Perl {
    /// Compiles a pattern.
    pub(crate) fn new(pattern: &[u8], icase: bool, whole: Whole) -> Result<Perl, String> {
        let Ok(pattern) = std::str::from_utf8(pattern) else {
            return Err("the -P option takes UTF-8 only".to_owned());
        };
        let (before, after) = match whole {
            Whole::Any => ("(?m:", ")"),
            Whole::Word => ("(?m:(?<![0-9A-Za-z_])", "(?![0-9A-Za-z_]))"),
            Whole::Line => ("(?m:^", "$)"),
        };
        let text = format!("{before}(?:{}){after}", translate(pattern));
        let builder = RegexBuilder::new(&text).case_insensitive(icase).build();
        match builder {
            Ok(regex) => Ok(Perl { regex }),
            Err(error) => Err(explain(&error)),
        }
    }

    /// Returns start and end of the first match in a line that starts at or after `start`. Bytes that are not UTF-8
    /// are never matched.
    pub(crate) fn find_at(&self, line: &[u8], start: usize) -> Result<Option<(usize, usize)>, String> {
        let mut offset = 0;
        while offset <= line.len() {
            let (valid, skipped) = match std::str::from_utf8(&line[offset..]) {
                Ok(valid) => (valid, 0),
                Err(error) => {
                    let end = error.valid_up_to();
                    let bad = error.error_len().unwrap_or(line.len() - offset - end);
                    // The error says that these bytes are valid.
                    (std::str::from_utf8(&line[offset..offset + end]).unwrap_or_default(), bad)
                }
            };
            let end = offset + valid.len();
            if end >= start {
                let from = start.saturating_sub(offset);
                match self.regex.find_from_pos(valid, from) {
                    Ok(Some(found)) => return Ok(Some((offset + found.start(), offset + found.end()))),
                    Ok(None) => {}
                    Err(error) => return Err(explain(&error)),
                }
            }
            if skipped == 0 {
                break;
            }
            offset = end + skipped;
        }
        Ok(None)
    }
}

/// Translates PCRE's syntax: `\d`, `\w`, `\s` and `\b` are ASCII by default, and `\h`, `\N` and `\Q…\E` exist.
fn translate(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut chars = pattern.chars().peekable();
    let mut in_class = false;
    let mut class_start = false;
    while let Some(c) = chars.next() {
        let was_start = std::mem::take(&mut class_start);
        match c {
            '\\' => {
                let Some(next) = chars.next() else {
                    out.push('\\');
                    break;
                };
                match (next, in_class) {
                    ('Q', _) => {
                        let mut text = String::new();
                        while let Some(c) = chars.next() {
                            if c == '\\' && chars.peek() == Some(&'E') {
                                chars.next();
                                break;
                            }
                            text.push(c);
                        }
                        out.push_str(&fancy_regex::escape(&text));
                    }
                    ('E', _) => {}
                    ('d', false) => out.push_str("[0-9]"),
                    ('d', true) => out.push_str("0-9"),
                    ('D', false) => out.push_str("[^0-9]"),
                    ('w', false) => out.push_str("[0-9A-Za-z_]"),
                    ('w', true) => out.push_str("0-9A-Za-z_"),
                    ('W', false) => out.push_str("[^0-9A-Za-z_]"),
                    ('s', false) => out.push_str("[ \\t\\n\\x0b\\f\\r]"),
                    ('s', true) => out.push_str(" \\t\\n\\x0b\\f\\r"),
                    ('S', false) => out.push_str("[^ \\t\\n\\x0b\\f\\r]"),
                    ('h', false) => {
                        out.push_str("[ \\t\\u{a0}\\u{1680}\\u{2000}-\\u{200a}\\u{202f}\\u{205f}\\u{3000}]")
                    }
                    ('h', true) => out.push_str(" \\t\\u{a0}"),
                    ('N', false) => out.push_str("[^\\n]"),
                    ('b', false) => {
                        out.push_str("(?:(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])|(?<![0-9A-Za-z_])(?=[0-9A-Za-z_]))")
                    }
                    ('B', false) => {
                        out.push_str("(?:(?<=[0-9A-Za-z_])(?=[0-9A-Za-z_])|(?<![0-9A-Za-z_])(?![0-9A-Za-z_]))")
                    }
                    ('b', true) => out.push_str("\\x08"),
                    ('/' | '"' | '\'' | '`' | '%' | '@' | '=' | ':' | ';' | ',' | '!' | '_' | '<' | '>' | ' ', _) => {
                        out.push_str(&fancy_regex::escape(&next.to_string()));
                    }
                    (next, _) => out.extend(['\\', next]),
                }
            }
            '[' if in_class => {
                if chars.peek() == Some(&':') {
                    out.push('[');
                    for c in chars.by_ref() {
                        out.push(c);
                        if c == ']' {
                            break;
                        }
                    }
                } else {
                    out.push_str("\\[");
                }
            }
            '[' => {
                in_class = true;
                out.push('[');
                if chars.peek() == Some(&'^') {
                    chars.next();
                    out.push('^');
                }
                class_start = true;
            }
            ']' if in_class && was_start => out.push_str("\\]"),
            ']' => {
                in_class = false;
                out.push(']');
            }
            // PCRE has no operators on sets.
            '&' | '~' if in_class => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

fn explain(error: &fancy_regex::Error) -> String {
    let text = error.to_string();
    text.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}
