//! Regular expressions: jq has those of Oniguruma in its Perl syntax.

use std::cell::RefCell;
use std::rc::Rc;

use fancy_regex::{Regex, RegexBuilder};

use crate::jq::access::Outcome;
use crate::jq::arithmetic::{describe, two};
use crate::value::{List, Object, Text, Value};

/// The most steps that a pattern with back-references may take before it is given up.
const MOST_STEPS: usize = 10_000_000;

/// The most compiled patterns that are cached: most programs have few, and use them on every input.
const MOST_CACHED: usize = 32;

/// The flags of a match.
struct Flags {
    every: bool,
    /// Ignore empty matches.
    filled: bool,
}

thread_local! {
    static COMPILED: RefCell<Vec<(String, Rc<Regex>)>> = const { RefCell::new(Vec::new()) };
}

/// Computes `_match(re; flags; mode)`. Mode true: true if there is a match. Mode false: the matches as `match` gives
/// them. Mode null: the facts about them that a substitution needs.
pub(super) fn matches(input: Value, args: Vec<Value>) -> Outcome {
    let [pattern, flags, mode] = args.as_slice() else { return Ok(Value::Null) };
    let Value::Text(text) = &input else {
        return Err(Value::text(format!("{} cannot be matched, as it is not a string", describe(&input))));
    };
    let (regex, flags) = prepare(pattern, flags)?;
    if let Value::Bool(true) = mode {
        return Ok(Value::Bool(regex.is_match(text).map_err(failure)?));
    }
    let is_short = matches!(mode, Value::Null);
    let mut found = Vec::new();
    let mut counter = Counter { text, bytes: 0, chars: 0 };
    for captures in regex.captures_iter(text) {
        let captures = captures.map_err(failure)?;
        let Some(whole) = captures.get(0) else { continue };
        if flags.filled && whole.as_str().is_empty() {
            continue;
        }
        let names: Vec<Option<&str>> = regex.capture_names().collect();
        let offset = counter.at(whole.start());
        let mut object = Object::default();
        let mut put = |name: &str, value: Value| object.insert(Rc::new(name.to_owned()), value);
        put("offset", Value::number(offset as f64));
        put("length", Value::number(whole.as_str().chars().count() as f64));
        if is_short {
            let mut fields = Object::default();
            for (index, name) in names.iter().enumerate().skip(1) {
                if let Some(name) = name {
                    let part = captures.get(index).map(|part| Value::text(part.as_str())).unwrap_or_default();
                    fields.insert(Rc::new((*name).to_owned()), part);
                }
            }
            put("fields", Value::object(fields));
        } else {
            put("string", Value::text(whole.as_str()));
            let mut groups = Vec::new();
            for (index, name) in names.iter().enumerate().skip(1) {
                groups.push(group(captures.get(index), *name, &counter));
            }
            put("captures", Value::array(groups));
        }
        found.push(Value::object(object));
        if !flags.every {
            break;
        }
    }
    Ok(Value::array(found))
}

/// Computes `_splice(text; matches)`: the text with the matches replaced by the input's pieces, the last of which is
/// first.
pub(super) fn splice(input: Value, args: Vec<Value>) -> Outcome {
    let (Value::Array(pieces), (Value::Text(text), Value::Array(found))) = (&input, two(args)) else {
        return Ok(Value::Null);
    };
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    let mut at = 0;
    for (found, piece) in found.iter().zip(pieces.iter().rev()) {
        let Value::Object(found) = found else { continue };
        let number = |name: &str| found.get(name).and_then(Value::as_number).unwrap_or(0.0) as usize;
        let (offset, length) = (number("offset"), number("length"));
        out.extend(chars.by_ref().take(offset - at));
        chars.by_ref().take(length).for_each(drop);
        at = offset + length;
        match piece {
            Value::Text(piece) => out.push_str(piece),
            other => {
                let left = describe(&Value::text(out));
                return Err(Value::text(format!("{left} and {} cannot be added", describe(other))));
            }
        }
    }
    out.push_str(chars.as_str());
    Ok(Value::text(out))
}

/// `split(re; flags)`.
pub(super) fn split(input: Value, args: Vec<Value>) -> Outcome {
    let Value::Text(text) = &input else {
        return Err(Value::text(format!("{} cannot be matched, as it is not a string", describe(&input))));
    };
    let (regex, flags) = prepare(&args[0], &args[1])?;
    let mut parts = Vec::new();
    let mut at = 0;
    for found in regex.find_iter(text) {
        let found = found.map_err(failure)?;
        if flags.filled && found.as_str().is_empty() {
            continue;
        }
        parts.push(Value::text(&text[at..found.start()]));
        at = found.end();
    }
    parts.push(Value::text(&text[at..]));
    Ok(Value::array(parts))
}

