//! Associative arrays, which list their elements in the order that GNU awk lists them.
//!
//! The language leaves the order open, yet scripts and recorded outputs come to depend on it, so this keeps the same
//! three tables with the same growth: small whole numbers in blocks, in ascending order; other integers by a hash of
//! the number; everything else by a hash of the text. An array starts with the table of its first key, and what does
//! not fit there goes to a second one, which is listed first.

use std::collections::HashMap;

use crate::number;
use crate::value::Value;

/// A key, as the tables see it.
#[derive(Clone, Copy)]
pub(crate) enum Key<'a> {
    Integer(i64),
    Text(&'a [u8]),
}

impl<'a> Key<'a> {
    /// A text that spells an integer is that integer.
    pub(crate) fn of_text(text: &'a [u8]) -> Key<'a> {
        number::canonical_integer(text).map_or(Key::Text(text), Key::Integer)
    }

    /// A number that is whole; another is converted to text first.
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
    /// The first key that is not for `blocks` was a text: integers are looked up by their text from then on.
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
                    number::write_integer(number, &mut text);
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

    /// The element of a key, made if need be.
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
                // A number may have gone to another table while its block was not worth the memory.
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
                        number::write_integer(number, &mut text);
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
            number::write_integer(number, &mut text);
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
                        number::write_integer(number, &mut text);
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

    /// All keys in their order, integers as numbers and texts as strings.
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
    number::write_integer(number, &mut text);
    Value::string(&text)
}

/// How much room in blocks may be unused.
const WASTE: usize = 2048;
/// Numbers below 2^this are in one block.
const FIRST_BLOCK: u32 = 10;

/// Whole numbers from 0 to 2^31 in leaves, whose size depends on the power of two below the number.
#[derive(Default)]
struct Blocks {
    /// Where the leaf that starts at a number is.
    index: HashMap<u32, u32, Mixing>,
    leaves: Vec<Leaf>,
    /// Room in all leaves, and how much of it is used.
    room: usize,
    used: usize,
    /// The leaf of the last access: loops go through them in order.
    last: std::cell::Cell<(u32, u32)>,
}

struct Leaf {
    first: u32,
    used: usize,
    values: Vec<Option<Value>>,
}

impl Blocks {
    fn takes(number: i64) -> bool {
        (0..=i64::from(i32::MAX)).contains(&number)
    }

    /// The first number of a number's leaf, and the leaf's size.
    #[inline]
    fn leaf_of(number: u32) -> (u32, u32) {
        let power = (31 - (number | 1).leading_zeros()).max(FIRST_BLOCK);
        let mut bits = power.div_ceil(2);
        if bits > FIRST_BLOCK {
            bits = bits.div_ceil(2);
        }
        (number >> bits << bits, 1 << bits)
    }

    #[inline]
    fn find(&self, number: i64) -> Option<(usize, usize)> {
        let number = u32::try_from(number).ok().filter(|number| *number <= i32::MAX as u32)?;
        let (first, _) = Self::leaf_of(number);
        let (last, mut at) = self.last.get();
        // Position 0 of an empty cache is no leaf: then `leaves` is empty or the first leaf is the right answer.
        if last != first || self.leaves.get(at as usize).is_none_or(|leaf| leaf.first != first) {
            at = *self.index.get(&first)?;
            self.last.set((first, at));
        }
        Some((at as usize, (number - first) as usize))
    }

    fn get(&self, number: i64) -> Option<&Value> {
        let (leaf, at) = self.find(number)?;
        self.leaves[leaf].values[at].as_ref()
    }

    fn has_leaf(&self, number: i64) -> bool {
        self.find(number).is_some_and(|(leaf, _)| self.leaves[leaf].used > 0)
    }

    /// Whether one more leaf leaves not too much unused.
    fn may_grow(&self, number: i64) -> bool {
        let (_, size) = Self::leaf_of(number as u32);
        self.room + size as usize <= WASTE + self.used
    }

