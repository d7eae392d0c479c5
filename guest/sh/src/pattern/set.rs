//! Bracket expressions.

use std::str::Chars;

/// A set of characters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Set {
    negated: bool,
    ranges: Vec<(char, char)>,
    classes: Vec<Class>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Alnum,
    Alpha,
    Blank,
    Cntrl,
    Digit,
    Graph,
    Lower,
    Print,
    Punct,
    Space,
    Upper,
    Word,
    Xdigit,
}

impl Set {
    /// Whether a character is in it.
    pub(super) fn has(&self, c: char) -> bool {
        self.includes(c) != self.negated
    }

    /// For the other case of a letter: negation must not turn a miss into a hit.
    pub(super) fn has_folded(&self, c: char) -> bool {
        !self.negated && self.includes(c)
    }

    fn includes(&self, c: char) -> bool {
        self.ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) || self.classes.iter().any(|k| k.has(c))
    }
}

impl Class {
    fn named(name: &str) -> Option<Class> {
        Some(match name {
            "alnum" => Class::Alnum,
            "alpha" => Class::Alpha,
            "blank" => Class::Blank,
            "cntrl" => Class::Cntrl,
            "digit" => Class::Digit,
            "graph" => Class::Graph,
            "lower" => Class::Lower,
            "print" => Class::Print,
            "punct" => Class::Punct,
            "space" => Class::Space,
            "upper" => Class::Upper,
            "word" => Class::Word,
            "xdigit" => Class::Xdigit,
            _ => return None,
        })
    }

    fn has(self, c: char) -> bool {
        match self {
            Class::Alnum => c.is_alphanumeric(),
            Class::Alpha => c.is_alphabetic(),
            Class::Blank => matches!(c, ' ' | '\t'),
            Class::Cntrl => c.is_control(),
            Class::Digit => c.is_ascii_digit(),
            Class::Graph => !c.is_control() && !c.is_whitespace(),
            Class::Lower => c.is_lowercase(),
            Class::Print => !c.is_control(),
            Class::Punct => c.is_ascii_punctuation() || (!c.is_ascii() && !c.is_alphanumeric() && !c.is_whitespace()),
            Class::Space => c.is_whitespace(),
            Class::Upper => c.is_uppercase(),
            Class::Word => c.is_alphanumeric() || c == '_',
            Class::Xdigit => c.is_ascii_hexdigit(),
        }
    }
}

/// A bracket expression after its `[`, and its length. `None` if it does not close.
pub(super) fn set(text: &str) -> Option<(Set, usize)> {
    let mut set = Set { negated: false, ranges: Vec::new(), classes: Vec::new() };
    let mut chars = text.chars();
    if text.starts_with(['!', '^']) {
        set.negated = true;
        chars.next();
    }
    let mut first = true;
    loop {
        let c = chars.next()?;
        let low = match c {
            ']' if !first => return Some((set, text.len() - chars.as_str().len())),
            '[' => match special(&mut chars, &mut set) {
                Special::Class => {
                    first = false;
                    continue;
                }
                Special::Char(c) => c,
                Special::None => '[',
            },
            '\\' => chars.next()?,
            c => c,
        };
        first = false;
        let mut ahead = chars.clone();
        let mut high = low;
        if ahead.next() == Some('-') && !matches!(ahead.clone().next(), None | Some(']')) {
            high = match ahead.next()? {
                '\\' => ahead.next()?,
                '[' => match special(&mut ahead, &mut set) {
                    Special::Char(c) => c,
                    _ => '[',
                },
                c => c,
            };
            chars = ahead;
        }
        set.ranges.push((low, high));
    }
}

enum Special {
    None,
    Class,
    Char(char),
}

/// `[:alpha:]`, `[.x.]` or `[=x=]` within brackets, after the inner `[`.
fn special(chars: &mut Chars<'_>, set: &mut Set) -> Special {
    let rest = chars.as_str();
    let Some(kind @ (':' | '.' | '=')) = rest.chars().next() else { return Special::None };
    let close = [kind, ']'].iter().collect::<String>();
    let Some(end) = rest[1..].find(&close) else { return Special::None };
    let name = &rest[1..=end];
    *chars = rest[end + 3..].chars();
    match kind {
        ':' => {
            // An unknown class matches nothing.
            set.classes.extend(Class::named(name));
            Special::Class
        }
        _ => name.chars().next().map_or(Special::Class, Special::Char),
    }
}
