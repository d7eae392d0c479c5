//! Numbers as C's `strtold` reads them.

use super::big::Big;
use super::{Extended, Size};

/// A number at the start of a text.
pub(crate) struct Parsed {
    pub(crate) number: Extended,
    /// Its length in bytes; 0 if there is no number.
    pub(crate) length: usize,
    /// It is neither too large nor too small.
    pub(crate) in_range: bool,
}

/// Digits beyond these count only as not zero.
const MOST_DIGITS: usize = 1200;
/// Larger exponents make no difference.
const MOST_EXPONENT: i64 = 40_000;

/// Reads a number: decimal or hexadecimal, with a fraction and an exponent, or `inf` or `nan`.
pub(crate) fn parse(text: &str) -> Parsed {
    let bytes = text.as_bytes();
    let mut at = bytes.iter().take_while(|byte| matches!(byte, b' ' | 9..=13)).count();
    let negative = bytes.get(at) == Some(&b'-');
    at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
    let rest = &bytes[at..];
    let starts = |word: &str| rest.len() >= word.len() && rest[..word.len()].eq_ignore_ascii_case(word.as_bytes());
    for (word, size) in [("infinity", Size::Infinite), ("inf", Size::Infinite), ("nan", Size::NotANumber)] {
        if starts(word) {
            let mut length = at + word.len();
            // nan(CHARS)
            if size == Size::NotANumber
                && let Some(close) =
                    rest[3..].iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_' && *byte != b'(')
                && rest.get(3) == Some(&b'(')
                && rest[3 + close] == b')'
            {
                length += close + 1;
            }
            return Parsed { number: Extended { negative, size }, length, in_range: true };
        }
    }
    let hexadecimal = starts("0x")
        && rest.get(2).is_some_and(|byte| {
            byte.is_ascii_hexdigit() || *byte == b'.' && rest.get(3).is_some_and(u8::is_ascii_hexdigit)
        });
    let (found, used) = if hexadecimal { hex(negative, &rest[2..]) } else { decimal(negative, rest) };
    match used {
        0 => Parsed { number: Extended::ZERO, length: 0, in_range: true },
        used => Parsed { number: found.0, length: at + used + if hexadecimal { 2 } else { 0 }, in_range: found.1 },
    }
}

fn decimal(negative: bool, text: &[u8]) -> ((Extended, bool), usize) {
    let (mut digits, mut power, used) = mantissa(text, u8::is_ascii_digit);
    if used == 0 {
        return ((Extended::ZERO, true), 0);
    }
    let (exponent, exponent_used) = exponent(&text[used..], b'e');
    power += exponent;
    let leading = digits.iter().take_while(|digit| **digit == b'0').count();
    digits.drain(..leading);
    let mut sticky = false;
    if digits.len() > MOST_DIGITS {
        sticky = digits[MOST_DIGITS..].iter().any(|digit| *digit != b'0');
        power += (digits.len() - MOST_DIGITS) as i64;
        digits.truncate(MOST_DIGITS);
    }
    let mut value = Big::parse(&digits);
    let power = power.clamp(-MOST_EXPONENT, MOST_EXPONENT);
    let number = if value.is_zero() {
        (Extended { negative, size: Size::Finite(0, 0) }, true)
    } else if digits.len() as i64 + power > 5000 {
        (Extended { negative, size: Size::Infinite }, false)
    } else if digits.len() as i64 + power < -5000 {
        (Extended { negative, size: Size::Finite(0, 0) }, false)
    } else if power >= 0 {
        value.times_power_of_ten(power as usize);
        Extended::rounded(negative, value, 0, sticky)
    } else {
        // Enough bits that the quotient has more than a mantissa: a tenth is less than four bits.
        let shift = 80 + (power.unsigned_abs() as usize) * 10 / 3;
        let mut shifted = value.shifted_left(shift);
        let left = shifted.over_power_of_ten(power.unsigned_abs() as usize);
        Extended::rounded(negative, shifted, -(shift as i32), sticky || left)
    };
    (number, used + exponent_used)
}

fn hex(negative: bool, text: &[u8]) -> ((Extended, bool), usize) {
    let (mut digits, power, used) = mantissa(text, u8::is_ascii_hexdigit);
    let (exponent, exponent_used) = exponent(&text[used..], b'p');
    let mut power = power * 4 + exponent;
    let leading = digits.iter().take_while(|digit| **digit == b'0').count();
    digits.drain(..leading);
    let mut sticky = false;
    if digits.len() > 24 {
        sticky = digits[24..].iter().any(|digit| *digit != b'0');
        power += (digits.len() - 24) as i64 * 4;
        digits.truncate(24);
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap_or(0);
    let value = digits.iter().fold(0u128, |value, byte| value << 4 | u128::from(digit(*byte)));
    let power = power.clamp(-MOST_EXPONENT, MOST_EXPONENT) as i32;
    (Extended::rounded(negative, Big::from(value), power, sticky), used + exponent_used)
}

/// Reads the digits before and after a point. Returns them, the power of the base to multiply with, and the length.
fn mantissa(text: &[u8], is_digit: fn(&u8) -> bool) -> (Vec<u8>, i64, usize) {
    let whole = text.iter().take_while(|byte| is_digit(byte)).count();
    let mut digits = text[..whole].to_vec();
    let mut used = whole;
    let mut power = 0;
    if text.get(whole) == Some(&b'.') {
        let fraction = text[whole + 1..].iter().take_while(|byte| is_digit(byte)).count();
        if whole + fraction > 0 {
            digits.extend_from_slice(&text[whole + 1..whole + 1 + fraction]);
            power = -(fraction as i64);
            used += 1 + fraction;
        }
    }
    (digits, power, used)
}

/// Reads an exponent after its letter. Returns it and its length; 0 if there is none.
fn exponent(text: &[u8], letter: u8) -> (i64, usize) {
    if text.first().map(u8::to_ascii_lowercase) != Some(letter) {
        return (0, 0);
    }
    let sign = usize::from(matches!(text.get(1), Some(b'+' | b'-')));
    let count = text[1 + sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if count == 0 {
        return (0, 0);
    }
    let digits = &text[1 + sign..1 + sign + count];
    let value = digits.iter().fold(0i64, |value, digit| (value * 10 + i64::from(digit - b'0')).min(1 << 40));
    (if text[1] == b'-' { -value } else { value }, 1 + sign + count)
}
