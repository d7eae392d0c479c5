//! Reading documents into values, by YAML 1.2's core schema.

use std::collections::HashMap;
use std::rc::Rc;

use saphyr_parser::{Event, Parser, ScalarStyle};

use crate::json::DEEPEST;
use crate::value::{Number, Object, Text, Value};

/// The most nodes of a document with its aliases expanded. Aliases let a small text stand for a huge value: values are
/// shared, and a larger one is refused.
const MOST_NODES: usize = 20_000_000;

/// An open array or object.
enum Open {
    Array(Vec<Value>, usize),
    /// An object with the key whose value is read, its position, and the values of `<<`.
    Object(Object, Option<Text>, usize, Vec<Value>),
}

/// Reads all documents of a text.
pub(crate) fn parse(text: &str) -> Result<Vec<Value>, String> {
    let mut documents = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut anchors: HashMap<usize, (Value, usize)> = HashMap::new();
    let mut nodes = 0usize;
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|error| error.to_string())?;
        let value = match event {
            Event::DocumentStart(_) => {
                anchors.clear();
                nodes = 0;
                continue;
            }
            Event::Scalar(text, style, anchor, tag) => {
                nodes += 1;
                let is_text = tag.as_ref().is_some_and(|tag| tag.suffix == "str");
                let value = if style == ScalarStyle::Plain && !is_text {
                    scalar(&text)
                } else {
                    Value::text(text.into_owned())
                };
                anchors.insert(anchor, (value.clone(), 1));
                value
            }
            Event::Alias(anchor) => match anchors.get(&anchor) {
                Some((value, size)) => {
                    nodes = nodes.saturating_add(*size);
                    value.clone()
                }
                None => return Err("unknown anchor".into()),
            },
            Event::SequenceStart(anchor, _) => {
                open.push(Open::Array(Vec::new(), anchor));
                check_depth(&open)?;
                continue;
            }
            Event::MappingStart(anchor, _) => {
                open.push(Open::Object(Object::default(), None, anchor, Vec::new()));
                check_depth(&open)?;
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let (value, anchor) = close(open.pop());
                anchors.insert(anchor, (value.clone(), nodes));
                value
            }
            _ => continue,
        };
        if nodes > MOST_NODES {
            return Err("aliases make this document too large".into());
        }
        match open.last_mut() {
            None => documents.push(value),
            Some(Open::Array(items, _)) => items.push(value),
            Some(Open::Object(object, key, _, merged)) => match key.take() {
                None => *key = Some(name_of(value)?),
                Some(key) if key.as_str() == "<<" => merged.push(value),
                Some(key) => object.insert(key, value),
            },
        }
    }
    Ok(documents)
}

fn check_depth(open: &[Open]) -> Result<(), String> {
    if open.len() > DEEPEST { Err("nested too deep".into()) } else { Ok(()) }
}

fn close(open: Option<Open>) -> (Value, usize) {
    match open {
        Some(Open::Array(items, anchor)) => (Value::array(items), anchor),
        Some(Open::Object(mut object, _, anchor, merged)) => {
            for source in merged {
                match &source {
                    Value::Object(_) => merge(&mut object, &source),
                    Value::Array(sources) => sources.iter().for_each(|source| merge(&mut object, source)),
                    _ => {}
                }
            }
            (Value::object(object), anchor)
        }
        None => (Value::Null, 0),
    }
}

/// Adds the missing keys of an object from another; existing ones stay.
fn merge(object: &mut Object, source: &Value) {
    if let Value::Object(source) = source {
        for (key, value) in source.iter() {
            if object.get(key).is_none() {
                object.insert(key.clone(), value.clone());
            }
        }
    }
}

fn name_of(value: Value) -> Result<Text, String> {
    match value {
        Value::Text(text) => Ok(text),
        value @ (Value::Null | Value::Bool(_) | Value::Number(_)) => Ok(Rc::new(crate::json::compact(&value))),
        _ => Err("a key that is a list or a map is not supported".into()),
    }
}

/// Returns the value of a plain scalar.
pub(super) fn scalar(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    // `0644` and `0x1F` stay as they are written, because their spelling has a meaning.
    let is_spelled = digits.len() > 1 && digits.starts_with('0') && !digits[1..].starts_with(['.', 'e', 'E']);
    let is_number = !is_spelled
        && digits.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && digits.bytes().any(|byte| byte.is_ascii_digit())
        && digits.bytes().enumerate().all(|(index, byte)| {
            matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E')
                || matches!(byte, b'+' | b'-') && matches!(digits.as_bytes()[index.saturating_sub(1)], b'e' | b'E')
        });
    match Number::written(text.strip_prefix('+').unwrap_or(text)) {
        Some(number) if is_number => Value::Number(number),
        _ => Value::text(text),
    }
}