    fn element(&mut self, number: i64) -> (&mut Value, bool) {
        let (leaf, at) = match self.find(number) {
            Some(found) => found,
            None => {
                let (first, size) = Self::leaf_of(number as u32);
                self.index.insert(first, self.leaves.len() as u32);
                self.leaves.push(Leaf { first, used: 0, values: vec![None; size as usize] });
                (self.leaves.len() - 1, (number as u32 - first) as usize)
            }
        };
        let leaf = &mut self.leaves[leaf];
        let is_new = leaf.values[at].is_none();
        if is_new {
            self.used += 1;
            // A leaf that was emptied counts again from its next use.
            if leaf.used == 0 {
                self.room += leaf.values.len();
            }
            leaf.used += 1;
        }
        (leaf.values[at].get_or_insert_default(), is_new)
    }

    fn remove(&mut self, number: i64) -> bool {
        let Some((leaf, at)) = self.find(number) else { return false };
        let leaf = &mut self.leaves[leaf];
        let removed = leaf.values[at].take().is_some();
        if removed {
            self.used -= 1;
            leaf.used -= 1;
            if leaf.used == 0 {
                self.room -= leaf.values.len();
            }
        }
        removed
    }

    fn list(&self, keys: &mut Vec<Value>) {
        let mut leaves: Vec<&Leaf> = self.leaves.iter().filter(|leaf| leaf.used > 0).collect();
        leaves.sort_unstable_by_key(|leaf| leaf.first);
        for leaf in leaves {
            let present = leaf.values.iter().enumerate().filter(|(_, value)| value.is_some());
            keys.extend(present.map(|(at, _)| integer_key(i64::from(leaf.first) + at as i64)));
        }
    }
}

/// Numbers of buckets that the hash tables go through.
const SIZES: [usize; 9] = [13, 127, 1021, 8191, 131_071, 1_048_573, 8_388_593, 16_777_213, 33_554_393];
/// Elements in a bucket, on average, before a table grows.
const CHAIN: usize = 2;

/// Integers by a hash of their low 32 bits.
struct Integers {
    /// In the order of insertion; a listing takes pairs from the end.
    buckets: Vec<Vec<(i64, Value)>>,
    size: usize,
    count: usize,
}

impl Default for Integers {
    fn default() -> Integers {
        Integers { buckets: buckets(SIZES[0]), size: 0, count: 0 }
    }
}

fn buckets(count: usize) -> Vec<Vec<(i64, Value)>> {
    std::iter::repeat_with(Vec::new).take(count).collect()
}

impl Integers {
    fn place(&self, number: i64) -> usize {
        let mut k = number as u32;
        k ^= k << 3;
        k = k.wrapping_add(k >> 5);
        k ^= k << 4;
        k = k.wrapping_add(k >> 17);
        k ^= k << 25;
        k = k.wrapping_add(k >> 6);
        k as usize % self.buckets.len()
    }

    fn get(&self, number: i64) -> Option<&Value> {
        self.buckets[self.place(number)].iter().find(|(known, _)| *known == number).map(|(_, value)| value)
    }

    fn element(&mut self, number: i64) -> (&mut Value, bool) {
        let place = self.place(number);
        if let Some(at) = self.buckets[place].iter().position(|(known, _)| *known == number) {
            return (&mut self.buckets[place][at].1, false);
        }
        self.count += 1;
        if self.count / self.buckets.len() > CHAIN && self.size + 1 < SIZES.len() {
            self.size += 1;
            let old = std::mem::replace(&mut self.buckets, buckets(SIZES[self.size]));
            for mut bucket in old {
                // Pairs from the end: the order in which the old table lists them.
                while !bucket.is_empty() {
                    let from = (bucket.len() - 1) / 2 * 2;
                    for (number, value) in bucket.drain(from..) {
                        let place = self.place(number);
                        self.buckets[place].push((number, value));
                    }
                }
            }
        }
        let place = self.place(number);
        let bucket = &mut self.buckets[place];
        bucket.push((number, Value::Unset));
        let at = bucket.len() - 1;
        (&mut bucket[at].1, true)
    }

    fn remove(&mut self, number: i64) -> bool {
        let place = self.place(number);
        let Some(at) = self.buckets[place].iter().position(|(known, _)| *known == number) else { return false };
        self.buckets[place].remove(at);
        self.count -= 1;
        true
    }

