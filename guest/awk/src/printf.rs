//! `printf`: the conversions of C.

use crate::number;
use crate::text;
use crate::value::Value;

/// One conversion, from `%` to its letter.
#[derive(Default, Clone)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
}

/// The largest width and precision. A typing error could otherwise exhaust the memory.
const WIDEST: usize = 1 << 20;

/// Formats values. With `bytes`, every byte is a character.
pub(crate) fn format(format: &[u8], args: &[Value], convfmt: &[u8], bytes: bool) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(format.len() + 16 * args.len());
    let mut next = 0;
    let mut at = 0;
    while let Some(start) = memchr::memchr(b'%', &format[at..]) {
        out.extend_from_slice(&format[at..at + start]);
        at += start;
        let from = at;
        let mut spec = Spec::default();
        at += 1;
        let mut chosen = None;
        let digits = format[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits > 0 && format.get(at + digits) == Some(&b'$') {
            chosen = Some(number_at(format, &mut at));
            at += 1;
        }
        while let Some(flag) = format.get(at) {
            match flag {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                // The locale does not group thousands.
                b'\'' => {}
                _ => break,
            }
            at += 1;
        }
        let ran_out =
            || format!("not enough arguments to satisfy format string\n\t`{}'", String::from_utf8_lossy(format));
        if format.get(at) == Some(&b'*') {
            at += 1;
            let width = args.get(next).ok_or_else(ran_out)?.number();
            next += 1;
            spec.left |= width < 0.0;
            spec.width = width.abs() as usize;
        } else {
            spec.width = number_at(format, &mut at);
        }
        if format.get(at) == Some(&b'.') {
            at += 1;
            if format.get(at) == Some(&b'*') {
                at += 1;
                let precision = args.get(next).ok_or_else(ran_out)?.number();
                next += 1;
                spec.precision = (precision >= 0.0).then_some(precision as usize);
            } else {
                spec.precision = Some(number_at(format, &mut at));
            }
        }
        while let Some(b'h' | b'l' | b'L' | b'j' | b'z' | b't' | b'q') = format.get(at) {
            at += 1;
        }
        if spec.width > WIDEST || spec.precision.is_some_and(|precision| precision > WIDEST) {
            return Err("printf: field width or precision is too large".into());
        }
        let Some(&letter) = format.get(at) else {
            out.extend_from_slice(&format[from..]);
            return Ok(out);
        };
        at += 1;
        match letter {
            b'%' => out.push(b'%'),
            b'd' | b'i' | b'o' | b'x' | b'X' | b'u' | b'c' | b's' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a'
            | b'A' => {
                let arg = match chosen {
                    Some(number) => args.get(number.wrapping_sub(1)),
                    None => {
                        next += 1;
                        args.get(next - 1)
                    }
                };
                spec.convert(letter, arg.ok_or_else(ran_out)?, convfmt, bytes, &mut out);
            }
            // An unknown conversion is copied as text.
            _ => out.extend_from_slice(&format[from..at]),
        }
    }
    out.extend_from_slice(&format[at..]);
    Ok(out)
}

/// Formats a number by CONVFMT or OFMT.
pub(crate) fn format_number(format_text: &[u8], number: f64, out: &mut Vec<u8>) {
    match format(format_text, &[Value::Number(number)], b"%.6g", false) {
        Ok(text) => out.extend_from_slice(&text),
        Err(_) => general(number, 6, false, false, out),
    }
}

fn number_at(format: &[u8], at: &mut usize) -> usize {
    let mut number = 0usize;
    while let Some(digit) = format.get(*at).filter(|byte| byte.is_ascii_digit()) {
        number = number.saturating_mul(10).saturating_add(usize::from(digit - b'0'));
        *at += 1;
    }
    number
}

impl Spec {
    fn convert(&self, letter: u8, arg: &Value, convfmt: &[u8], bytes: bool, out: &mut Vec<u8>) {
        match letter {
            b'c' => {
                let text = character(arg, bytes);
                self.pad(b"", &text, bytes, false, out);
            }
            b's' => {
                let mut converted = Vec::new();
                let whole = match arg.bytes() {
                    Some(text) => text,
                    None => {
                        arg.write(convfmt, &mut converted);
                        &converted
                    }
                };
                let end = match self.precision {
                    Some(precision) if bytes => precision.min(whole.len()),
                    Some(precision) => text::offset(whole, precision),
                    None => whole.len(),
                };
                self.pad(b"", &whole[..end], bytes, false, out);
            }
            _ => {
                let number = arg.number();
                if !number.is_finite() {
                    let shown = number::not_finite(number);
                    return self.pad(b"", shown, true, false, out);
                }
                match letter {
                    b'd' | b'i' => self.integer(number.trunc(), out),
                    b'o' | b'x' | b'X' | b'u' => self.unsigned(letter, number.trunc(), out),
                    _ => self.real(letter, number, out),
                }
            }
        }
    }

