//! The words, numbers and marks of a date's text.

use super::words::month;

/// A token of a date's text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// Digits: their value with its sign, their count, whether a sign is negative, and a fraction in nanoseconds.
    Number { value: i64, digits: usize, sign: Option<bool>, nanos: Option<u32> },
    /// Letters, in lower case and without periods.
    Word(String),
    /// Anything else.
    Mark(char),
}

/// Splits a text. `None` is a number that is too large or a comment without an end.
pub(super) fn tokens(text: &str) -> Option<Vec<Token>> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let c = chars[at];
        if c.is_whitespace() {
            at += 1;
        } else if c == '(' {
            at = comment(&chars, at)?;
        } else if c.is_ascii_digit() || matches!(c, '+' | '-') && number_follows(&chars, at, &tokens) {
            let (token, next) = number(&chars, at)?;
            tokens.push(token);
            at = next;
        } else if c.is_alphabetic() {
            let start = at;
            while at < chars.len() && (chars[at].is_alphabetic() || chars[at] == '.') {
                at += 1;
            }
            let word: String = chars[start..at].iter().filter(|c| **c != '.').collect();
            tokens.push(Token::Word(word.to_lowercase()));
        } else {
            tokens.push(Token::Mark(c));
            at += 1;
        }
    }
    Some(tokens)
}

/// Tells if a sign belongs to the number after it, with blanks between or not; `-` between parts of a date does not.
fn number_follows(chars: &[char], at: usize, tokens: &[Token]) -> bool {
    let glued = at > 0 && !chars[at - 1].is_whitespace();
    if chars[at] == '-' && glued && matches!(tokens.last(), Some(Token::Number { .. } | Token::Word(_))) {
        // 10:00-05 and est-5 are zones, 2024-05 and jan-5 are dates.
        let in_time = tokens.len() >= 2 && tokens[tokens.len() - 2] == Token::Mark(':');
        let after_zone = matches!(tokens.last(), Some(Token::Word(word)) if month(word).is_none());
        if !in_time && !after_zone {
            return false;
        }
    }
    chars[at + 1..].iter().find(|c| !c.is_whitespace()).is_some_and(char::is_ascii_digit)
}

fn number(chars: &[char], start: usize) -> Option<(Token, usize)> {
    let mut at = start;
    let sign = matches!(chars[at], '+' | '-').then(|| chars[at] == '-');
    if sign.is_some() {
        at += 1;
        while chars.get(at).is_some_and(|c| c.is_whitespace()) {
            at += 1;
        }
    }
    let mut value: i64 = 0;
    let first = at;
    while let Some(digit) = chars.get(at).and_then(|c| c.to_digit(10)) {
        value = value.checked_mul(10)?.checked_add(digit.into())?;
        at += 1;
    }
    let digits = at - first;
    let mut nanos = None;
    if matches!(chars.get(at), Some('.' | ',')) && chars.get(at + 1).is_some_and(char::is_ascii_digit) {
        at += 1;
        let (mut fraction, mut unit) = (0, 100_000_000);
        while let Some(digit) = chars.get(at).and_then(|c| c.to_digit(10)) {
            fraction += digit * unit;
            unit /= 10;
            at += 1;
        }
        nanos = Some(fraction);
    }
    let value = if sign == Some(true) { -value } else { value };
    Some((Token::Number { value, digits, sign, nanos }, at))
}

/// Returns the end of the comment that starts here; comments nest.
fn comment(chars: &[char], start: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in chars.iter().enumerate().skip(start) {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}
