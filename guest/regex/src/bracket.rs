//! Bracket expressions.

use crate::error::Error;
use crate::set::{Class, Set};
use crate::symbol::{Encoding, Symbol};

/// A reader of one bracket expression, after its `[`.
pub(crate) struct Reader<'a> {
    pub(crate) pattern: &'a [u8],
    pub(crate) at: usize,
    pub(crate) encoding: Encoding,
    /// A backslash makes the next character plain.
    pub(crate) escapes: bool,
    /// `[:space:]` in place of `[[:space:]]` is an error.
    pub(crate) refuses_bare_class: bool,
}

enum Element {
    Symbol(Symbol),
    /// `[=x=]`: a symbol that cannot start a range.
    Equivalence(Symbol),
    Class(Class),
}

impl Reader<'_> {
    /// Reads up to and including the closing bracket.
    pub(crate) fn read(&mut self, set: &mut Set) -> Result<(), Error> {
        let start = self.at;
        if self.peek() == Some(b'^') {
            self.at += 1;
            set.negate();
        }
        let mut first = true;
        while first || self.peek() != Some(b']') {
            let plain_hyphen = self.peek() == Some(b'-');
            let low = self.element()?;
            if plain_hyphen && !first && self.peek() != Some(b']') {
                return Err(Error::Range);
            }
            first = false;
            if self.peek() == Some(b'-') && self.pattern.get(self.at + 1).is_some_and(|next| *next != b']') {
                self.at += 1;
                let (Element::Symbol(low), Element::Symbol(high)) = (low, self.element()?) else {
                    return Err(Error::Range);
                };
                if low > high {
                    return Err(Error::Range);
                }
                set.add(low, high);
                continue;
            }
            match low {
                Element::Symbol(symbol) | Element::Equivalence(symbol) => set.add(symbol, symbol),
                Element::Class(class) => set.add_class(class, false),
            }
        }
        let inside = &self.pattern[start..self.at];
        self.at += 1;
        if self.refuses_bare_class && inside.len() > 2 && inside[0] == b':' && inside[inside.len() - 1] == b':' {
            return Err(Error::ClassOutside);
        }
        Ok(())
    }

    fn peek(&self) -> Option<u8> {
        self.pattern.get(self.at).copied()
    }

    fn element(&mut self) -> Result<Element, Error> {
        match (self.peek().ok_or(Error::Bracket)?, self.pattern.get(self.at + 1)) {
            (b'[', Some(kind @ (b':' | b'.' | b'='))) => self.delimited(*kind),
            (b'\\', Some(_)) if self.escapes => {
                self.at += 1;
                Ok(Element::Symbol(self.symbol()))
            }
            _ => Ok(Element::Symbol(self.symbol())),
        }
    }

    fn symbol(&mut self) -> Symbol {
        let (symbol, length) = self.encoding.at(self.pattern, self.at);
        self.at += length;
        symbol
    }

    /// Reads `[:name:]`, `[.x.]` or `[=x=]`.
    fn delimited(&mut self, kind: u8) -> Result<Element, Error> {
        let rest = &self.pattern[self.at + 2..];
        let Some(end) = rest.windows(2).position(|pair| pair == [kind, b']']) else {
            return Err(Error::Bracket);
        };
        let name = &rest[..end];
        self.at += 2 + end + 2;
        if kind == b':' {
            return Class::named(name).map(Element::Class).ok_or(Error::Class);
        }
        let symbol = match name {
            [] => return Err(Error::Collation),
            name => match self.encoding.at(name, 0) {
                (symbol, length) if length == name.len() => symbol,
                _ => return Err(Error::Collation),
            },
        };
        Ok(if kind == b'.' { Element::Symbol(symbol) } else { Element::Equivalence(symbol) })
    }
}
