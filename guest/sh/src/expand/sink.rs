//! The sink of expanded text. It splits, joins or escapes the text according to its mode.

use std::borrow::Cow;

use crate::pattern;
use crate::state::Shell;
use crate::state::options::Shopt;

/// The use of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Arguments: split and globbed.
    Fields,
    /// One string.
    Single,
    /// The text of a pattern.
    Pattern,
    /// The text of a regular expression.
    Regex,
}

/// A finished field.
pub(super) enum Field {
    /// A field that is taken literally.
    Plain(String),
    /// A pattern for file names. The text is used if no file matches.
    Glob { text: String, pattern: String },
}

/// Collects the text of one word.
pub(super) struct Sink {
    pub(super) mode: Mode,
    /// The text so far; in mode `Fields`, of the current field.
    pub(super) text: String,
    /// Tildes are expanded after colons.
    pub(super) assignment: bool,
    /// The text of a here-document, where `$*` is joined by blanks.
    pub(super) document: bool,
    /// Unquoted text is split: it is the operand of an unquoted expansion.
    pub(super) split_bare: bool,
    /// The field separators.
    ifs: Ifs,
    fields: Vec<Field>,
    /// The current field exists, even if it is empty.
    open: bool,
    /// The last text was blank space that ended a field, so a separator after it ends no other one.
    blank_ended: bool,
    /// Unquoted text of the current field has pattern characters.
    globs: bool,
    /// The quoted ranges of the current field that have pattern characters.
    marks: Vec<(usize, usize)>,
    extended: bool,
}

impl Sink {
    pub(super) fn new(mode: Mode, shell: &Shell) -> Sink {
        Sink {
            mode,
            text: String::new(),
            assignment: false,
            document: false,
            split_bare: false,
            ifs: if mode == Mode::Fields { Ifs::of(shell) } else { Ifs::default() },
            fields: Vec::new(),
            open: false,
            blank_ended: false,
            globs: false,
            marks: Vec::new(),
            extended: shell.options.shopt(Shopt::EXTGLOB),
        }
    }

    /// Returns true if several values become several fields here.
    pub(super) fn makes_fields(&self) -> bool {
        self.mode == Mode::Fields
    }

    /// Adds quoted text.
    pub(super) fn quoted(&mut self, text: &str) {
        match self.mode {
            Mode::Single => self.text.push_str(text),
            Mode::Pattern => pattern::quote(text, &mut self.text),
            Mode::Regex => quote_regex(text, &mut self.text),
            Mode::Fields => {
                self.open = true;
                self.blank_ended = false;
                if self.globs || pattern::has_special(text) {
                    self.marks.push((self.text.len(), self.text.len() + text.len()));
                }
                self.text.push_str(text);
            }
        }
    }

    /// Adds unquoted text of the word itself, without pattern characters.
    pub(super) fn bare(&mut self, text: &str) {
        if self.split_bare && self.mode == Mode::Fields {
            return self.split(text);
        }
        self.text.push_str(text);
        self.open = true;
        self.blank_ended = false;
    }

    /// Adds unquoted text of the word itself that may be a pattern.
    pub(super) fn glob(&mut self, text: &str) {
        self.globs |= self.mode == Mode::Fields;
        self.bare(text);
    }

    /// Adds the result of an expansion.
    pub(super) fn value(&mut self, text: &str, quoted: bool) {
        if quoted {
            return self.quoted(text);
        }
        match self.mode {
            Mode::Fields => self.split(text),
            _ => self.text.push_str(text),
        }
    }

    /// Adds several results: `$@`, `${a[*]}`.
    pub(super) fn values(&mut self, values: &[String], joined: bool, quoted: bool, joiner: &str) {
        if !self.makes_fields() || (joined && quoted) {
            // If the word is not split into fields, `$@` is joined by blanks and `$*` by the first separator.
            let between = if joined && !self.document { joiner } else { " " };
            return self.value(&values.join(between), quoted);
        }
        // Unquoted values are joined and split again. If the separator is not a blank, an empty value between others
        // stays, and a separator at the edge of one belongs to the blank beside it.
        if !quoted && !self.ifs.others.is_empty() && !joiner.is_empty() {
            return self.split(&values.join(joiner));
        }
        for (i, value) in values.iter().enumerate() {
            if i > 0 {
                self.end_field(quoted);
            }
            self.value(value, quoted);
        }
    }

