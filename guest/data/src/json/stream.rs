//! The events of `--stream`: each leaf of a value with its path, and the end of each array and object.

use crate::value::{Text, Value};

/// An open array or object, and the position in it.
enum Level<'v> {
    Array(&'v [Value], usize),
    Object(Vec<(&'v Text, &'v Value)>, usize),
}

/// Passes the events of a value to `emit`, in their order.
pub(crate) fn events(value: &Value, emit: &mut dyn FnMut(Value)) {
    let mut levels: Vec<Level> = Vec::new();
    let mut path: Vec<Value> = Vec::new();
    let mut next = Some(value);
    loop {
        match next.take() {
            Some(Value::Array(items)) if !items.is_empty() => {
                levels.push(Level::Array(items, 0));
                path.push(Value::Null);
            }
            Some(Value::Object(object)) if !object.is_empty() => {
                levels.push(Level::Object(object.iter().collect(), 0));
                path.push(Value::Null);
            }
            Some(leaf) => emit(Value::array(vec![Value::array(path.clone()), leaf.clone()])),
            None => {}
        }
        let Some(level) = levels.last_mut() else { return };
        let (key, child) = match level {
            Level::Array(items, index) => {
                *index += 1;
                (Value::number((*index - 1) as f64), items.get(*index - 1))
            }
            Level::Object(entries, index) => {
                *index += 1;
                match entries.get(*index - 1) {
                    Some((key, child)) => (Value::Text((*key).clone()), Some(*child)),
                    None => (Value::Null, None),
                }
            }
        };
        match child {
            Some(child) => {
                path.pop();
                path.push(key);
                next = Some(child);
            }
            None => {
                emit(Value::array(vec![Value::array(path.clone())]));
                levels.pop();
                path.pop();
            }
        }
    }
}
