//! Integer constants.

use super::Error;

/// Reads a constant: decimal, `0x`, `0` octal, or `base#digits`. Too large a value wraps, as in bash.
pub fn parse_number(text: &str) -> Result<i64, Error> {
    let fail = |message| Err(Error::new(message, text));
    if let Some((base, digits)) = text.split_once('#') {
        let base = match base.parse::<u32>() {
            Ok(base @ 2..=64) => base,
            _ => return fail("invalid arithmetic base"),
        };
        if digits.is_empty() {
            return fail("invalid integer constant");
        }
        return in_base(digits, base, text);
    }
    match text.as_bytes() {
        [b'0', b'x' | b'X', ..] if text.len() > 2 => in_base(&text[2..], 16, text),
        [b'0', b'x' | b'X'] => Ok(0),
        [b'0', ..] => in_base(text, 8, text),
        _ => in_base(text, 10, text),
    }
}

fn in_base(digits: &str, base: u32, text: &str) -> Result<i64, Error> {
    let mut value = 0i64;
    for byte in digits.bytes() {
        let digit = match byte {
            b'0'..=b'9' => u32::from(byte - b'0'),
            b'a'..=b'z' => u32::from(byte - b'a') + 10,
            // Up to base 36 upper and lower case are the same.
            b'A'..=b'Z' if base <= 36 => u32::from(byte - b'A') + 10,
            b'A'..=b'Z' => u32::from(byte - b'A') + 36,
            b'@' => 62,
            b'_' => 63,
            _ => return Err(Error::new("invalid number", text)),
        };
        if digit >= base {
            return Err(Error::new("value too great for base", text));
        }
        value = value.wrapping_mul(i64::from(base)).wrapping_add(i64::from(digit));
    }
    Ok(value)
}
