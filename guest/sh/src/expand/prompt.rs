//! Prompt escapes, for `${x@P}` and PS4.

use crate::builtins::strftime;
use crate::state::options::Shopt;
use crate::state::{Shell, Stop, nanoseconds};

/// Escapes a text against the expansion of the prompt.
fn escaped(text: &str, expands: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if expands && matches!(c, '$' | '`' | '\\' | '"') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

impl Shell {
    /// Decodes the backslash escapes of a prompt and expands the result.
    pub fn prompt(&mut self, text: &str) -> Result<String, Stop> {
        let mut out = String::new();
        let expands = self.options.shopt(Shopt::PROMPTVARS);
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if c != '\\' {
                out.push(c);
                continue;
            }
            let escape = chars.next();
            let time = match escape {
                Some('t') => Some("%H:%M:%S".to_owned()),
                Some('T') => Some("%I:%M:%S".to_owned()),
                Some('@') => Some("%I:%M %p".to_owned()),
                Some('A') => Some("%H:%M".to_owned()),
                Some('d') => Some("%a %b %d".to_owned()),
                Some('D') if chars.next_if_eq(&'{').is_some() => {
                    let format: String = chars.by_ref().take_while(|c| *c != '}').collect();
                    Some(if format.is_empty() { "%X".to_owned() } else { format })
                }
                _ => None,
            };
            if let Some(format) = time {
                out.push_str(&strftime(&format, nanoseconds() / 1_000_000_000));
                continue;
            }
            match escape {
                Some('n') => out.push('\n'),
                Some('r') => out.push('\r'),
                Some('a') => out.push('\x07'),
                Some('e') => out.push('\x1b'),
                Some('u') => out.push_str(&self.text_of("USER").unwrap_or_else(|| "user".to_owned())),
                Some('h') | Some('H') => out.push_str(&self.text_of("HOSTNAME").unwrap_or_default()),
                Some('s') => out.push_str(self.name.rsplit('/').next().unwrap_or_default()),
                Some('v') => out.push_str("5.2"),
                Some('V') => out.push_str("5.2.15"),
                // The name of a directory is not expanded again.
                Some('w') => out.push_str(&escaped(&self.short_directory(), expands)),
                Some('W') => {
                    let directory = self.short_directory();
                    let last = directory.rsplit('/').next().filter(|l| !l.is_empty());
                    out.push_str(&escaped(last.unwrap_or(&directory), expands));
                }
                Some('l') => out.push_str("tty"),
                Some('$') => out.push('$'),
                Some('#') | Some('!') => out.push('1'),
                Some('j') => out.push_str(&self.jobs.list.len().to_string()),
                Some('\\') => out.push('\\'),
                Some('[') | Some(']') => {}
                Some(digit @ '0'..='7') => {
                    let mut code = digit as u32 - '0' as u32;
                    for _ in 0..2 {
                        if let Some(next @ '0'..='7') = chars.peek().copied() {
                            code = code * 8 + (next as u32 - '0' as u32);
                            chars.next();
                        }
                    }
                    out.push(crate::text::byte_char(code as u8));
                }
                Some(other) => {
                    out.push('\\');
                    out.push(other);
                }
                None => out.push('\\'),
            }
        }
        if expands { self.expand_quoted_text(&out) } else { Ok(out) }
    }

    fn short_directory(&self) -> String {
        let directory = self.text_of("PWD").unwrap_or_default();
        match self.text_of("HOME") {
            Some(home) if directory == home => "~".to_owned(),
            Some(home) if directory.starts_with(&format!("{home}/")) => format!("~{}", &directory[home.len()..]),
            _ => directory,
        }
    }
}
