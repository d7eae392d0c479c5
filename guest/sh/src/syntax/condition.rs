//! `[[ … ]]`

use super::error::SyntaxError;
use super::lexer::{Parser, ends_word};
use super::tree::{Comparison, Condition};
use super::word::Place;

impl Parser<'_> {
    /// The expression, with the cursor after `[[`. Consumes the `]]`.
    pub(super) fn condition(&mut self) -> Result<Condition, SyntaxError> {
        let condition = self.condition_or()?;
        self.newlines()?;
        self.expect_keyword("]]")?;
        Ok(condition)
    }

    fn condition_or(&mut self) -> Result<Condition, SyntaxError> {
        let mut terms = vec![self.condition_and()?];
        loop {
            self.newlines()?;
            if !self.eat("||") {
                return Ok(single_or(terms, Condition::Or));
            }
            terms.push(self.condition_and()?);
        }
    }

    fn condition_and(&mut self) -> Result<Condition, SyntaxError> {
        let mut terms = vec![self.condition_term()?];
        loop {
            self.newlines()?;
            if !self.eat("&&") {
                return Ok(single_or(terms, Condition::And));
            }
            terms.push(self.condition_term()?);
        }
    }

    fn condition_term(&mut self) -> Result<Condition, SyntaxError> {
        self.newlines()?;
        match self.peek() {
            b'!' if ends_word(self.ahead(1)) => {
                self.at += 1;
                return Ok(Condition::Not(Box::new(self.nested(|p| p.condition_term())?)));
            }
            b'(' => {
                self.at += 1;
                let inner = self.nested(|p| p.condition_or())?;
                self.newlines()?;
                if self.peek() != b')' {
                    return Err(self.unexpected());
                }
                self.at += 1;
                return Ok(Condition::Group(Box::new(inner)));
            }
            _ => {}
        }
        if self.keyword() == Some("]]") {
            return Err(self.unexpected());
        }
        let unary = self.unary_operator();
        let word = self.expect_word(Place::Value)?;
        self.blanks();
        // `-f = x` compares, `-f x` tests: an operator after it makes the first word an operand.
        if let Some(comparison) = self.comparison() {
            let place = match comparison {
                Comparison::Regex => Place::Regex,
                Comparison::Match | Comparison::Equal | Comparison::NotMatch => Place::Pattern,
                _ => Place::Value,
            };
            let right = self.expect_word(place)?;
            return Ok(Condition::Binary(comparison, word, right));
        }
        if let Some(operator) = unary
            && self.keyword() != Some("]]")
            && !matches!(self.peek(), b'&' | b'|' | b')' | b'\n' | 0)
        {
            let operand = self.expect_word(Place::Value)?;
            return Ok(Condition::Unary(operator, operand));
        }
        Ok(Condition::Word(word))
    }

    /// The letter of a unary operator, not consumed.
    fn unary_operator(&mut self) -> Option<u8> {
        if self.peek() != b'-' || !ends_word(self.ahead(2)) {
            return None;
        }
        let letter = self.ahead(1);
        b"abcdefghknoprstuvwxzGLNORS".contains(&letter).then_some(letter)
    }

    /// A binary operator, consumed.
    fn comparison(&mut self) -> Option<Comparison> {
        for (text, comparison) in OPERATORS {
            if self.starts(text) && (matches!(text, "<" | ">") || ends_word(self.ahead(text.len()))) {
                self.at += text.len();
                return Some(comparison);
            }
        }
        None
    }
}

fn single_or(mut terms: Vec<Condition>, join: impl FnOnce(Vec<Condition>) -> Condition) -> Condition {
    match terms.pop() {
        Some(only) if terms.is_empty() => only,
        last => {
            terms.extend(last);
            join(terms)
        }
    }
}

const OPERATORS: [(&str, Comparison); 15] = [
    ("==", Comparison::Match),
    ("=~", Comparison::Regex),
    ("=", Comparison::Equal),
    ("!=", Comparison::NotMatch),
    ("<", Comparison::Before),
    (">", Comparison::After),
    ("-eq", Comparison::Eq),
    ("-ne", Comparison::Ne),
    ("-lt", Comparison::Lt),
    ("-le", Comparison::Le),
    ("-gt", Comparison::Gt),
    ("-ge", Comparison::Ge),
    ("-nt", Comparison::Newer),
    ("-ot", Comparison::Older),
    ("-ef", Comparison::SameFile),
];
