//! Functions on arrays and objects.

use std::cmp::Ordering;
use std::rc::Rc;

use crate::jq::access::{self, Outcome};
use crate::jq::arithmetic::{self as ops, describe, one, two};
use crate::value::{List, Object, Text, Value, compare, equal, own};

/// The deepest level that `contains` compares: each takes a level of the stack.
const DEEPEST_CONTAINED: usize = 400;

pub(super) fn length(input: Value, _: Vec<Value>) -> Outcome {
    Ok(Value::number(match &input {
        Value::Null => 0.0,
        Value::Bool(_) => return Err(Value::text(format!("{} has no length", describe(&input)))),
        Value::Number(number) => number.float().abs(),
        Value::Text(text) => text.chars().count() as f64,
        Value::Array(items) => items.len() as f64,
        Value::Object(object) => object.len() as f64,
    }))
}

pub(super) fn keys(input: Value, _: Vec<Value>) -> Outcome {
    match &input {
        Value::Object(object) => {
            Ok(Value::array(object.sorted().into_iter().map(|(key, _)| Value::Text(key.clone())).collect()))
        }
        other => keys_unsorted(other.clone(), Vec::new()),
    }
}

pub(super) fn keys_unsorted(input: Value, _: Vec<Value>) -> Outcome {
    match &input {
        Value::Object(object) => Ok(Value::array(object.iter().map(|(key, _)| Value::Text(key.clone())).collect())),
        Value::Array(items) => Ok(Value::array((0..items.len()).map(|index| Value::number(index as f64)).collect())),
        other => Err(Value::text(format!("{} has no keys", describe(other)))),
    }
}

pub(super) fn contains(input: Value, args: Vec<Value>) -> Outcome {
    contained(&input, &one(args), 0).map(Value::Bool)
}

fn contained(a: &Value, b: &Value, depth: usize) -> Result<bool, Value> {
    if depth > DEEPEST_CONTAINED {
        return Err(Value::text("Containment check too deep"));
    }
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            for (key, value) in b.iter() {
                match a.get(key) {
                    Some(other) if contained(other, value, depth + 1)? => {}
                    _ => return Ok(false),
                }
            }
            Ok(true)
        }
        (Value::Array(a), Value::Array(b)) => {
            for value in b.iter() {
                let mut found = false;
                for other in a.iter() {
                    // Inside an array, a value of another kind is no error.
                    if std::mem::discriminant(other) == std::mem::discriminant(value)
                        && contained(other, value, depth + 1)?
                    {
                        found = true;
                        break;
                    }
                }
                if !found {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::Text(a), Value::Text(b)) => Ok(a.contains(b.as_str())),
        (a, b) if a.kind() == b.kind() => Ok(equal(a, b)),
        (a, b) if depth == 0 => {
            Err(Value::text(format!("{} and {} cannot have their containment checked", describe(a), describe(b))))
        }
        _ => Ok(false),
    }
}

pub(super) fn add(input: Value, _: Vec<Value>) -> Outcome {
    let items = values(&input)?;
    drop(input);
    // The first item is added to in place.
    items.into_iter().try_fold(Value::Null, |sum, item| ops::add(Value::Null, vec![sum, item]))
}

pub(super) fn sort(input: Value, _: Vec<Value>) -> Outcome {
    let mut items = list(input, "sorted")?;
    Rc::make_mut(&mut items).sort_by(compare);
    Ok(Value::Array(items))
}

pub(super) fn unique(input: Value, _: Vec<Value>) -> Outcome {
    let mut items = match input {
        Value::Array(items) => items,
        other => return Err(Value::text(access::not_iterable(&other))),
    };
    let list = Rc::make_mut(&mut items);
    list.sort_by(compare);
    list.dedup_by(|a, b| compare(a, b) == Ordering::Equal);
    Ok(Value::Array(items))
}

pub(super) fn min(input: Value, _: Vec<Value>) -> Outcome {
    let keys = input.clone();
    min_by(input, vec![keys])
}

pub(super) fn max(input: Value, _: Vec<Value>) -> Outcome {
    let keys = input.clone();
    max_by(input, vec![keys])
}

pub(super) fn reverse(input: Value, _: Vec<Value>) -> Outcome {
    match input {
        Value::Null => Ok(Value::array(Vec::new())),
        Value::Array(mut items) => {
            Rc::make_mut(&mut items).reverse();
            Ok(Value::Array(items))
        }
        Value::Text(text) => Ok(Value::text(text.chars().rev().collect::<String>())),
        other => Err(Value::text(format!("Cannot reverse {}", describe(&other)))),
    }
}

