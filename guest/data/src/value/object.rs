//! Objects: they keep the order of their keys, and find one among many at once.

use std::borrow::Borrow;
use std::collections::HashMap;

use super::{Text, Value, burial};

/// Objects up to this size are searched from end to end, which costs less than a table does.
const SMALL: usize = 12;

/// An object.
#[derive(Clone, Default)]
pub(crate) struct Object {
    /// In the order they came; a removed one leaves a gap, so that removing many is linear.
    entries: Vec<(Option<Text>, Value)>,
    gaps: usize,
    /// Where keys are, once there are many.
    table: Option<HashMap<Key, u32>>,
}

impl Object {
    /// How many keys there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len() - self.gaps
    }

    /// Whether there are no keys.
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.find(key).map(|index| &self.entries[index].1)
    }

    /// The value of a key, to be changed; `null` if it was not there.
    pub(crate) fn entry(&mut self, key: &Text) -> &mut Value {
        let index = match self.find(key) {
            Some(index) => index,
            None => self.append(key.clone(), Value::Null),
        };
        &mut self.entries[index].1
    }

    /// Sets the value of a key. A key that is there keeps its place.
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

    /// Keys and values in their order.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (&Text, &Value)> {
        self.entries.iter().filter_map(|(key, value)| key.as_ref().map(|key| (key, value)))
    }

    /// Keys and values, sorted by key: by code point, which is the order of the bytes.
    pub(crate) fn sorted(&self) -> Vec<(&Text, &Value)> {
        let mut sorted: Vec<_> = self.iter().collect();
        sorted.sort_unstable_by(|a, b| a.0.cmp(b.0));
        sorted
    }

    /// The entry at or after `index`, and where to look for the next one.
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
            burial::bury(entries.into_iter().map(|(_, value)| value).collect());
        }
    }
}

/// A key in the table; it is looked up by its text, which an `Rc<String>` on its own is not.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key(Text);

impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.0
    }
}
