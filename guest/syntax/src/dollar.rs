//! Expansions: `$…` and backquotes.

use super::error::SyntaxError;
use super::lexer::{Parser, name_length};
use super::tree::{Arith, Index, Name, Operation, Parameter, Part, Substitution};
use super::word::Builder;

impl Parser<'_> {
    /// Parses an expansion, with the cursor on its `$`.
    pub(super) fn dollar(&mut self, builder: &mut Builder, quoted: bool) -> Result<(), SyntaxError> {
        match self.ahead(1) {
            b'\'' if !quoted => {
                self.at += 1;
                builder.quoted("");
                self.escaped_quotes(builder)
            }
            b'"' if !quoted => {
                self.at += 1;
                builder.quoted("");
                self.double_quotes(builder)
            }
            b'(' if self.ahead(2) == b'(' && self.closes_arithmetic(self.at + 3)? => {
                self.at += 3;
                let arith = self.nested(|p| p.arith_text(ArithEnd::Parentheses))?;
                builder.part(Part::Arith(arith.into(), quoted));
                Ok(())
            }
            b'(' => {
                self.at += 2;
                let list = self.nested(|p| p.substitution_list())?;
                builder.part(Part::Command(Substitution { list: list.into() }.into(), quoted));
                Ok(())
            }
            b'[' => {
                self.at += 2;
                let arith = self.nested(|p| p.arith_text(ArithEnd::Bracket))?;
                builder.part(Part::Arith(arith.into(), quoted));
                Ok(())
            }
            b'{' => {
                self.at += 2;
                let parameter = self.nested(|p| p.braced_parameter(quoted))?;
                builder.part(Part::Parameter(Box::new(parameter)));
                Ok(())
            }
            _ => {
                self.at += 1;
                match self.plain_name() {
                    Some(name) => {
                        let open = matches!(name, Name::Variable(_)) && !quoted;
                        builder.part(Part::Parameter(Box::new(Parameter { open, ..Parameter::plain(name, quoted) })));
                    }
                    None if quoted => builder.quoted("$"),
                    None => builder.bare("$"),
                }
                Ok(())
            }
        }
    }

    /// Parses the name after a `$` without braces: at most one digit.
    fn plain_name(&mut self) -> Option<Name> {
        let rest = &self.text.as_bytes()[self.at..];
        let length = name_length(rest);
        if length > 0 {
            let name = self.text[self.at..self.at + length].to_owned();
            self.at += length;
            return Some(Name::Variable(name));
        }
        let name = match *rest.first()? {
            digit @ b'0'..=b'9' => Name::Positional(u32::from(digit - b'0')),
            special @ (b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => Name::Special(special),
            _ => return None,
        };
        self.at += 1;
        Some(name)
    }

    /// Parses `` `…` ``: unescapes the text and parses it separately.
    pub(super) fn backquotes(&mut self, builder: &mut Builder, quoted: bool) -> Result<(), SyntaxError> {
        let line = self.line;
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.peek() {
                0 => return Err(self.unmatched('`')),
                b'`' => break,
                b'\\' if matches!(self.ahead(1), b'`' | b'\\' | b'$') || (quoted && self.ahead(1) == b'"') => {
                    text.push(char::from(self.ahead(1)));
                    self.at += 2;
                }
                byte => {
                    let Some(c) = self.text[self.at..].chars().next() else { continue };
                    text.push(c);
                    self.at += c.len_utf8();
                    self.line += u32::from(byte == b'\n');
                }
            }
        }
        self.at += 1;
        let list = self.nested(|p| p.parse_apart(text, line))?;
        builder.part(Part::Command(Substitution { list: list.into() }.into(), quoted));
        Ok(())
    }

    /// Parses a separate text as one list.
    fn parse_apart(&mut self, text: String, line: u32) -> Result<super::tree::List, SyntaxError> {
        let mut inner = self.within(text, line);
        inner.aliases = self.aliases.clone();
        let mut whole = super::tree::List::default();
        while let Some(list) = inner.next_command()? {
            whole.items.extend(list.items);
        }
        self.unfinished.append(&mut inner.unfinished);
        self.reread = inner.reread;
        Ok(whole)
    }

    /// Returns true if the text after `((` ends in `))`. If not, it is a subshell in a subshell.
    pub(super) fn closes_arithmetic(&mut self, from: usize) -> Result<bool, SyntaxError> {
        let mut at = from;
        let closes = self.arithmetic_end(&mut at);
        self.charge(at - from)?;
        Ok(closes)
    }

    /// Moves to the parenthesis that closes the first of two. Returns true if another one follows.
    fn arithmetic_end(&mut self, at: &mut usize) -> bool {
        let mut depth = 0u32;
        loop {
            while *at >= self.text.len() {
                let end = std::mem::replace(&mut self.at, self.text.len());
                let refilled = self.peek() != 0;
                self.at = end;
                if !refilled {
                    return false;
                }
            }
            match self.text.as_bytes()[*at] {
                b'(' => depth += 1,
                b')' if depth == 0 => return self.text.as_bytes().get(*at + 1) == Some(&b')'),
                b')' => depth -= 1,
                b'\\' => *at += 1,
                quote @ (b'\'' | b'"') => {
                    // An unclosed quotation is not arithmetic in any case.
                    match self.text.as_bytes()[*at + 1..].iter().position(|b| *b == quote) {
                        Some(length) => *at += length + 1,
                        None => {
                            *at = self.text.len();
                            return false;
                        }
                    }
                }
                _ => {}
            }
            *at += 1;
        }
    }

    /// Parses the text of an arithmetic expression up to its end, as in double quotes.
    pub(super) fn arith_text(&mut self, end: ArithEnd) -> Result<Arith, SyntaxError> {
        let mut builder = Builder::default();
        let start = self.at;
        let mut depth = 0u32;
        // The colons of conditional expressions do not end a slice.
        let mut questions = 0u32;
        loop {
            let byte = self.peek();
            match byte {
                0 => return Err(self.unmatched(end.close())),
                b'$' if end == ArithEnd::Subscript && self.ahead(1) == b'\'' => self.dollar(&mut builder, false)?,
                b'$' => self.dollar(&mut builder, true)?,
                b'`' => self.backquotes(&mut builder, true)?,
                b'\\' if self.ahead(1) == b'\n' => {
                    self.at += 2;
                    self.line += 1;
                }
                b'\\' if end == ArithEnd::Subscript || matches!(self.ahead(1), b'$' | b'`' | b'"' | b'\\') => {
                    self.backslash(&mut builder);
                }
                b'\'' if end == ArithEnd::Subscript => self.single_quotes(&mut builder)?,
                b'"' => self.double_quotes(&mut builder)?,
                _ if depth == 0 && end.is_at(self, questions) => {
                    self.at += end.length();
                    break;
                }
                _ => {
                    match byte {
                        b'(' | b'[' | b'{' => depth += 1,
                        b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                        b'\n' => self.line += 1,
                        b'?' if depth == 0 => questions += 1,
                        b':' if depth == 0 => questions = questions.saturating_sub(1),
                        _ => {}
                    }
                    let Some(c) = self.text[self.at..].chars().next() else { continue };
                    builder.bare(c.encode_utf8(&mut [0; 4]));
                    self.at += c.len_utf8();
                }
            }
        }
        let mut text = builder.word(false);
        self.keep_source(&mut text, start, self.at - end.length());
        Ok(Arith { text, ..Arith::default() })
    }
}

