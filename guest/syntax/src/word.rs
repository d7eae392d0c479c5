//! Words and quoting.

use super::error::{Fault, SyntaxError};
use super::lexer::{Parser, ends_word};
use super::tree::{Direction, Part, Word};
use crate::escape;

/// The context of a word, which determines its end and its special characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordContext {
    /// An argument: ends at a blank or an operator, has braces.
    Argument,
    /// The value of an assignment, the word of a `case`, a redirection's target: no braces.
    Value,
    /// The right side of `==` in `[[ … ]]`: extended patterns whatever the options.
    Pattern,
    /// The right side of `=~`: parentheses and bars belong to it.
    Regex,
    /// The operand of `${x-…}` outside double quotes: ends at `}`.
    Operand,
    /// The pattern of `${x/…/…}`: ends at `/` or `}`.
    OperandPattern,
    /// An element between the parentheses of an array: as an argument.
    Element,
}

/// The parts of a word that is being read.
#[derive(Default)]
pub(super) struct Builder {
    parts: Vec<Part>,
    bare: String,
    /// Unquoted text had a `{`, so braces must be looked for.
    braces: bool,
}

impl Builder {
    /// Appends unquoted text.
    pub(super) fn bare(&mut self, text: &str) {
        self.bare.push_str(text);
    }

    /// Appends quoted text.
    pub(super) fn quoted(&mut self, text: &str) {
        self.close();
        match self.parts.last_mut() {
            Some(Part::Text(last)) => last.push_str(text),
            _ => self.parts.push(Part::Text(text.to_owned())),
        }
    }

    /// Appends an expansion.
    pub(super) fn part(&mut self, part: Part) {
        self.close();
        self.parts.push(part);
    }

    fn close(&mut self) {
        if !self.bare.is_empty() {
            self.parts.push(Part::Bare(std::mem::take(&mut self.bare)));
        }
    }

    fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.bare.is_empty()
    }

    /// Returns the word, with pattern characters marked, and with braces found if `braces` is set.
    pub(super) fn word(mut self, braces: bool) -> Word {
        self.close();
        let mut parts = self.parts;
        if braces && self.braces {
            parts = super::brace::structure(parts);
        }
        mark_globs(&mut parts);
        Word { parts, source: None }
    }
}

/// Turns unquoted text that has pattern characters or tildes into `Glob` parts.
pub(super) fn mark_globs(parts: &mut [Part]) {
    // The name of the `[` command is the only frequent word with a pattern character.
    if let [Part::Bare(text)] = parts
        && text == "["
    {
        return;
    }
    for part in parts {
        if let Part::Bare(text) = part
            && text.bytes().any(|b| matches!(b, b'*' | b'?' | b'[' | b'~' | b'('))
        {
            *part = Part::Glob(std::mem::take(text));
        }
    }
}

