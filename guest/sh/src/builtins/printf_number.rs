//! Numbers as `printf` writes them.
//!
//! bash computes in 80-bit floating point, with 64 bits of mantissa, and its roundings are those of that
//! format: `printf %.2f 1.005` is 1.00 or 1.01 depending on it. So a number is rounded to such a mantissa and
//! then written exactly, with integers of any length.

use super::big::Big;

/// Flags, width and precision of a directive.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Spec {
    pub(super) left: bool,
    pub(super) plus: bool,
    pub(super) blank: bool,
    pub(super) alternate: bool,
    pub(super) zero: bool,
    pub(super) width: usize,
    pub(super) precision: Option<usize>,
}

/// An integer by `%d`, `%u`, `%o`, `%x` or `%X`.
pub(super) fn integer_text(value: i64, letter: char, spec: &Spec) -> String {
    let unsigned = value as u64;
    let mut digits = match letter {
        'd' | 'i' => value.unsigned_abs().to_string(),
        'u' => unsigned.to_string(),
        'o' => format!("{unsigned:o}"),
        'x' => format!("{unsigned:x}"),
        _ => format!("{unsigned:X}"),
    };
    if let Some(precision) = spec.precision {
        if precision == 0 && value == 0 {
            digits.clear();
        }
        digits = format!("{digits:0>precision$}");
    }
    let prefix = match letter {
        'd' | 'i' if value < 0 => "-",
        'd' | 'i' if spec.plus => "+",
        'd' | 'i' if spec.blank => " ",
        'x' if spec.alternate && value != 0 => "0x",
        'X' if spec.alternate && value != 0 => "0X",
        'o' if spec.alternate && !digits.starts_with('0') => "0",
        _ => "",
    };
    let zero = spec.zero && spec.precision.is_none();
    padded(prefix, &digits, zero, spec)
}

/// Formats an argument by `%f`, `%e`, `%g` or `%a`. Also returns whether it was a number.
pub(super) fn float_text(argument: &str, letter: char, spec: &Spec) -> (String, bool) {
    let (number, valid) = parse(argument);
    let prefix = match () {
        () if number.negative => "-",
        () if spec.plus => "+",
        () if spec.blank => " ",
        () => "",
    };
    let upper = letter.is_ascii_uppercase();
    let body = match number.kind {
        Kind::Infinite => "inf".to_owned(),
        Kind::NotANumber => "nan".to_owned(),
        Kind::Finite(value) => match letter.to_ascii_lowercase() {
            'f' => fixed(value, spec.precision.unwrap_or(6), spec.alternate),
            'e' => scientific(value, spec.precision.unwrap_or(6), spec.alternate),
            'g' => general(value, spec.precision.unwrap_or(6), spec.alternate),
            _ => hexadecimal(value, spec.precision),
        },
    };
    let body = if upper { body.to_ascii_uppercase() } else { body };
    let finite = matches!(number.kind, Kind::Finite(_));
    (padded(prefix, &body, spec.zero && finite, spec), valid)
}

fn padded(prefix: &str, body: &str, zero: bool, spec: &Spec) -> String {
    let fill = spec.width.saturating_sub(prefix.len() + body.len());
    match (spec.left, zero) {
        (true, _) => format!("{prefix}{body}{}", " ".repeat(fill)),
        (false, true) => format!("{prefix}{}{body}", "0".repeat(fill)),
        (false, false) => format!("{}{prefix}{body}", " ".repeat(fill)),
    }
}

struct Number {
    negative: bool,
    kind: Kind,
}

enum Kind {
    Finite(Float),
    Infinite,
    NotANumber,
}

/// `mantissa × 2^exponent`, the mantissa's top bit set unless it is zero.
#[derive(Clone, Copy)]
struct Float {
    mantissa: u64,
    exponent: i32,
}

