//! Comparisons of keys.

use std::cmp::Ordering;

use super::key::{Comparison, Kind, blanks};
use isopod_gnu::version;

/// Compares two keys, without their direction.
pub(super) fn compare(a: &[u8], b: &[u8], how: &Comparison, seed: u64) -> Ordering {
    match how.kind {
        Kind::Numeric => numeric(a, b),
        Kind::General => general(a).total_cmp_as_gnu(general(b)),
        Kind::Human => human(a, b),
        Kind::Month => month(a).cmp(&month(b)),
        Kind::Version => version::compare(a, b),
        Kind::Random => scramble(&folded(a, how), seed).cmp(&scramble(&folded(b, how), seed)),
        Kind::Text if how.dictionary || how.printable => folded(a, how).cmp(&folded(b, how)),
        Kind::Text if how.fold => a.iter().map(u8::to_ascii_uppercase).cmp(b.iter().map(u8::to_ascii_uppercase)),
        Kind::Text => a.cmp(b),
    }
}

/// Returns a number that is never greater for a key that comes first: it decides most comparisons without the keys.
pub(super) fn hint(key: &[u8], how: &Comparison) -> u64 {
    match how.kind {
        Kind::Numeric => {
            let number = Number::read(key);
            let digits = number.whole;
            // 18 digits fit, and longer numbers are beyond them all. The lowest bit is set if digits are missing.
            let size = if digits.len() > 18 {
                1 << 62 | 1
            } else {
                let whole = digits.iter().fold(0u64, |value, digit| value * 10 + u64::from(digit - b'0'));
                whole << 1 | u64::from(!number.fraction.is_empty())
            };
            if number.negative { (1 << 63) - size } else { (1 << 63) + size }
        }
        Kind::Text if !(how.dictionary || how.printable) => {
            let mut first = [0; 8];
            for (to, from) in first.iter_mut().zip(key) {
                *to = if how.fold { from.to_ascii_uppercase() } else { *from };
            }
            u64::from_be_bytes(first)
        }
        _ => 0,
    }
}

/// Returns true if all keys with this hint are equal, so that they need not be compared.
pub(super) fn is_all(hint: u64, how: &Comparison) -> bool {
    how.kind == Kind::Numeric && hint & 1 == 0
}

