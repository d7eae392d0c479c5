//! Numbers as C's `printf` writes them.

use super::{LongDouble, Size, shifted_right};
use crate::natural;

/// The notation of a number, by the letter of a conversion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Notation {
    /// `%f`.
    Fixed,
    /// `%e`.
    Exponent,
    /// `%g`.
    General,
    /// `%a`.
    Hexadecimal,
}

/// A conversion without its width and its sign.
#[derive(Clone, Copy)]
pub struct Style {
    /// The notation.
    pub notation: Notation,
    /// Letters are upper case.
    pub upper: bool,
    /// The digits after the point, or all digits for `%g`. `None` is C's default.
    pub precision: Option<usize>,
    /// `#`: there is always a point, and `%g` keeps zeros at the end.
    pub alternate: bool,
}

impl LongDouble {
    /// Returns the text of the number without a sign and without padding.
    pub fn magnitude(self, style: Style) -> String {
        let text = match self.size {
            Size::Infinite => "inf".to_owned(),
            Size::NotANumber => "nan".to_owned(),
            Size::Finite(mantissa, exponent) => {
                let precision = style.precision.unwrap_or(6);
                match style.notation {
                    Notation::Fixed => fixed(mantissa, exponent, precision, style.alternate),
                    Notation::Exponent => {
                        let (digits, power) = significant(mantissa, exponent, precision);
                        scientific(&digits, power, style.alternate, false)
                    }
                    Notation::General => general(mantissa, exponent, precision.max(1), style.alternate),
                    Notation::Hexadecimal => hexadecimal(mantissa, exponent, style.precision, style.alternate),
                }
            }
        };
        if style.upper { text.to_ascii_uppercase() } else { text }
    }

    /// Returns the text of the number with a minus if it is negative.
    pub fn text(self, style: Style) -> String {
        format!("{}{}", if self.negative { "-" } else { "" }, self.magnitude(style))
    }
}

/// Returns all decimal digits of `mantissa * 2^exponent`, and the number of those that are after the point. Zero has
/// no digits.
fn exact(mantissa: u64, exponent: i32) -> (String, usize) {
    if exponent >= 0 {
        let value =
            natural::multiply(&natural::from_u128(mantissa.into()), &natural::power(2, exponent.unsigned_abs()));
        return (natural::digits(&value), 0);
    }
    // A half is five tenths: 2^-n is 5^n with n digits after the point.
    let halvings = exponent.unsigned_abs();
    let even = mantissa.trailing_zeros().min(halvings).min(63);
    let halvings = halvings - even;
    let value = natural::multiply(&natural::from_u128((mantissa >> even).into()), &natural::power(5, halvings));
    (natural::digits(&value), halvings as usize)
}

/// Removes the last digits and rounds the others to the nearest, a half to even. Zero has no digits.
fn without_last(digits: &str, count: usize) -> String {
    if count == 0 || count > digits.len() {
        return if count == 0 { digits.to_owned() } else { String::new() };
    }
    let (kept, removed) = digits.as_bytes().split_at(digits.len() - count);
    let is_odd = kept.last().is_some_and(|digit| digit % 2 == 1);
    let is_more_than_half = removed[0] > b'5' || removed[1..].iter().any(|digit| *digit != b'0');
    let mut kept = digits[..kept.len()].to_owned();
    if removed[0] >= b'5' && (is_more_than_half || is_odd) {
        let nines = kept.len() - kept.trim_end_matches('9').len();
        kept.truncate(kept.len() - nines);
        let next = kept.pop().map_or('1', |digit| char::from(digit as u8 + 1));
        kept.push(next);
        kept.extend(std::iter::repeat_n('0', nines));
    }
    kept
}

fn fixed(mantissa: u64, exponent: i32, precision: usize, alternate: bool) -> String {
    let (digits, scale) = exact(mantissa, exponent);
    // After the digits of the exact value there are only zeros.
    let places = precision.min(scale);
    let mut text = format!("{:0>width$}", without_last(&digits, scale - places), width = places + 1);
    if precision > 0 || alternate {
        text.insert(text.len() - places, '.');
    }
    text.extend(std::iter::repeat_n('0', precision - places));
    text
}

/// Returns the first digits, one and `precision` more, and the power of ten of the first.
fn significant(mantissa: u64, exponent: i32, precision: usize) -> (String, i64) {
    if mantissa == 0 {
        return ("0".repeat(precision + 1), 0);
    }
    let (digits, scale) = exact(mantissa, exponent);
    let power = digits.len() as i64 - 1 - scale as i64;
    let mut rounded = without_last(&digits, digits.len().saturating_sub(precision + 1));
    if rounded.len() > precision + 1 {
        // 9.99 became 10.0.
        rounded.pop();
        return (rounded, power + 1);
    }
    rounded.extend(std::iter::repeat_n('0', precision + 1 - rounded.len()));
    (rounded, power)
}

fn scientific(digits: &str, power: i64, alternate: bool, trimmed: bool) -> String {
    let (first, rest) = digits.split_at(1);
    let rest = if trimmed { rest.trim_end_matches('0') } else { rest };
    let point = if rest.is_empty() && !alternate { "" } else { "." };
    let sign = if power < 0 { '-' } else { '+' };
    format!("{first}{point}{rest}e{sign}{:02}", power.unsigned_abs())
}

fn general(mantissa: u64, exponent: i32, precision: usize, alternate: bool) -> String {
    let (digits, power) = significant(mantissa, exponent, precision - 1);
    if power < -4 || power >= precision as i64 {
        return scientific(&digits, power, alternate, !alternate);
    }
    let text = fixed(mantissa, exponent, (precision as i64 - 1 - power) as usize, alternate);
    if alternate || !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn hexadecimal(mantissa: u64, exponent: i32, precision: Option<usize>, alternate: bool) -> String {
    let (mut lead, mut rest, mut power) = (mantissa >> 60, mantissa << 4, exponent + 60);
    if mantissa == 0 {
        power = 0;
    }
    let mut digits = format!("{:015x}", rest >> 4);
    match precision {
        None => digits.truncate(digits.trim_end_matches('0').len()),
        Some(precision) if precision < 15 => {
            let keep = precision as u32 * 4;
            let all = u128::from(lead) << 60 | u128::from(rest >> 4);
            let rounded = shifted_right(all, 60 - keep, false);
            lead = (rounded >> keep) as u64;
            if lead > 15 {
                (lead, power) = (1, power + 4);
            }
            rest = (rounded & ((1 << keep) - 1)) as u64;
            digits = if precision == 0 { String::new() } else { format!("{rest:0precision$x}") };
        }
        Some(precision) => digits.push_str(&"0".repeat(precision - 15)),
    }
    let point = if digits.is_empty() && !alternate { "" } else { "." };
    format!("0x{lead:x}{point}{digits}p{power:+}")
}
