//! Assignments of the syntax tree.

use std::collections::BTreeMap;

use crate::state::associative::Associative;
use crate::state::options::SetOption;
use crate::state::variable::{Attributes, Value};
use crate::state::variables::ScopeKind;
use crate::state::{Shell, Stop, in_case, into_indexed};
use crate::syntax::tree::{AssignedValue, Assignment, Element};

impl Shell {
    /// Performs an assignment.
    pub(super) fn assign_node(&mut self, assignment: &Assignment) -> Result<(), Stop> {
        match &assignment.value {
            AssignedValue::Scalar(word) => {
                let value = self.expand_value(word)?;
                self.trace_assignment(assignment, &value)?;
                let key = match &assignment.index {
                    Some(index) if index.text.parts.is_empty() => {
                        return Err(self.refuse(&format!("{}[]: bad array subscript", assignment.name)));
                    }
                    Some(index) => Some(self.key(&assignment.name, index)?),
                    None => None,
                };
                self.assign_element(&assignment.name, key, value, assignment.append)
            }
            AssignedValue::Array(elements) => {
                self.trace_array(assignment)?;
                self.assign_array(&assignment.name, elements, assignment.append)
            }
        }
    }

    /// Performs `a=( … )`. The elements are expanded before the array changes, since they may refer to it.
    pub fn assign_array(&mut self, name: &str, elements: &[Element], append: bool) -> Result<(), Stop> {
        let name = self.array_name("", name)?;
        let variable = self.variables.get(&name);
        let attributes = variable.map(|v| v.attributes).unwrap_or_default();
        if attributes.has(Attributes::READONLY) {
            return Err(self.refuse(&format!("{name}: readonly variable")));
        }
        let associative = matches!(variable.map(|v| &v.value), Some(Value::Associative(_)));

        // Elements are appended in place: copying the array would make a loop that fills it quadratic.
        match associative {
            true => {
                let added = self.associative_elements(&name, elements, append, attributes)?;
                let variable = self.variables.slot(&name);
                if !append {
                    variable.value = Value::Associative(Associative::default());
                }
                if let Value::Associative(array) = &mut variable.value {
                    added.into_iter().for_each(|(key, value)| array.insert(key, value));
                }
            }
            false => {
                let added = self.indexed_elements(&name, elements, append, attributes)?;
                let variable = self.variables.slot(&name);
                if !append {
                    variable.value = Value::Indexed(BTreeMap::new());
                }
                into_indexed(&mut variable.value).extend(added);
            }
        }
        // An array cannot be in the environment, so `set -a` does not touch it.
        self.variables.slot(&name).attributes.remove(Attributes::UNASSIGNED);
        Ok(())
    }

    /// Expands the elements to put into an indexed array. The later of two with the same index counts.
    fn indexed_elements(
        &mut self,
        name: &str,
        elements: &[Element],
        append: bool,
        attributes: Attributes,
    ) -> Result<Vec<(i64, String)>, Stop> {
        let mut next = match self.variables.get(name).map(|v| &v.value) {
            Some(Value::Indexed(old)) if append => old.last_key_value().map_or(0, |(last, _)| last.saturating_add(1)),
            Some(Value::Scalar(_)) if append => 1,
            _ => 0,
        };
        // One past the highest index so far, which negative ones count from.
        let mut end = next;
        let mut added = Vec::new();
        let mut words = Vec::new();
        for element in elements {
            let Some(index) = &element.index else {
                words.clear();
                self.expand_word(&element.word, &mut words)?;
                for word in words.drain(..) {
                    let word = self.by_attributes(word, attributes)?;
                    added.push((next, word));
                    next = next.saturating_add(1);
                    end = end.max(next);
                }
                continue;
            };
            let mut at = self.arith(index).map_err(Stop::abandoning)?;
            if at < 0 {
                at += end;
            }
            if at < 0 {
                return Err(self.refuse(&format!("{name}: bad array subscript")));
            }
            let word = self.expand_value(&element.word)?;
            let mut word = self.by_attributes(word, attributes)?;
            if element.append {
                let new = added.iter().rev().find(|(i, _)| *i == at).map(|(_, text)| text);
                let old = new.or_else(|| match self.variables.get(name).map(|v| &v.value) {
                    Some(Value::Indexed(old)) if append => old.get(&at),
                    Some(Value::Scalar(old)) if append && at == 0 => Some(old),
                    _ => None,
                });
                if let Some(old) = old.cloned() {
                    word = self.appended(old, word, attributes)?;
                }
            }
            added.push((at, word));
            next = at.saturating_add(1);
            end = end.max(next);
        }
        Ok(added)
    }

