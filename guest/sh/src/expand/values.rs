//! The values of parameters, before any operator.

use super::sink::{Mode, Sink};
use crate::state::variable::{Value, Variable};
use crate::state::{Key, Shell, Stop};
use crate::syntax::tree::{Arith, Index, Name, Parameter};

/// The value or values of a parameter.
#[derive(Debug)]
pub(super) enum Values {
    /// One value, or none.
    One(Option<String>),
    /// `$@`, `$*`, `${a[@]}`, `${a[*]}`.
    Many {
        /// The values with their indices; positional parameters count from 1.
        items: Vec<(i64, String)>,
        /// `*` rather than `@`.
        joined: bool,
        /// One past the highest index.
        end: i64,
    },
}

impl Shell {
    /// Joins the results of some operators on `$@` like those of `$*`, as bash does in an assignment if IFS is not
    /// empty.
    pub(super) fn for_one_string(&self, values: Values, sink: &Sink) -> Values {
        match values {
            Values::Many { items, end, .. } if sink.mode == Mode::Single && !self.joiner().is_empty() => {
                Values::Many { items, joined: true, end }
            }
            other => other,
        }
    }

    /// Returns the value of a plain parameter for arithmetic; `None` if it is unset.
    pub fn plain_value(&mut self, parameter: &Parameter) -> Option<String> {
        match &parameter.name {
            Name::Variable(name) => self.text_of(name),
            Name::Positional(number) => self.positional(*number).map(str::to_owned),
            Name::Special(b'@' | b'*') => None,
            Name::Special(special) => self.special_parameter(*special),
        }
    }

    /// Returns a positional parameter; `$0` is the name of the shell.
    pub fn positional(&self, number: u32) -> Option<&str> {
        match number {
            0 => Some(&self.name),
            _ => self.positional.get(number as usize - 1).map(String::as_str),
        }
    }

    /// Returns the value of `$#`, `$?`, `$-`, `$$` or `$!`.
    pub(super) fn special_parameter(&self, special: u8) -> Option<String> {
        match special {
            b'#' => Some(self.positional.len().to_string()),
            b'?' => Some(self.status.to_string()),
            b'-' => {
                let how = match self.origin {
                    crate::state::Origin::Argument => "c",
                    crate::state::Origin::Input => "s",
                    crate::state::Origin::Script => "",
                };
                let letters = self.options.letters();
                let letters = match self.interactive {
                    true => letters.replacen('B', "iB", 1),
                    false => letters,
                };
                Some(letters + how)
            }
            b'$' => Some(self.shell_pid().to_string()),
            b'!' => self.background.map(|pid| pid.to_string()),
            _ => None,
        }
    }

    /// Returns the value or values of a parameter.
    pub(super) fn values(&mut self, name: &Name, index: Option<&Index>) -> Result<Values, Stop> {
        match (name, index) {
            (Name::Special(special @ (b'@' | b'*')), _) => {
                let items: Vec<_> =
                    self.positional.iter().enumerate().map(|(i, v)| (i as i64 + 1, v.clone())).collect();
                let end = items.len() as i64 + 1;
                Ok(Values::Many { items, joined: *special == b'*', end })
            }
            (Name::Special(special), _) => Ok(Values::One(self.special_parameter(*special))),
            (Name::Positional(number), _) => Ok(Values::One(self.positional(*number).map(str::to_owned))),
            (Name::Variable(name), None) => {
                // A reference to `a[@]` stands for all elements in one word.
                if self.is_reference(name)
                    && let Some((target, Some(index))) = self.resolve(name)
                {
                    if !matches!(index.as_str(), "@" | "*") {
                        let key = self.key_in_text(&target, &index)?;
                        return self.element(&target, key).map(Values::One);
                    }
                    let Values::Many { items, .. } = self.all_values(&target, false) else {
                        return Ok(Values::One(None));
                    };
                    let all: Vec<String> = items.into_iter().map(|(_, text)| text).collect();
                    return Ok(Values::One(Some(all.join(" "))));
                }
                Ok(Values::One(self.text_of(name)))
            }
            (Name::Variable(name), Some(index @ (Index::All | Index::Joined))) => {
                Ok(self.all_values(name, matches!(index, Index::Joined)))
            }
            (Name::Variable(name), Some(Index::Element(arith))) => {
                let key = self.key(name, arith)?;
                self.element(name, key).map(Values::One)
            }
        }
    }

    fn all_values(&self, name: &str, joined: bool) -> Values {
        let variable = self.variable(name);
        let items: Vec<(i64, String)> = match variable.as_deref().map(|v| &v.value) {
            Some(Value::Indexed(elements)) => elements.iter().map(|(i, v)| (*i, v.clone())).collect(),
            Some(Value::Associative(elements)) => {
                elements.sorted().iter().enumerate().map(|(i, (_, v))| (i as i64, (*v).to_owned())).collect()
            }
            Some(Value::Scalar(text)) => vec![(0, text.clone())],
            Some(Value::Unset) | None => Vec::new(),
        };
        let end = items.last().map_or(0, |(last, _)| last.saturating_add(1));
        Values::Many { items, joined, end }
    }

    /// Returns the keys of an array.
    pub(super) fn keys(&self, name: &str) -> Vec<String> {
        match self.variable(name).as_deref().map(|v| &v.value) {
            Some(Value::Indexed(elements)) => elements.keys().map(i64::to_string).collect(),
            Some(Value::Associative(elements)) => elements.sorted().iter().map(|(k, _)| (*k).to_owned()).collect(),
            Some(Value::Scalar(_)) => vec!["0".to_owned()],
            Some(Value::Unset) | None => Vec::new(),
        }
    }

    /// Returns the element that a subscript of the syntax tree means for this variable.
    pub fn key(&mut self, name: &str, subscript: &Arith) -> Result<Key, Stop> {
        let associative = matches!(self.variable(name).as_deref(), Some(Variable { value: Value::Associative(_), .. }));
        match associative {
            true => Ok(Key::Name(self.expand_string(&subscript.text)?)),
            false => Ok(Key::Index(self.arith(subscript).map_err(Stop::abandoning)?)),
        }
    }

    /// Returns the element that a subscript given as text means. It is expanded like one in the source.
    pub fn key_in_text(&mut self, name: &str, subscript: &str) -> Result<Key, Stop> {
        let text = crate::syntax::subscript_word(subscript);
        self.key(name, &Arith { text, ..Arith::default() })
    }

    /// Returns one element of an array.
    pub fn element(&mut self, name: &str, key: Key) -> Result<Option<String>, Stop> {
        let Some(variable) = self.variable(name) else { return Ok(None) };
        let found = match (&variable.value, key) {
            (Value::Indexed(elements), Key::Index(index)) => {
                let end = elements.last_key_value().map_or(0, |(last, _)| last.saturating_add(1));
                let at = if index < 0 { index + end } else { index };
                if at < 0 {
                    // bash reports the error and continues with an empty value.
                    let message = format!("{name}: bad array subscript");
                    self.complain(&message);
                    return Ok(None);
                }
                elements.get(&at).cloned()
            }
            (Value::Associative(elements), Key::Name(key)) => elements.get(&key).map(str::to_owned),
            (Value::Associative(elements), Key::Index(index)) => elements.get(&index.to_string()).map(str::to_owned),
            (Value::Scalar(text), Key::Index(0 | -1)) => Some(text.clone()),
            _ => None,
        };
        Ok(found)
    }
}
