//! Redirections.

use std::cell::RefCell;
use std::rc::Rc;

use super::error::SyntaxError;
use super::heredoc::PendingDocument;
use super::lexer::{Parser, name_length};
use super::tree::{Descriptor, Part, Redirect, RedirectAction, Word};
use super::word::WordContext;

impl Parser<'_> {
    /// Parses the redirection that comes next, if there is one.
    pub(super) fn redirect(&mut self) -> Result<Option<Redirect>, SyntaxError> {
        let first = self.peek();
        let descriptor = match first {
            b'<' | b'>' => None,
            b'&' if self.ahead(1) == b'>' => None,
            b'0'..=b'9' => {
                let rest = &self.text.as_bytes()[self.at..];
                let digits = rest.iter().position(|b| !b.is_ascii_digit()).unwrap_or(rest.len());
                // `2<(` is a word as well.
                if !matches!(self.ahead(digits), b'<' | b'>') || self.ahead(digits + 1) == b'(' {
                    return Ok(None);
                }
                let Ok(number) = self.text[self.at..self.at + digits].parse() else { return Ok(None) };
                self.at += digits;
                Some(Descriptor::Number(number))
            }
            b'{' => {
                let mut length = name_length(&self.text.as_bytes()[self.at + 1..]);
                if length > 0 && self.ahead(length + 1) == b'[' {
                    let rest = &self.text[self.at + 1 + length..];
                    length += rest.find(['}', ' ', '\n']).filter(|end| rest[..*end].ends_with(']')).unwrap_or(0);
                }
                let closed = length > 0 && self.ahead(length + 1) == b'}';
                if !closed || !matches!(self.ahead(length + 2), b'<' | b'>') {
                    return Ok(None);
                }
                let name = self.text[self.at + 1..self.at + 1 + length].to_owned();
                self.at += length + 2;
                Some(Descriptor::Variable(name))
            }
            _ => return Ok(None),
        };
        // `<(` starts a word.
        if descriptor.is_none() && first != b'&' && self.ahead(1) == b'(' {
            return Ok(None);
        }
        let Some(&(operator, action)) = OPERATORS.iter().find(|(o, _)| self.starts(o)) else { return Ok(None) };
        self.at += operator.len();
        if matches!(action, RedirectAction::Document | RedirectAction::DocumentTabs) {
            return self.heredoc(descriptor, action).map(Some);
        }
        // Braces are not expanded in a here-string.
        let place = if action == RedirectAction::String { WordContext::Value } else { WordContext::Argument };
        let target = self.expect_word(place)?;
        Ok(Some(Redirect { descriptor, action, target, document: None }))
    }

    fn heredoc(&mut self, descriptor: Option<Descriptor>, action: RedirectAction) -> Result<Redirect, SyntaxError> {
        self.blanks();
        let start = self.at;
        let target = self.expect_word(WordContext::Value)?;
        let written = self.text[start..self.at].to_owned();
        // The delimiter is not expanded: an expansion in it is literal text.
        let quoted = written.contains(['\'', '"', '\\']);
        let delimiter = match quoted {
            true => plain_text(&target).unwrap_or_else(|| written.clone()),
            false => written.clone(),
        };
        let document = Rc::new(RefCell::new(Word::default()));
        self.heredocs.push(PendingDocument {
            delimiter,
            tabs: action == RedirectAction::DocumentTabs,
            quoted,
            document: document.clone(),
        });
        Ok(Redirect { descriptor, action, target: Word::of(Part::Text(written)), document: Some(document) })
    }
}

fn plain_text(word: &Word) -> Option<String> {
    word.parts
        .iter()
        .map(|part| match part {
            Part::Text(text) | Part::Bare(text) | Part::Glob(text) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

/// The operators, longest first.
const OPERATORS: [(&str, RedirectAction); 12] = [
    ("&>>", RedirectAction::AppendBoth),
    ("<<<", RedirectAction::String),
    ("<<-", RedirectAction::DocumentTabs),
    ("&>", RedirectAction::Both),
    (">>", RedirectAction::Append),
    (">|", RedirectAction::Clobber),
    (">&", RedirectAction::DuplicateWrite),
    ("<<", RedirectAction::Document),
    ("<>", RedirectAction::ReadWrite),
    ("<&", RedirectAction::DuplicateRead),
    ("<", RedirectAction::Read),
    (">", RedirectAction::Write),
];
