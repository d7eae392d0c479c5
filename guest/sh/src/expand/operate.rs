//! The operators on values: removing, replacing, changing case, slicing.

use super::values::Values;
use crate::pattern::Pattern;
use crate::state::options::Shopt;
use crate::state::variable::Value;
use crate::state::{Shell, Stop};
use crate::syntax::tree::{Arith, LetterCase, Name, Operation, Part, ReplacePlace, Word};
use crate::text::{from_bytes, to_bytes};

impl Shell {
    /// Applies an operator to each value.
    pub(super) fn operate(&mut self, values: Values, operation: &Operation) -> Result<Values, Stop> {
        let change: Box<dyn Fn(&str) -> String> = match operation {
            Operation::Remove { suffix, longest, pattern } => {
                let pattern = self.operand_pattern(pattern)?;
                let (suffix, longest) = (*suffix, *longest);
                Box::new(move |text| remove(text, &pattern, suffix, longest))
            }
            Operation::Replace { place, pattern, with } => {
                let text = self.expand_pattern(pattern)?;
                if text.is_empty() && matches!(place, ReplacePlace::First | ReplacePlace::All) {
                    return Ok(values);
                }
                let pattern =
                    Pattern::new(&text, self.options.shopt(Shopt::EXTGLOB), self.options.shopt(Shopt::NOCASEMATCH));
                let with = self.replacement(with)?;
                let place = *place;
                // For an empty value bash only checks whether the pattern begins with a star.
                let takes_nothing = text.is_empty() || text.starts_with('*');
                Box::new(move |text| match text.is_empty() && !takes_nothing {
                    true => String::new(),
                    false => replace(text, &pattern, &with, place),
                })
            }
            Operation::Case { to, all, pattern } => {
                let pattern = match pattern.parts.is_empty() {
                    true => None,
                    false => Some(self.operand_pattern(pattern)?),
                };
                let (to, all) = (*to, *all);
                Box::new(move |text| change_case(text, to, all, pattern.as_ref()))
            }
            _ => return Ok(values),
        };
        Ok(match values {
            Values::One(text) => Values::One(text.map(|t| change(&t))),
            Values::Many { items, joined, end } => {
                let items = items.into_iter().map(|(i, t)| (i, change(&t))).collect();
                Values::Many { items, joined, end }
            }
        })
    }

    fn operand_pattern(&mut self, word: &Word) -> Result<Pattern, Stop> {
        let text = self.expand_pattern(word)?;
        Ok(Pattern::new(&text, self.options.shopt(Shopt::EXTGLOB), false))
    }

    /// Expands the replacement text to the pieces between which the match goes: an unquoted `&` stands for the match.
    fn replacement(&mut self, word: &Word) -> Result<Vec<String>, Stop> {
        if !self.options.shopt(Shopt::PATSUB_REPLACEMENT) {
            return Ok(vec![self.expand_string(word)?]);
        }
        if let Some(text) = word.literal()
            && (!text.contains('&') || matches!(word.parts[0], Part::Text(_)))
        {
            return Ok(vec![text.to_owned()]);
        }
        // Expanded as a pattern, quoted text is marked by backslashes.
        let mut pieces = vec![String::new()];
        let first_tilde = matches!(word.parts.first(), Some(Part::Glob(text)) if text.starts_with('~'));
        let mut words: Vec<Word> = word.parts.iter().cloned().map(Word::of).collect();
        if first_tilde {
            words = vec![word.clone()];
        }
        for part in words {
            let quoted = match &part.parts[0] {
                Part::Text(_) => true,
                Part::Parameter(parameter) => parameter.quoted,
                Part::Command(_, quoted) | Part::Arith(_, quoted) => *quoted,
                _ => false,
            };
            let text = self.expand_string(&part)?;
            if quoted {
                if let Some(last) = pieces.last_mut() {
                    last.push_str(&text);
                }
                continue;
            }
            let mut chars = text.chars().peekable();
            while let Some(c) = chars.next() {
                match c {
                    '&' => pieces.push(String::new()),
                    '\\' if matches!(chars.peek(), Some('&' | '\\')) => {
                        if let (Some(last), Some(next)) = (pieces.last_mut(), chars.next()) {
                            last.push(next);
                        }
                    }
                    c => {
                        if let Some(last) = pieces.last_mut() {
                            last.push(c);
                        }
                    }
                }
            }
        }
        Ok(pieces)
    }

    /// `${x:offset:length}`
    pub(super) fn slice(&mut self, text: &str, offset: &Arith, length: Option<&Arith>) -> Result<String, Stop> {
        let (offset, length) = self.bounds(offset, length)?;
        let count = self.count_chars(text) as i64;
        let start = if offset < 0 { count + offset } else { offset };
        if start < 0 || start > count {
            return Ok(String::new());
        }
        let end = match length {
            None => count,
            Some(length) if length < 0 => count + length,
            Some(length) => start.saturating_add(length).min(count),
        };
        if end < start {
            let shown = length.unwrap_or(0);
            return Err(self.refuse(&format!("{shown}: substring expression < 0")));
        }
        let (start, end) = (start as usize, end as usize);
        Ok(match text.is_ascii() {
            true => text[start..end].to_owned(),
            false if self.has_byte_locale() => from_bytes(to_bytes(text)[start..end].to_vec()),
            false => text.chars().skip(start).take(end - start).collect(),
        })
    }

