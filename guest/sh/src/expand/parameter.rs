//! Parameter expansion.

use super::sink::{Mode, Sink};
use super::values::Values;
use crate::order::sort_texts;
use crate::state::options::SetOption;
use crate::state::variable::{Attributes, Value};
use crate::state::{Key, Shell, Stop, TargetName};
use crate::syntax::tree::{Arith, Fallback, Index, Name, Operation, Parameter, Word};
use crate::syntax::{self};

impl Shell {
    /// Expands a parameter into a sink.
    pub(super) fn expand_parameter(&mut self, parameter: &Parameter, sink: &mut Sink) -> Result<(), Stop> {
        // `$x` of a set, plain variable is the most frequent expansion: it copies only into the sink.
        if let (Name::Variable(name), None, Operation::Value, false) =
            (&parameter.name, &parameter.index, &parameter.operation, parameter.indirect)
            && let Some(variable) = self.variables.get(name)
            && !variable.is(Attributes::NAMEREF)
            && let Some(text) = variable.text()
        {
            sink.value(text, parameter.quoted);
            return Ok(());
        }
        if parameter.indirect {
            return self.expand_indirect(parameter, sink);
        }
        self.expand_named(&parameter.name, parameter.index.as_ref(), &parameter.operation, parameter.quoted, sink)
    }

    fn expand_named(
        &mut self,
        name: &Name,
        index: Option<&Index>,
        operation: &Operation,
        quoted: bool,
        sink: &mut Sink,
    ) -> Result<(), Stop> {
        match operation {
            Operation::Bad(text) => return Err(self.refuse(&format!("{text}: bad substitution"))),
            Operation::Names(prefix) => {
                let names = self.names_with(prefix);
                let joined = *name == Name::Special(b'*');
                self.emit_names(&names, joined, quoted, "", sink);
                return Ok(());
            }
            Operation::Keys => {
                if let Name::Variable(name) = name {
                    let keys = self.keys(name);
                    self.emit_names(&keys, matches!(index, Some(Index::Joined)), quoted, " ", sink);
                }
                return Ok(());
            }
            Operation::Length => {
                let length = self.length(name, index)?;
                sink.value(&length.to_string(), quoted);
                return Ok(());
            }
            _ => {}
        }
        if let Operation::Slice { offset, length } = operation
            && let Some(joined) = many(name, index)
        {
            let values = self.slice_many(name, joined, offset, length.as_ref())?;
            self.emit(values, quoted, sink);
            return Ok(());
        }
        let values = self.values(name, index)?;
        match operation {
            Operation::Fallback { kind, colon, word } => {
                self.fallback(name, index, values, (*kind, *colon, word), quoted, sink)
            }
            Operation::Slice { offset, length } => {
                self.check_bound(name, index, &values)?;
                let values = match values {
                    Values::One(Some(text)) => Values::One(Some(self.slice(&text, offset, length.as_ref())?)),
                    other => other,
                };
                self.emit(values, quoted, sink);
                Ok(())
            }
            Operation::Transform(letter) => self.transform(name, index, values, *letter, quoted, sink),
            _ => {
                self.check_bound(name, index, &values)?;
                let values = self.operate(values, operation)?;
                let values = match operation {
                    Operation::Remove { .. } => self.for_one_string(values, sink),
                    Operation::Replace { .. } if quoted => self.for_one_string(values, sink),
                    _ => values,
                };
                self.emit(values, quoted, sink);
                Ok(())
            }
        }
    }

    /// Adds names or keys to a sink. With an empty IFS bash makes one word even of an unquoted `*`.
    fn emit_names(&mut self, names: &[String], joined: bool, quoted: bool, between: &str, sink: &mut Sink) {
        let joiner = self.joiner();
        match joined && !quoted && joiner.is_empty() {
            true => sink.value(&names.join(between), quoted),
            false => sink.values(names, joined, quoted, &joiner),
        }
    }

    /// Adds values to a sink.
    pub(super) fn emit(&mut self, values: Values, quoted: bool, sink: &mut Sink) {
        match values {
            Values::One(Some(text)) => sink.value(&text, quoted),
            // In quotes an unset value is an empty field.
            Values::One(None) => sink.value("", quoted),
            Values::Many { items, joined, .. } => {
                let items: Vec<String> = items.into_iter().map(|(_, text)| text).collect();
                if items.is_empty() && !(quoted && joined) {
                    return;
                }
                sink.values(&items, joined, quoted, &self.joiner());
            }
        }
    }