    /// Expands the elements to put into an associative array.
    fn associative_elements(
        &mut self,
        name: &str,
        elements: &[Element],
        append: bool,
        attributes: Attributes,
    ) -> Result<Vec<(String, String)>, Stop> {
        let mut added: Vec<(String, String)> = Vec::new();
        // Without subscripts, words are keys and values in turn.
        let mut plain = Vec::new();
        for element in elements {
            let Some(index) = &element.index else {
                self.expand_word(&element.word, &mut plain)?;
                continue;
            };
            let key = self.expand_string(&index.text)?;
            let word = self.expand_value(&element.word)?;
            let mut word = self.by_attributes(word, attributes)?;
            if element.append {
                let new = added.iter().rev().find(|(k, _)| *k == key).map(|(_, text)| text.as_str());
                let old = new.or_else(|| match self.variables.get(name).map(|v| &v.value) {
                    Some(Value::Associative(old)) if append => old.get(&key),
                    _ => None,
                });
                if let Some(old) = old.map(str::to_owned) {
                    word = self.appended(old, word, attributes)?;
                }
            }
            added.push((key, word));
        }
        let mut plain = plain.into_iter();
        while let Some(key) = plain.next() {
            let value = self.by_attributes(plain.next().unwrap_or_default(), attributes)?;
            added.push((key, value));
        }
        Ok(added)
    }

    /// Applies the attributes of an array to a new element.
    fn by_attributes(&mut self, word: String, attributes: Attributes) -> Result<String, Stop> {
        if attributes.has(Attributes::INTEGER) {
            return Ok(self.evaluate(&word).map_err(Stop::abandoning)?.to_string());
        }
        if attributes.has(Attributes::LOWER) || attributes.has(Attributes::UPPER) {
            return Ok(in_case(&word, attributes));
        }
        Ok(word)
    }

    fn appended(&mut self, old: String, word: String, attributes: Attributes) -> Result<String, Stop> {
        match attributes.has(Attributes::INTEGER) {
            true => Ok(self.evaluate(&old)?.wrapping_add(self.evaluate(&word)?).to_string()),
            false => Ok(old + &word),
        }
    }

    /// Performs the assignments before a command in a scope of their own, exported. If an expansion fails, the scope is
    /// closed.
    pub(super) fn assign_temporarily(&mut self, assignments: &[Assignment]) -> Result<(), Stop> {
        self.variables.enter(ScopeKind::Temporary);
        for assignment in assignments {
            if let Err(stop) = self.assign_temporary(assignment) {
                self.variables.leave();
                return Err(stop);
            }
        }
        Ok(())
    }

    fn assign_temporary(&mut self, assignment: &Assignment) -> Result<(), Stop> {
        let AssignedValue::Scalar(word) = &assignment.value else {
            // bash makes an array for the command, which cannot be observed there.
            return Ok(());
        };
        if let Some(index) = &assignment.index {
            // An element cannot be in the environment; the command runs without it.
            let subscript = crate::syntax::word_text(&index.text);
            self.complain(&format!("`{}[{subscript}]': not a valid identifier", assignment.name));
            return Ok(());
        }
        let mut value = self.expand_value(word)?;
        let old = self.variables.get(&assignment.name);
        let attributes = old.map(|v| v.attributes).unwrap_or_default();
        if attributes.has(Attributes::READONLY) {
            // The command runs without it, except in POSIX mode.
            let message = format!("{}: readonly variable", assignment.name);
            if self.options.has(SetOption::POSIX) {
                self.refuse(&message);
                return Err(Stop::Exit);
            }
            self.complain(&message);
            return Ok(());
        }
        if assignment.append {
            value = old.and_then(|v| v.text()).unwrap_or_default().to_owned() + &value;
        }
        self.trace_assignment(assignment, &value)?;
        self.variables.hide(&assignment.name);
        let variable = self.variables.slot(&assignment.name);
        variable.value = Value::Scalar(value);
        variable.attributes = Attributes::EXPORT;
        Ok(())
    }

    /// Expands an assignment among the arguments of `declare` to the text that the builtin gets.
    pub(super) fn assignment_argument(&mut self, assignment: &Assignment) -> Result<String, Stop> {
        let AssignedValue::Scalar(word) = &assignment.value else { return Ok(assignment.name.clone()) };
        let value = self.expand_value(word)?;
        let operator = if assignment.append { "+=" } else { "=" };
        Ok(match &assignment.index {
            None => format!("{}{operator}{value}", assignment.name),
            Some(index) => {
                let subscript = self.expand_string(&index.text)?;
                format!("{}[{subscript}]{operator}{value}", assignment.name)
            }
        })
    }
}
