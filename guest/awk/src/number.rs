//! Conversion of numbers from text and to text.

use isopod_gnu::digits;

/// The powers of ten that are exact in a double. A mantissa below 2^53 divided by one of them is rounded only once.
const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// Returns the number at the start of a text, or 0 if there is none.
#[inline]
pub(crate) fn prefix(text: &[u8]) -> f64 {
    let start = text.iter().take_while(|byte| is_blank(**byte)).count();
    scan(&text[start..]).map_or(0.0, |(number, _)| number)
}

/// Returns the number that a text consists of, apart from blanks around it.
pub(crate) fn whole(text: &[u8]) -> Option<f64> {
    let start = text.iter().take_while(|byte| is_blank(**byte)).count();
    let (number, used) = scan(&text[start..])?;
    text[start + used..].iter().all(|byte| is_blank(*byte)).then_some(number)
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Parses a decimal number at the start of a text. Returns the number and its length. Hexadecimal numbers are for
/// program text only.
pub(crate) fn scan(text: &[u8]) -> Option<(f64, usize)> {
    let (negative, signed) = match text.first()? {
        b'-' => (true, 1),
        b'+' => (false, 1),
        _ => (false, 0),
    };
    let mut at = signed;
    let mut mantissa: u64 = 0;
    let mut digits = 0;
    while let Some(digit) = text.get(at).filter(|byte| byte.is_ascii_digit()) {
        mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
        digits += 1;
        at += 1;
    }
    let mut fraction = 0;
    if text.get(at) == Some(&b'.') {
        let dot = at;
        at += 1;
        while let Some(digit) = text.get(at).filter(|byte| byte.is_ascii_digit()) {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            fraction += 1;
            at += 1;
        }
        if digits + fraction == 0 {
            at = dot;
        }
    }
    if digits + fraction == 0 {
        return if signed == 1 { special(&text[1..]).map(|number| (with_sign(number, negative), 4)) } else { None };
    }
    let mut has_exponent = false;
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let count = text[at + 1 + sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if count > 0 {
            has_exponent = true;
            at += 1 + sign + count;
        }
    }
    if !has_exponent && digits + fraction <= 18 && mantissa < 1 << 53 && fraction < TENS.len() {
        let number = mantissa as f64 / TENS[fraction];
        return Some((with_sign(number, negative), at));
    }
    // The rest is ASCII digits, a point and an exponent, which Rust parses as C does.
    let number = std::str::from_utf8(&text[signed..at]).ok()?.parse().ok()?;
    Some((with_sign(number, negative), at))
}

/// Parses `inf` or `nan`, which count only after a sign and as a whole word.
fn special(text: &[u8]) -> Option<f64> {
    let word = text.get(..3)?.to_ascii_lowercase();
    if text.get(3).is_some_and(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    match word.as_slice() {
        b"inf" => Some(f64::INFINITY),
        b"nan" => Some(f64::NAN),
        _ => None,
    }
}

fn with_sign(number: f64, negative: bool) -> f64 {
    if negative { -number } else { number }
}

/// Appends a number as a string: a whole number by its digits, any other by CONVFMT or OFMT.
pub(crate) fn write(number: f64, format: &[u8], out: &mut Vec<u8>) {
    if number == number.trunc() && number.is_finite() {
        return write_whole(number, out);
    }
    if !number.is_finite() {
        return out.extend_from_slice(not_finite(number));
    }
    if format == b"%.6g" {
        return crate::printf::general(number, 6, false, false, out);
    }
    let mut text = Vec::new();
    crate::printf::format_number(format, number, &mut text);
    out.extend_from_slice(&text);
}

/// Appends all digits of a whole number.
pub(crate) fn write_whole(number: f64, out: &mut Vec<u8>) {
    if number.abs() >= 1e18 {
        out.extend_from_slice(format!("{number:.0}").as_bytes());
    } else {
        digits::push(number as i64, out);
    }
}

/// Returns the text of an infinity or NaN, with the sign that gawk always prints.
pub(crate) fn not_finite(number: f64) -> &'static [u8] {
    match (number.is_nan(), number.is_sign_negative()) {
        (true, false) => b"+nan",
        (true, true) => b"-nan",
        (false, false) => b"+inf",
        (false, true) => b"-inf",
    }
}

/// Returns the integer that a text spells, if that is the spelling of a converted number.
pub(crate) fn canonical_integer(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    if digits.is_empty() || digits.len() > 18 || (digits[0] == b'0' && text.len() > 1) {
        return None;
    }
    let mut number: i64 = 0;
    for byte in digits {
        if !byte.is_ascii_digit() {
            return None;
        }
        number = number * 10 + i64::from(byte - b'0');
    }
    Some(if digits.len() < text.len() { -number } else { number })
}

/// Parses a number as in program text and `strtonum`: hexadecimal, or octal after a leading zero. Returns its length,
/// too.
pub(crate) fn with_base(text: &[u8]) -> (f64, usize) {
    let start = text.iter().take_while(|byte| is_blank(**byte)).count();
    let (negative, signed) = match text.get(start) {
        Some(b'-') => (true, start + 1),
        Some(b'+') => (false, start + 1),
        _ => (false, start),
    };
    let (base, from) = match &text[signed..] {
        [b'0', b'x' | b'X', digit, ..] if digit.is_ascii_hexdigit() => (16, signed + 2),
        // A digit that is not octal, a point or an exponent makes the number decimal.
        [b'0', rest @ ..] if is_octal(rest) => (8, signed + 1),
        _ => return scan(&text[start..]).map_or((0.0, 0), |(number, used)| (number, start + used)),
    };
    let mut number = 0.0;
    let mut at = from;
    while let Some(digit) = text.get(at).and_then(|byte| char::from(*byte).to_digit(base)) {
        number = number * f64::from(base) + f64::from(digit);
        at += 1;
    }
    (with_sign(number, negative), at)
}

fn is_octal(rest: &[u8]) -> bool {
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0
        && rest[..digits].iter().all(|byte| *byte < b'8')
        && !matches!(rest.get(digits), Some(b'.' | b'e' | b'E'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_c_reads_them() {
        for (text, number) in [
            ("12", 12.0),
            (" -3.5e2x", -350.0),
            ("1e", 1.0),
            (".5.", 0.5),
            ("0x11", 0.0),
            ("abc", 0.0),
            ("+5", 5.0),
            ("123456789012345678901", 123456789012345678901.0),
            ("0.1234567890123456789", 0.123_456_789_012_345_68),
            ("infinity", 0.0),
            ("+inf", f64::INFINITY),
        ] {
            assert_eq!(prefix(text.as_bytes()), number, "{text}");
        }
        assert_eq!(whole(b" 12 "), Some(12.0));
        assert_eq!(whole(b"12a"), None);
        assert_eq!(with_base(b"0x1F").0, 31.0);
        assert_eq!(with_base(b"017").0, 15.0);
        assert_eq!(with_base(b"08").0, 8.0);
    }

    #[test]
    fn only_one_spelling_is_an_integer() {
        assert_eq!(canonical_integer(b"0"), Some(0));
        assert_eq!(canonical_integer(b"-12"), Some(-12));
        for text in ["-0", "01", "", "-", "1.0", " 1", "+1"] {
            assert_eq!(canonical_integer(text.as_bytes()), None, "{text}");
        }
    }
}
