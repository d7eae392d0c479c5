//! The items of an array, and how deep values end.
//!
//! Dropping a value drops what is in it, a level of the stack for each level of the value. Below a depth that the stack
//! is sure to hold, what is left goes to a list instead, which the outermost drop works off.

use std::cell::{Cell, RefCell};

use super::Value;

/// Levels that are dropped the plain way.
const PLAIN_LEVELS: u32 = 256;

thread_local! {
    static LEVEL: Cell<u32> = const { Cell::new(0) };
    static LEFT: RefCell<Vec<Vec<Value>>> = const { RefCell::new(Vec::new()) };
}

/// The items of an array.
#[derive(Clone, Default)]
pub(crate) struct List(pub(crate) Vec<Value>);

impl std::ops::Deref for List {
    type Target = Vec<Value>;

    fn deref(&self) -> &Vec<Value> {
        &self.0
    }
}

impl std::ops::DerefMut for List {
    fn deref_mut(&mut self) -> &mut Vec<Value> {
        &mut self.0
    }
}

impl Drop for List {
    fn drop(&mut self) {
        // Most arrays hold nothing that could be deep.
        if self.0.iter().any(|item| matches!(item, Value::Array(_) | Value::Object(_))) {
            bury(std::mem::take(&mut self.0));
        }
    }
}

/// Drops values without going deep.
pub(super) fn bury(values: Vec<Value>) {
    let level = LEVEL.get();
    if level >= PLAIN_LEVELS {
        LEFT.with_borrow_mut(|left| left.push(values));
        return;
    }
    LEVEL.set(level + 1);
    drop(values);
    if level == 0 {
        while let Some(values) = LEFT.with_borrow_mut(Vec::pop) {
            drop(values);
        }
    }
    LEVEL.set(level);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_levels_end_without_a_million_frames() {
        let mut value = Value::Null;
        for _ in 0..1_000_000 {
            value = Value::array(vec![value]);
        }
        drop(value);
    }
}
