//! Functions on strings.

use crate::jq::access::{self, Outcome};
use crate::jq::arithmetic::{self as ops, describe, one};
use crate::json;
use crate::value::{Number, Value};

pub(super) fn fromjson(input: Value, _: Vec<Value>) -> Outcome {
    let Value::Text(text) = &input else {
        return Err(Value::text(format!("{} cannot be parsed as JSON", describe(&input))));
    };
    json::parse(text.as_bytes()).map_err(|message| Value::text(format!("{message} (while parsing '{text}')")))
}

pub(super) fn tonumber(input: Value, _: Vec<Value>) -> Outcome {
    match &input {
        Value::Number(_) => Ok(input),
        Value::Text(text) => match Number::read(text.trim()) {
            Some(number) => Ok(Value::Number(number)),
            None if text.trim() == "nan" => Ok(Value::number(f64::NAN)),
            None => Err(Value::text(format!("Cannot parse '{text}' as a number"))),
        },
        other => Err(Value::text(format!("{} cannot be parsed as a number", describe(other)))),
    }
}

pub(super) fn join(input: Value, args: Vec<Value>) -> Outcome {
    let separator = one(args);
    let items: Vec<Value> = match &input {
        Value::Array(items) => items.to_vec(),
        Value::Object(object) => object.iter().map(|(_, value)| value.clone()).collect(),
        other => return Err(Value::text(access::not_iterable(other))),
    };
    let mut joined = Value::text("");
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            joined = ops::add(Value::Null, vec![joined, separator.clone()])?;
        }
        let item = match item {
            Value::Null => Value::text(""),
            item @ (Value::Bool(_) | Value::Number(_)) => Value::text(json::compact(&item)),
            item => item,
        };
        joined = ops::add(Value::Null, vec![joined, item])?;
    }
    Ok(joined)
}

pub(super) fn split(input: Value, args: Vec<Value>) -> Outcome {
    match (&input, &one(args)) {
        (Value::Text(text), Value::Text(separator)) => Ok(ops::split(text, separator)),
        _ => Err(Value::text("split input and separator must be strings")),
    }
}

pub(super) fn explode(input: Value, _: Vec<Value>) -> Outcome {
    match &input {
        Value::Text(text) => Ok(Value::array(text.chars().map(|c| Value::number(f64::from(u32::from(c)))).collect())),
        _ => Err(Value::text("explode input must be a string")),
    }
}

pub(super) fn implode(input: Value, _: Vec<Value>) -> Outcome {
    let Value::Array(items) = &input else { return Err(Value::text("implode input must be an array")) };
    let mut text = String::new();
    for item in items.iter() {
        let Some(code) = item.as_number() else {
            let message = format!("{} can't be imploded, unicode codepoint needs to be numeric", describe(item));
            return Err(Value::text(message));
        };
        text.push(char::from_u32(code as u32).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    Ok(Value::text(text))
}

pub(super) fn map(input: Value, change: impl Fn(&str) -> String, name: &str) -> Outcome {
    match &input {
        Value::Text(text) => Ok(Value::text(change(text))),
        _ if name.starts_with("ascii") => Err(Value::text("explode input must be a string")),
        other => Err(Value::text(format!("{} cannot be trimmed", describe(other)))),
    }
}

pub(super) fn ltrimstr(input: Value, args: Vec<Value>) -> Outcome {
    match (input.as_text(), one(args).as_text()) {
        (Some(text), Some(prefix)) => Ok(Value::text(text.strip_prefix(prefix).unwrap_or(text))),
        _ => Ok(input),
    }
}

pub(super) fn rtrimstr(input: Value, args: Vec<Value>) -> Outcome {
    match (input.as_text(), one(args).as_text()) {
        (Some(text), Some(suffix)) => Ok(Value::text(text.strip_suffix(suffix).unwrap_or(text))),
        _ => Ok(input),
    }
}

pub(super) fn trimstr(input: Value, args: Vec<Value>) -> Outcome {
    let trimmed = ltrimstr(input, args.clone())?;
    rtrimstr(trimmed, args)
}

pub(super) fn startswith(input: Value, args: Vec<Value>) -> Outcome {
    match (input.as_text(), one(args).as_text()) {
        (Some(text), Some(prefix)) => Ok(Value::Bool(text.starts_with(prefix))),
        _ => Err(Value::text("startswith() requires string inputs")),
    }
}

pub(super) fn endswith(input: Value, args: Vec<Value>) -> Outcome {
    match (input.as_text(), one(args).as_text()) {
        (Some(text), Some(suffix)) => Ok(Value::Bool(text.ends_with(suffix))),
        _ => Err(Value::text("endswith() requires string inputs")),
    }
}

pub(super) fn utf8bytelength(input: Value, _: Vec<Value>) -> Outcome {
    match &input {
        Value::Text(text) => Ok(Value::number(text.len() as f64)),
        other => Err(Value::text(format!("{} only strings have UTF-8 byte length", describe(other)))),
    }
}
