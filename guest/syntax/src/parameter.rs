//! `${ … }`

use super::dollar::ArithEnd;
use super::error::SyntaxError;
use super::lexer::{Parser, name_length};
use super::tree::{Fallback, Index, LetterCase, Name, Operation, Parameter, ReplacePlace, Word};
use super::word::{Builder, WordContext};

impl Parser<'_> {
    /// Parses a parameter expansion after `${` and consumes the `}`.
    ///
    /// A meaningless expansion is not a syntax error: bash reports it when it is expanded, so it is kept as `Bad`.
    pub(super) fn braced_parameter(&mut self, quoted: bool) -> Result<Parameter, SyntaxError> {
        let start = self.at;
        let mut parameter = match self.peek() {
            b'#' => self.length_or_count(quoted)?,
            b'!' => self.indirection(quoted)?,
            _ => self.named(quoted)?,
        };
        // A count has no case operators.
        if self.text[start..self.at] == *"#" && matches!(self.peek(), b'^' | b',' | b'~') {
            return self.bad(start, quoted);
        }
        if let Some(parameter) = &mut parameter
            && matches!(parameter.operation, Operation::Value)
            && self.peek() != b'}'
        {
            match self.operation(quoted)? {
                Some(operation) => parameter.operation = operation,
                None => return self.bad(start, quoted),
            }
        }
        if self.peek() != b'}' {
            return self.bad(start, quoted);
        }
        self.at += 1;
        parameter.map_or_else(|| self.bad_text(start, quoted), Ok)
    }

    /// `${#}`, `${#x}`, `${#x[@]}`; `${#-w}` is `$#` with an operator.
    fn length_or_count(&mut self, quoted: bool) -> Result<Option<Parameter>, SyntaxError> {
        let start = self.at;
        self.at += 1;
        if self.peek() != b'}'
            && let Some(mut parameter) = self.named(quoted)?
            && self.peek() == b'}'
        {
            parameter.operation = Operation::Length;
            return Ok(Some(parameter));
        }
        self.charge(self.at - start)?;
        self.at = start + 1;
        Ok(Some(Parameter::plain(Name::Special(b'#'), quoted)))
    }

    /// `${!x}`, `${!x[@]}`, `${!x*}`; `${!}` and `${!-w}` are `$!`.
    fn indirection(&mut self, quoted: bool) -> Result<Option<Parameter>, SyntaxError> {
        let start = self.at;
        self.at += 1;
        let length = name_length(&self.text.as_bytes()[self.at..]);
        if length > 0 && matches!(self.ahead(length), b'*' | b'@') && self.ahead(length + 1) == b'}' {
            let mut parameter = Parameter::plain(Name::Special(self.ahead(length)), quoted);
            parameter.operation = Operation::Names(self.text[self.at..self.at + length].to_owned());
            self.at += length + 1;
            return Ok(Some(parameter));
        }
        let after = self.peek();
        if length > 0 || after.is_ascii_digit() || (matches!(after, b'#' | b'@' | b'*' | b'?') && self.ahead(1) == b'}')
        {
            let Some(mut parameter) = self.named(quoted)? else { return Ok(None) };
            match parameter.index {
                Some(Index::All | Index::Joined) if self.peek() == b'}' => parameter.operation = Operation::Keys,
                _ => parameter.indirect = true,
            }
            return Ok(Some(parameter));
        }
        self.at = start + 1;
        Ok(Some(Parameter::plain(Name::Special(b'!'), quoted)))
    }

    /// Parses a name and its subscript.
    fn named(&mut self, quoted: bool) -> Result<Option<Parameter>, SyntaxError> {
        let rest = &self.text.as_bytes()[self.at..];
        let length = name_length(rest);
        if length > 0 {
            let name = Name::Variable(self.text[self.at..self.at + length].to_owned());
            self.at += length;
            let mut parameter = Parameter::plain(name, quoted);
            if self.peek() == b'[' {
                // Without a subscript, or without its end, it is not an expansion.
                if self.ahead(1) == b']' || !self.has_subscript_end() {
                    return Ok(None);
                }
                self.at += 1;
                parameter.index = Some(Index::from_arith(self.arith_text(ArithEnd::Subscript)?));
            }
            return Ok(Some(parameter));
        }
        let name = match rest.first() {
            Some(b'0'..=b'9') => {
                let digits = rest.iter().position(|b| !b.is_ascii_digit()).unwrap_or(rest.len());
                let number = self.text[self.at..self.at + digits].parse();
                self.at += digits;
                // A number past u32 names a parameter that cannot be set.
                return Ok(Some(Parameter::plain(Name::Positional(number.unwrap_or(u32::MAX)), quoted)));
            }
            Some(special @ (b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')) => Name::Special(*special),
            _ => return Ok(None),
        };
        self.at += 1;
        Ok(Some(Parameter::plain(name, quoted)))
    }

    /// Returns true if the subscript at the cursor is closed before the expansion is.
    fn has_subscript_end(&self) -> bool {
        let rest = &self.text.as_bytes()[self.at..];
        let mut depth = 0u32;
        for byte in rest {
            match byte {
                // Quoted or nested text may have brackets and braces of its own; it is closed, or an error.
                b'\'' | b'"' | b'$' | b'`' | b'\\' => return true,
                b'[' => depth += 1,
                b']' if depth == 1 => return true,
                b']' => depth -= 1,
                b'}' => return false,
                _ => {}
            }
        }
        true
    }

    /// Parses the operator and its operands. Returns `None` if there is no such operator.
    fn operation(&mut self, quoted: bool) -> Result<Option<Operation>, SyntaxError> {
        let first = self.peek();
        if first == b':' && !matches!(self.ahead(1), b'-' | b'=' | b'?' | b'+') {
            self.at += 1;
            if self.peek() == b'}' {
                return Ok(None);
            }
            let offset = self.arith_text(ArithEnd::Slice)?;
            let length = match self.peek() {
                b':' => {
                    self.at += 1;
                    Some(self.arith_text(ArithEnd::Slice)?)
                }
                _ => None,
            };
            return Ok(Some(Operation::Slice { offset, length }));
        }
        let colon = first == b':';
        let operator = if colon { self.ahead(1) } else { first };
        if let Some(kind) = Fallback::from_operator(operator) {
            self.at += 1 + usize::from(colon);
            return Ok(Some(Operation::Fallback { kind, colon, word: self.operand(quoted)? }));
        }
        if !matches!(first, b'#' | b'%' | b'/' | b'^' | b',' | b'~' | b'@') {
            return Ok(None);
        }
        let doubled = self.ahead(1) == first;
        self.at += 1;
        let operation = match first {
            b'#' | b'%' => {
                self.at += usize::from(doubled);
                let pattern = self.pattern_operand(WordContext::Operand)?;
                Operation::Remove { suffix: first == b'%', longest: doubled, pattern }
            }
            b'/' => self.replacement()?,
            b'^' | b',' | b'~' => {
                self.at += usize::from(doubled);
                let to = match first {
                    b'^' => LetterCase::Upper,
                    b',' => LetterCase::Lower,
                    _ => LetterCase::Toggle,
                };
                Operation::Case { to, all: doubled, pattern: self.pattern_operand(WordContext::Operand)? }
            }
            b'@' if self.peek().is_ascii_alphabetic() && self.ahead(1) == b'}' => {
                self.at += 1;
                Operation::Transform(self.text.as_bytes()[self.at - 1])
            }
            _ => return Ok(None),
        };
        Ok(Some(operation))
    }

    /// Parses `/pattern/with` after the first slash.
    fn replacement(&mut self) -> Result<Operation, SyntaxError> {
        let place = match self.peek() {
            b'/' => ReplacePlace::All,
            b'#' => ReplacePlace::Start,
            b'%' => ReplacePlace::End,
            _ => ReplacePlace::First,
        };
        self.at += usize::from(place != ReplacePlace::First);
        // A slash in the first place is part of the pattern: `${x////_}`.
        let mut builder = Builder::default();
        if self.peek() == b'/' && place != ReplacePlace::Start && place != ReplacePlace::End {
            builder.bare("/");
            self.at += 1;
        }
        self.word_into(&mut builder, WordContext::OperandPattern)?;
        let pattern = builder.word(false);
        let with = match self.peek() {
            b'/' => {
                self.at += 1;
                self.pattern_operand(WordContext::Operand)?
            }
            _ => Word::default(),
        };
        Ok(Operation::Replace { place, pattern, with })
    }

    /// Parses an operand in which quotes keep their meaning, in double quotes or not.
    fn pattern_operand(&mut self, place: WordContext) -> Result<Word, SyntaxError> {
        let mut builder = Builder::default();
        self.word_into(&mut builder, place)?;
        Ok(builder.word(false))
    }

    /// Parses the word of a fallback. In double quotes it is text in double quotes.
    fn operand(&mut self, quoted: bool) -> Result<Word, SyntaxError> {
        if !quoted {
            return self.pattern_operand(WordContext::Operand);
        }
        let mut builder = Builder::default();
        // Single quotes are text here, but hide braces up to their partner.
        let mut hidden = 0;
        loop {
            match self.peek() {
                0 => return Err(self.unmatched('}')),
                b'}' if self.at >= hidden => return Ok(builder.word(false)),
                b'"' => self.double_quotes(&mut builder)?,
                b'\'' if self.at >= hidden && !self.posix => {
                    let rest = &self.text[self.at + 1..];
                    let close = rest.find('\'').filter(|close| !rest[..*close].contains("}\""));
                    hidden = self.at + close.map_or(1, |close| close + 2);
                    self.quoted_piece(&mut builder, b'}')?;
                }
                b'$' if self.ahead(1) == b'\'' => {
                    self.at += 1;
                    builder.quoted("");
                    self.escaped_quotes(&mut builder)?;
                }
                _ => self.quoted_piece(&mut builder, b'}')?,
            }
        }
    }

    /// Skips to the end of an invalid expansion.
    fn bad(&mut self, start: usize, quoted: bool) -> Result<Parameter, SyntaxError> {
        self.word_into(&mut Builder::default(), WordContext::Operand)?;
        self.at += 1;
        self.bad_text(start, quoted)
    }

    fn bad_text(&mut self, start: usize, quoted: bool) -> Result<Parameter, SyntaxError> {
        let text = format!("${{{}", &self.text[start..self.at]);
        let mut parameter = Parameter::plain(Name::Special(b'#'), quoted);
        parameter.operation = Operation::Bad(text);
        Ok(parameter)
    }
}

impl Fallback {
    fn from_operator(byte: u8) -> Option<Fallback> {
        match byte {
            b'-' => Some(Fallback::Default),
            b'=' => Some(Fallback::Assign),
            b'?' => Some(Fallback::Error),
            b'+' => Some(Fallback::Alternative),
            _ => None,
        }
    }
}
