//! A table for small whole numbers, in ascending order.

use std::collections::HashMap;

use super::integer_key;
use crate::value::Value;

/// The number of unused slots that is tolerated before integers go to another table.
const WASTE: usize = 2048;
/// The base-2 logarithm of the first number that is not in the range with the smallest leaves.
const FIRST_BLOCK: u32 = 10;

/// Whole numbers from 0 to 2^31 in leaves. The size of a leaf depends on the largest power of two below its numbers.
#[derive(Default)]
pub(super) struct Blocks {
    /// The index of the leaf that starts at a number.
    index: HashMap<u32, u32, BuildLeafHasher>,
    leaves: Vec<Leaf>,
    /// The number of slots in all leaves in use, and the number of occupied slots.
    room: usize,
    used: usize,
    /// The leaf of the last access. Loops usually go through the numbers in order.
    last: std::cell::Cell<(u32, u32)>,
}

struct Leaf {
    first: u32,
    used: usize,
    values: Vec<Option<Value>>,
}

impl Blocks {
    pub(super) fn takes(number: i64) -> bool {
        (0..=i64::from(i32::MAX)).contains(&number)
    }

    /// Returns the first number of a number's leaf, and the leaf's size.
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
        // The initial value (0, 0) is right as well: leaf 0 is then either missing or compared by its first number.
        if last != first || self.leaves.get(at as usize).is_none_or(|leaf| leaf.first != first) {
            at = *self.index.get(&first)?;
            self.last.set((first, at));
        }
        Some((at as usize, (number - first) as usize))
    }

    pub(super) fn get(&self, number: i64) -> Option<&Value> {
        let (leaf, at) = self.find(number)?;
        self.leaves[leaf].values[at].as_ref()
    }

    pub(super) fn has_leaf(&self, number: i64) -> bool {
        self.find(number).is_some_and(|(leaf, _)| self.leaves[leaf].used > 0)
    }

    /// Returns true if one more leaf leaves few enough slots unused.
    pub(super) fn may_grow(&self, number: i64) -> bool {
        let (_, size) = Self::leaf_of(number as u32);
        self.room + size as usize <= WASTE + self.used
    }

    pub(super) fn element(&mut self, number: i64) -> (&mut Value, bool) {
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

    pub(super) fn remove(&mut self, number: i64) -> bool {
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

    pub(super) fn list(&self, keys: &mut Vec<Value>) {
        let mut leaves: Vec<&Leaf> = self.leaves.iter().filter(|leaf| leaf.used > 0).collect();
        leaves.sort_unstable_by_key(|leaf| leaf.first);
        for leaf in leaves {
            let present = leaf.values.iter().enumerate().filter(|(_, value)| value.is_some());
            keys.extend(present.map(|(at, _)| integer_key(i64::from(leaf.first) + at as i64)));
        }
    }
}

/// A hasher for the few thousand leaf numbers. A program that makes them collide slows down only itself.
#[derive(Clone, Copy, Default)]
struct BuildLeafHasher;

impl std::hash::BuildHasher for BuildLeafHasher {
    type Hasher = LeafHasher;
    fn build_hasher(&self) -> LeafHasher {
        LeafHasher(0)
    }
}

struct LeafHasher(u64);

impl std::hash::Hasher for LeafHasher {
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