    /// Checks a parameter under `set -u`: unset is an error, except for `$@` and `$*`.
    pub(super) fn check_bound(&mut self, name: &Name, index: Option<&Index>, values: &Values) -> Result<(), Stop> {
        if !self.options.has(SetOption::NOUNSET) || !matches!(values, Values::One(None)) {
            return Ok(());
        }
        let shown = match (name, index) {
            (Name::Variable(name), Some(Index::Element(arith))) => {
                format!("{name}[{}]", syntax::word_text(&arith.text))
            }
            (Name::Variable(name), _) => name.clone(),
            (Name::Positional(number), _) => format!("${number}"),
            (Name::Special(special), _) => char::from(*special).to_string(),
        };
        Err(self.unbound(&shown))
    }

    fn length(&mut self, name: &Name, index: Option<&Index>) -> Result<usize, Stop> {
        if let (Name::Variable(name), None) = (name, index)
            && let Some(variable) = self.variables.get(name)
            && !variable.is(Attributes::NAMEREF)
            && let Some(text) = variable.text()
        {
            return Ok(self.count_chars(text));
        }
        if let (Name::Variable(name), Some(Index::All | Index::Joined)) = (name, index) {
            return Ok(match self.variable(name).as_deref().map(|v| &v.value) {
                Some(Value::Indexed(elements)) => elements.len(),
                Some(Value::Associative(elements)) => elements.len(),
                Some(Value::Scalar(_)) => 1,
                Some(Value::Unset) | None => 0,
            });
        }
        if let (Name::Variable(name), Some(Index::Element(arith))) = (name, index)
            && let Key::Index(at) = self.key(name, arith)?
            && at < 0
            && let Some(Value::Indexed(elements)) = self.variable(name).as_deref().map(|v| &v.value)
            && elements.last_key_value().map_or(0, |(last, _)| last.saturating_add(1)) + at < 0
        {
            return Err(self.refuse(&format!("{name}: bad array subscript")));
        }
        let values = self.values(name, index)?;
        self.check_bound(name, index, &values)?;
        Ok(match values {
            Values::One(text) => text.map_or(0, |t| self.count_chars(&t)),
            Values::Many { items, .. } => items.len(),
        })
    }

    /// Counts the characters of a text for `${#x}`. In a byte locale these are bytes.
    pub(super) fn count_chars(&self, text: &str) -> usize {
        match text.is_ascii() {
            true => text.len(),
            false if self.has_byte_locale() => crate::text::to_bytes(text).len(),
            false => text.chars().count(),
        }
    }

    /// `-`, `=`, `?` and `+`.
    fn fallback(
        &mut self,
        name: &Name,
        index: Option<&Index>,
        values: Values,
        (kind, colon, word): (Fallback, bool, &Word),
        quoted: bool,
        sink: &mut Sink,
    ) -> Result<(), Stop> {
        let present = match &values {
            Values::One(None) => false,
            Values::One(Some(text)) => !(colon && text.is_empty()),
            Values::Many { items, joined, .. } => match items.as_slice() {
                [] => false,
                [(_, only)] => !(colon && only.is_empty()),
                // `$*` of empty strings is empty only if the separator is empty too.
                several => {
                    !colon || several.iter().any(|(_, t)| !t.is_empty()) || !*joined || !self.joiner().is_empty()
                }
            },
        };
        match (kind, present) {
            (Fallback::Alternative, false) => {
                if quoted && !matches!(values, Values::Many { joined: false, .. }) {
                    sink.quoted("");
                }
                Ok(())
            }
            (Fallback::Alternative, true) | (Fallback::Default, false) => self.expand_operand(word, quoted, sink),
            (Fallback::Assign, false) => {
                let Name::Variable(variable) = name else {
                    let shown = match name {
                        Name::Positional(number) => number.to_string(),
                        Name::Special(special) => char::from(*special).to_string(),
                        Name::Variable(name) => name.clone(),
                    };
                    return Err(self.refuse(&format!("${shown}: cannot assign in this way")));
                };
                let text = self.expand_value(word)?;
                let key = match index {
                    Some(Index::Element(arith)) => Some(self.key(variable, arith)?),
                    _ => None,
                };
                self.assign_element(variable, key, text, false)?;
                let values = self.values(name, index)?;
                self.emit(values, quoted, sink);
                Ok(())
            }
            (Fallback::Error, false) => {
                let message = match word.parts.is_empty() {
                    true if colon => "parameter null or not set".to_owned(),
                    true => "parameter not set".to_owned(),
                    false => self.expand_string(word)?,
                };
                let shown = match name {
                    Name::Variable(name) => name.clone(),
                    Name::Positional(number) => number.to_string(),
                    Name::Special(special) => char::from(*special).to_string(),
                };
                self.complain(&format!("{shown}: {message}"));
                Err(self.fatal())
            }
            (_, true) => {
                self.emit(values, quoted, sink);
                Ok(())
            }
        }
    }

