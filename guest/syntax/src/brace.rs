//! Finds brace expansions in the parts of a word.
//!
//! bash expands braces before anything else, on the text. The resulting words depend only on the text, so the structure
//! is found once, here, and only the enumeration is left for later. Quoted text and expansions are opaque.

use super::tree::{Brace, Part};

/// Replaces each brace expression among the parts by a `Brace` part.
pub(super) fn structure(parts: Vec<Part>) -> Vec<Part> {
    let symbols: Vec<Symbol> = parts.into_iter().flat_map(symbols_of).collect();
    build(&symbols, 0)
}

/// Unquoted characters one by one, everything else as it is.
#[derive(Clone)]
enum Symbol {
    Char(char),
    Opaque(Part),
}

fn symbols_of(part: Part) -> Vec<Symbol> {
    match part {
        Part::Bare(text) => text.chars().map(Symbol::Char).collect(),
        other => vec![Symbol::Opaque(other)],
    }
}

/// Limit on nested braces. Scripts do not nest them this deep, and each level costs a scan of the word.
const DEPTH_LIMIT: u32 = 32;

fn build(symbols: &[Symbol], depth: u32) -> Vec<Part> {
    let closing = matching(symbols);
    let mut parts = Vec::new();
    let mut bare = String::new();
    let mut at = 0;
    while at < symbols.len() {
        match &symbols[at] {
            Symbol::Char('{') => {
                if let Some((end, has_comma)) = closing[at]
                    && let Some(brace) = expression(&symbols[at + 1..end], has_comma, depth)
                {
                    flush(&mut parts, &mut bare);
                    parts.push(Part::Brace(brace.into()));
                    at = end + 1;
                    continue;
                }
                bare.push('{');
            }
            Symbol::Char(c) => bare.push(*c),
            Symbol::Opaque(part) => {
                flush(&mut parts, &mut bare);
                parts.push(part.clone());
            }
        }
        at += 1;
    }
    flush(&mut parts, &mut bare);
    super::word::mark_globs(&mut parts);
    parts
}

/// Finds, for each `{`, the position of its `}` and whether a comma of its own is between the two. The table avoids
/// searching braces without a comma again at each level.
fn matching(symbols: &[Symbol]) -> Vec<Option<(usize, bool)>> {
    let mut closing = vec![None; symbols.len()];
    let mut open = Vec::new();
    for (at, symbol) in symbols.iter().enumerate() {
        match symbol {
            Symbol::Char('{') => open.push((at, false)),
            Symbol::Char(',') => {
                if let Some((_, has_comma)) = open.last_mut() {
                    *has_comma = true;
                }
            }
            Symbol::Char('}') => {
                if let Some((start, has_comma)) = open.pop() {
                    closing[start] = Some((at, has_comma));
                }
            }
            _ => {}
        }
    }
    closing
}

fn flush(parts: &mut Vec<Part>, bare: &mut String) {
    if !bare.is_empty() {
        parts.push(Part::Bare(std::mem::take(bare)));
    }
}

/// Parses the expression between two braces.
fn expression(inner: &[Symbol], has_comma: bool, depth: u32) -> Option<Brace> {
    if depth == DEPTH_LIMIT {
        return None;
    }
    if !has_comma {
        return sequence(inner);
    }
    let mut open = 0u32;
    let mut alternatives = Vec::new();
    let mut from = 0;
    for (at, symbol) in inner.iter().enumerate() {
        match symbol {
            Symbol::Char('{') => open += 1,
            Symbol::Char('}') => open -= 1,
            Symbol::Char(',') if open == 0 => {
                alternatives.push(build(&inner[from..at], depth + 1));
                from = at + 1;
            }
            _ => {}
        }
    }
    alternatives.push(build(&inner[from..], depth + 1));
    Some(Brace::List(alternatives))
}

/// Parses `1..9` or `a..e`, with an optional step.
fn sequence(symbols: &[Symbol]) -> Option<Brace> {
    // Room for three numbers of 64 bits, their signs and the dots, with padding.
    if symbols.len() > 128 {
        return None;
    }
    let mut text = String::new();
    for symbol in symbols {
        match symbol {
            Symbol::Char(c) => text.push(*c),
            Symbol::Opaque(_) => return None,
        }
    }
    let mut fields = text.split("..");
    let (from, to, step) = (fields.next()?, fields.next()?, fields.next());
    if fields.next().is_some() {
        return None;
    }
    let step = match step {
        Some(step) => step.parse::<i64>().ok()?,
        None => 1,
    };
    if let (Ok(first), Ok(last)) = (from.parse::<i64>(), to.parse::<i64>()) {
        let width = if is_padded(from) || is_padded(to) { from.len().max(to.len()) } else { 0 };
        return Some(Brace::Numbers { from: first, to: last, step, width });
    }
    match (from.as_bytes(), to.as_bytes()) {
        ([from], [to]) if from.is_ascii_alphabetic() && to.is_ascii_alphabetic() => {
            Some(Brace::Letters { from: *from, to: *to, step })
        }
        _ => None,
    }
}

/// Returns true if a number has leading zeros, which ask for padding.
fn is_padded(number: &str) -> bool {
    let digits = number.trim_start_matches(['-', '+']);
    digits.len() > 1 && digits.starts_with('0')
}
