//! Access to values inside values: reading, setting and deleting, by key and by path.

use std::cmp::Ordering;
use std::rc::Rc;

use super::arithmetic::describe;
use super::natives::indices;
use crate::value::{List, Object, Value, compare};

/// The longest array that setting an index creates.
const LONGEST: f64 = (1 << 27) as f64;

/// The most slices in one path: each takes a level of the stack.
const MOST_SLICES: usize = 64;

/// The result of an expression with one value: the value or an error.
pub(crate) type Outcome = Result<Value, Value>;

/// Returns the value at a key.
pub(crate) fn get(value: &Value, key: &Value) -> Outcome {
    match (value, key) {
        (Value::Object(object), Value::Text(key)) => Ok(object.get(key).cloned().unwrap_or_default()),
        (Value::Array(items), Value::Number(index)) => Ok(at(items, index.float()).cloned().unwrap_or_default()),
        (Value::Array(items), Value::Object(bounds)) => {
            let (from, to) = span(bounds, items.len())?;
            Ok(Value::array(items[from..to].to_vec()))
        }
        (Value::Text(text), Value::Object(bounds)) => {
            let (from, to) = span(bounds, text.chars().count())?;
            Ok(Value::text(text.chars().skip(from).take(to - from).collect::<String>()))
        }
        (Value::Array(items), Value::Array(wanted)) => Ok(indices(items, wanted)),
        (Value::Null, Value::Text(_) | Value::Number(_) | Value::Object(_)) => Ok(Value::Null),
        (value, Value::Text(key)) => Err(no_key(value, key)),
        (value, key) => Err(Value::text(format!("Cannot index {} with {}", value.kind(), key.kind()))),
    }
}

/// Returns the value at a path; `null` has every path.
pub(crate) fn get_path(value: &Value, keys: &[Value]) -> Outcome {
    let mut value = value.clone();
    for key in keys {
        if let Value::Null = value {
            return Ok(Value::Null);
        }
        value = get(&value, key)?;
    }
    Ok(value)
}

/// Sets the value at a path.
pub(crate) fn set_path(root: Value, keys: &[Value], value: Value) -> Outcome {
    change_path(root, keys, |_| Ok(value))
}

/// Changes the value at a path.
pub(crate) fn change_path(root: Value, keys: &[Value], change: impl FnOnce(Value) -> Outcome) -> Outcome {
    let mut root = root;
    change_at(&mut root, keys, MOST_SLICES, Box::new(change))?;
    Ok(root)
}

/// Takes the value at a path out, and leaves `null` there. Nothing is created at a path that does not exist.
pub(crate) fn take_path(root: &mut Value, keys: &[Value]) -> Outcome {
    let mut value = root;
    for key in keys {
        value = match (value, key) {
            (Value::Null, _) => return Ok(Value::Null),
            (Value::Object(object), Value::Text(key)) => {
                if object.get(key).is_none() {
                    return Ok(Value::Null);
                }
                Rc::make_mut(object).entry(key)
            }
            (Value::Array(items), Value::Number(index)) => {
                let Some(index) = position_of(items.len(), index.float()) else { return Ok(Value::Null) };
                match Rc::make_mut(items).get_mut(index) {
                    Some(item) => item,
                    None => return Ok(Value::Null),
                }
            }
            // A slice is a copy: the items stay in the array.
            (value, _) => {
                let at = keys.iter().position(|other| std::ptr::eq(other, key)).unwrap_or(0);
                return get_path(value, &keys[at..]);
            }
        };
    }
    Ok(std::mem::take(value))
}