impl Parser<'_> {
    /// Parses the word that comes next; `None` if there is none.
    pub(super) fn word(&mut self, place: WordContext) -> Result<Option<Word>, SyntaxError> {
        let mut builder = Builder::default();
        let start = self.at;
        self.word_into(&mut builder, place)?;
        if builder.is_empty() {
            return Ok(None);
        }
        let mut word = builder.word(matches!(place, WordContext::Argument | WordContext::Element));
        self.keep_source(&mut word, start, self.at);
        Ok(Some(word))
    }

    /// Keeps the source of a word within a function, or if `keep_sources` is set.
    pub(super) fn keep_source(&self, word: &mut Word, start: usize, end: usize) {
        if (self.functions > 0 || self.keep_sources) && word.bare().is_none() {
            word.source = self.text.get(start..end).map(|text| match text.contains("$'") || text.contains("$\"") {
                true => plainly_quoted(text).into(),
                false => text.into(),
            });
        }
    }

    /// Parses a word that must come next.
    pub(super) fn expect_word(&mut self, place: WordContext) -> Result<Word, SyntaxError> {
        self.blanks();
        match self.word(place)? {
            Some(word) => Ok(word),
            None => Err(self.missing_word()),
        }
    }

    /// Makes the error of a missing word. At the end of the text the error names the newline.
    pub(super) fn missing_word(&mut self) -> SyntaxError {
        match self.unexpected() {
            SyntaxError { fault: Fault::EndOfFile, .. } if !self.text.ends_with('\n') => {
                let line = self.text.lines().last().unwrap_or_default().to_owned();
                self.fault(Fault::Unexpected("newline".to_owned(), line))
            }
            error => error,
        }
    }

    /// Reads the text of a word into a builder up to the end of its context.
    pub(super) fn word_into(&mut self, builder: &mut Builder, place: WordContext) -> Result<(), SyntaxError> {
        let operand = matches!(place, WordContext::Operand | WordContext::OperandPattern);
        let mut regex_depth = 0u32;
        loop {
            let byte = self.peek();
            if is_ordinary(byte) {
                let rest = &self.text.as_bytes()[self.at..];
                let length = rest.iter().position(|b| !is_ordinary(*b)).unwrap_or(rest.len());
                builder.bare.push_str(&self.text[self.at..self.at + length]);
                self.at += length;
                continue;
            }
            match byte {
                b'\\' => self.backslash(builder),
                b'\'' => self.single_quotes(builder)?,
                b'"' => self.double_quotes(builder)?,
                b'$' => self.dollar(builder, false)?,
                b'`' => self.backquotes(builder, false)?,
                b'}' if operand => return Ok(()),
                b'/' if place == WordContext::OperandPattern => return Ok(()),
                0 if operand => return Err(self.unmatched('}')),
                b'<' | b'>' if self.ahead(1) == b'(' && place != WordContext::Regex => {
                    let direction = if byte == b'<' { Direction::Read } else { Direction::Write };
                    self.at += 2;
                    let list = self.nested(|p| p.substitution_list())?;
                    builder.part(Part::Process(list.into(), direction));
                }
                b'(' if place == WordContext::Regex => {
                    regex_depth += 1;
                    self.take(builder);
                }
                b')' if place == WordContext::Regex && regex_depth > 0 => {
                    regex_depth -= 1;
                    self.take(builder);
                }
                b'|' if place == WordContext::Regex => self.take(builder),
                b' ' | b'\t' | b'<' | b'>' | b';' | b'&' if regex_depth > 0 => self.take(builder),
                b'?' | b'*' | b'+' | b'@' | b'!' if self.ahead(1) == b'(' && self.has_extglob(place) => {
                    self.nested(|p| p.extended_pattern(builder))?;
                }
                _ if operand => {
                    if byte == b'\n' {
                        self.line += 1;
                    }
                    self.take(builder);
                }
                _ if ends_word(byte) => return Ok(()),
                _ => {
                    builder.braces |= byte == b'{';
                    self.take(builder);
                }
            }
        }
    }

    /// Consumes one character as unquoted text.
    fn take(&mut self, builder: &mut Builder) {
        let length = self.character_length();
        builder.bare.push_str(&self.text[self.at..self.at + length]);
        self.at += length;
    }

    /// Returns the number of bytes of the character at the cursor.
    fn character_length(&self) -> usize {
        self.text[self.at..].chars().next().map_or(0, char::len_utf8)
    }

    fn has_extglob(&self, place: WordContext) -> bool {
        match place {
            WordContext::Pattern => true,
            WordContext::Regex | WordContext::Operand | WordContext::OperandPattern => false,
            _ => self.extglob,
        }
    }

    /// Parses `@( … )`, with the cursor on its first character: any text up to the closing parenthesis.
    fn extended_pattern(&mut self, builder: &mut Builder) -> Result<(), SyntaxError> {
        self.take(builder);
        self.take(builder);
        let mut depth = 1u32;
        loop {
            match self.peek() {
                0 => return Err(self.unmatched(')')),
                b'\\' => self.backslash(builder),
                b'\'' => self.single_quotes(builder)?,
                b'"' => self.double_quotes(builder)?,
                b'$' => self.dollar(builder, false)?,
                b'`' => self.backquotes(builder, false)?,
                byte => {
                    match byte {
                        b'(' => depth += 1,
                        b')' => depth -= 1,
                        b'\n' => self.line += 1,
                        _ => {}
                    }
                    self.take(builder);
                    if depth == 0 {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Parses a backslash outside of quotes.
    pub(super) fn backslash(&mut self, builder: &mut Builder) {
        self.at += 1;
        match self.peek() {
            0 => builder.quoted("\\"),
            b'\n' => {
                self.at += 1;
                self.line += 1;
            }
            _ => {
                let length = self.character_length();
                let text = self.text[self.at..self.at + length].to_owned();
                builder.quoted(&text);
                self.at += length;
            }
        }
    }

    /// `' … '`
    pub(super) fn single_quotes(&mut self, builder: &mut Builder) -> Result<(), SyntaxError> {
        let opened = self.line;
        self.at += 1;
        builder.quoted("");
        loop {
            if self.peek() == 0 {
                self.line = opened;
                return Err(self.unmatched('\''));
            }
            let rest = &self.text[self.at..];
            let end = rest.find('\'');
            let text = rest[..end.unwrap_or(rest.len())].to_owned();
            self.line += text.bytes().filter(|b| *b == b'\n').count() as u32;
            self.at += text.len();
            builder.quoted(&text);
            if end.is_some() {
                self.at += 1;
                return Ok(());
            }
        }
    }

    /// Parses `$' … '`, with the cursor on the quote.
    pub(super) fn escaped_quotes(&mut self, builder: &mut Builder) -> Result<(), SyntaxError> {
        self.at += 1;
        let mut raw = String::new();
        loop {
            match self.peek() {
                0 => return Err(self.unmatched('\'')),
                b'\'' => break,
                b'\\' => {
                    raw.push('\\');
                    self.at += 1;
                    if self.peek() == 0 {
                        return Err(self.unmatched('\''));
                    }
                }
                b'\n' => self.line += 1,
                _ => {}
            }
            let length = self.character_length();
            raw.push_str(&self.text[self.at..self.at + length]);
            self.at += length;
        }
        self.at += 1;
        builder.quoted(&escape::ansi_c(&raw));
        Ok(())
    }

    /// `" … "`
    pub(super) fn double_quotes(&mut self, builder: &mut Builder) -> Result<(), SyntaxError> {
        let opened = self.line;
        self.at += 1;
        // `"$@"` without parameters makes no word, while `""` makes an empty one.
        if self.peek() == b'"' {
            builder.quoted("");
        }
        loop {
            match self.peek() {
                0 => {
                    self.line = opened;
                    return Err(self.unmatched('"'));
                }
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                _ => self.quoted_piece(builder, b'"')?,
            }
        }
    }

    /// Parses the whole text as in double quotes.
    pub fn quoted_text(&mut self) -> Result<Word, SyntaxError> {
        self.document_word()
    }

    /// Parses the text of a here-document that is expanded.
    pub(super) fn document_word(&mut self) -> Result<Word, SyntaxError> {
        let mut builder = Builder::default();
        while self.peek() != 0 {
            self.quoted_piece(&mut builder, 0)?;
        }
        Ok(builder.word(false))
    }

    /// Parses one piece of text as in double quotes. `close` is the quote that a backslash may escape: 0 in a
    /// here-document, where `"` is text; `}` in an operand within double quotes.
    pub(super) fn quoted_piece(&mut self, builder: &mut Builder, close: u8) -> Result<(), SyntaxError> {
        match self.peek() {
            b'\\' => match self.ahead(1) {
                b'\n' => {
                    self.at += 2;
                    self.line += 1;
                }
                byte @ (b'$' | b'`' | b'\\') => self.escaped(builder, byte),
                b'"' if close != 0 => self.escaped(builder, b'"'),
                b'}' if close == b'}' => self.escaped(builder, b'}'),
                _ => {
                    builder.quoted("\\");
                    self.at += 1;
                }
            },
            b'$' => self.dollar(builder, true)?,
            b'`' => self.backquotes(builder, true)?,
            _ => {
                let rest = &self.text.as_bytes()[self.at..];
                let special = |b: &u8| matches!(*b, b'\\' | b'$' | b'`' | b'"' | b'}' | b'\'');
                // The first byte is consumed in any case: the caller has handled the closing one.
                let length = 1 + rest[1..].iter().position(special).unwrap_or(rest.len() - 1);
                let text = self.text[self.at..self.at + length].to_owned();
                self.line += text.bytes().filter(|b| *b == b'\n').count() as u32;
                self.at += length;
                builder.quoted(&text);
            }
        }
        Ok(())
    }

    fn escaped(&mut self, builder: &mut Builder, byte: u8) {
        builder.quoted(char::from(byte).encode_utf8(&mut [0; 4]));
        self.at += 2;
    }
}

/// Returns a word as bash shows it: bash converts `$'…'` and `$"…"` when it reads them.
fn plainly_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut double = false;
    while let Some(c) = rest.chars().next() {
        let escaped = if double { None } else { rest.strip_prefix("$'") };
        if let Some(inner) = escaped
            && let Some(end) = closing_quote(inner)
        {
            out.push_str(&format!("'{}'", escape::ansi_c(&inner[..end]).replace('\'', "'\\''")));
            rest = &inner[end + 1..];
            continue;
        }
        let length = match c {
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            '\'' if !double => rest[1..].find('\'').map_or(rest.len(), |end| end + 2),
            '$' if !double && rest[1..].starts_with('"') => {
                rest = &rest[1..];
                continue;
            }
            _ => c.len_utf8(),
        };
        double ^= c == '"';
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out
}

/// Finds the quote that closes `$'`.
fn closing_quote(inner: &str) -> Option<usize> {
    let mut escaped = false;
    inner.bytes().position(|byte| {
        let closes = byte == b'\'' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    })
}

/// Returns true if a byte is plain text in any word: the common case, consumed in runs.
#[inline]
fn is_ordinary(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'-' | b'.' | b',' | b':' | b'=' | b'%' | b'^' | b'#' | b']' | b'~')
        || byte >= 0x80
}

/// Parses a subscript given as a text. Its expansions and quotes are those of a subscript in source.
pub fn subscript_word(text: &str) -> Word {
    let mut parser = Parser::new(format!("{text}]"), 1);
    match parser.arith_text(super::dollar::ArithEnd::Subscript) {
        Ok(arith) if parser.position() == text.len() + 1 => arith.text,
        _ => Word::of(Part::Text(text.to_owned())),
    }
}

/// Parses the elements of an array given as a text: `declare -a x='(1 2)'`.
pub fn elements_of(text: &str) -> Option<Vec<super::tree::Element>> {
    let mut parser = Parser::new(format!("x={text}"), 1);
    let assignment = parser.assignment().ok()??;
    match assignment.value {
        super::tree::AssignedValue::Array(elements) if parser.position() == text.len() + 2 => Some(elements),
        _ => None,
    }
}
