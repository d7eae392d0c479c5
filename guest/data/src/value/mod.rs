//! JSON values, as jq knows them.
//!
//! Values are shared and copied on write: whoever holds the only reference changes a value in place, so that a
//! `reduce` that adds to an array or an object is linear. Nothing here recurses on the depth of a value: the stack of
//! a program in the sandbox is small, and a value is as deep as its input likes it to be.

mod burial;
pub(crate) mod number;
mod object;
mod order;

use std::rc::Rc;

pub(crate) use burial::List;
pub(crate) use number::Number;
pub(crate) use object::Object;
pub(crate) use order::{compare, equal};

/// A string; shared, and grown in place by its only holder.
pub(crate) type Text = Rc<String>;

/// A JSON value.
#[derive(Clone, Default)]
pub(crate) enum Value {
    /// `null`.
    #[default]
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    Text(Text),
    /// An array.
    Array(Rc<List>),
    /// An object.
    Object(Rc<Object>),
}

impl Value {
    /// A string.
    pub(crate) fn text(text: impl Into<String>) -> Value {
        Value::Text(Rc::new(text.into()))
    }

    /// An array.
    pub(crate) fn array(items: Vec<Value>) -> Value {
        Value::Array(Rc::new(List(items)))
    }

    /// An object.
    pub(crate) fn object(object: Object) -> Value {
        Value::Object(Rc::new(object))
    }

    /// A number.
    pub(crate) fn number(number: f64) -> Value {
        Value::Number(Number::new(number))
    }

    /// What jq calls its kind.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::Text(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        }
    }

    /// Whether a condition holds: everything does but `null` and `false`.
    pub(crate) fn is_true(&self) -> bool {
        !matches!(self, Value::Null | Value::Bool(false))
    }

    /// Whether this is the very same value: not a copy that happens to be equal. It tells whether an expression still
    /// stands where its path says.
    pub(crate) fn is_same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Number(a), Value::Number(b)) => a.float().to_bits() == b.float().to_bits(),
            (Value::Text(a), Value::Text(b)) => Rc::ptr_eq(a, b),
            (Value::Array(a), Value::Array(b)) => Rc::ptr_eq(a, b),
            (Value::Object(a), Value::Object(b)) => Rc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// The number it is.
    pub(crate) fn as_number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(number.float()),
            _ => None,
        }
    }

    /// The string it is.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Value {
        Value::Bool(truth)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::text(text)
    }
}

/// Takes what is shared, or a copy if others hold it too.
pub(crate) fn own<T: Clone>(shared: Rc<T>) -> T {
    Rc::try_unwrap(shared).unwrap_or_else(|shared| (*shared).clone())
}
