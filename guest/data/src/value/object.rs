//! Objects, which keep the order of their keys and find a key in constant time.

use std::borrow::Borrow;
use std::collections::HashMap;

use super::{Text, Value, deep_drop};

/// The largest object that is searched without a table, which costs less.
const SMALL: usize = 12;

/// An object.
#[derive(Clone, Default)]
pub(crate) struct Object {
    /// The entries in the order of insertion. A removed one leaves a gap, so that removing many is linear.
    entries: Vec<(Option<Text>, Value)>,
    gaps: usize,
    /// The positions of keys, once there are many.
    table: Option<HashMap<Key, u32>>,
}

impl Object {
    /// Returns the number of keys.
    pub(crate) fn len(&self) -> usize {
        self.entries.len() - self.gaps
    }

    /// Returns true if there are no keys.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.find(key).map(|index| &self.entries[index].1)
    }

    /// Returns the value of a key for a change; a missing one is added as `null`.
    pub(crate) fn entry(&mut self, key: &Text) -> &mut Value {
        let index = match self.find(key) {
            Some(index) => index,
            None => self.append(key.clone(), Value::Null),
        };
        &mut self.entries[index].1
    }

    /// Sets the value of a key. An existing key keeps its position.
    pub(crate) fn insert(&mut self, key: Text, value: Value) {
        match self.find(&key) {
            Some(index) => self.entries[index].1 = value,
            None => {
                self.append(key, value);
            }
        }
    }

    /// Removes a key.
    pub(crate) fn remove(&mut self, key: &str) -> Option<Value> {
        let index = self.find(key)?;
        if let Some(table) = &mut self.table {
            table.remove(key);
        }
        let (_, value) = std::mem::take(&mut self.entries[index]);
        self.gaps += 1;
        if self.gaps > SMALL && self.gaps > self.entries.len() / 2 {
            self.close_gaps();
        }
        Some(value)
    }

    /// Returns keys and values in their order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (&Text, &Value)> {
        self.entries.iter().filter_map(|(key, value)| key.as_ref().map(|key| (key, value)))
    }

    /// Returns keys and values, sorted by key: by code point, which is the order of the bytes.
    pub(crate) fn sorted(&self) -> Vec<(&Text, &Value)> {
        let mut sorted: Vec<_> = self.iter().collect();
        sorted.sort_unstable_by(|a, b| a.0.cmp(b.0));
        sorted
    }

    /// Returns the entry at or after `index`, and the index after it.
    pub(crate) fn next(&self, index: usize) -> Option<(usize, &Text, &Value)> {
        let rest = self.entries.get(index..)?;
        rest.iter().enumerate().find_map(|(step, (key, value))| Some((index + step + 1, key.as_ref()?, value)))
    }

    fn find(&self, key: &str) -> Option<usize> {
        match &self.table {
            Some(table) => table.get(key).map(|index| *index as usize),
            None => {
                self.entries.iter().position(|(other, _)| other.as_ref().is_some_and(|other| other.as_str() == key))
            }
        }
    }

    fn append(&mut self, key: Text, value: Value) -> usize {
        let index = self.entries.len();
        if let Some(table) = &mut self.table {
            table.insert(Key(key.clone()), index as u32);
        }
        self.entries.push((Some(key), value));
        if self.table.is_none() && self.len() > SMALL {
            self.close_gaps();
            return self.entries.len() - 1;
        }
        index
    }

    fn close_gaps(&mut self) {
        self.entries.retain(|(key, _)| key.is_some());
        self.gaps = 0;
        self.table = (self.entries.len() > SMALL).then(|| {
            let keys = self.entries.iter().enumerate();
            keys.filter_map(|(index, (key, _))| Some((Key(key.clone()?), index as u32))).collect()
        });
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        if self.entries.iter().any(|(_, value)| matches!(value, Value::Array(_) | Value::Object(_))) {
            let entries = std::mem::take(&mut self.entries);
            deep_drop::drop_iteratively(entries.into_iter().map(|(_, value)| value).collect());
        }
    }
}

/// A key in the table, which can be looked up by its text, unlike an `Rc<String>`.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key(Text);

impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.0
    }
}