    /// `${a[@]:offset:length}`: copies only the requested elements, so that a walk by slices costs no more than one by
    /// elements.
    pub(super) fn slice_many(
        &mut self,
        name: &Name,
        joined: bool,
        offset: &Arith,
        length: Option<&Arith>,
    ) -> Result<Values, Stop> {
        let (offset, length) = self.bounds(offset, length)?;
        let end = match name {
            Name::Variable(name) => match self.variable(name).as_deref().map(|v| &v.value) {
                Some(Value::Indexed(elements)) => {
                    elements.last_key_value().map_or(0, |(last, _)| last.saturating_add(1))
                }
                // Associative elements count from 1, like positional parameters.
                Some(Value::Associative(elements)) => elements.len() as i64 + 1,
                Some(Value::Scalar(_)) => 1,
                Some(Value::Unset) | None => 0,
            },
            _ => self.positional.len() as i64 + 1,
        };
        let start = if offset < 0 { end + offset } else { offset };
        if start < 0 || start > end {
            return Ok(Values::Many { items: Vec::new(), joined, end });
        }
        let limit = match length {
            None => usize::MAX,
            Some(length) if length < 0 => return Err(self.refuse(&format!("{length}: substring expression < 0"))),
            Some(length) => length as usize,
        };
        let items: Vec<(i64, String)> = match name {
            Name::Variable(name) => match self.variable(name).as_deref().map(|v| &v.value) {
                Some(Value::Indexed(elements)) => {
                    elements.range(start..).take(limit).map(|(i, v)| (*i, v.clone())).collect()
                }
                Some(Value::Associative(elements)) => {
                    let sorted = elements.sorted().into_iter().skip(start.max(1) as usize - 1).take(limit);
                    sorted.enumerate().map(|(i, (_, v))| (i as i64, v.to_owned())).collect()
                }
                Some(Value::Scalar(text)) if start == 0 => vec![(0, text.clone())].into_iter().take(limit).collect(),
                _ => Vec::new(),
            },
            _ => {
                // `${@:0}` starts with `$0`.
                let own = (start == 0).then(|| self.name.to_string());
                let rest = self.positional.iter().skip(start.max(1) as usize - 1).cloned();
                own.into_iter().chain(rest).take(limit).enumerate().map(|(i, v)| (i as i64, v)).collect()
            }
        };
        Ok(Values::Many { items, joined, end })
    }

    fn bounds(&mut self, offset: &Arith, length: Option<&Arith>) -> Result<(i64, Option<i64>), Stop> {
        let offset = self.arith(offset)?;
        Ok((offset, length.map(|length| self.arith(length)).transpose()?))
    }
}

fn remove(text: &str, pattern: &Pattern, suffix: bool, longest: bool) -> String {
    let kept = match suffix {
        true => pattern.suffix(text, longest).map(|at| &text[..at]),
        false => pattern.prefix(text, longest).map(|at| &text[at..]),
    };
    kept.unwrap_or(text).to_owned()
}

fn replace(text: &str, pattern: &Pattern, with: &[String], place: ReplacePlace) -> String {
    let put = |out: &mut String, matched: &str| {
        for (i, piece) in with.iter().enumerate() {
            if i > 0 {
                out.push_str(matched);
            }
            out.push_str(piece);
        }
    };
    let mut out = String::with_capacity(text.len());
    match place {
        ReplacePlace::Start => match pattern.prefix(text, true) {
            Some(end) => {
                put(&mut out, &text[..end]);
                out.push_str(&text[end..]);
            }
            None => out.push_str(text),
        },
        ReplacePlace::End => match pattern.suffix(text, true) {
            Some(start) => {
                out.push_str(&text[..start]);
                put(&mut out, &text[start..]);
            }
            None => out.push_str(text),
        },
        ReplacePlace::First | ReplacePlace::All => {
            if let Some(literal) = pattern.literal() {
                let mut rest = text;
                while let Some(at) = rest.find(&literal) {
                    out.push_str(&rest[..at]);
                    put(&mut out, &literal);
                    rest = &rest[at + literal.len()..];
                    if place == ReplacePlace::First {
                        break;
                    }
                }
                out.push_str(rest);
                return out;
            }
            let mut at = 0;
            while at < text.len() || text.is_empty() {
                let found = pattern.longest_at(text, at);
                if let Some(end) = found {
                    put(&mut out, &text[at..end]);
                }
                // After an empty match the next character is copied.
                match found.filter(|end| *end > at) {
                    Some(end) => at = end,
                    None => {
                        let Some(c) = text[at..].chars().next() else { break };
                        out.push(c);
                        at += c.len_utf8();
                    }
                }
                if found.is_some() && place == ReplacePlace::First {
                    break;
                }
            }
            out.push_str(&text[at..]);
        }
    }
    out
}

pub(super) fn change_case(text: &str, to: LetterCase, all: bool, pattern: Option<&Pattern>) -> String {
    let mut out = String::with_capacity(text.len());
    for (i, c) in text.chars().enumerate() {
        let wanted = (all || i == 0) && pattern.is_none_or(|p| p.matches(c.encode_utf8(&mut [0; 4])));
        if !wanted {
            out.push(c);
            continue;
        }
        // As with towupper, a change must keep one character one.
        let changed = match to {
            LetterCase::Upper => single(c.to_uppercase(), c),
            LetterCase::Lower => single(c.to_lowercase(), c),
            LetterCase::Toggle if c.is_uppercase() => single(c.to_lowercase(), c),
            LetterCase::Toggle => single(c.to_uppercase(), c),
        };
        out.push(changed);
    }
    out
}

fn single(mut chars: impl Iterator<Item = char>, original: char) -> char {
    match (chars.next(), chars.next()) {
        (Some(c), None) => c,
        _ => original,
    }
}
