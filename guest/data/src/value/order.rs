//! The order of values: null, false, true, numbers, strings, arrays, objects.

use std::cmp::Ordering;

use super::Value;

/// Compares two values.
pub(crate) fn compare(a: &Value, b: &Value) -> Ordering {
    if let Some(order) = plain(a, b) {
        return order;
    }
    // The pairs that are still to be compared, the next one on top: values may be of any depth.
    let mut left = vec![(a, b)];
    while let Some((a, b)) = left.pop() {
        let order = match (a, b) {
            (Value::Array(a), Value::Array(b)) => {
                let common = a.len().min(b.len());
                left.push(if a.len() < b.len() {
                    (&Value::Bool(false), &Value::Bool(true))
                } else if a.len() > b.len() {
                    (&Value::Bool(true), &Value::Bool(false))
                } else {
                    (&Value::Null, &Value::Null)
                });
                left.extend(a[..common].iter().zip(&b[..common]).rev());
                Ordering::Equal
            }
            (Value::Object(a), Value::Object(b)) => {
                // The sets of keys come first, then the values in the order of the keys.
                let (a, b) = (a.sorted(), b.sorted());
                let keys = a.iter().map(|(key, _)| key).cmp(b.iter().map(|(key, _)| key));
                if keys == Ordering::Equal {
                    left.extend(a.iter().zip(&b).rev().map(|((_, a), (_, b))| (*a, *b)));
                }
                keys
            }
            (a, b) => plain(a, b).unwrap_or(Ordering::Equal),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
    Ordering::Equal
}

/// Returns true if two values are equal.
pub(crate) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        // Not-a-number equals nothing, itself included, though it sorts below all other numbers.
        (Value::Number(a), Value::Number(b)) => a.float() == b.float(),
        (Value::Text(a), Value::Text(b)) => a == b,
        (Value::Array(a), Value::Array(b)) if a.len() != b.len() => false,
        (Value::Object(a), Value::Object(b)) if a.len() != b.len() => false,
        _ => compare(a, b) == Ordering::Equal,
    }
}

/// Compares two values if neither has to be looked into.
fn plain(a: &Value, b: &Value) -> Option<Ordering> {
    Some(match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.float(), b.float());
            a.partial_cmp(&b).unwrap_or(if a.is_nan() { Ordering::Less } else { Ordering::Greater })
        }
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        (Value::Array(_), Value::Array(_)) | (Value::Object(_), Value::Object(_)) => return None,
        (a, b) => rank(a).cmp(&rank(b)),
    })
}

fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(false) => 1,
        Value::Bool(true) => 2,
        Value::Number(_) => 3,
        Value::Text(_) => 4,
        Value::Array(_) => 5,
        Value::Object(_) => 6,
    }
}