fn group(found: Option<fancy_regex::Match>, name: Option<&str>, counter: &Counter) -> Value {
    let mut object = Object::default();
    let mut put = |key: &str, value: Value| object.insert(Rc::new(key.to_owned()), value);
    match found {
        Some(found) => {
            put("offset", Value::number(counter.ahead(found.start()) as f64));
            put("length", Value::number(found.as_str().chars().count() as f64));
            put("string", Value::text(found.as_str()));
        }
        None => {
            put("offset", Value::number(-1.0));
            put("string", Value::Null);
            put("length", Value::number(0.0));
        }
    }
    put("name", name.map(Value::text).unwrap_or_default());
    Value::object(object)
}

/// Counts the characters before a byte, starting from the byte before.
struct Counter<'t> {
    text: &'t str,
    bytes: usize,
    chars: usize,
}

impl Counter<'_> {
    fn at(&mut self, byte: usize) -> usize {
        self.chars = self.ahead(byte);
        self.bytes = byte;
        self.chars
    }

    /// Counts without moving; a group in a look-behind may begin before its match.
    fn ahead(&self, byte: usize) -> usize {
        if byte < self.bytes {
            return self.chars - self.text[byte..self.bytes].chars().count();
        }
        self.chars + self.text[self.bytes..byte].chars().count()
    }
}

/// Returns the pattern and the flags, which may be one array.
fn prepare(pattern: &Value, flags: &Value) -> Result<(Rc<Regex>, Flags), Value> {
    let (pattern, flags) = match pattern {
        Value::Array(both) => parts(both),
        other => (other.clone(), flags.clone()),
    };
    let Value::Text(pattern) = pattern else {
        return Err(Value::text(format!("{} not a string or array", pattern.kind())));
    };
    let letters: Text = match flags {
        Value::Null => Text::default(),
        Value::Text(letters) => letters,
        other => return Err(Value::text(format!("{} is not a string", describe(&other)))),
    };
    let mut options = String::new();
    let mut found = Flags { every: false, filled: false };
    for letter in letters.chars() {
        match letter {
            'g' => found.every = true,
            'i' | 'x' => options.push(letter),
            // Single-line mode (`s`) is the default here; the dot that matches newlines is `p`.
            's' => {}
            'p' => options.push('s'),
            'n' => found.filled = true,
            // The longest match is not supported: the regex engine finds the first one.
            'l' => return Err(Value::text("the modifier l (longest match) is not supported")),
            _ => return Err(Value::text(format!("{letters} is not a valid modifier string"))),
        }
    }
    let source = if options.is_empty() { translate(&pattern) } else { format!("(?{options}){}", translate(&pattern)) };
    Ok((compile(source)?, found))
}

fn parts(both: &List) -> (Value, Value) {
    (both.first().cloned().unwrap_or_default(), both.get(1).cloned().unwrap_or_default())
}

fn compile(source: String) -> Result<Rc<Regex>, Value> {
    COMPILED.with_borrow_mut(|compiled| {
        if let Some((_, regex)) = compiled.iter().find(|(other, _)| *other == source) {
            return Ok(regex.clone());
        }
        let regex = RegexBuilder::new(&source)
            .backtrack_limit(MOST_STEPS)
            .build()
            .map_err(|error| Value::text(format!("{} (at offset 0) is not a valid regex: {error}", source)))?;
        let regex = Rc::new(regex);
        if compiled.len() >= MOST_CACHED {
            compiled.remove(0);
        }
        compiled.push((source, regex.clone()));
        Ok(regex)
    })
}

/// Translates a pattern for the crate: `$` ends the text or its last line, `\h` is a hexadecimal digit.
fn translate(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut chars = pattern.chars().peekable();
    let mut in_class = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('h') => out.push_str(if in_class { "0-9a-fA-F" } else { "[0-9a-fA-F]" }),
                Some('H') if !in_class => out.push_str("[^0-9a-fA-F]"),
                Some('Z') if !in_class => out.push_str("(?=\\n?\\z)"),
                Some('/') => out.push('/'),
                Some(other) => {
                    out.push('\\');
                    out.push(other);
                }
                None => out.push('\\'),
            },
            '[' => {
                if in_class && chars.peek() != Some(&':') {
                    // A bracket in a class is literal, except in `[:alpha:]`.
                    out.push('\\');
                } else {
                    in_class = true;
                }
                out.push('[');
                if chars.peek() == Some(&':') {
                    for inner in chars.by_ref() {
                        out.push(inner);
                        if inner == ']' {
                            break;
                        }
                    }
                    continue;
                }
                if chars.peek() == Some(&'^') {
                    out.push('^');
                    chars.next();
                }
                if chars.peek() == Some(&']') {
                    out.push_str("\\]");
                    chars.next();
                }
            }
            ']' => {
                in_class = false;
                out.push(']');
            }
            '$' if !in_class => out.push_str("(?=\\n?\\z)"),
            // These signs have a meaning between classes in the crate only.
            '&' | '~' if in_class && chars.peek() == Some(&c) => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

fn failure(error: fancy_regex::Error) -> Value {
    Value::text(format!("Regex failure: {error}"))
}
