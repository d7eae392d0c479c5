//! JSON values, as jq has them.
//!
//! Values are shared and copied on write: a value with a single reference is changed in place, so that a `reduce` that
//! adds to an array or an object is linear. Nothing here recurses on the depth of a value: the stack of a program in
//! the sandbox is small, and the input decides the depth of a value.

mod deep_drop;
pub(crate) mod number;
mod object;
mod order;

use std::rc::Rc;

pub(crate) use deep_drop::List;
pub(crate) use number::Number;
pub(crate) use object::Object;
pub(crate) use order::{compare, equal};

/// A string, which is shared, and extended in place if there is a single reference.
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
    /// Creates a string.
    pub(crate) fn text(text: impl Into<String>) -> Value {
        Value::Text(Rc::new(text.into()))
    }

    /// Creates an array.
    pub(crate) fn array(items: Vec<Value>) -> Value {
        Value::Array(Rc::new(List(items)))
    }

    /// Creates an object.
    pub(crate) fn object(object: Object) -> Value {
        Value::Object(Rc::new(object))
    }

    /// Creates a number.
    pub(crate) fn number(number: f64) -> Value {
        Value::Number(Number::new(number))
    }

    /// Returns jq's name of its kind.
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

    /// Returns true for every value but `null` and `false`.
    pub(crate) fn is_true(&self) -> bool {
        !matches!(self, Value::Null | Value::Bool(false))
    }

    /// Returns true if both are the same value, and not only equal ones. This tells whether an expression is still on
    /// its path.
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

    /// Returns the number, if it is one.
    pub(crate) fn as_number(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(number.float()),
            _ => None,
        }
    }

    /// Returns the string, if it is one.
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

/// Takes the value of a reference, or a copy if there are others.
pub(crate) fn own<T: Clone>(shared: Rc<T>) -> T {
    Rc::try_unwrap(shared).unwrap_or_else(|shared| (*shared).clone())
}