    /// Ends the current field. `always` adds an empty one if there is none.
    fn end_field(&mut self, always: bool) {
        if self.open || always {
            let text = std::mem::take(&mut self.text);
            let pattern = self.globs.then(|| with_marks(&text, &self.marks));
            self.fields.push(match pattern {
                Some(pattern) if pattern::is_pattern(&pattern, self.extended) => Field::Glob { text, pattern },
                _ => Field::Plain(text),
            });
        }
        self.open = false;
        self.globs = false;
        self.marks.clear();
    }

    /// Adds unquoted text, split at the separators.
    fn split(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let run = self.ifs.run(rest);
            if run > 0 {
                let piece = &rest[..run];
                self.globs |= pattern::has_special(piece);
                self.text.push_str(piece);
                self.open = true;
                self.blank_ended = false;
                rest = &rest[run..];
                continue;
            }
            let blanks = self.ifs.blanks(rest);
            rest = &rest[blanks..];
            let separator = self.ifs.separator(rest);
            if separator > 0 {
                // After blanks that ended a field the separator belongs to the same end.
                if !self.blank_ended {
                    self.end_field(true);
                }
                rest = &rest[separator..];
                rest = &rest[self.ifs.blanks(rest)..];
                self.blank_ended = false;
            } else if blanks > 0 && self.open {
                self.end_field(false);
                self.blank_ended = true;
            }
        }
    }

    /// Returns the fields.
    pub(super) fn finish(mut self) -> Vec<Field> {
        self.end_field(false);
        self.fields
    }
}

/// The field separators.
#[derive(Debug, Clone, Default)]
pub struct Ifs {
    blanks: Cow<'static, str>,
    others: Cow<'static, str>,
}

impl Ifs {
    /// Returns the current separators of a shell.
    pub fn of(shell: &Shell) -> Ifs {
        match shell.variables.get("IFS") {
            None => Ifs::new(" \t\n"),
            // Declared but unset, IFS is the default; empty, it splits nothing.
            Some(variable) => Ifs::new(variable.text().unwrap_or(" \t\n")),
        }
    }

    /// The separators in a text.
    pub fn new(text: &str) -> Ifs {
        if text == " \t\n" {
            return Ifs { blanks: Cow::Borrowed(" \t\n"), others: Cow::Borrowed("") };
        }
        let (blanks, others): (String, String) = text.chars().partition(|c| matches!(c, ' ' | '\t' | '\n'));
        Ifs { blanks: blanks.into(), others: others.into() }
    }

    /// Returns the length of the text up to the first separator.
    pub fn run(&self, text: &str) -> usize {
        match self.others.is_empty() {
            true => text.bytes().position(|b| self.is_blank(b)).unwrap_or(text.len()),
            false => text.find(|c| self.blanks.contains(c) || self.others.contains(c)).unwrap_or(text.len()),
        }
    }

    /// Returns the length of the blank separators that the text starts with.
    pub fn blanks(&self, text: &str) -> usize {
        text.bytes().position(|b| !self.is_blank(b)).unwrap_or(text.len())
    }

    /// Returns the length of the other separator that the text starts with, 0 if none.
    pub fn separator(&self, text: &str) -> usize {
        text.chars().next().filter(|c| self.others.contains(*c)).map_or(0, char::len_utf8)
    }

    /// Returns true if a byte is a blank separator.
    pub fn has_blank(&self, byte: u8) -> bool {
        self.is_blank(byte)
    }

    /// Returns true if a byte is another separator.
    pub fn has_other(&self, byte: u8) -> bool {
        byte < 0x80 && self.others.as_bytes().contains(&byte)
    }

    #[inline]
    fn is_blank(&self, byte: u8) -> bool {
        self.blanks.as_bytes().contains(&byte)
    }
}

/// Splits a text like the result of an unquoted expansion.
pub fn split_fields(text: &str, shell: &Shell) -> Vec<String> {
    let mut sink = Sink::new(Mode::Fields, shell);
    sink.split(text);
    sink.finish()
        .into_iter()
        .map(|field| match field {
            Field::Plain(text) | Field::Glob { text, .. } => text,
        })
        .collect()
}

/// Returns the pattern of a field: its text with quoted characters escaped.
fn with_marks(text: &str, marks: &[(usize, usize)]) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut at = 0;
    for (start, end) in marks {
        out.push_str(&text[at..*start]);
        pattern::quote(&text[*start..*end], &mut out);
        at = *end;
    }
    out.push_str(&text[at..]);
    out
}

fn quote_regex(text: &str, out: &mut String) {
    for c in text.chars() {
        if matches!(c, '.' | '[' | ']' | '\\' | '(' | ')' | '*' | '+' | '?' | '{' | '}' | '|' | '^' | '$') {
            out.push('\\');
        }
        out.push(c);
    }
}
