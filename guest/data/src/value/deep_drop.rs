//! The items of an array, and dropping values without deep recursion.
//!
//! Dropping a value drops the values in it, with a level of the stack for each level of the value. Below a depth that
//! the stack surely holds, the rest goes to a list instead, which the outermost drop empties.

use std::cell::{Cell, RefCell};

use super::Value;

/// The number of levels that are dropped by recursion.
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
        // Most arrays hold no arrays and no objects.
        if self.0.iter().any(|item| matches!(item, Value::Array(_) | Value::Object(_))) {
            drop_iteratively(std::mem::take(&mut self.0));
        }
    }
}

/// Drops values without deep recursion.
pub(super) fn drop_iteratively(values: Vec<Value>) {
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