    /// Expands the word of a fallback. In an unquoted expansion its unquoted text is split.
    fn expand_operand(&mut self, word: &Word, quoted: bool, sink: &mut Sink) -> Result<(), Stop> {
        if quoted && word.parts.is_empty() {
            sink.quoted("");
            return Ok(());
        }
        let before = std::mem::replace(&mut sink.split_bare, !quoted);
        let expanded = self.expand_parts(word.parts.iter(), sink);
        sink.split_bare = before;
        // In quotes there is a field, even an empty one.
        if quoted {
            sink.quoted("");
        }
        expanded
    }

    /// `${!x}`: expands the parameter that the value of `x` names.
    fn expand_indirect(&mut self, parameter: &Parameter, sink: &mut Sink) -> Result<(), Stop> {
        // For a name reference it is the name of its target.
        if let (Name::Variable(name), None) = (&parameter.name, &parameter.index)
            && self.is_reference(name)
            && matches!(parameter.operation, Operation::Value)
        {
            let target = match self.resolve(name) {
                Some((target, Some(index))) => format!("{target}[{index}]"),
                Some((target, None)) => target,
                None => String::new(),
            };
            sink.value(&target, parameter.quoted);
            return Ok(());
        }
        let target = match self.values(&parameter.name, parameter.index.as_ref())? {
            Values::One(Some(text)) => text,
            Values::One(None) => {
                let shown = match &parameter.name {
                    Name::Variable(name) => name.clone(),
                    Name::Positional(number) => number.to_string(),
                    Name::Special(special) => char::from(*special).to_string(),
                };
                return Err(self.refuse(&format!("{shown}: invalid indirect expansion")));
            }
            Values::Many { items, .. } => items.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(" "),
        };
        let Some((name, index)) = parse_reference(&target) else {
            return Err(self.refuse(&format!("{target}: invalid variable name")));
        };
        self.expand_named(&name, index.as_ref(), &parameter.operation, parameter.quoted, sink)
    }

    /// Returns the names of variables with this prefix, sorted.
    pub fn names_with(&self, prefix: &str) -> Vec<String> {
        let mut names: Vec<String> = self
            .variables
            .iter()
            .filter(|(name, _)| name.starts_with(prefix))
            .map(|(name, _)| name.to_owned())
            .chain(self.special_names().filter(|name| name.starts_with(prefix)).map(str::to_owned))
            .collect();
        sort_texts(&mut names);
        names
    }

    /// Expands a text as in double quotes, for prompts.
    pub(super) fn expand_quoted_text(&mut self, text: &str) -> Result<String, Stop> {
        let mut parser = syntax::Parser::new(text, self.line);
        match parser.quoted_text() {
            Ok(word) => {
                let mut sink = Sink::new(Mode::Single, self);
                self.expand_parts(word.parts.iter(), &mut sink)?;
                Ok(sink.text)
            }
            Err(_) => Ok(text.to_owned()),
        }
    }
}

/// Reads `name`, `name[index]`, a number or a special parameter.
pub(super) fn parse_reference(text: &str) -> Option<(Name, Option<Index>)> {
    if syntax::is_name(text) {
        return Some((Name::Variable(text.to_owned()), None));
    }
    if let Ok(number) = text.parse::<u32>() {
        return Some((Name::Positional(number), None));
    }
    if let [special @ (b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')] = text.as_bytes() {
        return Some((Name::Special(*special), None));
    }
    let TargetName { name, subscript } = TargetName::parse(text)?;
    let subscript = subscript?;
    let index = match subscript {
        "@" => Index::All,
        "*" => Index::Joined,
        _ => Index::Element(Arith { text: syntax::subscript_word(subscript), ..Arith::default() }),
    };
    Some((Name::Variable(name.to_owned()), Some(index)))
}

/// Returns true if the values are joined, false if not, `None` if the parameter has one value.
fn many(name: &Name, index: Option<&Index>) -> Option<bool> {
    match (name, index) {
        (Name::Special(special @ (b'@' | b'*')), _) => Some(*special == b'*'),
        (Name::Variable(_), Some(Index::All)) => Some(false),
        (Name::Variable(_), Some(Index::Joined)) => Some(true),
        _ => None,
    }
}
