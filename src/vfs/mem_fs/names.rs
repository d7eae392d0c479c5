//! The names in a directory.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::vfs::Kind;

use super::shared_map::{Iter, Key, SharedMap};
use super::table::Number;

/// The names of a directory and their entries, in no meaningful order.
#[derive(Clone, Default)]
pub(super) struct Names(SharedMap<Name, Entry>);

/// The entry of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    /// An inode. Its kind never changes, so a listing need not look up the inode.
    Inode(Number, Kind),
    /// A removed name that the lower directory still has.
    Whiteout,
}

/// A name and its hash, ordered by the hash first. Names are scattered in memory and numbers are not: in a directory of
/// 100,000 entries this halves the time of a lookup. Names with equal hashes, by chance or on purpose, are compared as
/// text and cost no more than without hashes.
#[derive(Clone)]
struct Name {
    hash: u64,
    text: Arc<str>,
}

/// The position of a listing.
#[derive(Default)]
pub(super) struct Cursor(Option<Name>);

/// A name to look up.
struct NameQuery<'a> {
    hash: u64,
    text: &'a str,
}

impl Names {
    pub(super) fn get(&self, name: &str) -> Option<Entry> {
        self.0.get(&NameQuery::new(name)).copied()
    }

    pub(super) fn insert(&mut self, name: &str, entry: Entry) {
        let name = Name { hash: hash(name), text: name.into() };
        self.0.insert(name, entry);
    }

    pub(super) fn remove(&mut self, name: &str) -> Option<Entry> {
        self.0.remove(&NameQuery::new(name))
    }

    /// Returns the names after the cursor, and moves the cursor.
    pub(super) fn iter_from<'a>(&'a self, cursor: &'a mut Cursor) -> NameIter<'a> {
        let mut rest = match &cursor.0 {
            Some(last) => self.0.iter_from(last),
            None => self.0.iter(),
        };
        let mut ahead = rest.next();
        if let (Some((name, _)), Some(last)) = (ahead, &cursor.0)
            && name.order(last).is_eq()
        {
            ahead = rest.next();
        }
        NameIter { ahead, rest, last: None, cursor }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, Entry)> {
        let iter: Iter<'_, Name, Entry> = self.0.iter();
        iter.map(|(name, entry)| (&*name.text, *entry))
    }
}

/// An iterator over names. The cursor is updated when this is dropped: updating it at each name would cost more than
/// listing the name.
pub(super) struct NameIter<'a> {
    ahead: Option<(&'a Name, &'a Entry)>,
    rest: Iter<'a, Name, Entry>,
    last: Option<&'a Name>,
    cursor: &'a mut Cursor,
}

impl<'a> Iterator for NameIter<'a> {
    type Item = (&'a str, Entry);

    fn next(&mut self) -> Option<(&'a str, Entry)> {
        let (name, entry) = self.ahead.take().or_else(|| self.rest.next())?;
        self.last = Some(name);
        Some((&name.text, *entry))
    }
}

impl Drop for NameIter<'_> {
    fn drop(&mut self) {
        if let Some(last) = self.last {
            self.cursor.0 = Some(last.clone());
        }
    }
}

impl<'a> NameQuery<'a> {
    fn new(text: &'a str) -> NameQuery<'a> {
        NameQuery { hash: hash(text), text }
    }
}

impl Key<Name> for Name {
    fn order(&self, other: &Name) -> Ordering {
        (self.hash, &self.text).cmp(&(other.hash, &other.text))
    }
}

impl Key<NameQuery<'_>> for Name {
    fn order(&self, other: &NameQuery<'_>) -> Ordering {
        (self.hash, &*self.text).cmp(&(other.hash, other.text))
    }
}

/// A fast hash for short names; it need not resist attacks. Each eight bytes are mixed in by a multiplication, whose
/// high bits depend on all of them. A rotation moves those bits to the low end for the next multiplication.
fn hash(name: &str) -> u64 {
    // 2^64 divided by the golden ratio: odd, and its bits have no pattern.
    const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(MIX).rotate_left(32);
    let (words, rest) = name.as_bytes().as_chunks();
    let hash = words.iter().fold(name.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    mix(hash, rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_listed_whatever_their_hashes() {
        let mut names = Names::default();
        let entry = |number| Entry::Inode(number, Kind::File);
        let text = |n: u64| format!("{}{n}", ["", "name-", "a-very-long-common-start-"][n as usize % 3]);
        for n in 0..1000 {
            names.insert(&text(n), entry(n));
        }
        for n in 0..1000 {
            assert_eq!(names.get(&text(n)), Some(entry(n)));
        }
        assert_eq!((names.get("none"), names.get("")), (None, None));
        let mut listed: Vec<&str> = names.iter().map(|(name, _)| name).collect();
        listed.sort_unstable();
        let mut cursor = Cursor::default();
        let mut stepwise: Vec<String> = Vec::new();
        for step in 1.. {
            let before = stepwise.len();
            stepwise.extend(names.iter_from(&mut cursor).take(step).map(|at| at.0.to_owned()));
            if stepwise.len() == before {
                break;
            }
        }
        stepwise.sort_unstable();
        assert_eq!(listed, stepwise);
        let mut want: Vec<String> = (0..1000).map(text).collect();
        want.sort_unstable();
        assert_eq!(listed, want);
        for n in 0..1000 {
            assert_eq!(names.remove(&text(n)), Some(entry(n)));
        }
        assert_eq!(names.iter().count(), 0);
    }

    #[test]
    fn names_of_one_hash_are_told_apart() {
        let name = |text: &str| Name { hash: 7, text: text.into() };
        assert_eq!(name("a").order(&name("b")), Ordering::Less);
        let query = NameQuery { hash: 7, text: "b" };
        assert_eq!(name("b").order(&query), Ordering::Equal);
    }
}
