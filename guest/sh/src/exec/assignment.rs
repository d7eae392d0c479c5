//! Assignments of the syntax tree.

use std::collections::BTreeMap;

use crate::state::associative::Associative;
use crate::state::options::SetOption;
use crate::state::variable::{Attributes, Value};
use crate::state::variables::ScopeKind;
use crate::state::{Key, Shell, Stop, in_case, into_indexed};
use crate::syntax::tree::{Assigned, Assignment, Element};

impl Shell {
    /// Performs an assignment.
    pub(super) fn assign_node(&mut self, assignment: &Assignment) -> Result<(), Stop> {
        match &assignment.value {
            Assigned::Scalar(word) => {
                let value = self.expand_value(word)?;
                self.trace_assignment(assignment, &value)?;
                let key = match &assignment.index {
                    Some(index) => Some(self.key(&assignment.name, index)?),
                    None => None,
                };
                self.assign_element(&assignment.name, key, value, assignment.append)
            }
            Assigned::Array(elements) => {
                self.trace_array(assignment)?;
                self.assign_array(&assignment.name, elements, assignment.append)
            }
        }
    }

    /// `a=( … )`: the elements are expanded before the array changes, so that they may refer to it.
    pub fn assign_array(&mut self, name: &str, elements: &[Element], append: bool) -> Result<(), Stop> {
        let name = match self.is_reference(name) {
            true => self.resolve(name).map_or_else(|| name.to_owned(), |(target, _)| target),
            false => name.to_owned(),
        };
        let variable = self.variables.get(&name);
        let attributes = variable.map(|v| v.attributes).unwrap_or_default();
        if attributes.has(Attributes::READONLY) {
            return Err(self.refuse(&format!("{name}: readonly variable")));
        }
        let associative = matches!(variable.map(|v| &v.value), Some(Value::Associative(_)));
        let value = match associative {
            true => Value::Associative(self.associative_elements(&name, elements, append, attributes)?),
            false => Value::Indexed(self.indexed_elements(&name, elements, append, attributes)?),
        };
        let exported = self.options.has(SetOption::ALLEXPORT);
        let variable = self.variables.slot(&name);
        variable.value = value;
        variable.attributes.remove(Attributes::UNASSIGNED);
        if exported {
            variable.attributes.insert(Attributes::EXPORT);
        }
        Ok(())
    }

    fn indexed_elements(
        &mut self,
        name: &str,
        elements: &[Element],
        append: bool,
        attributes: Attributes,
    ) -> Result<BTreeMap<i64, String>, Stop> {
        let mut array = match append {
            true => {
                let mut old = self.variables.get(name).map(|v| v.value.clone()).unwrap_or_default();
                std::mem::take(into_indexed(&mut old))
            }
            false => BTreeMap::new(),
        };
        let mut next = array.last_key_value().map_or(0, |(last, _)| last.saturating_add(1));
        let mut words = Vec::new();
        for element in elements {
            let Some(index) = &element.index else {
                words.clear();
                self.expand_word(&element.word, &mut words)?;
                for word in words.drain(..) {
                    let word = self.by_attributes(word, attributes)?;
                    array.insert(next, word);
                    next = next.saturating_add(1);
                }
                continue;
            };
            let mut at = self.arith(index)?;
            if at < 0 {
                at += array.last_key_value().map_or(0, |(last, _)| last.saturating_add(1));
            }
            if at < 0 {
                return Err(self.refuse(&format!("{name}: bad array subscript")));
            }
            let word = self.expand_value(&element.word)?;
            let mut word = self.by_attributes(word, attributes)?;
            if element.append
                && let Some(old) = array.get(&at)
            {
                word = self.appended(old.clone(), word, attributes)?;
            }
            array.insert(at, word);
            next = at.saturating_add(1);
        }
        Ok(array)
    }

    fn associative_elements(
        &mut self,
        name: &str,
        elements: &[Element],
        append: bool,
        attributes: Attributes,
    ) -> Result<Associative, Stop> {
        let mut array = match self.variables.get(name).map(|v| &v.value) {
            Some(Value::Associative(old)) if append => old.clone(),
            _ => Associative::default(),
        };
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
            if element.append
                && let Some(old) = array.get(&key)
            {
                word = self.appended(old.to_owned(), word, attributes)?;
            }
            array.insert(key, word);
        }
        let mut plain = plain.into_iter();
        while let Some(key) = plain.next() {
            let value = self.by_attributes(plain.next().unwrap_or_default(), attributes)?;
            array.insert(key, value);
        }
        Ok(array)
    }

    /// What an element becomes by the attributes of its array.
    fn by_attributes(&mut self, word: String, attributes: Attributes) -> Result<String, Stop> {
        if attributes.has(Attributes::INTEGER) {
            return Ok(self.evaluate(&word)?.to_string());
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

    /// Assignments before a command: a scope of their own, exported. If one cannot be expanded there is no scope.
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
        let Assigned::Scalar(word) = &assignment.value else {
            // bash makes an array of it for the command; nobody can see it there.
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
            // The command runs all the same, unless POSIX is asked for.
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
        if attributes.has(Attributes::INTEGER) {
            value = self.evaluate(&value)?.to_string();
        }
        self.trace_assignment(assignment, &value)?;
        self.variables.hide(&assignment.name);
        let variable = self.variables.slot(&assignment.name);
        variable.value = Value::Scalar(value);
        variable.attributes = attributes;
        variable.attributes.insert(Attributes::EXPORT);
        Ok(())
    }

    /// An assignment among the arguments of `declare`, as the text that the builtin gets.
    pub(super) fn assignment_argument(&mut self, assignment: &Assignment) -> Result<String, Stop> {
        let Assigned::Scalar(word) = &assignment.value else { return Ok(assignment.name.clone()) };
        let value = self.expand_value(word)?;
        let operator = if assignment.append { "+=" } else { "=" };
        Ok(match &assignment.index {
            None => format!("{}{operator}{value}", assignment.name),
            Some(index) => {
                let subscript = match self.key(&assignment.name, index)? {
                    Key::Name(name) => name,
                    Key::Index(index) => index.to_string(),
                };
                format!("{}[{subscript}]{operator}{value}", assignment.name)
            }
        })
    }
}
