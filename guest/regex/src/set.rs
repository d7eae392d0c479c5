//! Sets of symbols: brackets, `.`, `\w` and the like.

pub(crate) use isopod_ctype::Class;

use crate::symbol::{Encoding, RAW, Symbol};

/// A set of symbols.
#[derive(Debug, Clone)]
pub(crate) struct Set {
    ranges: Vec<(Symbol, Symbol)>,
    classes: Vec<(Class, bool)>,
    negated: bool,
    /// Symbols that are never in the set: line ends, NUL.
    except: Vec<Symbol>,
    fold: bool,
    encoding: Encoding,
    /// A bit map of the ASCII symbols in the set.
    ascii: [u64; 2],
}

/// Ranges in which each symbol has to be tested, and ranges that are unassigned or private, where all symbols are
/// alike.
const PLAIN: [(Symbol, Symbol); 3] = [(0x80, 0xd7ff), (0xe000, 0x3_ffff), (0xe_0000, 0xe_0fff)];
const UNIFORM: [(Symbol, Symbol); 3] = [(0x4_0000, 0xd_ffff), (0xe_1000, 0xe_ffff), (0xf_0000, 0x10_ffff)];

impl Set {
    pub(crate) fn new(encoding: Encoding, fold: bool) -> Set {
        let (ranges, classes, except) = (Vec::new(), Vec::new(), Vec::new());
        Set { ranges, classes, negated: false, except, fold, encoding, ascii: [0; 2] }
    }

    pub(crate) fn add(&mut self, low: Symbol, high: Symbol) {
        self.ranges.push((low, high));
    }

    pub(crate) fn add_class(&mut self, class: Class, negated: bool) {
        // With case ignored, `[[:upper:]]` is any letter that has case.
        let class = match class {
            Class::Upper | Class::Lower if self.fold => {
                self.classes.push((Class::Upper, negated));
                Class::Lower
            }
            class => class,
        };
        self.classes.push((class, negated));
    }

    pub(crate) fn negate(&mut self) {
        self.negated = true;
    }

    pub(crate) fn is_negated(&self) -> bool {
        self.negated
    }

    pub(crate) fn except(&mut self, symbol: Symbol) {
        self.except.push(symbol);
    }

    /// Fills the bit map. It has to be called after the last addition.
    pub(crate) fn finish(mut self) -> Box<Set> {
        for symbol in 0..128 {
            if self.is_in(symbol) {
                self.ascii[symbol as usize / 64] |= 1 << (symbol % 64);
            }
        }
        Box::new(self)
    }

    #[inline]
    pub(crate) fn contains(&self, symbol: Symbol) -> bool {
        if symbol < 128 { self.ascii[symbol as usize / 64] >> (symbol % 64) & 1 == 1 } else { self.is_in(symbol) }
    }

    fn is_in(&self, symbol: Symbol) -> bool {
        // A byte that is not a character is in no negated set, unless every byte is a character.
        if symbol >= RAW && self.encoding == Encoding::Utf8 && self.negated {
            return false;
        }
        let plain = |symbol: Symbol| {
            self.ranges.iter().any(|(low, high)| (*low..=*high).contains(&symbol))
                || self.classes.iter().any(|(class, negated)| class.contains(symbol) != *negated)
        };
        let found = plain(symbol) || (self.fold && others(symbol).into_iter().flatten().any(plain));
        found != self.negated && !self.except.contains(&symbol)
    }

    /// Returns true if the members outside ASCII take long to compute.
    pub(crate) fn is_deep(&self) -> bool {
        self.encoding == Encoding::Utf8
            && (self.classes.iter().any(|(class, _)| is_deep(*class))
                || (self.fold && self.ranges.iter().any(|(_, high)| *high >= 0x80)))
    }

    /// Returns the ranges of the symbols in the set up to `last`.
    pub(crate) fn ranges(&self, last: Symbol) -> Vec<(Symbol, Symbol)> {
        let mut ranges = Ranges::default();
        let ascii = last.min(0x7f);
        (0..=ascii).filter(|symbol| self.contains(*symbol)).for_each(|symbol| ranges.push(symbol, symbol));
        if self.encoding == Encoding::Bytes {
            (RAW + 0x80..=RAW + 0xff).filter(|symbol| self.is_in(*symbol)).for_each(|at| ranges.push(at, at));
        } else if last >= 0x80 {
            if self.is_deep() {
                for (low, high) in PLAIN {
                    (low..=high).filter(|symbol| self.is_in(*symbol)).for_each(|symbol| ranges.push(symbol, symbol));
                }
                let uniform = UNIFORM.into_iter().filter(|(low, _)| self.is_in(*low));
                uniform.for_each(|(low, high)| ranges.push(low, high));
                ranges.list.sort_unstable();
            } else {
                self.shallow(last, &mut ranges);
            }
        }
        ranges.list
    }

    /// Adds the ranges of a set without classes, where membership changes only at the bounds of a range.
    fn shallow(&self, last: Symbol, ranges: &mut Ranges) {
        let all = [(0x80, last)];
        let bounds = self.ranges.iter().chain(&all).flat_map(|(low, high)| [*low, high.saturating_add(1)]);
        let bounds = bounds.chain(self.except.iter().flat_map(|symbol| [*symbol, symbol + 1]));
        let mut bounds: Vec<Symbol> = bounds.filter(|bound| (0x80..=last + 1).contains(bound)).collect();
        bounds.sort_unstable();
        bounds.dedup();
        for pair in bounds.windows(2) {
            if self.is_in(pair[0]) {
                ranges.push(pair[0], pair[1] - 1);
            }
        }
    }
}

/// Ranges in order, joined where they touch.
#[derive(Default)]
struct Ranges {
    list: Vec<(Symbol, Symbol)>,
}

impl Ranges {
    fn push(&mut self, low: Symbol, high: Symbol) {
        match self.list.last_mut() {
            Some((_, end)) if *end + 1 == low => *end = high,
            _ => self.list.push((low, high)),
        }
    }
}

/// Returns true if the members of a class outside ASCII take long to list.
fn is_deep(class: Class) -> bool {
    !matches!(class, Class::Digit | Class::Xdigit)
}

/// Returns the other cases of a symbol. ASCII stays ASCII: a search for `s` does not find `ſ`.
pub(crate) fn others(symbol: Symbol) -> [Option<Symbol>; 2] {
    match char::from_u32(symbol) {
        None => [None, None],
        Some(c) if c.is_ascii_alphabetic() => [Some(symbol ^ 0x20), None],
        Some(c) if c.is_ascii() => [None, None],
        Some(c) => {
            let upper = only(c.to_uppercase());
            let lower = only(upper.unwrap_or(c).to_lowercase());
            [upper, lower].map(|other| other.filter(|other| *other != c).map(Symbol::from))
        }
    }
}

fn only(mut chars: impl Iterator<Item = char>) -> Option<char> {
    let first = chars.next()?;
    chars.next().is_none().then_some(first)
}
