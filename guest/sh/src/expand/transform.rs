//! The transformations `${x@Q}`, `${x@A}`, …

use super::operate::change_case;
use super::sink::Sink;
use super::values::Values;
use crate::state::variable::{Value, Variable};
use crate::state::{Shell, Stop};
use crate::syntax::tree::{Index, LetterCase, Name};
use crate::{escape, quote};

impl Shell {
    /// Applies a transformation to the values of a parameter.
    pub(super) fn transform(
        &mut self,
        name: &Name,
        index: Option<&Index>,
        values: Values,
        letter: u8,
        quoted: bool,
        sink: &mut Sink,
    ) -> Result<(), Stop> {
        if !b"QEPAaKkULu".contains(&letter) {
            let shown = match name {
                Name::Variable(name) => name.clone(),
                Name::Positional(number) => number.to_string(),
                Name::Special(special) => char::from(*special).to_string(),
            };
            return Err(self.refuse(&format!("${{{shown}@{}}}: bad substitution", char::from(letter))));
        }
        let all = matches!(index, Some(Index::All | Index::Joined));
        if let Name::Variable(variable) = name {
            match letter {
                b'a' => {
                    let letters = self.variable(variable).map(|v| v.letters()).unwrap_or_default();
                    let values = match values {
                        Values::One(_) => Values::One(Some(letters)),
                        Values::Many { items, joined, end } => {
                            let items = items.into_iter().map(|(i, _)| (i, letters.clone())).collect();
                            Values::Many { items, joined, end }
                        }
                    };
                    self.emit(values, quoted, sink);
                    return Ok(());
                }
                b'A' => {
                    let one = match &values {
                        Values::One(text) => text.as_deref(),
                        Values::Many { .. } => None,
                    };
                    let shown = self.variable(variable).and_then(|v| assignment_text(variable, &v, one, all));
                    // `"${a[@]@A}"` is several words, the last of which is the assignment.
                    if matches!(index, Some(Index::All))
                        && quoted
                        && let Some(words) = shown.as_ref().and_then(|s| s.strip_prefix("declare -"))
                        && let Some((letters, rest)) = words.split_once(' ')
                    {
                        let words = ["declare".to_owned(), format!("-{letters}"), rest.to_owned()];
                        sink.values(&words, false, quoted, " ");
                        return Ok(());
                    }
                    self.emit(Values::One(shown), quoted, sink);
                    return Ok(());
                }
                b'K' | b'k' if all => {
                    let variable = self.variable(variable);
                    let pairs = variable.as_deref().map(pairs).unwrap_or_default();
                    let items: Vec<String> = match letter {
                        b'K' => {
                            let shown = pairs.iter().map(|(k, v)| format!("{k} {}", quote::double(v)));
                            let joined = shown.collect::<Vec<_>>().join(" ");
                            // bash leaves a blank after the last pair of an associative array.
                            let associative =
                                variable.as_deref().is_some_and(|v| matches!(v.value, Value::Associative(_)));
                            vec![if associative { joined + " " } else { joined }]
                        }
                        _ => pairs.into_iter().flat_map(|(k, v)| [k, v]).collect(),
                    };
                    drop(variable);
                    let joiner = self.joiner();
                    sink.values(&items, matches!(index, Some(Index::Joined)), quoted, &joiner);
                    return Ok(());
                }
                _ => {}
            }
        }
        if letter == b'A' {
            // Only all positional parameters together have an assignment.
            if let Values::Many { items, joined, .. } = values
                && !items.is_empty()
            {
                let words = items.iter().map(|(_, text)| quote::single(text));
                let words: Vec<String> = ["set".to_owned(), "--".to_owned()].into_iter().chain(words).collect();
                sink.values(&words, joined, quoted, " ");
            } else if let Name::Positional(_) = name {
                self.emit(Values::One(None), quoted, sink);
            }
            return Ok(());
        }
        self.check_bound(name, index, &values)?;
        let values = match values {
            Values::One(None) => Values::One(None),
            Values::One(Some(text)) => Values::One(Some(self.transform_one(&text, letter)?)),
            Values::Many { items, joined, end } => {
                let mut changed = Vec::with_capacity(items.len());
                for (i, text) in items {
                    changed.push((i, self.transform_one(&text, letter)?));
                }
                Values::Many { items: changed, joined, end }
            }
        };
        let values = self.for_one_string(values, sink);
        self.emit(values, quoted, sink);
        Ok(())
    }

    fn transform_one(&mut self, text: &str, letter: u8) -> Result<String, Stop> {
        Ok(match letter {
            b'Q' | b'K' | b'k' => quote::single(text),
            b'E' => escape::ansi_c(text),
            b'P' => self.prompt(text)?,
            b'U' => change_case(text, LetterCase::Upper, true, None),
            b'u' => change_case(text, LetterCase::Upper, false, None),
            b'L' => change_case(text, LetterCase::Lower, true, None),
            _ => String::new(),
        })
    }
}

/// Returns the keys and values of an array, or of a scalar as if it were one.
fn pairs(variable: &Variable) -> Vec<(String, String)> {
    match &variable.value {
        Value::Unset => Vec::new(),
        Value::Scalar(text) => vec![("0".to_owned(), text.clone())],
        Value::Indexed(elements) => elements.iter().map(|(i, v)| (i.to_string(), v.clone())).collect(),
        Value::Associative(elements) => {
            elements.sorted().into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
        }
    }
}

/// `${x@A}`: returns the command that makes the variable.
fn assignment_text(name: &str, variable: &Variable, one: Option<&str>, all: bool) -> Option<String> {
    let letters = variable.letters();
    let value = match &variable.value {
        Value::Unset if letters.is_empty() => return None,
        Value::Unset => return Some(format!("declare -{letters} {name}")),
        _ if all && variable.is_array() => crate::builtins::array_text(variable),
        _ => match one {
            Some(text) => quote::single(text),
            None => return Some(format!("declare -{letters} {name}")).filter(|_| !letters.is_empty()),
        },
    };
    Some(match letters.is_empty() {
        true => format!("{name}={value}"),
        false => format!("declare -{letters} {name}={value}"),
    })
}