/// Reads a number as `strtold` does. Text after it makes it invalid and is ignored.
fn parse(argument: &str) -> (Number, bool) {
    let zero = Kind::Finite(Float { mantissa: 0, exponent: 0 });
    if let Some(quoted) = argument.strip_prefix(['\'', '"']) {
        let code = quoted.chars().next().map_or(0, u32::from);
        let kind = Kind::Finite(Float::from_decimal(&code.to_string(), 0));
        return (Number { negative: false, kind }, true);
    }
    let text = argument.trim_start();
    let negative = text.starts_with('-');
    let body = text.strip_prefix(['-', '+']).unwrap_or(text);
    let lower = body.to_ascii_lowercase();
    for (word, infinite) in [("infinity", true), ("inf", true), ("nan", false)] {
        if lower == word {
            let kind = if infinite { Kind::Infinite } else { Kind::NotANumber };
            return (Number { negative, kind }, true);
        }
    }
    if let Some(hex) = lower.strip_prefix("0x") {
        let digits = hex.bytes().take_while(u8::is_ascii_hexdigit).count();
        let value = u64::from_str_radix(&hex[..digits.min(16)], 16).unwrap_or(0);
        let kind = Kind::Finite(Float::from_decimal(&value.to_string(), 0));
        return (Number { negative, kind }, digits == hex.len() && digits > 0);
    }
    let bytes = body.as_bytes();
    let whole = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    let mut at = whole;
    let mut digits = body[..whole].to_owned();
    let mut scale = 0i64;
    if bytes.get(at) == Some(&b'.') {
        let fraction = bytes[at + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
        digits.push_str(&body[at + 1..at + 1 + fraction]);
        scale -= fraction as i64;
        at += 1 + fraction;
    }
    if digits.is_empty() {
        return (Number { negative, kind: zero }, argument.is_empty());
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'-' | b'+')));
        let length = bytes[(at + 1 + sign).min(bytes.len())..].iter().take_while(|b| b.is_ascii_digit()).count();
        if length > 0 {
            let power: i64 = body[at + 1 + sign..at + 1 + sign + length].parse().unwrap_or(i64::from(i32::MAX));
            scale += if bytes[at + 1] == b'-' { -power } else { power };
            at += 1 + sign + length;
        }
    }
    let valid = at == bytes.len();
    let significant = digits.trim_start_matches('0');
    // Outside of the format's range: zero or infinity.
    let magnitude = significant.len() as i64 + scale;
    let kind = match () {
        () if significant.is_empty() || magnitude < -4950 => zero,
        () if magnitude > 4933 => Kind::Infinite,
        () => Kind::Finite(Float::from_decimal(
            &significant[..significant.len().min(5000)],
            scale + significant.len().saturating_sub(5000) as i64,
        )),
    };
    (Number { negative, kind }, valid)
}

impl Float {
    /// `digits × 10^scale`, rounded to the nearest, to even when halfway.
    fn from_decimal(digits: &str, scale: i64) -> Float {
        let mut numerator = Big::from_digits(digits);
        if numerator.is_zero() {
            return Float { mantissa: 0, exponent: 0 };
        }
        let mut denominator = Big::one();
        match scale >= 0 {
            true => numerator.multiply_power_of_ten(scale as u32),
            false => denominator.multiply_power_of_ten(scale.unsigned_abs() as u32),
        }
        // Shift so that the quotient has 64 bits or 65, then keep 64.
        let mut exponent = numerator.bits() as i32 - denominator.bits() as i32 - 64;
        match exponent > 0 {
            true => denominator.shift_left(exponent as u32),
            false => numerator.shift_left(exponent.unsigned_abs()),
        }
        let (mut quotient, mut sticky) = numerator.divide(&denominator);
        let mut half = false;
        while quotient > u128::from(u64::MAX) {
            sticky |= half;
            half = quotient & 1 == 1;
            quotient >>= 1;
            exponent += 1;
        }
        if !half && quotient <= u128::from(u64::MAX) && sticky {
            // The remainder is less than one unit in the last place: compare it with a half.
            half = numerator.remainder_is_at_least_half(&denominator, &mut sticky);
        }
        if half && (sticky || quotient & 1 == 1) {
            quotient += 1;
            if quotient > u128::from(u64::MAX) {
                quotient >>= 1;
                exponent += 1;
            }
        }
        let mut mantissa = quotient as u64;
        let shift = mantissa.leading_zeros();
        mantissa <<= shift;
        Float { mantissa, exponent: exponent - shift as i32 }
    }

