//! A table for integers, by a hash of the number.

use super::{CHAIN, SIZES, integer_key};
use crate::value::Value;

/// Integers by a hash of their low 32 bits.
pub(super) struct Integers {
    /// In the order of insertion. A listing takes pairs from the end, as gawk's does.
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
    fn bucket_of(&self, number: i64) -> usize {
        let mut k = number as u32;
        k ^= k << 3;
        k = k.wrapping_add(k >> 5);
        k ^= k << 4;
        k = k.wrapping_add(k >> 17);
        k ^= k << 25;
        k = k.wrapping_add(k >> 6);
        k as usize % self.buckets.len()
    }

    pub(super) fn get(&self, number: i64) -> Option<&Value> {
        self.buckets[self.bucket_of(number)].iter().find(|(known, _)| *known == number).map(|(_, value)| value)
    }

    pub(super) fn element(&mut self, number: i64) -> (&mut Value, bool) {
        let index = self.bucket_of(number);
        if let Some(at) = self.buckets[index].iter().position(|(known, _)| *known == number) {
            return (&mut self.buckets[index][at].1, false);
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
                        let index = self.bucket_of(number);
                        self.buckets[index].push((number, value));
                    }
                }
            }
        }
        let index = self.bucket_of(number);
        let bucket = &mut self.buckets[index];
        bucket.push((number, Value::Unset));
        let at = bucket.len() - 1;
        (&mut bucket[at].1, true)
    }

    pub(super) fn remove(&mut self, number: i64) -> bool {
        let index = self.bucket_of(number);
        let Some(at) = self.buckets[index].iter().position(|(known, _)| *known == number) else { return false };
        self.buckets[index].remove(at);
        self.count -= 1;
        true
    }

    pub(super) fn list(&self, keys: &mut Vec<Value>) {
        for bucket in &self.buckets {
            keys.extend(bucket.chunks(2).rev().flatten().map(|(number, _)| integer_key(*number)));
        }
    }
}
