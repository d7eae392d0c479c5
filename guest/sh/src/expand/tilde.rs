//! Tilde expansion.

use isopod_sys::{Fd, files};

use super::sink::Sink;
use crate::state::Shell;
use crate::state::options::SetOption;
use crate::syntax::name_length;

impl Shell {
    /// Adds unquoted text with pattern characters or tildes to a sink. A tilde is expanded at the start of the word,
    /// and in an assignment after each colon. Its name must not continue in the word's next part; `ends` tells.
    pub(super) fn expand_tildes(&mut self, text: &str, first: bool, ends: bool, sink: &mut Sink) {
        let mut rest = text;
        let mut at_start = first;
        // An argument that looks like an assignment is treated as one, except in POSIX mode.
        let name = if first && !sink.assignment && !self.options.has(SetOption::POSIX) {
            name_length(text.as_bytes())
        } else {
            0
        };
        if name > 0
            && let Some(equals) = text[name..].strip_prefix('+').unwrap_or(&text[name..]).strip_prefix('=')
            && (equals.starts_with('~') || equals.contains(":~"))
        {
            sink.assignment = true;
            sink.glob(&text[..text.len() - equals.len()]);
            rest = equals;
        }
        loop {
            if at_start && rest.starts_with('~') {
                let end = rest.find(['/', ':']);
                let name = &rest[1..end.unwrap_or(rest.len())];
                if (end.is_some() || ends)
                    && let Some(home) = self.home_of(name)
                {
                    sink.quoted(&home);
                    rest = &rest[1 + name.len()..];
                }
            }
            match rest.find(":~") {
                Some(colon) if sink.assignment => {
                    sink.glob(&rest[..=colon]);
                    rest = &rest[colon + 1..];
                    at_start = true;
                }
                _ => break,
            }
        }
        if !rest.is_empty() {
            sink.glob(rest);
        }
    }

    /// Returns the directory that `~name` stands for.
    pub fn home_of(&self, name: &str) -> Option<String> {
        match name {
            "" => self.text_of("HOME").or_else(|| passwd_home("user")),
            "+" => self.text_of("PWD"),
            "-" => self.text_of("OLDPWD"),
            _ => passwd_home(name),
        }
    }
}

fn passwd_home(user: &str) -> Option<String> {
    let fd = Fd::open("/etc/passwd", files::OpenFlags::READ, 0).ok()?;
    let mut bytes = Vec::new();
    loop {
        let piece = fd.read(65536).ok()?;
        if piece.is_empty() {
            break;
        }
        bytes.extend(piece);
    }
    let text = String::from_utf8_lossy(&bytes);
    let entry = text.lines().find(|l| l.split(':').next() == Some(user))?;
    entry.split(':').nth(5).map(str::to_owned)
}