pub(super) fn flatten(input: Value, args: Vec<Value>) -> Outcome {
    let depth = match args.first() {
        None => f64::INFINITY,
        Some(Value::Number(depth)) => depth.float(),
        Some(_) => return Err(Value::text("flatten depth must not be negative")),
    };
    if depth < 0.0 {
        return Err(Value::text("flatten depth must not be negative"));
    }
    let mut flat = Vec::new();
    // The lists that are still to be flattened, each with its depth, the next one on top.
    let mut left: Vec<(std::vec::IntoIter<Value>, f64)> = vec![(values(&input)?.into_iter(), depth)];
    while let Some((items, depth)) = left.last_mut() {
        match items.next() {
            None => {
                left.pop();
            }
            Some(Value::Array(inner)) if *depth > 0.0 => {
                let depth = *depth - 1.0;
                let inner: Vec<Value> = inner.to_vec();
                left.push((inner.into_iter(), depth));
            }
            Some(item) => flat.push(item),
        }
    }
    Ok(Value::array(flat))
}

pub(super) fn transpose(input: Value, _: Vec<Value>) -> Outcome {
    let rows = values(&input)?;
    let mut width = 0;
    for row in &rows {
        match row {
            Value::Array(items) => width = width.max(items.len()),
            other => return Err(Value::text(format!("Cannot index {} with number", other.kind()))),
        }
    }
    let column = |index: usize| {
        let cells = rows.iter().map(|row| match row {
            Value::Array(items) => items.get(index).cloned().unwrap_or_default(),
            _ => Value::Null,
        });
        Value::array(cells.collect())
    };
    Ok(Value::array((0..width).map(column).collect()))
}

pub(super) fn to_entries(input: Value, _: Vec<Value>) -> Outcome {
    let (name, content): (Text, Text) = (Rc::new("key".into()), Rc::new("value".into()));
    let entry = |key: Value, value: &Value| {
        let mut entry = Object::default();
        entry.insert(name.clone(), key);
        entry.insert(content.clone(), value.clone());
        Value::object(entry)
    };
    match &input {
        Value::Object(object) => {
            Ok(Value::array(object.iter().map(|(key, value)| entry(Value::Text(key.clone()), value)).collect()))
        }
        Value::Array(items) => {
            let numbered = items.iter().enumerate();
            Ok(Value::array(numbered.map(|(index, item)| entry(Value::number(index as f64), item)).collect()))
        }
        other => Err(Value::text(format!("{} has no keys", describe(other)))),
    }
}

pub(super) fn from_entries(input: Value, _: Vec<Value>) -> Outcome {
    let mut object = Object::default();
    for entry in values(&input)? {
        let mut key = Value::Null;
        for name in ["key", "k", "name", "Name", "K", "Key"] {
            let found = access::get(&entry, &name.into())?;
            if !matches!(found, Value::Null) {
                key = found;
                if key.is_true() {
                    break;
                }
            }
        }
        let mut value = Value::Null;
        for name in ["value", "v", "Value", "V"] {
            if let Value::Object(entry) = &entry
                && let Some(found) = entry.get(name)
            {
                value = found.clone();
                break;
            }
        }
        let key = match key {
            Value::Text(key) => key,
            Value::Null => Rc::new("null".into()),
            key @ (Value::Bool(_) | Value::Number(_)) => Rc::new(crate::json::compact(&key)),
            key => return Err(Value::text(format!("Cannot use {} as object key", describe(&key)))),
        };
        object.insert(key, value);
    }
    Ok(Value::object(object))
}

pub(super) fn setpath(input: Value, args: Vec<Value>) -> Outcome {
    match two(args) {
        (Value::Array(keys), value) => access::set_path(input, &keys, value),
        _ => Err(Value::text("Path must be specified as an array")),
    }
}

pub(super) fn delpaths(input: Value, args: Vec<Value>) -> Outcome {
    match one(args) {
        Value::Array(paths) => access::delete_paths(input, own(paths).to_vec()),
        _ => Err(Value::text("Paths must be specified as an array")),
    }
}

pub(super) fn find_all(input: Value, args: Vec<Value>) -> Outcome {
    positions(&input, &one(args))
}

pub(super) fn find_first(input: Value, args: Vec<Value>) -> Outcome {
    Ok(match positions(&input, &one(args))? {
        Value::Array(found) => found.first().cloned().unwrap_or_default(),
        _ => Value::Null,
    })
}

pub(super) fn find_last(input: Value, args: Vec<Value>) -> Outcome {
    Ok(match positions(&input, &one(args))? {
        Value::Array(found) => found.last().cloned().unwrap_or_default(),
        _ => Value::Null,
    })
}

