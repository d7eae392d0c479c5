//! The values of variables, fields and elements.
//!
//! Short strings are stored in the value itself: most fields and keys are short, and an allocation for each would
//! cost more than the rest of the work on them. Long strings are shared. They grow in place while only one value
//! refers to them, so that `s = s "x"` in a loop stays linear.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;

use crate::array::Array;
use crate::number;
use crate::pattern::Literal;

/// The number of bytes that fit next to the tag, the flag and the length in sixteen bytes.
const INLINE: usize = 13;

/// An array that several variables can share: a parameter is the caller's array.
pub(crate) type ArrayRef = Rc<RefCell<Array>>;

/// A value.
#[derive(Clone, Default)]
pub(crate) enum Value {
    /// Never assigned: both 0 and the empty string.
    #[default]
    Unset,
    Number(f64),
    /// A short string. With `input`, it came from outside and is a number if it looks like one.
    Short {
        input: bool,
        len: u8,
        bytes: [u8; INLINE],
    },
    /// A long string.
    Long {
        input: bool,
        text: Rc<Vec<u8>>,
    },
    /// A regular expression: `@/re/`, or a literal passed to a function.
    Regex(Rc<Literal>),
    Array(ArrayRef),
}

impl Value {
    /// Returns a string made by the program.
    pub(crate) fn string(bytes: &[u8]) -> Value {
        Value::text(bytes, false)
    }

    /// Returns a string from outside, which counts as a number if it looks like one.
    pub(crate) fn input(bytes: &[u8]) -> Value {
        Value::text(bytes, true)
    }

    /// Returns a string made by the program, from a buffer.
    pub(crate) fn owned(bytes: Vec<u8>) -> Value {
        if bytes.len() <= INLINE { Value::string(&bytes) } else { Value::Long { input: false, text: Rc::new(bytes) } }
    }

    pub(crate) fn boolean(truth: bool) -> Value {
        Value::Number(if truth { 1.0 } else { 0.0 })
    }

    pub(crate) fn new_array() -> Value {
        Value::Array(Rc::default())
    }

    #[inline]
    fn text(bytes: &[u8], input: bool) -> Value {
        if bytes.len() <= INLINE {
            let mut short = [0; INLINE];
            short[..bytes.len()].copy_from_slice(bytes);
            Value::Short { input, len: bytes.len() as u8, bytes: short }
        } else {
            Value::Long { input, text: Rc::new(bytes.to_vec()) }
        }
    }

    /// Returns the bytes of a string, or `None` for a number or an array.
    pub(crate) fn bytes(&self) -> Option<&[u8]> {
        match self {
            Value::Short { len, bytes, .. } => Some(&bytes[..usize::from(*len).min(INLINE)]),
            Value::Long { text, .. } => Some(text),
            Value::Regex(literal) => Some(literal.source()),
            Value::Unset => Some(b""),
            Value::Number(_) | Value::Array(_) => None,
        }
    }

    fn is_input(&self) -> bool {
        matches!(self, Value::Short { input: true, .. } | Value::Long { input: true, .. })
    }

    /// Converts to a number. A string counts as the number it starts with.
    #[inline]
    pub(crate) fn number(&self) -> f64 {
        match self {
            Value::Number(number) => *number,
            other => number::prefix(other.bytes().unwrap_or_default()),
        }
    }

    /// Converts to a truth value. A string that is not a number is true unless it is empty.
    pub(crate) fn truth(&self) -> bool {
        match self {
            Value::Number(number) => *number != 0.0,
            other => match other.as_numeric() {
                Some(number) => number != 0.0,
                None => !other.bytes().unwrap_or_default().is_empty(),
            },
        }
    }

    /// Returns the number that takes part in a comparison, or `None` if the value is compared as a string.
    pub(crate) fn as_numeric(&self) -> Option<f64> {
        match self {
            Value::Number(number) => Some(*number),
            Value::Unset => Some(0.0),
            other if other.is_input() => number::whole(other.bytes().unwrap_or_default()),
            _ => None,
        }
    }

    /// Appends the text of the value. `format` is CONVFMT or OFMT.
    #[inline]
    pub(crate) fn write(&self, format: &[u8], out: &mut Vec<u8>) {
        match self {
            Value::Number(number) => number::write(*number, format, out),
            other => out.extend_from_slice(other.bytes().unwrap_or_default()),
        }
    }

    /// Returns the text of the value.
    pub(crate) fn to_text(&self, format: &[u8]) -> Vec<u8> {
        let mut text = Vec::new();
        self.write(format, &mut text);
        text
    }

    /// Appends bytes and turns the value into a string, in place if no other value shares it.
    pub(crate) fn append(&mut self, more: &[u8], format: &[u8]) {
        if let Value::Long { input, text } = self {
            *input = false;
            match Rc::get_mut(text) {
                Some(own) => own.extend_from_slice(more),
                None => *text = Rc::new([text.as_slice(), more].concat()),
            }
            return;
        }
        let mut text = self.to_text(format);
        text.extend_from_slice(more);
        *self = Value::owned(text);
    }
}

/// Compares as numbers if both are numeric, otherwise as strings.
pub(crate) fn compare(a: &Value, b: &Value, format: &[u8]) -> Option<Ordering> {
    if let (Value::Number(a), Value::Number(b)) = (a, b) {
        return a.partial_cmp(b);
    }
    match (a.as_numeric(), b.as_numeric()) {
        (Some(a), Some(b)) => a.partial_cmp(&b),
        _ => Some(match (a.bytes(), b.bytes()) {
            (Some(a), Some(b)) => a.cmp(b),
            _ => a.to_text(format).cmp(&b.to_text(format)),
        }),
    }
}

/// Compares with IGNORECASE set: the case of letters does not matter.
pub(crate) fn compare_ignoring_case(a: &Value, b: &Value, format: &[u8]) -> Option<Ordering> {
    match (a.as_numeric(), b.as_numeric()) {
        (Some(a), Some(b)) => a.partial_cmp(&b),
        _ => Some(a.to_text(format).to_ascii_lowercase().cmp(&b.to_text(format).to_ascii_lowercase())),
    }
}
