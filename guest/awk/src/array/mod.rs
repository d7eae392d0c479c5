//! Associative arrays that list their elements in the order of GNU awk.
//!
//! The language leaves the order open, but scripts and recorded outputs depend on it. So this has gawk's three tables
//! with the same growth: small whole numbers in blocks, in ascending order; other integers by a hash of the number;
//! all other keys by a hash of the text. An array starts with the table of its first key. Keys that do not fit there
//! go to a second one, which is listed first.

mod blocks;
mod integers;
mod texts;

use isopod_gnu::digits;

use crate::number;
use crate::value::Value;
use blocks::Blocks;
use integers::Integers;
use texts::Texts;

/// A key in the form that the tables use.
#[derive(Clone, Copy)]
pub(crate) enum Key<'a> {
    Integer(i64),
    Text(&'a [u8]),
}

impl<'a> Key<'a> {
    /// Returns the key of a text. A text that spells an integer is that integer.
    pub(crate) fn of_text(text: &'a [u8]) -> Key<'a> {
        number::canonical_integer(text).map_or(Key::Text(text), Key::Integer)
    }

    /// Returns the key of a whole number. Any other number has to be converted to text first.
    pub(crate) fn of_number(number: f64) -> Option<Key<'static>> {
        (number == number.trunc() && number.abs() < 1e18).then_some(Key::Integer(number as i64))
    }
}

/// An array.
#[derive(Default)]
pub(crate) struct Array {
    blocks: Option<Blocks>,
    integers: Option<Integers>,
    texts: Option<Texts>,
    /// The first key outside of `blocks` was a text. From then on integers are looked up by their text.
    all_as_text: bool,
    count: usize,
}

impl Array {
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    pub(crate) fn get(&self, key: Key<'_>) -> Option<&Value> {
        match key {
            Key::Integer(number) => {
                if let Some(found) = self.blocks.as_ref().and_then(|blocks| blocks.get(number)) {
                    return Some(found);
                }
                if self.all_as_text {
                    let mut text = Vec::new();
                    digits::push(number, &mut text);
                    return self.texts.as_ref()?.get(&text);
                }
                self.integers.as_ref()?.get(number)
            }
            Key::Text(text) => self.texts.as_ref()?.get(text),
        }
    }

    pub(crate) fn contains(&self, key: Key<'_>) -> bool {
        self.get(key).is_some()
    }

    /// Returns the element of a key, and creates it if necessary.
    pub(crate) fn element(&mut self, key: Key<'_>) -> &mut Value {
        let is_first = self.count == 0;
        let (element, is_new) = match key {
            Key::Integer(number) => {
                if is_first {
                    *self = Array::default();
                    if Blocks::takes(number) {
                        self.blocks = Some(Blocks::default());
                    }
                }
                // A number can be in another table if its block was not worth the memory at the time.
                let in_blocks = match &self.blocks {
                    Some(blocks) if Blocks::takes(number) => {
                        (blocks.has_leaf(number) || blocks.may_grow(number)) && !self.is_outside(number)
                    }
                    _ => false,
                };
                match &mut self.blocks {
                    Some(blocks) if in_blocks => blocks.element(number),
                    _ if self.all_as_text => {
                        let mut text = Vec::new();
                        digits::push(number, &mut text);
                        self.texts.get_or_insert_default().element(&text)
                    }
                    _ => self.integers.get_or_insert_default().element(number),
                }
            }
            Key::Text(text) => {
                if is_first {
                    *self = Array::default();
                }
                if self.integers.is_none() {
                    self.all_as_text = true;
                }
                self.texts.get_or_insert_default().element(text)
            }
        };
        self.count += usize::from(is_new);
        element
    }

    fn is_outside(&self, number: i64) -> bool {
        if self.all_as_text {
            let mut text = Vec::new();
            digits::push(number, &mut text);
            self.texts.as_ref().is_some_and(|texts| texts.get(&text).is_some())
        } else {
            self.integers.as_ref().is_some_and(|integers| integers.get(number).is_some())
        }
    }

    pub(crate) fn remove(&mut self, key: Key<'_>) {
        let removed = match key {
            Key::Integer(number) => {
                self.blocks.as_mut().is_some_and(|blocks| blocks.remove(number))
                    || if self.all_as_text {
                        let mut text = Vec::new();
                        digits::push(number, &mut text);
                        self.texts.as_mut().is_some_and(|texts| texts.remove(&text))
                    } else {
                        self.integers.as_mut().is_some_and(|integers| integers.remove(number))
                    }
            }
            Key::Text(text) => self.texts.as_mut().is_some_and(|texts| texts.remove(text)),
        };
        self.count -= usize::from(removed);
    }

    pub(crate) fn clear(&mut self) {
        *self = Array::default();
    }

    /// Returns all keys in order, as strings.
    pub(crate) fn keys(&self) -> Vec<Value> {
        let mut keys = Vec::with_capacity(self.count);
        if let Some(texts) = &self.texts {
            texts.list(&mut keys);
        }
        if let Some(integers) = &self.integers {
            integers.list(&mut keys);
        }
        if let Some(blocks) = &self.blocks {
            blocks.list(&mut keys);
        }
        keys
    }
}

fn integer_key(number: i64) -> Value {
    let mut text = Vec::new();
    digits::push(number, &mut text);
    Value::string(&text)
}

/// The sequence of bucket counts that a hash table grows through.
const SIZES: [usize; 9] = [13, 127, 1021, 8191, 131_071, 1_048_573, 8_388_593, 16_777_213, 33_554_393];
/// The average number of elements in a bucket above which a table grows.
const CHAIN: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(keys: &[&str]) -> String {
        let mut array = Array::default();
        for key in keys {
            array.element(Key::of_text(key.as_bytes()));
        }
        let keys: Vec<String> =
            array.keys().iter().map(|key| String::from_utf8(key.to_text(b"%.6g")).unwrap()).collect();
        keys.join(" ")
    }

    /// Recorded from gawk 5.2.
    #[test]
    fn keys_are_listed_as_gawk_lists_them() {
        assert_eq!(listed(&["5", "x", "0", "y", "-1", "2"]), "-1 x y 0 2 5");
        assert_eq!(listed(&["a", "b", "n", "o", "h"]), "h n a o b");
        assert_eq!(listed(&["-5", "-4", "-3", "-2", "-1", "0", "1", "2", "3", "4", "5"]), "0 4 5 -4 -1 3 -3 -2 -5 2 1");
        let sparse: Vec<String> = (0..15).map(|n| ((1 + 7 * n) * 1000).to_string()).collect();
        let sparse: Vec<&str> = sparse.iter().map(String::as_str).collect();
        assert!(listed(&sparse).starts_with("92000 99000 85000 78000 1000 8000"));
    }

    #[test]
    fn elements_go_and_come_back() {
        let mut array = Array::default();
        for number in 0..5000 {
            *array.element(Key::Integer(number)) = Value::Number(number as f64);
        }
        for number in (0..5000).step_by(2) {
            array.remove(Key::Integer(number));
        }
        assert_eq!(array.len(), 2500);
        assert!(array.get(Key::Integer(4)).is_none());
        assert_eq!(array.get(Key::of_text(b"4999")).map(Value::number), Some(4999.0));
        array.remove(Key::Text(b"nothing"));
        array.clear();
        assert_eq!(array.len(), 0);
    }
}