    fn list(&self, keys: &mut Vec<Value>) {
        for bucket in &self.buckets {
            keys.extend(bucket.chunks(2).rev().flatten().map(|(number, _)| integer_key(*number)));
        }
    }
}

/// No entry.
const NONE: u32 = u32::MAX;

/// Texts by a multiplicative hash, in chains whose head is the newest.
struct Texts {
    heads: Vec<u32>,
    entries: Vec<Entry>,
    /// Entries that were removed and may be used again.
    free: Vec<u32>,
    size: usize,
    count: usize,
}

struct Entry {
    hash: u32,
    next: u32,
    key: Value,
    value: Value,
}

impl Default for Texts {
    fn default() -> Texts {
        Texts { heads: vec![NONE; SIZES[0]], entries: Vec::new(), free: Vec::new(), size: 0, count: 0 }
    }
}

#[inline]
fn hash(text: &[u8]) -> u32 {
    // Bytes are signed here, as characters are in C on most machines.
    text.iter().fold(0, |hash: u32, byte| hash.wrapping_mul(65599).wrapping_add(*byte as i8 as u32))
}

impl Texts {
    #[inline]
    fn find(&self, text: &[u8], hash: u32) -> Option<u32> {
        let mut at = self.heads[hash as usize % self.heads.len()];
        while at != NONE {
            let entry = &self.entries[at as usize];
            if entry.hash == hash && entry.key.bytes() == Some(text) {
                return Some(at);
            }
            at = entry.next;
        }
        None
    }

    fn get(&self, text: &[u8]) -> Option<&Value> {
        self.find(text, hash(text)).map(|at| &self.entries[at as usize].value)
    }

    fn element(&mut self, text: &[u8]) -> (&mut Value, bool) {
        let hash = hash(text);
        if let Some(at) = self.find(text, hash) {
            return (&mut self.entries[at as usize].value, false);
        }
        self.count += 1;
        if self.count / self.heads.len() > CHAIN && self.size + 1 < SIZES.len() {
            self.grow();
        }
        let head = hash as usize % self.heads.len();
        let entry = Entry { hash, next: self.heads[head], key: Value::string(text), value: Value::Unset };
        let at = match self.free.pop() {
            Some(at) => {
                self.entries[at as usize] = entry;
                at
            }
            None => {
                self.entries.push(entry);
                (self.entries.len() - 1) as u32
            }
        };
        self.heads[head] = at;
        (&mut self.entries[at as usize].value, true)
    }

    fn grow(&mut self) {
        self.size += 1;
        let old = std::mem::replace(&mut self.heads, vec![NONE; SIZES[self.size]]);
        for mut at in old {
            while at != NONE {
                let entry = &mut self.entries[at as usize];
                let head = entry.hash as usize % self.heads.len();
                let next = std::mem::replace(&mut entry.next, self.heads[head]);
                self.heads[head] = at;
                at = next;
            }
        }
    }

    fn remove(&mut self, text: &[u8]) -> bool {
        let hash = hash(text);
        let Some(found) = self.find(text, hash) else { return false };
        let next = self.entries[found as usize].next;
        let head = hash as usize % self.heads.len();
        if self.heads[head] == found {
            self.heads[head] = next;
        } else {
            let mut at = self.heads[head];
            while self.entries[at as usize].next != found {
                at = self.entries[at as usize].next;
            }
            self.entries[at as usize].next = next;
        }
        let entry = &mut self.entries[found as usize];
        (entry.key, entry.value) = (Value::Unset, Value::Unset);
        self.free.push(found);
        self.count -= 1;
        true
    }

    fn list(&self, keys: &mut Vec<Value>) {
        for head in &self.heads {
            let mut at = *head;
            while at != NONE {
                let entry = &self.entries[at as usize];
                keys.push(entry.key.clone());
                at = entry.next;
            }
        }
    }
}

/// A hash for the few thousand numbers of leaves, which a program chooses only for itself.
#[derive(Clone, Copy, Default)]
struct Mixing;

impl std::hash::BuildHasher for Mixing {
    type Hasher = Mixed;
    fn build_hasher(&self) -> Mixed {
        Mixed(0)
    }
}

struct Mixed(u64);

impl std::hash::Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }
    fn write_u32(&mut self, number: u32) {
        let mixed = (self.0 ^ u64::from(number)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 32);
    }
}