fn change_at(
    root: &mut Value,
    keys: &[Value],
    slices: usize,
    change: Box<dyn FnOnce(Value) -> Outcome + '_>,
) -> Result<(), Value> {
    let mut value = root;
    for (depth, key) in keys.iter().enumerate() {
        value = match (&mut *value, key) {
            (Value::Null, Value::Text(_)) => {
                *value = Value::object(Object::default());
                member(value, key)?
            }
            (Value::Object(_), Value::Text(_)) => member(value, key)?,
            (Value::Null, Value::Number(_)) => {
                *value = Value::array(Vec::new());
                element(value, key)?
            }
            (Value::Array(_), Value::Number(_)) => element(value, key)?,
            (Value::Null | Value::Array(_), Value::Object(bounds)) => {
                if slices == 0 {
                    return Err(Value::text("Path too deep"));
                }
                let list = match value {
                    Value::Array(items) => items.to_vec(),
                    _ => Vec::new(),
                };
                let (from, to) = span(bounds, list.len())?;
                let mut part =
                    if matches!(value, Value::Null) { Value::Null } else { Value::array(list[from..to].to_vec()) };
                change_at(&mut part, &keys[depth + 1..], slices - 1, change)?;
                let Value::Array(part) = part else {
                    return Err(Value::text("A slice of an array can only be assigned another array"));
                };
                let joined = list[..from].iter().chain(part.iter()).chain(&list[to..]).cloned().collect();
                *value = Value::array(joined);
                return Ok(());
            }
            (value, Value::Text(key)) => return Err(no_key(value, key)),
            (value @ Value::Text(_), Value::Object(_)) => {
                return Err(Value::text(format!("Cannot update field at object index of {}", value.kind())));
            }
            (value @ Value::Array(_), Value::Array(_)) => {
                return Err(Value::text(format!("Cannot update field at array index of {}", value.kind())));
            }
            (value, key) => {
                return Err(Value::text(format!("Cannot index {} with {}", value.kind(), key.kind())));
            }
        };
    }
    let old = std::mem::take(value);
    *value = change(old)?;
    Ok(())
}

fn member<'v>(value: &'v mut Value, key: &Value) -> Result<&'v mut Value, Value> {
    match (value, key) {
        (Value::Object(object), Value::Text(key)) => Ok(Rc::make_mut(object).entry(key)),
        _ => Err(Value::Null),
    }
}

fn element<'v>(value: &'v mut Value, key: &Value) -> Result<&'v mut Value, Value> {
    let (Value::Array(items), Value::Number(index)) = (value, key) else { return Err(Value::Null) };
    let items = Rc::make_mut(items);
    let Some(index) = position_of(items.len(), index.float()) else {
        return Err(Value::text("Out of bounds negative array index"));
    };
    if index as f64 > LONGEST {
        return Err(Value::text("Array index too large"));
    }
    if index >= items.len() {
        items.resize(index + 1, Value::Null);
    }
    Ok(&mut items[index])
}

/// Deletes the values at these paths.
pub(crate) fn delete_paths(root: Value, mut paths: Vec<Value>) -> Outcome {
    if let Some(wrong) = paths.iter().find(|path| !matches!(path, Value::Array(_))) {
        return Err(Value::text(format!("Path must be specified as array, not {}", wrong.kind())));
    }
    paths.sort_by(compare);
    let mut root = root;
    // From the end, so that a deletion does not move values that are still to be deleted.
    while let Some(Value::Array(last)) = paths.pop() {
        let Some((key, parent)) = last.split_last() else { return Ok(Value::Null) };
        // Items of the same array are deleted at once: one by one, each would move all items after it.
        let mut keys = vec![key.clone()];
        while let Some(Value::Array(other)) = paths.last() {
            let is_sibling = other.len() == last.len()
                && matches!((key, &other[parent.len()]), (Value::Number(_), Value::Number(_)))
                && other.iter().zip(parent).all(|(a, b)| compare(a, b) == Ordering::Equal);
            if !is_sibling {
                break;
            }
            keys.push(other[parent.len()].clone());
            paths.pop();
        }
        // A path that does not exist needs no deletion, and must not be created by it.
        if matches!(get_path(&root, parent)?, Value::Null) {
            continue;
        }
        root = change_path(root, parent, |value| delete(value, &keys))?;
    }
    Ok(root)
}

