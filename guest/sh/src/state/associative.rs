//! Associative arrays, in bash's order.
//!
//! The language promises no order, but scripts print the elements of a loop and people compare the output. bash walks
//! its hash table: 1,024 buckets of the 32-bit FNV hash, and the newest entry first within a bucket. Each entry records
//! its age, and the walk sorts by bucket and age.

use serde::{Deserialize, Serialize};

use crate::hash::NameMap;

/// The number of buckets of bash's first table. It grows fourfold when it holds twice as many entries as buckets.
const BUCKETS: u32 = 1024;

/// A map from strings to strings.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Associative {
    entries: NameMap<String, (u64, String)>,
    born: u64,
}

impl PartialEq for Associative {
    fn eq(&self, other: &Associative) -> bool {
        self.sorted().eq(&other.sorted())
    }
}

impl Associative {
    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries.get(key).map(|(_, value)| value.as_str())
    }

    /// Sets the value of a key.
    pub fn insert(&mut self, key: String, value: String) {
        match self.entries.get_mut(&key) {
            Some(entry) => entry.1 = value,
            None => {
                self.born += 1;
                self.entries.insert(key, (self.born, value));
            }
        }
    }

    /// Returns the value of a key, to change it.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut String> {
        self.entries.get_mut(key).map(|(_, value)| value)
    }

    /// Removes a key.
    pub fn remove(&mut self, key: &str) {
        self.entries.remove(key);
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if there are no keys.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the keys and values in bash's order.
    pub fn sorted(&self) -> Vec<(&str, &str)> {
        let mut buckets = BUCKETS;
        while self.entries.len() as u32 >= buckets * 2 {
            buckets *= 4;
        }
        let mut all: Vec<_> = self
            .entries
            .iter()
            .map(|(key, (born, value))| ((fnv(key) & (buckets - 1), u64::MAX - born), key.as_str(), value.as_str()))
            .collect();
        crate::order::sort_by(&mut all, |(order, _, _)| *order);
        all.into_iter().map(|(_, key, value)| (key, value)).collect()
    }
}

/// The 32-bit FNV-1 hash.
fn fnv(key: &str) -> u32 {
    crate::text::to_bytes(key)
        .iter()
        .fold(2_166_136_261, |hash: u32, byte| hash.wrapping_mul(16_777_619) ^ u32::from(*byte))
}
