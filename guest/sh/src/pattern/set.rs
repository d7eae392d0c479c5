//! Bracket expressions.

use std::str::Chars;

use isopod_ctype::Class;

/// A set of characters.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Set {
    negated: bool,
    ranges: Vec<(char, char)>,
    classes: Vec<Class>,
}

impl Set {
    /// Returns true if a character is in the set.
    pub(super) fn has(&self, c: char) -> bool {
        self.includes(c) != self.negated
    }

    /// Like `has`, for the other case of a letter: negation must not turn a miss into a hit.
    pub(super) fn has_folded(&self, c: char) -> bool {
        !self.negated && self.includes(c)
    }

    fn includes(&self, c: char) -> bool {
        self.ranges.iter().any(|(low, high)| (*low..=*high).contains(&c))
            || self.classes.iter().any(|class| class.contains(c))
    }
}

/// Finds a class of POSIX, or bash's `word`, by its name.
fn class_named(name: &str) -> Option<Class> {
    if name == "word" { Some(Class::Word) } else { Class::named(name.as_bytes()) }
}

/// Parses a bracket expression after its `[`. Returns the set and its length, `None` if it does not close.
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

/// Parses `[:alpha:]`, `[.x.]` or `[=x=]` within brackets, after the inner `[`.
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
            set.classes.extend(class_named(name));
            Special::Class
        }
        _ => name.chars().next().map_or(Special::Class, Special::Char),
    }
}