fn delete(value: Value, keys: &[Value]) -> Outcome {
    match (value, &keys[0]) {
        (Value::Null, _) => Ok(Value::Null),
        (Value::Object(mut object), Value::Text(key)) => {
            Rc::make_mut(&mut object).remove(key);
            Ok(Value::Object(object))
        }
        (Value::Array(mut items), Value::Number(_)) => {
            let count = items.len();
            let mut positions: Vec<usize> =
                keys.iter().filter_map(|key| position_of(count, key.as_number()?)).collect();
            positions.sort_unstable();
            let mut index = 0;
            Rc::make_mut(&mut items).retain(|_| {
                index += 1;
                positions.binary_search(&(index - 1)).is_err()
            });
            Ok(Value::Array(items))
        }
        (Value::Array(mut items), Value::Object(bounds)) => {
            let (from, to) = span(bounds, items.len())?;
            Rc::make_mut(&mut items).drain(from..to);
            Ok(Value::Array(items))
        }
        (Value::Object(_), key) => Err(Value::text(format!("Cannot delete field at object index of {}", key.kind()))),
        (Value::Array(_), key) => Err(Value::text(format!("Cannot delete field at array index of {}", key.kind()))),
        (value, _) => Err(Value::text(format!("Cannot delete fields from {}", value.kind()))),
    }
}

/// Returns true if a key exists.
pub(crate) fn has(value: &Value, key: &Value) -> Outcome {
    match (value, key) {
        (Value::Object(object), Value::Text(key)) => Ok(Value::Bool(object.get(key).is_some())),
        (Value::Array(items), Value::Number(index)) => {
            let index = index.float();
            Ok(Value::Bool(index >= 0.0 && index.trunc() < items.len() as f64))
        }
        (value, key) => Err(Value::text(format!("Cannot check whether {} has a {} key", value.kind(), key.kind()))),
    }
}

/// Returns the message for a value that cannot be iterated over.
pub(crate) fn not_iterable(value: &Value) -> String {
    format!("Cannot iterate over {}", describe(value))
}

/// Returns the error for a key of an object that is not a string.
pub(crate) fn bad_object_key(key: &Value) -> Value {
    Value::text(format!("Object keys must be strings, not {}", describe(key)))
}

fn no_key(value: &Value, key: &str) -> Value {
    Value::text(format!("Cannot index {} with string \"{key}\"", value.kind()))
}

fn at(items: &List, index: f64) -> Option<&Value> {
    items.get(position_of(items.len(), index)?)
}

/// Returns the position of an index. A negative one counts from the end; one before the start has none.
fn position_of(count: usize, index: f64) -> Option<usize> {
    let index = index.floor();
    if index >= 0.0 {
        // A cast of a number that is too large gives the largest position.
        return Some(index as usize);
    }
    let from_end = index + count as f64;
    if from_end >= 0.0 { Some(from_end as usize) } else { None }
}

/// Returns the begin and the end of a slice.
fn span(bounds: &Object, count: usize) -> Result<(usize, usize), Value> {
    let bound = |name: &str, default: f64| match bounds.get(name) {
        None | Some(Value::Null) => Ok(default),
        Some(Value::Number(number)) => Ok(number.float()),
        Some(_) => Err(Value::text("Start and end indices of an array slice must be numbers")),
    };
    if bounds.get("start").is_none() && bounds.get("end").is_none() {
        return Err(Value::text("Start and end indices of an array slice must be numbers"));
    }
    let length = count as f64;
    let from_end = |bound: f64| if bound < 0.0 { bound + length } else { bound };
    let from = from_end(bound("start", 0.0)?).clamp(0.0, length).floor() as usize;
    let to = from_end(bound("end", length)?).clamp(0.0, length).ceil() as usize;
    Ok((from, to.max(from)))
}
