//! A table for texts, by a hash of their bytes.

use super::{CHAIN, SIZES};
use crate::value::Value;

/// The index that stands for no entry.
const NONE: u32 = u32::MAX;

/// Texts by a multiplicative hash, in chains with the newest entry first.
pub(super) struct Texts {
    heads: Vec<u32>,
    entries: Vec<Entry>,
    /// The indices of removed entries, to be used again.
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
    // Bytes are signed, as in C on most machines, to get gawk's hash.
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

    pub(super) fn get(&self, text: &[u8]) -> Option<&Value> {
        self.find(text, hash(text)).map(|at| &self.entries[at as usize].value)
    }

    pub(super) fn element(&mut self, text: &[u8]) -> (&mut Value, bool) {
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

    pub(super) fn remove(&mut self, text: &[u8]) -> bool {
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

    pub(super) fn list(&self, keys: &mut Vec<Value>) {
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