    fn sign(&self, negative: bool) -> &'static [u8] {
        match (negative, self.plus, self.space) {
            (true, _, _) => b"-",
            (_, true, _) => b"+",
            (_, _, true) => b" ",
            _ => b"",
        }
    }

    fn integer(&self, number: f64, out: &mut Vec<u8>) {
        let mut digits = Vec::new();
        number::write_whole(number.abs(), &mut digits);
        self.digits(self.sign(number < 0.0), digits, out);
    }

    fn unsigned(&self, letter: u8, number: f64, out: &mut Vec<u8>) {
        // As in C, a negative number is printed as its bits. A number beyond 64 bits is printed as a real number.
        let bits = if (-9_223_372_036_854_775_808.0..0.0).contains(&number) {
            number as i64 as u64
        } else if (0.0..18_446_744_073_709_551_616.0).contains(&number) {
            number as u64
        } else {
            return self.real(b'g', number, out);
        };
        let (digits, prefix): (String, &[u8]) = match letter {
            b'o' => (format!("{bits:o}"), b""),
            b'x' => (format!("{bits:x}"), b"0x"),
            b'X' => (format!("{bits:X}"), b"0X"),
            _ => (bits.to_string(), b""),
        };
        let mut digits = digits.into_bytes();
        if self.alternate && letter == b'o' && digits[0] != b'0' {
            digits.insert(0, b'0');
        }
        let prefix = if self.alternate && bits != 0 { prefix } else { b"" };
        self.digits(prefix, digits, out);
    }

    fn digits(&self, sign: &[u8], mut digits: Vec<u8>, out: &mut Vec<u8>) {
        if let Some(precision) = self.precision {
            if precision == 0 && digits == b"0" {
                digits.clear();
            }
            if digits.len() < precision {
                digits.splice(0..0, std::iter::repeat_n(b'0', precision - digits.len()));
            }
        }
        self.pad(sign, &digits, true, self.precision.is_none(), out);
    }

    fn real(&self, letter: u8, number: f64, out: &mut Vec<u8>) {
        let precision = self.precision.unwrap_or(6);
        let magnitude = number.abs();
        let mut digits = Vec::new();
        match letter {
            b'f' | b'F' => {
                digits = format!("{magnitude:.precision$}").into_bytes();
                if self.alternate && precision == 0 {
                    digits.push(b'.');
                }
            }
            b'e' | b'E' => exponential(magnitude, precision, self.alternate, &mut digits),
            b'g' | b'G' => general(magnitude, precision.max(1), self.alternate, false, &mut digits),
            _ => hexadecimal(magnitude, self.precision, &mut digits),
        }
        if letter.is_ascii_uppercase() {
            digits.make_ascii_uppercase();
        }
        self.pad(
            self.sign(number.is_sign_negative() && number != 0.0 || is_negative_zero(number)),
            &digits,
            true,
            true,
            out,
        );
    }

    /// Appends sign and body, padded to the width on the left, on the right, or with zeros after the sign.
    fn pad(&self, sign: &[u8], body: &[u8], bytes: bool, zeros: bool, out: &mut Vec<u8>) {
        let length = sign.len() + if bytes { body.len() } else { text::count(body) };
        let missing = self.width.saturating_sub(length);
        let fill = |out: &mut Vec<u8>, byte: u8| out.resize(out.len() + missing, byte);
        if self.left {
            out.extend_from_slice(sign);
            out.extend_from_slice(body);
            fill(out, b' ');
        } else if self.zero && zeros {
            out.extend_from_slice(sign);
            fill(out, b'0');
            out.extend_from_slice(body);
        } else {
            fill(out, b' ');
            out.extend_from_slice(sign);
            out.extend_from_slice(body);
        }
    }
}

fn is_negative_zero(number: f64) -> bool {
    number == 0.0 && number.is_sign_negative()
}

fn character(arg: &Value, bytes: bool) -> Vec<u8> {
    match arg.as_numeric() {
        Some(number) if !matches!(arg, Value::Unset) => {
            let code = number as i64;
            match u32::try_from(code).ok().and_then(char::from_u32) {
                Some(c) if !bytes => c.encode_utf8(&mut [0; 4]).as_bytes().to_vec(),
                _ => vec![code as u8],
            }
        }
        _ => {
            let text = arg.bytes().unwrap_or_default();
            match text {
                // An empty string is printed as a NUL.
                [] => vec![0],
                text if bytes => text[..1].to_vec(),
                text => text[..text::length_of_first(text)].to_vec(),
            }
        }
    }
}

