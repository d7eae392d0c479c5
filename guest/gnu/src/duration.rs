//! Times as `sleep` and `timeout` take them: a number, maybe with a fraction, and a unit.
//!
//! Numbers are kept as whole digits and a power of the base: it is exact, and a floating-point parser would be a
//! tenth of this component.

use std::time::Duration;

/// Longer than any sandbox lives, and short enough that its nanoseconds fit into 64 bits.
const FOREVER: Duration = Duration::from_secs(1 << 33);

/// Digits beyond these make no difference to a clock.
const MOST_DIGITS: u32 = 24;

/// Reads a duration: `1`, `0.5`, `1e-3`, `0x10`, `2m`, `infinity`. A fraction of a nanosecond is rounded up, so
/// that nothing but zero is zero.
pub fn parse(text: &str) -> Option<Duration> {
    let text = text.trim_start_matches([' ', '\t', '\n', '\x0b', '\x0c', '\r']);
    let text = text.strip_prefix('+').unwrap_or(text);
    let (text, negative) = text.strip_prefix('-').map_or((text, false), |rest| (rest, true));
    let time = match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) => {
            let (digits, unit) = split_unit(digits, "smh");
            scaled(number(digits, 16)?, unit)
        }
        None => {
            let (digits, unit) = split_unit(text, "smhd");
            match digits.to_ascii_lowercase().as_str() {
                "inf" | "infinity" => FOREVER,
                _ => scaled(number(digits, 10)?, unit),
            }
        }
    };
    (!negative || time.is_zero()).then_some(time)
}

/// Takes the unit off, in seconds. In a hexadecimal number `d` is a digit and not a day.
fn split_unit<'a>(text: &'a str, units: &str) -> (&'a str, u128) {
    let unit = text.chars().next_back().filter(|unit| units.contains(*unit));
    let seconds = match unit {
        None | Some('s') => 1,
        Some('m') => 60,
        Some('h') => 3600,
        Some(_) => 86_400,
    };
    (&text[..text.len() - unit.map_or(0, char::len_utf8)], seconds)
}

/// Reads a number: its digits, the count of them after the point (negative: before it), and the base.
fn number(text: &str, base: u32) -> Option<(u128, i64, u32)> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) if base == 10 => (&text[..at], exponent(&text[at + 1..])?),
        _ => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let (mut value, mut count, mut after) = (0u128, 0, -exponent);
    for (digits, is_fraction) in [(whole, false), (fraction, true)] {
        for digit in digits.chars() {
            let digit = digit.to_digit(base)?;
            if count < MOST_DIGITS {
                value = value * u128::from(base) + u128::from(digit);
                count += u32::from(value > 0);
                after += i64::from(is_fraction);
            } else {
                after -= i64::from(!is_fraction);
            }
        }
    }
    Some((value, after, base))
}

fn exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value = digits.parse().unwrap_or(i64::from(u32::MAX));
    Some(if text.starts_with('-') { -value } else { value })
}

fn scaled((value, after, base): (u128, i64, u32), unit: u128) -> Duration {
    let longest = FOREVER.as_nanos();
    let mut nanos = value * unit * 1_000_000_000;
    if nanos == 0 {
        return Duration::ZERO;
    }
    for _ in 0..after.unsigned_abs() {
        if after < 0 {
            if nanos >= longest {
                return FOREVER;
            }
            nanos *= u128::from(base);
        } else {
            if nanos == 1 {
                break;
            }
            nanos = nanos.div_ceil(u128::from(base));
        }
    }
    if nanos >= longest { FOREVER } else { Duration::from_nanos(nanos as u64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_gnu_reads_them() {
        for (text, millis) in [
            ("1", 1000),
            (".5", 500),
            ("5.", 5000),
            ("1e-3", 1),
            ("12.5e+1", 125_000),
            ("2m", 120_000),
            ("1.5h", 5_400_000),
            ("1d", 86_400_000),
            ("0", 0),
            ("0x10", 16_000),
            ("0x.8", 500),
            ("+1", 1000),
            ("0.25s", 250),
            ("-0", 0),
            ("00000000000000000000000000000000000000001", 1000),
            ("1.00000000000000000000000000000000000000", 1000),
        ] {
            assert_eq!(parse(text), Some(Duration::from_millis(millis)), "{text}");
        }
        assert_eq!(parse("1e-999999999999"), Some(Duration::from_nanos(1)));
        for endless in ["infinity", "inf", "INFINITYd", "1e30", "1e99999999999", "99999999999999999999999999999999"] {
            assert_eq!(parse(endless), Some(FOREVER), "{endless}");
        }
        for wrong in ["", "s", "-1", "nan", "1x", "1 s", "1ms", "0x", "é", "1e", ".", "--1"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
