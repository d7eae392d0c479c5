//! Setting variables.

use std::collections::BTreeMap;

use super::special::ComputedAssignment;
use super::variable::{Attributes, Value};
use super::{Shell, Stop};
use crate::state::options::SetOption;

/// The key of an element of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// An index of an indexed array; a negative one counts from the end.
    Index(i64),
    /// A key of an associative array.
    Name(String),
}

impl Shell {
    /// Assigns to a variable, or to element 0 of an array, under all rules: name references, attributes, computed
    /// variables. A refused assignment is reported and gives up the line.
    pub fn assign(&mut self, name: &str, value: String) -> Result<(), Stop> {
        self.assign_element(name, None, value, false)
    }

    /// Assigns or appends to a variable or an element.
    pub fn assign_element(&mut self, name: &str, key: Option<Key>, value: String, append: bool) -> Result<(), Stop> {
        if self.is_reference(name) {
            return self.assign_through(name, key, value, append);
        }
        let mut attributes = match self.variables.get(name) {
            Some(variable) => variable.attributes,
            None => match self.assign_special(name, &value) {
                ComputedAssignment::NotComputed => Attributes::default(),
                ComputedAssignment::Done => return Ok(()),
                ComputedAssignment::ReadOnly => return Err(self.refuse(&format!("{name}: readonly variable"))),
            },
        };
        if attributes.has(Attributes::READONLY) {
            return Err(self.refuse(&format!("{name}: readonly variable")));
        }
        if self.options.has(SetOption::ALLEXPORT) {
            attributes.insert(Attributes::EXPORT);
        }
        let mut value = value;
        if attributes.has(Attributes::INTEGER) {
            let addend = self.evaluate(&value).map_err(Stop::abandoning)?;
            let base = match append {
                true => self.current_integer(name, key.as_ref())?,
                false => 0,
            };
            return self.store(name, key, base.wrapping_add(addend).to_string(), false, attributes);
        }
        let cased = Attributes(Attributes::LOWER.0 | Attributes::UPPER.0 | Attributes::CAPITAL.0);
        if attributes.0 & cased.0 != 0 {
            value = in_case(&value, attributes);
        }
        self.store(name, key, value, append, attributes)
    }

    fn store(
        &mut self,
        name: &str,
        key: Option<Key>,
        value: String,
        append: bool,
        attributes: Attributes,
    ) -> Result<(), Stop> {
        let variable = self.variables.slot(name);
        variable.attributes = attributes;
        variable.attributes.remove(Attributes::UNASSIGNED);
        let put = |old: &mut String| match append {
            true => old.push_str(&value),
            false => old.clone_from(&value),
        };
        match (&mut variable.value, key) {
            (Value::Scalar(old), None) if append => old.push_str(&value),
            (slot @ (Value::Unset | Value::Scalar(_)), None) => *slot = Value::Scalar(value),
            (Value::Associative(elements), key) => {
                let key = match key {
                    Some(Key::Name(name)) => name,
                    Some(Key::Index(index)) => index.to_string(),
                    None => "0".to_owned(),
                };
                match elements.get_mut(&key) {
                    Some(old) => put(old),
                    None => elements.insert(key, value),
                }
            }
            (slot, key) => {
                let elements = into_indexed(slot);
                let (written, index) = match key {
                    Some(Key::Index(index)) if index < 0 => (index, index + end_of(elements)),
                    Some(Key::Index(index)) => (index, index),
                    _ => (0, 0),
                };
                if index < 0 {
                    return Err(self.refuse(&format!("{name}[{written}]: bad array subscript")));
                }
                match elements.get_mut(&index) {
                    Some(old) => put(old),
                    None => {
                        elements.insert(index, value);
                    }
                }
            }
        }
        if name == "OPTIND" {
            self.getopts = (0, 0);
        }
        Ok(())
    }

    fn current_integer(&mut self, name: &str, key: Option<&Key>) -> Result<i64, Stop> {
        let old = match (self.variables.get(name).map(|v| &v.value), key) {
            (Some(Value::Indexed(elements)), Some(Key::Index(index))) => elements.get(index).cloned(),
            (Some(Value::Associative(elements)), Some(Key::Name(key))) => elements.get(key).map(str::to_owned),
            (Some(_), _) => self.text_of(name),
            (None, _) => None,
        };
        match old {
            Some(text) => self.evaluate(&text),
            None => Ok(0),
        }
    }

    /// Assigns through a name reference. One without a target gets the value as its target.
    fn assign_through(&mut self, name: &str, key: Option<Key>, value: String, append: bool) -> Result<(), Stop> {
        let unbound = self.variables.get(name).is_some_and(|v| v.text().unwrap_or_default().is_empty());
        if let Some(key) = key {
            let target = self.array_name("", name)?;
            return self.assign_element(&target, Some(key), value, append);
        }
        if unbound {
            let target_is_name = crate::syntax::is_name(value.split('[').next().unwrap_or_default());
            if !target_is_name {
                return Err(self.refuse(&format!("`{value}': not a valid identifier")));
            }
            self.variables.slot(name).value = Value::Scalar(value);
            return Ok(());
        }
        let Some((target, index)) = self.resolve(name) else {
            return Err(self.refuse(&format!("warning: {name}: circular name reference")));
        };
        let key = match index {
            Some(index) => {
                // An element's name ends the chain: the array that holds it cannot be a reference.
                if self.is_reference(&target) {
                    self.drop_reference(&target);
                }
                Some(self.key_in_text(&target, &index)?)
            }
            None => None,
        };
        self.assign_element(&target, key, value, append)
    }

    /// Unsets one element.
    pub fn unset_element(&mut self, name: &str, key: Key) -> Result<(), Stop> {
        let Some(variable) = self.variables.get_mut(name) else { return Ok(()) };
        match (&mut variable.value, key) {
            (Value::Associative(elements), Key::Name(key)) => elements.remove(&key),
            (Value::Associative(elements), Key::Index(index)) => elements.remove(&index.to_string()),
            (Value::Indexed(elements), Key::Index(index)) => {
                let written = index;
                let index = if index < 0 { index + end_of(elements) } else { index };
                if index < 0 {
                    return Err(self.refuse(&format!("unset: [{written}]: bad array subscript")));
                }
                elements.remove(&index);
            }
            (Value::Scalar(_), Key::Index(0)) => self.variables.unset(name),
            _ => {}
        }
        Ok(())
    }
}

/// One past the highest index.
fn end_of(elements: &BTreeMap<i64, String>) -> i64 {
    elements.last_key_value().map_or(0, |(index, _)| index.saturating_add(1))
}

/// Converts a value to an indexed array. A string becomes its element 0.
pub fn into_indexed(value: &mut Value) -> &mut BTreeMap<i64, String> {
    if !matches!(value, Value::Indexed(_)) {
        let mut elements = BTreeMap::new();
        if let Value::Scalar(text) = std::mem::take(value) {
            elements.insert(0, text);
        }
        *value = Value::Indexed(elements);
    }
    match value {
        Value::Indexed(elements) => elements,
        _ => unreachable!("made so just now"),
    }
}

/// Applies `declare -l`, `-u` and `-c`.
pub fn in_case(text: &str, attributes: Attributes) -> String {
    if attributes.has(Attributes::UPPER) {
        return text.to_uppercase();
    }
    let lower = text.to_lowercase();
    if !attributes.has(Attributes::CAPITAL) {
        return lower;
    }
    let mut chars = lower.chars();
    chars.next().map(|c| c.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
