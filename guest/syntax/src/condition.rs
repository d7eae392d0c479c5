//! `[[ … ]]`

use super::error::{Fault, SyntaxError};
use super::lexer::{Parser, ends_word, is_operator};
use super::tree::{Comparison, Condition, Word};
use super::word::WordContext;

impl Parser<'_> {
    /// Parses the expression after `[[` and consumes the `]]`.
    pub(super) fn condition(&mut self) -> Result<Condition, SyntaxError> {
        let condition = self.condition_or()?;
        self.newlines()?;
        if !self.eat_keyword("]]") {
            let message = match self.next_token() {
                Some(token) if is_operator(&token) => {
                    format!("syntax error in conditional expression: unexpected token `{token}'")
                }
                Some(_) => "syntax error in conditional expression".to_owned(),
                None => return Err(self.unexpected()),
            };
            return Err(self.fault(Fault::Refused(message)));
        }
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
                    return Err(self.refused_token(|token| format!("unexpected token `{token}', expected `)'")));
                }
                self.at += 1;
                return Ok(Condition::Group(Box::new(inner)));
            }
            _ => {}
        }
        if self.keyword() == Some("]]") {
            return Err(self.unexpected());
        }
        if self.next_token().is_none_or(|token| is_operator(&token)) {
            return Err(self.refused_token(|token| format!("unexpected token `{token}' in conditional command")));
        }
        let unary = self.unary_operator();
        let word = self.expect_word(WordContext::Value)?;
        self.blanks();
        // `-f = x` compares and `-f x` tests: an operator after the first word makes it an operand.
        if let Some(comparison) = self.comparison() {
            let place = match comparison {
                Comparison::Regex => WordContext::Regex,
                Comparison::Match | Comparison::Equal | Comparison::NotMatch => WordContext::Pattern,
                _ => WordContext::Value,
            };
            let right = self.condition_operand(place, "binary")?;
            return Ok(Condition::Binary(comparison, word, right));
        }
        if let Some(operator) = unary {
            let operand = self.condition_operand(WordContext::Value, "unary")?;
            return Ok(Condition::Unary(operator, operand));
        }
        match self.next_token().as_deref() {
            Some("]]" | "&&" | "||" | ")") => Ok(Condition::Word(word)),
            Some(token) if !is_operator(token) && token != "newline" => {
                Err(self.fault(Fault::Refused("conditional binary operator expected".to_owned())))
            }
            _ => {
                Err(self
                    .refused_token(|token| format!("unexpected token `{token}', conditional binary operator expected")))
            }
        }
    }

    /// Parses the word after an operator.
    fn condition_operand(&mut self, place: WordContext, kind: &str) -> Result<Word, SyntaxError> {
        self.blanks();
        // A regular expression may begin with a token that is an operator elsewhere.
        let missing = match self.next_token().as_deref() {
            None | Some("]]" | "newline") => true,
            Some(token) => place != WordContext::Regex && is_operator(token),
        };
        if missing {
            return Err(
                self.refused_token(|token| format!("unexpected argument `{token}' to conditional {kind} operator"))
            );
        }
        self.expect_word(place)
    }

    /// Makes an error about the next token.
    fn refused_token(&mut self, message: impl FnOnce(&str) -> String) -> SyntaxError {
        match self.next_token() {
            Some(token) => self.fault(Fault::Refused(message(&token))),
            None => self.at_end(Fault::Refused(message("EOF"))),
        }
    }

    /// Returns the letter of a unary operator without consuming it.
    fn unary_operator(&mut self) -> Option<u8> {
        if self.peek() != b'-' || !ends_word(self.ahead(2)) {
            return None;
        }
        let letter = self.ahead(1);
        b"abcdefghknoprstuvwxzGLNORS".contains(&letter).then_some(letter)
    }

    /// Consumes a binary operator.
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
