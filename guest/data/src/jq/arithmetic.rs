//! The operators.

use std::cmp::Ordering;
use std::rc::Rc;

use super::access::Outcome;
use crate::json;
use crate::value::{Value, compare, equal, own};

/// The longest string that `*` creates.
const LONGEST: f64 = (1 << 28) as f64;

/// The deepest level at which `*` merges objects: each takes a level of the stack.
const DEEPEST_MERGE: usize = 400;

type Args = Vec<Value>;

/// Computes `a + b`.
pub(crate) fn add(_: Value, args: Args) -> Outcome {
    let (a, b) = two(args);
    match (a, b) {
        (Value::Null, other) | (other, Value::Null) => Ok(other),
        (Value::Number(a), Value::Number(b)) => Ok(Value::number(a.float() + b.float())),
        (Value::Text(mut a), Value::Text(b)) => {
            Rc::make_mut(&mut a).push_str(&b);
            Ok(Value::Text(a))
        }
        (Value::Array(mut a), Value::Array(b)) => {
            Rc::make_mut(&mut a).extend(b.iter().cloned());
            Ok(Value::Array(a))
        }
        (Value::Object(mut a), Value::Object(b)) => {
            let object = Rc::make_mut(&mut a);
            for (key, value) in b.iter() {
                object.insert(key.clone(), value.clone());
            }
            Ok(Value::Object(a))
        }
        (a, b) => Err(cannot(&a, &b, "added")),
    }
}

/// Computes `a - b`.
pub(crate) fn subtract(_: Value, args: Args) -> Outcome {
    let (a, b) = two(args);
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => Ok(Value::number(a.float() - b.float())),
        (Value::Array(a), Value::Array(b)) => {
            let mut gone: Vec<&Value> = b.iter().collect();
            gone.sort_by(|a, b| compare(a, b));
            let mut items = own(a);
            items.retain(|item| gone.binary_search_by(|other| compare(other, item)).is_err());
            Ok(Value::Array(Rc::new(items)))
        }
        (a, b) => Err(cannot(&a, &b, "subtracted")),
    }
}

/// Computes `a * b`.
pub(crate) fn multiply(_: Value, args: Args) -> Outcome {
    let (a, b) = two(args);
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => Ok(Value::number(a.float() * b.float())),
        (Value::Text(text), Value::Number(count)) | (Value::Number(count), Value::Text(text)) => {
            let count = count.float();
            if count <= 0.0 || count.is_nan() {
                return Ok(Value::Null);
            }
            // A factor between zero and one gives the text once.
            let times = if count < 1.0 { 1.0 } else { count.floor() };
            if times * text.len() as f64 > LONGEST {
                return Err(Value::text("Repeat string result too long"));
            }
            Ok(Value::text(text.repeat(times as usize)))
        }
        (a @ Value::Object(_), b @ Value::Object(_)) => merge(a, b, 0),
        (a, b) => Err(cannot(&a, &b, "multiplied")),
    }
}

fn merge(a: Value, b: Value, depth: usize) -> Outcome {
    if depth > DEEPEST_MERGE {
        return Err(Value::text("Object merge too deep"));
    }
    match (a, b) {
        (Value::Object(mut a), Value::Object(b)) => {
            let object = Rc::make_mut(&mut a);
            for (key, value) in b.iter() {
                let slot = object.entry(key);
                let old = std::mem::take(slot);
                *slot = merge(old, value.clone(), depth + 1)?;
            }
            Ok(Value::Object(a))
        }
        (_, b) => Ok(b),
    }
}

/// Computes `a / b`.
pub(crate) fn divide(_: Value, args: Args) -> Outcome {
    let (a, b) = two(args);
    match (&a, &b) {
        (Value::Number(x), Value::Number(y)) => {
            if y.float() == 0.0 {
                return Err(cannot(&a, &b, "divided because the divisor is zero"));
            }
            Ok(Value::number(x.float() / y.float()))
        }
        (Value::Text(text), Value::Text(separator)) => Ok(split(text, separator)),
        _ => Err(cannot(&a, &b, "divided")),
    }
}

/// Computes `a % b`, of whole numbers.
pub(crate) fn remainder(_: Value, args: Args) -> Outcome {
    let (a, b) = two(args);
    let (Value::Number(x), Value::Number(y)) = (&a, &b) else {
        return Err(cannot(&a, &b, "divided (remainder)"));
    };
    if x.float().is_nan() || y.float().is_nan() {
        return Ok(Value::number(f64::NAN));
    }
    // A cast stops at the largest whole number, where C's is undefined.
    let (x, y) = (x.float() as i64, y.float() as i64);
    if y == 0 {
        return Err(cannot(&a, &b, "divided (remainder) because the divisor is zero"));
    }
    let rest = (x.unsigned_abs() % y.unsigned_abs()) as f64;
    Ok(Value::number(if x < 0 { -rest } else { rest }))
}

/// Computes `-a`.
pub(crate) fn negate(input: Value, _: Args) -> Outcome {
    match input {
        Value::Number(number) => Ok(Value::number(-number.float())),
        other => Err(Value::text(format!("{} cannot be negated", describe(&other)))),
    }
}

/// Computes `a < b`.
pub(crate) fn less(_: Value, args: Args) -> Outcome {
    order(args, |order| order == Ordering::Less)
}

/// Computes `a <= b`.
pub(crate) fn less_or_equal(_: Value, args: Args) -> Outcome {
    order(args, |order| order != Ordering::Greater)
}

/// Computes `a > b`.
pub(crate) fn greater(_: Value, args: Args) -> Outcome {
    order(args, |order| order == Ordering::Greater)
}

/// Computes `a >= b`.
pub(crate) fn greater_or_equal(_: Value, args: Args) -> Outcome {
    order(args, |order| order != Ordering::Less)
}

/// Computes `a == b`.
pub(crate) fn equals(_: Value, args: Args) -> Outcome {
    let (a, b) = two(args);
    Ok(Value::Bool(equal(&a, &b)))
}

/// Computes `a != b`.
pub(crate) fn differs(_: Value, args: Args) -> Outcome {
    let (a, b) = two(args);
    Ok(Value::Bool(!equal(&a, &b)))
}

fn order(args: Args, holds: impl Fn(Ordering) -> bool) -> Outcome {
    let (a, b) = two(args);
    Ok(Value::Bool(holds(compare(&a, &b))))
}

/// Splits a text at a separator, or into its characters if the separator is empty.
pub(crate) fn split(text: &str, separator: &str) -> Value {
    if text.is_empty() {
        return Value::array(Vec::new());
    }
    if separator.is_empty() {
        return Value::array(text.chars().map(|c| Value::text(c.to_string())).collect());
    }
    Value::array(text.split(separator).map(Value::from).collect())
}

/// Takes two arguments.
pub(crate) fn two(args: Args) -> (Value, Value) {
    let mut args = args.into_iter();
    (args.next().unwrap_or_default(), args.next().unwrap_or_default())
}

/// Takes one argument.
pub(crate) fn one(args: Args) -> Value {
    args.into_iter().next().unwrap_or_default()
}

/// Describes a value for a message: its kind and the start of its text.
pub(crate) fn describe(value: &Value) -> String {
    format!("{} ({})", value.kind(), shorten(&json::compact(value), 14))
}

/// Returns the first `most` bytes of a text at most, with dots if it is longer.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let mut end = most - 3;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}...", &text[..end])
}

fn cannot(a: &Value, b: &Value, what: &str) -> Value {
    Value::text(format!("{} and {} cannot be {what}", describe(a), describe(b)))
}
