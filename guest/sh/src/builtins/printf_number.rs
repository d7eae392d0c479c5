//! Formats numbers as `printf` does. Fractions are C's `long double`, as in bash.

use isopod_gnu::long_double::{self, LongDouble, Notation, Style};

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

/// Formats an integer by `%d`, `%u`, `%o`, `%x` or `%X`.
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

/// Formats an argument by `%f`, `%e`, `%g` or `%a`. The flag is false if the argument is not a number.
pub(super) fn float_text(argument: &str, letter: char, spec: &Spec) -> (String, bool) {
    let (number, valid) = parse(argument);
    let prefix = match () {
        () if number.negative => "-",
        () if spec.plus => "+",
        () if spec.blank => " ",
        () => "",
    };
    let notation = match letter.to_ascii_lowercase() {
        'f' => Notation::Fixed,
        'e' => Notation::Exponent,
        'g' => Notation::General,
        _ => Notation::Hexadecimal,
    };
    let upper = letter.is_ascii_uppercase();
    let style = Style { notation, upper, precision: spec.precision, alternate: spec.alternate };
    (padded(prefix, &number.magnitude(style), spec.zero && number.is_finite(), spec), valid)
}

/// Reads a number as `strtold` does, or a character after a quote. Text after the number makes the argument invalid
/// but leaves the number as it is.
fn parse(argument: &str) -> (LongDouble, bool) {
    if let Some(quoted) = argument.strip_prefix(['\'', '"']) {
        let code = quoted.chars().next().map_or(0, u32::from);
        return (LongDouble::whole(code.into()), true);
    }
    let parsed = long_double::parse(argument);
    (parsed.number, parsed.length == argument.len())
}

fn padded(prefix: &str, body: &str, zero: bool, spec: &Spec) -> String {
    let fill = spec.width.saturating_sub(prefix.len() + body.len());
    match (spec.left, zero) {
        (true, _) => format!("{prefix}{body}{}", " ".repeat(fill)),
        (false, true) => format!("{prefix}{}{body}", "0".repeat(fill)),
        (false, false) => format!("{}{prefix}{body}", " ".repeat(fill)),
    }
}
