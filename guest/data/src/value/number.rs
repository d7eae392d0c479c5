//! Numbers: doubles, and the text of a whole number that a double would round.

use std::rc::Rc;

use isopod_gnu::digits;

/// A number.
#[derive(Clone)]
pub(crate) enum Number {
    /// A double.
    Float(f64),
    /// A whole number of the input that no double equals. It is printed as it was written, as in jq 1.7, so that a long
    /// id survives. Arithmetic and comparison use the nearest double.
    Exact(Rc<(f64, String)>),
}

/// Doubles hold every whole number below this one.
const ALL_WHOLE: f64 = 9_007_199_254_740_992.0;

impl Number {
    /// Creates a number from a result of arithmetic.
    pub(crate) fn new(float: f64) -> Number {
        Number::Float(float)
    }

    /// Reads a number of the input.
    pub(crate) fn read(text: &str) -> Option<Number> {
        let float = parse(text)?;
        if float.abs() >= ALL_WHOLE && text.len() < 1 << 16 {
            let digits = text.strip_prefix('-').unwrap_or(text);
            if digits.bytes().all(|byte| byte.is_ascii_digit())
                && !digits.starts_with('0')
                && format!("{:.0}", float.abs()) != digits
            {
                return Some(Number::Exact(Rc::new((float, text.to_owned()))));
            }
        }
        Some(Number::Float(float))
    }

    /// Reads a number that is printed as it was written: a version `1.10` in YAML is not 1.1.
    pub(crate) fn written(text: &str) -> Option<Number> {
        let float = parse(text)?;
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_padded = digits.starts_with('0') && digits.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
        let is_cut = digits.ends_with('.') || digits.contains(".e") || digits.contains(".E");
        let is_json = digits.starts_with(|c: char| c.is_ascii_digit()) && !is_padded && !is_cut;
        let mut printed = Vec::new();
        print(float, &mut printed);
        if !is_json || printed == text.as_bytes() {
            return Some(Number::Float(float));
        }
        Some(Number::Exact(Rc::new((float, text.to_owned()))))
    }

    /// Returns the nearest double.
    pub(crate) fn float(&self) -> f64 {
        match self {
            Number::Float(float) => *float,
            Number::Exact(exact) => exact.0,
        }
    }

    /// Adds its text: 17 significant digits at most, with an exponent where jq has one.
    pub(crate) fn print(&self, out: &mut Vec<u8>) {
        match self {
            Number::Float(float) => print(*float, out),
            Number::Exact(exact) => out.extend_from_slice(exact.1.as_bytes()),
        }
    }
}

/// Returns the double that C's strtod reads from the whole text.
fn parse(text: &str) -> Option<f64> {
    if let Ok(small) = text.parse::<i32>() {
        // `-0` keeps its sign.
        return if small == 0 && text.starts_with('-') { Some(-0.0) } else { Some(f64::from(small)) };
    }
    // Rust reads words such as `inf`, which are not numbers here.
    if !text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')) {
        return None;
    }
    text.parse().ok()
}

/// Adds the text of a double.
pub(crate) fn print(float: f64, out: &mut Vec<u8>) {
    if float.is_nan() {
        return out.extend_from_slice(b"null");
    }
    if float.fract() == 0.0 && float.abs() < 1e15 && (float != 0.0 || float.is_sign_positive()) {
        return digits::push(float as i64, out);
    }
    // JSON has no infinity: the largest number is printed instead.
    let float = float.clamp(f64::MIN, f64::MAX);
    let scientific = format!("{float:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    let digits: Vec<u8> = mantissa.bytes().filter(|byte| *byte != b'.').collect();
    // The position of the point, counted from the first digit.
    let point = exponent.parse::<i32>().unwrap_or(0) + 1;
    let count = digits.len() as i32;
    out.extend_from_slice(sign.as_bytes());
    if point <= -4 || point > count + 15 {
        out.push(digits[0]);
        if count > 1 {
            out.push(b'.');
            out.extend_from_slice(&digits[1..]);
        }
        let exponent = point - 1;
        out.extend_from_slice(format!("e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs()).as_bytes());
    } else if point <= 0 {
        out.extend_from_slice(b"0.");
        out.extend((point..0).map(|_| b'0'));
        out.extend_from_slice(&digits);
    } else {
        for index in 0..count.max(point) {
            if index == point {
                out.push(b'.');
            }
            out.push(digits.get(index as usize).copied().unwrap_or(b'0'));
        }
    }
}
