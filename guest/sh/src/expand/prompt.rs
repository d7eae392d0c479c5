//! Prompt escapes, for `${x@P}` and PS4.

use crate::state::{Shell, Stop};

impl Shell {
    /// Decodes the backslash escapes of a prompt and expands the result.
    pub fn prompt(&mut self, text: &str) -> Result<String, Stop> {
        let mut out = String::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if c != '\\' {
                out.push(c);
                continue;
            }
            match chars.next() {
                Some('n') => out.push('\n'),
                Some('r') => out.push('\r'),
                Some('a') => out.push('\x07'),
                Some('e') => out.push('\x1b'),
                Some('u') => out.push_str(&self.text_of("USER").unwrap_or_else(|| "user".to_owned())),
                Some('h') | Some('H') => out.push_str(&self.text_of("HOSTNAME").unwrap_or_default()),
                Some('s') => out.push_str(self.name.rsplit('/').next().unwrap_or_default()),
                Some('v') => out.push_str("5.2"),
                Some('V') => out.push_str("5.2.15"),
                Some('w') => out.push_str(&self.short_directory()),
                Some('W') => {
                    let directory = self.short_directory();
                    let last = directory.rsplit('/').next().filter(|l| !l.is_empty());
                    out.push_str(last.unwrap_or(&directory));
                }
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
        self.expand_quoted_text(&out)
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