fn positions(input: &Value, wanted: &Value) -> Outcome {
    match (input, wanted) {
        (Value::Null, _) => Ok(Value::Null),
        (Value::Text(text), Value::Text(wanted)) => {
            if wanted.is_empty() {
                return Ok(Value::array(Vec::new()));
            }
            // jq 1.6 counts bytes here, later ones characters. For ASCII they agree.
            let mut found = Vec::new();
            let mut from = 0;
            let mut chars = 0;
            while let Some(step) = text[from..].find(wanted.as_str()) {
                chars += text[from..from + step].chars().count();
                found.push(Value::number(chars as f64));
                let next = text[from + step..].chars().next().map_or(1, char::len_utf8);
                chars += 1;
                from += step + next;
            }
            Ok(Value::array(found))
        }
        (Value::Array(items), Value::Array(wanted)) => Ok(indices(items, wanted)),
        (Value::Array(items), wanted) => {
            let found = items.iter().enumerate().filter(|(_, item)| equal(item, wanted));
            Ok(Value::array(found.map(|(index, _)| Value::number(index as f64)).collect()))
        }
        (input, wanted) => access::get(input, wanted),
    }
}

/// Returns the positions of a list in another.
pub(crate) fn indices(items: &List, wanted: &List) -> Value {
    if wanted.is_empty() {
        return Value::Null;
    }
    let windows = items.windows(wanted.len()).enumerate();
    let found = windows.filter(|(_, window)| window.iter().zip(wanted.iter()).all(|(a, b)| equal(a, b)));
    Value::array(found.map(|(index, _)| Value::number(index as f64)).collect())
}

pub(super) fn sort_by(input: Value, args: Vec<Value>) -> Outcome {
    Ok(Value::array(keyed(input, args)?.into_iter().map(|(_, item)| item).collect()))
}

pub(super) fn group_by(input: Value, args: Vec<Value>) -> Outcome {
    let mut groups: Vec<(Value, Vec<Value>)> = Vec::new();
    for (key, item) in keyed(input, args)? {
        match groups.last_mut() {
            Some((last, items)) if compare(last, &key) == Ordering::Equal => items.push(item),
            _ => groups.push((key, vec![item])),
        }
    }
    Ok(Value::array(groups.into_iter().map(|(_, items)| Value::array(items)).collect()))
}

pub(super) fn unique_by(input: Value, args: Vec<Value>) -> Outcome {
    let mut pairs = keyed(input, args)?;
    pairs.dedup_by(|a, b| compare(&a.0, &b.0) == Ordering::Equal);
    Ok(Value::array(pairs.into_iter().map(|(_, item)| item).collect()))
}

pub(super) fn min_by(input: Value, args: Vec<Value>) -> Outcome {
    let pairs = pairs(input, args, "iterated over")?;
    Ok(pairs
        .into_iter()
        .reduce(|a, b| if compare(&b.0, &a.0) == Ordering::Less { b } else { a })
        .map(|pair| pair.1)
        .unwrap_or_default())
}

pub(super) fn max_by(input: Value, args: Vec<Value>) -> Outcome {
    let pairs = pairs(input, args, "iterated over")?;
    Ok(pairs
        .into_iter()
        .reduce(|a, b| if compare(&b.0, &a.0) == Ordering::Less { a } else { b })
        .map(|pair| pair.1)
        .unwrap_or_default())
}

/// Returns items with their keys, sorted by key; equal ones keep their order.
fn keyed(input: Value, args: Vec<Value>) -> Result<Vec<(Value, Value)>, Value> {
    let mut pairs = pairs(input, args, "sorted, as they are not both arrays")?;
    pairs.sort_by(|a, b| compare(&a.0, &b.0));
    Ok(pairs)
}

fn pairs(input: Value, args: Vec<Value>, what: &str) -> Result<Vec<(Value, Value)>, Value> {
    match (input, one(args)) {
        (Value::Array(items), Value::Array(keys)) => Ok(keys.iter().cloned().zip(items.iter().cloned()).collect()),
        (input, keys) => Err(Value::text(format!("{} and {} cannot be {what}", describe(&input), describe(&keys)))),
    }
}

/// Returns the values of an array or an object.
fn values(input: &Value) -> Result<Vec<Value>, Value> {
    match input {
        Value::Array(items) => Ok(items.to_vec()),
        Value::Object(object) => Ok(object.iter().map(|(_, value)| value.clone()).collect()),
        other => Err(Value::text(access::not_iterable(other))),
    }
}

fn list(input: Value, what: &str) -> Result<Rc<List>, Value> {
    match input {
        Value::Array(items) => Ok(items),
        other => Err(Value::text(format!("{} cannot be {what}, as it is not an array", describe(&other)))),
    }
}
