//! Enumerates brace expansions.

use std::borrow::Cow;

use crate::state::{Shell, Stop};
use crate::syntax::tree::{Brace, Name, Parameter, Part};

/// Limit on the words of one brace expression. bash has none and runs out of memory instead; an argument costs about
/// fifty bytes here, and a process has 256 MiB.
const LIMIT: usize = 2_000_000;

/// Limit on the parts of all these words together, which bounds the cost of adjacent braces.
const PARTS: usize = 4_000_000;

/// Expands the braces of a word to words, as lists of parts.
pub(super) fn alternatives<'a>(shell: &mut Shell, parts: &'a [Part]) -> Result<Vec<Vec<Cow<'a, Part>>>, Stop> {
    let mut words: Vec<Vec<Cow<'a, Part>>> = vec![Vec::new()];
    for part in parts {
        let Part::Brace(brace) = part else {
            for word in &mut words {
                push(word, Cow::Borrowed(part));
            }
            continue;
        };
        let choices = choices(shell, brace)?;
        let made = words.len().saturating_mul(choices.len());
        let length = words[0].len() + choices.first().map_or(0, Vec::len);
        if made > LIMIT || made.saturating_mul(length) > PARTS {
            return Err(shell.refuse(&format!("brace expansion: too many words (limit {LIMIT})")));
        }
        let mut longer = Vec::with_capacity(words.len() * choices.len());
        for word in &words {
            for choice in &choices {
                longer.push(join(word, choice));
            }
        }
        words = longer;
    }
    Ok(words)
}

fn join<'a>(word: &[Cow<'a, Part>], choice: &[Cow<'a, Part>]) -> Vec<Cow<'a, Part>> {
    let mut joined = word.to_vec();
    for part in choice {
        push(&mut joined, part.clone());
    }
    joined
}

/// Appends a part. Braces are expanded on the text, so `$x{a,b}` is `$xa $xb`.
fn push<'a>(word: &mut Vec<Cow<'a, Part>>, part: Cow<'a, Part>) {
    if let Some(Part::Parameter(parameter)) = word.last().map(|p| &**p)
        && parameter.open
        && let Part::Bare(text) | Part::Glob(text) = &*part
        && let length = text.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count()
        && length > 0
        && let Name::Variable(name) = &parameter.name
    {
        let name = Name::Variable(format!("{name}{}", &text[..length]));
        let longer = Part::Parameter(Box::new(Parameter { name, ..(**parameter).clone() }));
        let rest = match &*part {
            Part::Glob(text) => Part::Glob(text[length..].to_owned()),
            _ => Part::Bare(text[length..].to_owned()),
        };
        word.pop();
        word.push(Cow::Owned(longer));
        if length < text.len() {
            word.push(Cow::Owned(rest));
        }
        return;
    }
    word.push(part);
}

/// Returns the parts with braces as text, for `set +B`.
pub(super) fn literal(parts: &[Part]) -> Vec<Part> {
    let mut out = Vec::new();
    for part in parts {
        let Part::Brace(brace) = part else {
            out.push(part.clone());
            continue;
        };
        match &**brace {
            Brace::List(list) => {
                for (i, alternative) in list.iter().enumerate() {
                    out.push(Part::Bare(if i == 0 { "{" } else { "," }.to_owned()));
                    out.extend(literal(alternative));
                }
                out.push(Part::Bare("}".to_owned()));
            }
            Brace::Numbers { from, to, step, width } => {
                let step = if *step == 1 { String::new() } else { format!("..{step}") };
                out.push(Part::Bare(format!("{{{}..{}{step}}}", padded(*from, *width), padded(*to, *width))));
            }
            Brace::Letters { from, to, step } => {
                let step = if *step == 1 { String::new() } else { format!("..{step}") };
                out.push(Part::Bare(format!("{{{}..{}{step}}}", char::from(*from), char::from(*to))));
            }
        }
    }
    out
}

/// Expands one brace expression.
fn choices<'a>(shell: &mut Shell, brace: &'a Brace) -> Result<Vec<Vec<Cow<'a, Part>>>, Stop> {
    match brace {
        Brace::List(list) => {
            let mut all = Vec::new();
            for parts in list {
                all.extend(alternatives(shell, parts)?);
            }
            Ok(all)
        }
        Brace::Numbers { from, to, step, width } => {
            let numbers = sequence(shell, *from, *to, *step)?;
            Ok(numbers.map(|n| vec![Cow::Owned(Part::Bare(padded(n, *width)))]).collect())
        }
        Brace::Letters { from, to, step } => {
            let letters = sequence(shell, i64::from(*from), i64::from(*to), *step)?;
            Ok(letters
                .map(|n| {
                    // Between `Z` and `a` there are characters that are special in a word; bash takes the backslash
                    // among them for a quote, and it disappears.
                    let letter = Some(char::from(n as u8)).filter(|c| *c != '\\');
                    vec![Cow::Owned(Part::Text(letter.map(String::from).unwrap_or_default()))]
                })
                .collect())
        }
    }
}

fn sequence(shell: &mut Shell, from: i64, to: i64, step: i64) -> Result<impl Iterator<Item = i64>, Stop> {
    let step = step.unsigned_abs().max(1);
    let count = from.abs_diff(to) / step + 1;
    if count > LIMIT as u64 {
        return Err(shell.refuse(&format!("brace expansion: too many words (limit {LIMIT})")));
    }
    let up = from <= to;
    Ok((0..count).map(move |i| {
        let distance = (i * step) as i64;
        if up { from.wrapping_add(distance) } else { from.wrapping_sub(distance) }
    }))
}

fn padded(number: i64, width: usize) -> String {
    match number < 0 {
        true => format!("-{:0w$}", number.unsigned_abs(), w = width.saturating_sub(1)),
        false => format!("{number:0width$}"),
    }
}
