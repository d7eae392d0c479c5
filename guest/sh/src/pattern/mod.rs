//! Shell patterns: `*`, `?`, `[…]`, and extended ones such as `@(a|b)`.
//!
//! A pattern is a text in which a backslash makes the next character literal. Matching moves a set of positions through
//! the pattern, one element after the other. Its time is bounded by the product of both lengths however many stars
//! there are, and the negation `!(…)` is the complement of a set.

mod set;
#[cfg(test)]
mod tests;

use std::str::Chars;

use set::{Set, set};

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Pattern {
    elements: Vec<Element>,
    fold: bool,
    extended: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Element {
    Char(char),
    Any,
    Star,
    Set(Set),
    Group(Repeat, Vec<Vec<Element>>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeat {
    Optional,
    Any,
    Some,
    One,
    Not,
}

/// Limit on nested groups; each costs stack, both in parsing and in matching.
const DEPTH_LIMIT: u32 = 50;

impl Pattern {
    /// Compiles a pattern. `fold` ignores the case of letters.
    pub fn new(text: &str, extended: bool, fold: bool) -> Pattern {
        let mut chars = text.chars();
        let elements = parse(&mut chars, extended, false, 0);
        let extended = elements.iter().any(|e| matches!(e, Element::Group(..)));
        Pattern { elements, fold, extended }
    }

    /// Returns true if the whole text matches.
    pub fn matches(&self, text: &str) -> bool {
        match self.extended {
            true => self.ends(text, 0).contains(text.len()),
            false => self.matches_plain(text),
        }
    }

    /// Matches a pattern without groups, where only the last star ever needs to be retried.
    fn matches_plain(&self, text: &str) -> bool {
        let (mut element, mut at) = (0, 0);
        let mut retry: Option<(usize, usize)> = None;
        loop {
            match self.elements.get(element) {
                Some(Element::Star) => {
                    element += 1;
                    retry = Some((element, at));
                    continue;
                }
                Some(single) => {
                    if let Some(c) = text[at..].chars().next()
                        && self.is_one(single, c)
                    {
                        element += 1;
                        at += c.len_utf8();
                        continue;
                    }
                }
                None if at == text.len() => return true,
                None => {}
            }
            let Some((after, from)) = retry else { return false };
            let Some(c) = text[from..].chars().next() else { return false };
            at = from + c.len_utf8();
            element = after;
            retry = Some((after, at));
        }
    }

    /// Returns the end of the longest or shortest match at the start of the text.
    pub fn prefix(&self, text: &str, longest: bool) -> Option<usize> {
        self.ends(text, 0).edge(longest)
    }

    /// Returns the start of the longest or shortest match at the end of the text.
    pub fn suffix(&self, text: &str, longest: bool) -> Option<usize> {
        let mut starts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        match longest {
            true => starts.find(|at| self.matches(&text[*at..])),
            false => {
                let all: Vec<usize> = starts.collect();
                all.into_iter().rev().find(|at| self.matches(&text[*at..]))
            }
        }
    }

    /// Returns the end of the longest match that starts at `start`.
    pub fn longest_at(&self, text: &str, start: usize) -> Option<usize> {
        self.ends(text, start).edge(true)
    }

    /// Returns the text of a pattern without special characters.
    pub fn literal(&self) -> Option<String> {
        if self.fold {
            return None;
        }
        self.elements.iter().map(|e| if let Element::Char(c) = e { Some(*c) } else { None }).collect()
    }

    fn ends(&self, text: &str, start: usize) -> Positions {
        self.advance(&self.elements, text, Positions::one(start))
    }

    fn advance(&self, elements: &[Element], text: &str, mut from: Positions) -> Positions {
        for element in elements {
            if from.is_empty() {
                break;
            }
            from = self.step(element, text, &from);
        }
        from
    }

    fn step(&self, element: &Element, text: &str, from: &Positions) -> Positions {
        let mut to = Positions::default();
        match element {
            Element::Star => {
                if let Some(first) = from.edge(false) {
                    to.0.extend(text[first..].char_indices().map(|(at, _)| first + at));
                    to.0.push(text.len());
                }
            }
            Element::Group(repeat, alternatives) => return self.group(*repeat, alternatives, text, from),
            single => {
                for at in &from.0 {
                    if let Some(c) = text[*at..].chars().next()
                        && self.is_one(single, c)
                    {
                        to.0.push(at + c.len_utf8());
                    }
                }
            }
        }
        to
    }

    fn group(&self, repeat: Repeat, alternatives: &[Vec<Element>], text: &str, from: &Positions) -> Positions {
        let once = |from: &Positions| {
            let mut to = Positions::default();
            for alternative in alternatives {
                to.0.extend(self.advance(alternative, text, from.clone()).0);
            }
            to.normal()
        };
        match repeat {
            Repeat::One => once(from),
            Repeat::Optional => {
                let mut to = once(from);
                to.0.extend(&from.0);
                to.normal()
            }
            Repeat::Any | Repeat::Some => {
                let mut all = if repeat == Repeat::Any { from.clone() } else { Positions::default() };
                let mut fresh = once(from);
                while !fresh.is_empty() {
                    let known = all.clone();
                    all.0.extend(&fresh.0);
                    all = all.normal();
                    fresh.0.retain(|at| !known.contains(*at));
                    fresh = once(&fresh);
                    fresh.0.retain(|at| !all.contains(*at));
                }
                all
            }
            Repeat::Not => {
                let mut to = Positions::default();
                for at in &from.0 {
                    let excluded = once(&Positions::one(*at));
                    let ends = text[*at..].char_indices().map(|(i, _)| at + i).chain([text.len()]);
                    to.0.extend(ends.filter(|end| !excluded.contains(*end)));
                }
                to.normal()
            }
        }
    }

    fn is_one(&self, element: &Element, c: char) -> bool {
        match element {
            Element::Char(expected) => *expected == c || (self.fold && same_letter(*expected, c)),
            Element::Any => true,
            Element::Set(set) => set.has(c) || (self.fold && other_case(c).is_some_and(|o| set.has_folded(o))),
            Element::Star | Element::Group(..) => false,
        }
    }
}

/// A sorted set of byte positions.
#[derive(Debug, Clone, Default)]
struct Positions(Vec<usize>);

impl Positions {
    fn one(at: usize) -> Positions {
        Positions(vec![at])
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn contains(&self, at: usize) -> bool {
        self.0.binary_search(&at).is_ok()
    }

    fn edge(&self, last: bool) -> Option<usize> {
        if last { self.0.last().copied() } else { self.0.first().copied() }
    }

    fn normal(mut self) -> Positions {
        crate::order::sort_by(&mut self.0, |at| *at);
        self.0.dedup();
        self
    }
}

fn same_letter(a: char, b: char) -> bool {
    a.to_lowercase().eq(b.to_lowercase())
}

fn other_case(c: char) -> Option<char> {
    let other = if c.is_lowercase() { c.to_uppercase().next() } else { c.to_lowercase().next() };
    other.filter(|o| *o != c)
}

/// Parses elements up to the end, or to the `|` or `)` of a group, which is not consumed.
fn parse(chars: &mut Chars<'_>, extended: bool, inside: bool, depth: u32) -> Vec<Element> {
    let mut elements = Vec::new();
    while let Some(c) = chars.clone().next() {
        if inside && matches!(c, '|' | ')') {
            break;
        }
        chars.next();
        if extended
            && depth < DEPTH_LIMIT
            && matches!(c, '?' | '*' | '+' | '@' | '!')
            && closes(chars.as_str())
            && let Some(group) = group(chars, c, depth)
        {
            elements.push(group);
            continue;
        }
        elements.push(match c {
            '\\' => Element::Char(chars.next().unwrap_or('\\')),
            '?' => Element::Any,
            // Stars in a row are one.
            '*' if elements.last() == Some(&Element::Star) => continue,
            '*' => Element::Star,
            '[' => match set(chars.as_str()) {
                Some((set, length)) => {
                    *chars = chars.as_str()[length..].chars();
                    Element::Set(set)
                }
                None => Element::Char('['),
            },
            c => Element::Char(c),
        });
    }
    elements
}

/// Returns true if the text starts with a parenthesis that closes. Checking first avoids repeated attempts at groups
/// that do not close.
fn closes(text: &str) -> bool {
    let mut depth = 0u32;
    let mut escaped = false;
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return byte == b')';
        }
    }
    false
}

/// Parses `(a|b)` after its operator. Returns `None`, and consumes nothing, if it does not close.
fn group(chars: &mut Chars<'_>, operator: char, depth: u32) -> Option<Element> {
    let mut inner = chars.clone();
    inner.next();
    let mut alternatives = Vec::new();
    loop {
        alternatives.push(parse(&mut inner, true, true, depth + 1));
        match inner.next()? {
            '|' => {}
            _ => break,
        }
    }
    *chars = inner;
    let repeat = match operator {
        '?' => Repeat::Optional,
        '*' => Repeat::Any,
        '+' => Repeat::Some,
        '@' => Repeat::One,
        _ => Repeat::Not,
    };
    Some(Element::Group(repeat, alternatives))
}

/// Puts a backslash before every character that is special in a pattern.
pub fn quote(text: &str, out: &mut String) {
    for c in text.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '\\' | '-' | '!' | '^' | '(' | ')' | '|' | '+' | '@' | ':' | '.' | '=') {
            out.push('\\');
        }
        out.push(c);
    }
}

/// Returns true if the text of a pattern is not all literal.
pub fn is_pattern(text: &str, extended: bool) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'*' | b'?' => return true,
            // Only a bracket that closes is special.
            b'[' if bytes[at + 1..].contains(&b']') => return true,
            b'+' | b'@' | b'!' if extended && bytes.get(at + 1) == Some(&b'(') => return true,
            b'\\' => at += 1,
            _ => {}
        }
        at += 1;
    }
    false
}

/// Returns true if a piece of a pattern has characters that may be special in the whole.
pub fn has_special(text: &str) -> bool {
    text.bytes().any(|b| matches!(b, b'*' | b'?' | b'[' | b']' | b'\\' | b'('))
}
