//! C's `long double` as x86 has it: a floating-point number with a significand of 64 bits.
//!
//! bash and GNU's tools compute with it, so `printf '%.20f' 0.1`, `printf %.2f 1.005` and `seq 0 0.1 1` need it to
//! print the same digits. Reading and writing go through natural numbers of any length and round once: both are exact.

mod format;
mod parse;

pub use format::{Notation, Style};
pub use parse::{Parsed, parse};

/// A floating-point number of 80 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LongDouble {
    /// The sign. Zero and not-a-number have one too.
    pub negative: bool,
    /// The number without its sign.
    pub size: Size,
}

/// A number without its sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// `mantissa * 2^exponent`; the mantissa's highest bit is set, unless it is zero or too small for that.
    Finite(u64, i32),
    /// Infinity.
    Infinite,
    /// Not a number.
    NotANumber,
}

/// The least and the largest exponent of a mantissa's lowest bit.
const LEAST: i32 = -16_445;
const MOST: i32 = 16_320;

impl LongDouble {
    /// Zero.
    pub const ZERO: LongDouble = LongDouble { negative: false, size: Size::Finite(0, 0) };

    /// Returns the nearest number to an integer.
    pub fn whole(value: i128) -> LongDouble {
        let (number, _) = LongDouble::rounded(value < 0, value.unsigned_abs(), 0, false);
        number
    }

    /// Returns the number that a double is, which is exact.
    pub fn double(value: f64) -> LongDouble {
        let negative = value.is_sign_negative();
        if value.is_nan() {
            return LongDouble { negative, size: Size::NotANumber };
        }
        if value.is_infinite() {
            return LongDouble { negative, size: Size::Infinite };
        }
        let bits = value.to_bits();
        let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
        let (mantissa, exponent) =
            if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
        LongDouble::rounded(negative, u128::from(mantissa), exponent, false).0
    }

    /// Reads the ten bytes that x86 stores a number in.
    pub fn from_bytes(bytes: [u8; 10]) -> LongDouble {
        let mantissa =
            u64::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]]);
        let sign_and_exponent = u16::from_le_bytes([bytes[8], bytes[9]]);
        let negative = sign_and_exponent & 0x8000 != 0;
        let size = match sign_and_exponent & 0x7fff {
            0x7fff if mantissa << 1 == 0 => Size::Infinite,
            0x7fff => Size::NotANumber,
            // The processor refuses a mantissa without its highest bit.
            exponent if exponent > 0 && mantissa >> 63 == 0 => Size::NotANumber,
            exponent => Size::Finite(mantissa, i32::from(exponent.max(1)) - 16_446),
        };
        LongDouble { negative, size }
    }

    /// Returns true for zero of either sign.
    pub fn is_zero(self) -> bool {
        matches!(self.size, Size::Finite(0, _))
    }

    /// Returns true unless the number is infinite or not a number.
    pub fn is_finite(self) -> bool {
        matches!(self.size, Size::Finite(..))
    }

    /// Returns the nearest double.
    pub fn to_double(self) -> f64 {
        let size = match self.size {
            Size::Finite(mantissa, exponent) => {
                // The conversion of the mantissa rounds once; the powers of two do not, short of the extremes.
                let half = 2f64.powi(exponent / 2);
                mantissa as f64 * half * 2f64.powi(exponent - exponent / 2)
            }
            Size::Infinite => f64::INFINITY,
            Size::NotANumber => f64::NAN,
        };
        if self.negative { -size } else { size }
    }

    /// Rounds `value * 2^exponent` to the nearest number, and returns it and whether it is in range. `sticky` says
    /// that the exact value is a little larger, by less than the lowest bit of `value`.
    fn rounded(negative: bool, value: u128, exponent: i32, sticky: bool) -> (LongDouble, bool) {
        if value == 0 {
            return (LongDouble { negative, size: Size::Finite(0, 0) }, !sticky);
        }
        let bits = (u128::BITS - value.leading_zeros()) as i32;
        let shift = (bits - 64).max(LEAST - exponent);
        let mut mantissa =
            if shift <= 0 { value << shift.unsigned_abs() } else { shifted_right(value, shift.unsigned_abs(), sticky) };
        let mut exponent = exponent + shift;
        if mantissa >> 64 != 0 {
            mantissa >>= 1;
            exponent += 1;
        }
        if exponent > MOST {
            return (LongDouble { negative, size: Size::Infinite }, false);
        }
        let mantissa = mantissa as u64;
        let in_range = mantissa >> 63 != 0 || !sticky && shift <= 0;
        (LongDouble { negative, size: Size::Finite(mantissa, if mantissa == 0 { 0 } else { exponent }) }, in_range)
    }
}

