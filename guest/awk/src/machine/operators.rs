//! Operators on values.

use std::cmp::Ordering;

use super::Run;
use crate::array::Key;
use crate::code::Increment;
use crate::number;
use crate::syntax::tree::{Arithmetic, Comparison};
use crate::value::{self, Value};

/// Returns the array key of a value. A number that is not whole is converted to text in the buffer.
#[inline]
pub(crate) fn key_of<'a>(value: &'a Value, convfmt: &[u8], buffer: &'a mut Vec<u8>) -> Key<'a> {
    match value {
        Value::Number(number) => match Key::of_number(*number) {
            Some(key) => key,
            None => {
                number::write(*number, convfmt, buffer);
                Key::of_text(buffer)
            }
        },
        other => Key::of_text(other.bytes().unwrap_or_default()),
    }
}

#[inline]
pub(super) fn calculate(arithmetic: Arithmetic, left: f64, right: f64) -> Run<f64> {
    Ok(match arithmetic {
        Arithmetic::Add => left + right,
        Arithmetic::Subtract => left - right,
        Arithmetic::Multiply => left * right,
        Arithmetic::Divide if right == 0.0 => return Err("division by zero attempted".into()),
        Arithmetic::Divide => left / right,
        Arithmetic::Remainder if right == 0.0 => return Err("division by zero attempted in `%'".into()),
        Arithmetic::Remainder => left % right,
        Arithmetic::Power => power(left, right),
    })
}

/// Computes a power. Whole exponents go by squaring, which is exact if the result is.
fn power(base: f64, exponent: f64) -> f64 {
    if exponent != exponent.trunc() || exponent.abs() > 1024.0 {
        return base.powf(exponent);
    }
    let (mut result, mut square, mut left) = (1.0, base, exponent.abs() as u32);
    while left > 0 {
        if left & 1 == 1 {
            result *= square;
        }
        square *= square;
        left >>= 1;
    }
    if exponent < 0.0 { 1.0 / result } else { result }
}

/// Increments or decrements a value. Returns the result of the expression.
#[inline(always)]
pub(super) fn increment(value: &mut Value, change: Increment) -> f64 {
    let old = value.number();
    let new = old + f64::from(change.by);
    *value = Value::Number(new);
    if change.before { new } else { old }
}

pub(super) fn append(target: &mut Value, more: &Value, convfmt: &[u8]) {
    match more.bytes() {
        Some(bytes) => target.append(bytes, convfmt),
        None => target.append(&more.to_text(convfmt), convfmt),
    }
}

pub(super) fn is_case(subject: &Value, label: &Value, convfmt: &[u8]) -> bool {
    match label {
        Value::Number(number) => subject.as_numeric() == Some(*number) && !matches!(subject, Value::Unset),
        label => !matches!(subject, Value::Number(_)) && label.bytes() == Some(subject.to_text(convfmt).as_slice()),
    }
}

#[inline]
pub(super) fn is_as(comparison: Comparison, left: &Value, right: &Value, convfmt: &[u8], ignore_case: bool) -> bool {
    let order = if ignore_case {
        value::compare_ignoring_case(left, right, convfmt)
    } else {
        value::compare(left, right, convfmt)
    };
    match comparison {
        Comparison::Less => order == Some(Ordering::Less),
        Comparison::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Comparison::Equal => order == Some(Ordering::Equal),
        Comparison::NotEqual => order != Some(Ordering::Equal),
        Comparison::Greater => order == Some(Ordering::Greater),
        Comparison::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}