    /// Decimal digits of the integer part, and `count` digits after the point, rounded.
    fn decimal(self, count: usize) -> (String, String) {
        let mut value = Big::from_u64(self.mantissa);
        // Scaled so that the wanted digits are an integer and the rest is below the point.
        value.multiply_power_of_ten(count as u32);
        if self.exponent >= 0 {
            value.shift_left(self.exponent as u32);
        } else {
            value.shift_right_rounding(self.exponent.unsigned_abs());
        }
        let digits = value.to_digits();
        let digits = format!("{digits:0>width$}", width = count + 1);
        let (whole, fraction) = digits.split_at(digits.len() - count);
        (whole.to_owned(), fraction.to_owned())
    }

    /// `count + 1` significant digits, rounded, and the power of ten of the first.
    fn significant(self, count: usize) -> (String, i32) {
        if self.mantissa == 0 {
            return ("0".repeat(count + 1), 0);
        }
        // The power is estimated from the binary exponent and corrected by the result.
        let mut power = (self.exponent + 63) * 30103 / 100_000;
        loop {
            let digits = self.scaled(count as i32 - power);
            match digits.len() {
                n if n == count + 1 => return (digits, power),
                n if n > count + 1 => power += 1,
                _ => power -= 1,
            }
        }
    }

    /// The digits of the value times a power of ten, rounded to an integer.
    fn scaled(self, power: i32) -> String {
        let mut value = Big::from_u64(self.mantissa);
        if power >= 0 {
            value.multiply_power_of_ten(power as u32);
            match self.exponent >= 0 {
                true => value.shift_left(self.exponent as u32),
                false => value.shift_right_rounding(self.exponent.unsigned_abs()),
            }
            return value.to_digits();
        }
        if self.exponent >= 0 {
            value.shift_left(self.exponent as u32);
        }
        let mut divisor = Big::one();
        divisor.multiply_power_of_ten(power.unsigned_abs());
        if self.exponent < 0 {
            divisor.shift_left(self.exponent.unsigned_abs());
        }
        value.divide_rounding(&divisor).to_digits()
    }
}

fn fixed(value: Float, precision: usize, point: bool) -> String {
    let (whole, fraction) = value.decimal(precision);
    match precision > 0 || point {
        true => format!("{whole}.{fraction}"),
        false => whole,
    }
}

fn scientific(value: Float, precision: usize, point: bool) -> String {
    let (digits, power) = value.significant(precision);
    let dot = if precision > 0 || point { "." } else { "" };
    let sign = if power < 0 { '-' } else { '+' };
    format!("{}{dot}{}e{sign}{:02}", &digits[..1], &digits[1..], power.unsigned_abs())
}

fn general(value: Float, precision: usize, alternate: bool) -> String {
    let precision = precision.max(1);
    let (_, power) = value.significant(precision - 1);
    let shown = match power < -4 || power >= precision as i32 {
        true => scientific(value, precision - 1, alternate),
        false => fixed(value, (precision as i32 - 1 - power).max(0) as usize, alternate),
    };
    if alternate {
        return shown;
    }
    let (number, exponent) = match shown.find('e') {
        Some(at) => shown.split_at(at),
        None => (shown.as_str(), ""),
    };
    match number.contains('.') {
        true => format!("{}{exponent}", number.trim_end_matches('0').trim_end_matches('.')),
        false => shown,
    }
}

/// `%a`: the first digit holds four bits of the mantissa.
fn hexadecimal(value: Float, precision: Option<usize>) -> String {
    if value.mantissa == 0 {
        return "0x0p+0".to_owned();
    }
    let digits = format!("{:016x}", value.mantissa);
    let fraction = match precision {
        Some(precision) => format!("{:0<precision$}", &digits[1..1 + precision.min(15)]),
        None => digits[1..].trim_end_matches('0').to_owned(),
    };
    let dot = if fraction.is_empty() { "" } else { "." };
    let power = value.exponent + 60;
    let sign = if power < 0 { '-' } else { '+' };
    format!("0x{}{dot}{fraction}p{sign}{}", &digits[..1], power.unsigned_abs())
}
