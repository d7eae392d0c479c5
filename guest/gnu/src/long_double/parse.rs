//! Numbers as C's `strtold` reads them.

use super::{LongDouble, Size};
use crate::natural::{self, WIDTH};

/// A number at the start of a text.
pub struct Parsed {
    /// The number; zero if there is none.
    pub number: LongDouble,
    /// The number of bytes that it takes, blanks before it included; 0 if there is no number.
    pub length: usize,
    /// False for a number that is too large or too small for the format.
    pub in_range: bool,
}

/// Digits beyond these only decide a rounding, by not being zero.
const MOST_DIGITS: usize = 1200;
/// Larger exponents all give infinity or zero.
const MOST_EXPONENT: i64 = 40_000;

/// Reads a number: decimal or hexadecimal, with a fraction and an exponent, or `inf` or `nan`.
pub fn parse(text: &str) -> Parsed {
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
            return Parsed { number: LongDouble { negative, size }, length, in_range: true };
        }
    }
    let hexadecimal = starts("0x")
        && rest.get(2).is_some_and(|byte| {
            byte.is_ascii_hexdigit() || *byte == b'.' && rest.get(3).is_some_and(u8::is_ascii_hexdigit)
        });
    let (found, used) = if hexadecimal { hex(negative, &rest[2..]) } else { decimal(negative, rest) };
    match used {
        0 => Parsed { number: LongDouble::ZERO, length: 0, in_range: true },
        used => Parsed { number: found.0, length: at + used + if hexadecimal { 2 } else { 0 }, in_range: found.1 },
    }
}

fn decimal(negative: bool, text: &[u8]) -> ((LongDouble, bool), usize) {
    let (mut digits, mut power, used) = mantissa(text, u8::is_ascii_digit);
    if used == 0 {
        return ((LongDouble::ZERO, true), 0);
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
    let power = power.clamp(-MOST_EXPONENT, MOST_EXPONENT);
    let number = if digits.is_empty() {
        (LongDouble { negative, size: Size::Finite(0, 0) }, true)
    } else if digits.len() as i64 + power > 5000 {
        (LongDouble { negative, size: Size::Infinite }, false)
    } else if digits.len() as i64 + power < -5000 {
        (LongDouble { negative, size: Size::Finite(0, 0) }, false)
    } else {
        let (value, exponent, left) = binary(digits, power);
        LongDouble::rounded(negative, value, exponent, sticky || left)
    };
    (number, used + exponent_used)
}

/// Returns `digits * 10^power` in binary, as a value of 65 to 67 bits, its exponent, and whether the exact value is a
/// little larger. The first digit is not zero.
fn binary(mut digits: Vec<u8>, power: i64) -> (u128, i32, bool) {
    // Zeros at the end bring the point to a whole power of ten, and then between two limbs.
    let fraction = power.min(0).unsigned_abs() as usize;
    let fraction_limbs = fraction.div_ceil(WIDTH);
    digits.resize(digits.len() + power.max(0) as usize + fraction_limbs * WIDTH - fraction, b'0');
    let limbs = natural::parse(&digits);
    // One bit more or less does no harm, so the logarithm of the highest digits is exact enough.
    let head = digits.iter().take(17).fold(0.0, |head, digit| head * 10.0 + f64::from(digit - b'0'));
    let tens = digits.len().saturating_sub(17) as f64 - (fraction_limbs * WIDTH) as f64;
    let shift = 65 - (f64::log2(head) + tens * std::f64::consts::LOG2_10).floor() as i32;
    let power_of_two = natural::power(2, shift.unsigned_abs());
    if shift < 0 {
        let (below, whole) = limbs.split_at(fraction_limbs.min(limbs.len()));
        let (quotient, rest) = natural::divide(whole, &power_of_two);
        let is_inexact = !rest.is_empty() || below.iter().any(|limb| *limb != 0);
        return (natural::to_u128(&quotient), -shift, is_inexact);
    }
    let shifted = natural::multiply(&limbs, &power_of_two);
    let (below, whole) = shifted.split_at(fraction_limbs.min(shifted.len()));
    (natural::to_u128(whole), -shift, below.iter().any(|limb| *limb != 0))
}

fn hex(negative: bool, text: &[u8]) -> ((LongDouble, bool), usize) {
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
    (LongDouble::rounded(negative, value, power, sticky), used + exponent_used)
}

/// Returns the digits before and after a point, the power of the base to multiply them by, and the bytes used.
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

/// Reads an exponent after its letter, and returns it and the bytes used. Both are 0 if there is none.
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