/// Formats `%e` of a number that is not negative.
fn exponential(number: f64, precision: usize, point: bool, out: &mut Vec<u8>) {
    let text = format!("{number:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    out.extend_from_slice(mantissa.as_bytes());
    if point && precision == 0 {
        out.push(b'.');
    }
    write_exponent(exponent.parse().unwrap_or(0), out);
}

fn write_exponent(exponent: i32, out: &mut Vec<u8>) {
    let sign = if exponent < 0 { '-' } else { '+' };
    out.extend_from_slice(format!("e{sign}{:02}", exponent.abs()).as_bytes());
}

/// Formats `%g`.
pub(crate) fn general(number: f64, precision: usize, keep_zeros: bool, upper: bool, out: &mut Vec<u8>) {
    let start = out.len();
    if number.is_sign_negative() {
        out.push(b'-');
    }
    let text = format!("{:.*e}", precision - 1, number.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mut digits: Vec<u8> = mantissa.bytes().filter(|byte| *byte != b'.').collect();
    if !keep_zeros {
        while digits.len() > 1 && digits.last() == Some(&b'0') {
            digits.pop();
        }
    }
    if exponent < -4 || exponent >= precision as i32 {
        out.push(digits[0]);
        if digits.len() > 1 || keep_zeros {
            out.push(b'.');
            out.extend_from_slice(&digits[1..]);
        }
        write_exponent(exponent, out);
    } else if exponent < 0 {
        out.extend_from_slice(b"0.");
        out.resize(out.len() + (-exponent - 1) as usize, b'0');
        out.extend_from_slice(&digits);
    } else {
        let whole = exponent as usize + 1;
        if digits.len() < whole {
            digits.resize(whole, b'0');
        }
        out.extend_from_slice(&digits[..whole]);
        if digits.len() > whole || keep_zeros {
            out.push(b'.');
            out.extend_from_slice(&digits[whole..]);
        }
    }
    if upper {
        out[start..].make_ascii_uppercase();
    }
}

/// Formats `%a` of a number that is not negative.
fn hexadecimal(number: f64, precision: Option<usize>, out: &mut Vec<u8>) {
    let bits = number.to_bits();
    let mut fraction = bits & ((1 << 52) - 1);
    let biased = (bits >> 52) as i32;
    let (mut lead, exponent) = match (biased, fraction) {
        (0, 0) => (0, 0),
        (0, _) => (0, -1022),
        (biased, _) => (1u64, biased - 1023),
    };
    let mut digits = 13;
    if let Some(precision) = precision.filter(|precision| *precision < 13) {
        let shift = 52 - 4 * precision as u32;
        let half = 1u64 << (shift - 1);
        let below = fraction & ((1 << shift) - 1);
        fraction >>= shift;
        if below > half || (below == half && (if precision == 0 { lead } else { fraction }) & 1 == 1) {
            fraction += 1;
        }
        lead += fraction >> (4 * precision);
        fraction &= (1u64 << (4 * precision)) - 1;
        digits = precision;
    } else if precision.is_none() {
        while digits > 0 && fraction & 15 == 0 {
            fraction >>= 4;
            digits -= 1;
        }
    }
    out.extend_from_slice(format!("0x{lead}").as_bytes());
    if digits > 0 {
        out.extend_from_slice(format!(".{fraction:0digits$x}").as_bytes());
    }
    out.extend_from_slice(format!("p{exponent:+}").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(spec: &str, number: f64) -> String {
        String::from_utf8(format(spec.as_bytes(), &[Value::Number(number)], b"%.6g", false).unwrap()).unwrap()
    }

    /// Recorded from gawk 5.2.
    #[test]
    fn numbers_are_shown_as_c_shows_them() {
        for (spec, number, expected) in [
            ("%g", 1e-5, "1e-05"),
            ("%g", 123456789.0, "1.23457e+08"),
            ("%g", 0.0001, "0.0001"),
            ("%#g", 1.0, "1.00000"),
            ("%e", 31415.9, "3.141590e+04"),
            ("%08.3f", -2.71559, "-002.716"),
            ("%+d", 42.0, "+42"),
            ("%.3d", 5.0, "005"),
            ("%x", -1.0, "ffffffffffffffff"),
            ("%#o", 8.0, "010"),
            ("%c", 256.0, "Ā"),
            ("%a", 1.0, "0x1p+0"),
            ("%d", 9223372036854775808.0, "9223372036854775808"),
        ] {
            assert_eq!(shown(spec, number), expected, "{spec}");
        }
    }
}