/// A number as text of any length. It is never converted, so that no digit is lost.
struct Number<'a> {
    negative: bool,
    /// Without leading zeros.
    whole: &'a [u8],
    /// Without trailing zeros.
    fraction: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Number<'a> {
    fn read(text: &'a [u8]) -> Number<'a> {
        let mut rest = &text[blanks(text)..];
        let negative = rest.first() == Some(&b'-');
        if negative {
            rest = &rest[1..];
        }
        let zeros = rest.iter().take_while(|byte| **byte == b'0').count();
        rest = &rest[zeros..];
        let (whole, mut rest) = rest.split_at(digits(rest));
        let mut fraction: &[u8] = &[];
        if rest.first() == Some(&b'.') {
            (fraction, rest) = rest[1..].split_at(digits(&rest[1..]));
            while let [shorter @ .., b'0'] = fraction {
                fraction = shorter;
            }
        }
        // Minus zero is zero.
        let negative = negative && !(whole.is_empty() && fraction.is_empty());
        Number { negative, whole, fraction, rest }
    }

    fn compare(&self, other: &Number) -> Ordering {
        let size = |a: &Number, b: &Number| {
            (a.whole.len().cmp(&b.whole.len()))
                .then_with(|| a.whole.cmp(b.whole))
                .then_with(|| a.fraction.cmp(b.fraction))
        };
        match (self.negative, other.negative) {
            (false, false) => size(self, other),
            (true, true) => size(other, self),
            (negative, _) => {
                if negative {
                    Ordering::Less
                } else {
                    Ordering::Greater
                }
            }
        }
    }
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

fn numeric(a: &[u8], b: &[u8]) -> Ordering {
    Number::read(a).compare(&Number::read(b))
}

/// Compares by sign, then by unit, then by number: `1M` is more than `9999K`, as in GNU's.
fn human(a: &[u8], b: &[u8]) -> Ordering {
    let (a, b) = (Number::read(a), Number::read(b));
    let unit = |number: &Number| {
        let zero = number.whole.is_empty() && number.fraction.is_empty();
        let order = match number.rest.first() {
            Some(b'k' | b'K') => 1,
            Some(b'M') => 2,
            Some(b'G') => 3,
            Some(b'T') => 4,
            Some(b'P') => 5,
            Some(b'E') => 6,
            Some(b'Z') => 7,
            Some(b'Y') => 8,
            _ => 0,
        };
        if zero {
            0
        } else if number.negative {
            -order
        } else {
            order
        }
    };
    unit(&a).cmp(&unit(&b)).then_with(|| a.compare(&b))
}

/// A number as C reads it. Texts that are no number come first, then NaN.
enum General {
    Nothing,
    NotANumber,
    Value(f64),
}

impl General {
    fn total_cmp_as_gnu(self, other: General) -> Ordering {
        let rank = |general: &General| match general {
            General::Nothing => 0,
            General::NotANumber => 1,
            General::Value(_) => 2,
        };
        match (&self, &other) {
            (General::Value(a), General::Value(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
            _ => rank(&self).cmp(&rank(&other)),
        }
    }
}

fn general(text: &[u8]) -> General {
    let text = &text[blanks(text)..];
    let text: String = text.iter().take(400).map(|byte| *byte as char).take_while(char::is_ascii).collect();
    let unsigned = text.trim_start_matches(['+', '-']);
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    let lower = unsigned.to_ascii_lowercase();
    if text.len() - unsigned.len() > 1 {
        return General::Nothing;
    }
    if lower.starts_with("inf") {
        return General::Value(sign * f64::INFINITY);
    }
    if lower.starts_with("nan") {
        return General::NotANumber;
    }
    if let Some(hexadecimal) = lower.strip_prefix("0x") {
        let end = hexadecimal.bytes().take_while(u8::is_ascii_hexdigit).count();
        if let Ok(value) = u64::from_str_radix(&hexadecimal[..end], 16) {
            return General::Value(sign * value as f64);
        }
    }
    // The longest beginning that is a number.
    let mut end = lower.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    if let Some(exponent) = lower[end..].strip_prefix('e') {
        let signed = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let digits = signed.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 {
            end += 1 + (exponent.len() - signed.len()) + digits;
        }
    }
    while end > 0 {
        if let Ok(value) = lower[..end].parse::<f64>() {
            return General::Value(sign * value);
        }
        end -= 1;
    }
    General::Nothing
}

/// Returns the month from 1; 0 for another text.
fn month(text: &[u8]) -> usize {
    const MONTHS: [&[u8]; 12] =
        [b"JAN", b"FEB", b"MAR", b"APR", b"MAY", b"JUN", b"JUL", b"AUG", b"SEP", b"OCT", b"NOV", b"DEC"];
    let text = &text[blanks(text)..];
    let Some(name) = text.get(..3).map(<[u8]>::to_ascii_uppercase) else { return 0 };
    MONTHS.iter().position(|month| *month == name).map_or(0, |at| at + 1)
}

/// Returns a key without the characters that do not count.
fn folded(key: &[u8], how: &Comparison) -> Vec<u8> {
    let counts = |byte: &u8| {
        (!how.dictionary || byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'\t' | b'\n'))
            && (!how.printable || matches!(byte, 0x20..0x7f))
    };
    let fold = |byte: &u8| if how.fold { byte.to_ascii_uppercase() } else { *byte };
    key.iter().filter(|byte| counts(byte)).map(fold).collect()
}

/// Returns a hash of a key for random order: FNV with a seed, mixed at the end.
fn scramble(key: &[u8], seed: u64) -> u64 {
    let hash = key
        .iter()
        .fold(seed ^ 0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    let mixed = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed ^ (mixed >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_order_and_hints_agree() {
        let sorted = [
            "-1e5",
            "-10",
            "-1.5",
            "-1.25",
            "-0.5",
            "0",
            "0.05",
            "0.5",
            "1",
            "1.5",
            "9",
            "10",
            "123456789012345678901",
        ];
        let how = Comparison { kind: Kind::Numeric, ..Comparison::default() };
        for (a, b) in sorted.iter().skip(1).zip(&sorted[2..]) {
            assert_eq!(numeric(a.as_bytes(), b.as_bytes()), Ordering::Less, "{a} {b}");
            assert!(hint(a.as_bytes(), &how) <= hint(b.as_bytes(), &how), "{a} {b}");
        }
        assert_eq!(numeric(b"-0", b"0"), Ordering::Equal);
        assert_eq!(numeric(b" 7x", b"007.0"), Ordering::Equal);
        assert_eq!(human(b"1M", b"999K"), Ordering::Greater);
        assert_eq!(month(b" feb"), 2);
        assert_eq!(general(b"1e2x").total_cmp_as_gnu(general(b"100")), Ordering::Equal);
        assert_eq!(general(b"x").total_cmp_as_gnu(general(b"nan")), Ordering::Less);
    }
}