/// The end of an arithmetic expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArithEnd {
    /// `))`
    Parentheses,
    /// `]` of `$[ … ]`
    Bracket,
    /// `]` of a subscript, in which quotes keep their meaning.
    Subscript,
    /// `:` or `}` of a slice, which is not consumed.
    Slice,
    /// `;` of a `for`.
    Semicolon,
}

impl ArithEnd {
    fn is_at(self, parser: &Parser<'_>, questions: u32) -> bool {
        match self {
            ArithEnd::Parentheses => parser.starts("))"),
            ArithEnd::Bracket | ArithEnd::Subscript => parser.starts("]"),
            ArithEnd::Slice => parser.starts("}") || (parser.starts(":") && questions == 0),
            ArithEnd::Semicolon => parser.starts(";"),
        }
    }

    fn length(self) -> usize {
        match self {
            ArithEnd::Parentheses => 2,
            ArithEnd::Bracket | ArithEnd::Subscript | ArithEnd::Semicolon => 1,
            ArithEnd::Slice => 0,
        }
    }

    fn close(self) -> char {
        match self {
            ArithEnd::Parentheses | ArithEnd::Semicolon => ')',
            ArithEnd::Bracket | ArithEnd::Subscript => ']',
            ArithEnd::Slice => '}',
        }
    }
}

impl Parameter {
    /// Makes the parameter `$name`.
    pub(super) fn plain(name: Name, quoted: bool) -> Parameter {
        Parameter { name, index: None, indirect: false, operation: Operation::Value, quoted, open: false }
    }
}

impl Index {
    /// Makes a subscript of the text between the brackets.
    pub(super) fn from_arith(arith: Arith) -> Index {
        match arith.text.parts.as_slice() {
            [Part::Bare(text)] if text == "@" => Index::All,
            // A lone `*` is marked as a pattern.
            [Part::Glob(text)] if text == "*" => Index::Joined,
            _ => Index::Element(arith),
        }
    }
}
