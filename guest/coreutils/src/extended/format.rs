//! Numbers as C's `printf` writes them.

use super::big::Big;
use super::{Extended, Size};

/// The letter of a conversion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notation {
    Fixed,
    Exponent,
    General,
    Hexadecimal,
}

/// The notation, precision and flags of a number.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    pub(crate) notation: Notation,
    pub(crate) upper: bool,
    /// `None` is C's default.
    pub(crate) precision: Option<usize>,
    /// `#`: a point always, and zeros at the end.
    pub(crate) alternate: bool,
}

impl Extended {
    /// Formats the number without sign and padding.
    pub(crate) fn magnitude(self, style: Style) -> String {
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

    /// Formats the number with its sign, as `%g` and the like.
    pub(crate) fn text(self, style: Style) -> String {
        format!("{}{}", if self.negative { "-" } else { "" }, self.magnitude(style))
    }
}

/// Returns `round(mantissa * 2^exponent * 10^power)`, a half to even.
fn scaled(mantissa: u64, exponent: i32, power: i64) -> String {
    let mut value = Big::from(u128::from(mantissa));
    let mut sticky = false;
    // Two more bits tell halves apart after a division.
    let mut shift = 0;
    if power >= 0 {
        value.times_power_of_ten(power as usize);
    } else {
        shift = 2;
        value = value.shifted_left(2 + exponent.max(0) as usize);
        sticky = value.over_power_of_ten(power.unsigned_abs() as usize);
    }
    let value = match exponent {
        _ if power < 0 => value.rounded_right(shift + exponent.min(0).unsigned_abs() as usize, sticky),
        exponent if exponent >= 0 => value.shifted_left(exponent as usize),
        exponent => value.rounded_right(exponent.unsigned_abs() as usize, sticky),
    };
    value.decimal()
}

fn fixed(mantissa: u64, exponent: i32, precision: usize, alternate: bool) -> String {
    // There are no more digits than the exponent has bits; zeros follow.
    let exact = precision.min(exponent.min(0).unsigned_abs() as usize);
    let digits = scaled(mantissa, exponent, exact as i64);
    let mut text = format!("{digits:0>width$}", width = exact + 1);
    let point = text.len() - exact;
    if precision > 0 || alternate {
        text.insert(point, '.');
    }
    text.extend(std::iter::repeat_n('0', precision - exact));
    text
}

/// Returns the first digits, one and `precision` more, and the power of ten of the first.
fn significant(mantissa: u64, exponent: i32, precision: usize) -> (String, i64) {
    if mantissa == 0 {
        return ("0".repeat(precision + 1), 0);
    }
    // All digits there can be; the rest is zeros.
    let exact = precision.min(20_000);
    // log10(2) from below: the estimate is right or one too small.
    let bits = i64::from(exponent) + 63 - i64::from(mantissa.leading_zeros());
    let mut power = (bits * 30_103).div_euclid(100_000);
    loop {
        let digits = scaled(mantissa, exponent, exact as i64 - power);
        match digits.len().cmp(&(exact + 1)) {
            std::cmp::Ordering::Equal => {
                return (format!("{digits}{}", "0".repeat(precision - exact)), power);
            }
            std::cmp::Ordering::Greater => power += 1,
            std::cmp::Ordering::Less => power -= 1,
        }
    }
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
            let rounded = Big::from(all).rounded_right(60 - keep as usize, false).low_128();
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
