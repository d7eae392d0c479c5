//! Variables: values and attributes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::associative::Associative;

/// A variable: a value and its attributes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Variable {
    /// The value.
    pub value: Value,
    /// The attributes set by `declare`.
    pub attributes: Attributes,
}

/// A variable's value.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// Declared without a value.
    #[default]
    Unset,
    /// A string.
    Scalar(String),
    /// An indexed array, which may have holes.
    Indexed(BTreeMap<i64, String>),
    /// An associative array.
    Associative(Associative),
}

/// A set of attributes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attributes(pub u16);

impl Attributes {
    /// `-x`
    pub const EXPORT: Attributes = Attributes(1);
    /// `-r`
    pub const READONLY: Attributes = Attributes(2);
    /// `-i`
    pub const INTEGER: Attributes = Attributes(4);
    /// `-l`
    pub const LOWER: Attributes = Attributes(8);
    /// `-u`
    pub const UPPER: Attributes = Attributes(16);
    /// `-n`
    pub const NAMEREF: Attributes = Attributes(32);
    /// `-t`, which does nothing for variables.
    pub const TRACE: Attributes = Attributes(64);
    /// `-c`, which bash does not document: the first letter in upper case.
    pub const CAPITAL: Attributes = Attributes(128);
    /// A computed variable that was unset and has become a plain one.
    pub const PLAIN: Attributes = Attributes(256);
    /// A declared array without an assignment, which only `declare -p` distinguishes.
    pub const UNASSIGNED: Attributes = Attributes(512);

    /// Returns true if all of these are set.
    pub fn has(self, other: Attributes) -> bool {
        self.0 & other.0 == other.0
    }

    /// Sets these.
    pub fn insert(&mut self, other: Attributes) {
        self.0 |= other.0;
    }

    /// Clears these.
    pub fn remove(&mut self, other: Attributes) {
        self.0 &= !other.0;
    }
}

impl Variable {
    /// Makes a string variable.
    pub fn scalar(text: impl Into<String>) -> Variable {
        Variable { value: Value::Scalar(text.into()), attributes: Attributes::default() }
    }

    /// Returns true if it has the attribute.
    pub fn is(&self, attribute: Attributes) -> bool {
        self.attributes.has(attribute)
    }

    /// Returns the value of `$x`: of an array, its element 0.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Unset => None,
            Value::Scalar(text) => Some(text),
            Value::Indexed(elements) => elements.get(&0).map(String::as_str),
            Value::Associative(elements) => elements.get("0"),
        }
    }

    /// Returns the letters of `declare` for its kind and attributes.
    pub fn letters(&self) -> String {
        const LETTERS: [(Attributes, char); 8] = [
            (Attributes::INTEGER, 'i'),
            (Attributes::NAMEREF, 'n'),
            (Attributes::READONLY, 'r'),
            (Attributes::TRACE, 't'),
            (Attributes::EXPORT, 'x'),
            (Attributes::CAPITAL, 'c'),
            (Attributes::LOWER, 'l'),
            (Attributes::UPPER, 'u'),
        ];
        let kind = match self.value {
            Value::Indexed(_) => Some('a'),
            Value::Associative(_) => Some('A'),
            Value::Unset | Value::Scalar(_) => None,
        };
        kind.into_iter().chain(LETTERS.iter().filter(|(a, _)| self.is(*a)).map(|(_, letter)| *letter)).collect()
    }

    /// Returns true for an associative array.
    pub fn is_associative(&self) -> bool {
        matches!(self.value, Value::Associative(_))
    }

    /// Returns true for an array of either kind.
    pub fn is_array(&self) -> bool {
        matches!(self.value, Value::Indexed(_) | Value::Associative(_))
    }
}