/// Returns `value / 2^bits`, rounded to the nearest, a half to even. `sticky` says that the exact value is a little
/// larger than `value`.
fn shifted_right(value: u128, bits: u32, sticky: bool) -> u128 {
    if bits == 0 {
        return value;
    }
    let Some(doubled) = value.checked_shr(bits - 1) else { return 0 };
    let below = sticky || value != doubled << (bits - 1);
    let result = doubled >> 1;
    if doubled & 1 == 1 && (below || result & 1 == 1) { result + 1 } else { result }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn style(notation: Notation, precision: usize) -> Style {
        Style { notation, upper: false, precision: Some(precision), alternate: false }
    }

    /// Returns doubles of all magnitudes.
    fn doubles() -> impl Iterator<Item = f64> {
        let mut state = 7u64;
        let random = std::iter::repeat_with(move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from_bits(state)
        });
        [0.5, 1.5, 2.5, 0.125, 9.5, 99.95, 1.005, 0.1, 5e-324, f64::MAX]
            .into_iter()
            .chain(random.filter(|double| double.is_finite()).take(400))
            .map(f64::abs)
    }

    #[test]
    fn doubles_are_written_exactly() {
        for double in doubles() {
            for precision in [0, 1, 6, 40] {
                let fixed = LongDouble::double(double).magnitude(style(Notation::Fixed, precision));
                assert_eq!(fixed, format!("{double:.precision$}"));
                let exponent = LongDouble::double(double).magnitude(style(Notation::Exponent, precision));
                let expected = format!("{double:.precision$e}");
                let (digits, power) = expected.split_once('e').unwrap();
                let power: i32 = power.parse().unwrap();
                assert_eq!(exponent, format!("{digits}e{}{:02}", if power < 0 { '-' } else { '+' }, power.abs()));
            }
        }
    }

    #[test]
    fn exact_texts_of_doubles_are_read_exactly() {
        for double in doubles() {
            let text = format!("{double:.1100}");
            assert_eq!(parse(&text).number, LongDouble::double(double), "{double:e}");
            assert_eq!(parse(&text).length, text.len());
            assert_eq!(parse(&format!("{double:e}")).number.to_double(), double);
        }
    }

    #[test]
    fn numbers_have_the_digits_of_x86() {
        let shown = |text: &str, notation, precision| parse(text).number.text(style(notation, precision));
        assert_eq!(shown("0.1", Notation::Fixed, 28), "0.1000000000000000000013552527");
        assert_eq!(shown("1.18973149535723176502e+4932", Notation::Exponent, 20), "1.18973149535723176502e+4932");
        assert_eq!(shown("1.18973149535723176502e+4933", Notation::Exponent, 20), "inf");
        assert_eq!(shown("-3.6451995318824746025e-4951", Notation::Exponent, 19), "-3.6451995318824746025e-4951");
        assert_eq!(shown("18446744073709551617", Notation::Fixed, 0), "18446744073709551616");
        assert_eq!(shown("18446744073709551619", Notation::Fixed, 0), "18446744073709551620");
        assert_eq!(shown("0x1.8p1", Notation::Hexadecimal, 3), "0xc.000p-2");
        assert_eq!(shown("9.9999996", Notation::General, 6), "10");
    }
}
