//! Numbers in arguments of `printf`, and complaints about them.

use isopod_gnu::long_double::{self, LongDouble};
use isopod_gnu::quote::plain;

/// Reads a number as C's `strtoimax` does, with `'c` for the number of a character.
pub(super) fn signed(text: &str) -> (i64, Option<String>) {
    if let Some((value, complaint)) = character(text) {
        return (value, complaint);
    }
    let (negative, value, used) = whole(text);
    let value = if negative { -value } else { value };
    let clamped = value.clamp(i128::from(i64::MIN), i128::from(i64::MAX));
    (clamped as i64, complaint(text, used, clamped == value))
}

/// Reads a number as C's `strtoumax` does: a minus sign negates modulo 2^64.
pub(super) fn unsigned(text: &str) -> (u64, Option<String>) {
    if let Some((value, complaint)) = character(text) {
        return (value as u64, complaint);
    }
    let (negative, value, used) = whole(text);
    let clamped = value.min(i128::from(u64::MAX));
    let result = clamped as u64;
    let result = if negative && clamped == value { result.wrapping_neg() } else { result };
    (result, complaint(text, used, clamped == value))
}

/// Reads a number as C's `strtold` does.
pub(super) fn float(text: &str) -> (LongDouble, Option<String>) {
    if let Some((value, complaint)) = character(text) {
        return (LongDouble::whole(value.into()), complaint);
    }
    let parsed = long_double::parse(text);
    (parsed.number, complaint(text, parsed.length, parsed.in_range))
}

fn complaint(text: &str, used: usize, in_range: bool) -> Option<String> {
    if !in_range {
        Some(format!("{}: Numerical result out of range", plain(text)))
    } else if used == text.len() {
        None
    } else if used == 0 {
        Some(format!("{}: expected a numeric value", plain(text)))
    } else {
        Some(format!("{}: value not completely converted", plain(text)))
    }
}

/// Returns the number of the character after a quote, if there is a quote.
fn character(text: &str) -> Option<(i64, Option<String>)> {
    let rest = text.strip_prefix(['"', '\''])?;
    let c = rest.chars().next()?;
    let after = &rest[c.len_utf8()..];
    let complaint = (!after.is_empty())
        .then(|| format!("warning: {after}: character(s) following character constant have been ignored"));
    Some((i64::from(u32::from(c)), complaint))
}

/// Reads a whole number in C's notation. Returns its sign, value and length.
fn whole(text: &str) -> (bool, i128, usize) {
    let bytes = text.as_bytes();
    let mut at = bytes.iter().take_while(|byte| matches!(byte, b' ' | 9..=13)).count();
    let negative = bytes.get(at) == Some(&b'-');
    at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
    let digit = |at: usize, base: u32| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(base));
    let base = match (bytes.get(at), bytes.get(at + 1)) {
        (Some(b'0'), Some(b'x' | b'X')) if digit(at + 2, 16).is_some() => {
            at += 2;
            16
        }
        (Some(b'0'), _) => 8,
        _ => 10,
    };
    if digit(at, base).is_none() {
        return (negative, 0, 0);
    }
    let mut value: i128 = 0;
    while let Some(digit) = digit(at, base) {
        value = (value * i128::from(base) + i128::from(digit)).min(1 << 100);
        at += 1;
    }
    (negative, value, at)
}
