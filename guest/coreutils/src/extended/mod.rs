//! Floating-point numbers with a significand of 64 bits, like `long double` on x86, so that `printf '%.20f' 0.1` and
//! `seq 0 0.1 1` print the same digits as GNU's tools there.
//!
//! Reading and writing go through whole numbers of any size and round once, so that they are exact.

mod big;
mod format;
mod parse;

pub(crate) use format::{Notation, Style};
pub(crate) use parse::parse;

use big::Big;

/// A number: its sign and its magnitude.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extended {
    pub(crate) negative: bool,
    pub(crate) size: Size,
}

/// The magnitude of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Size {
    /// `mantissa * 2^exponent`; the mantissa's highest bit is set, unless it is zero or too small for that.
    Finite(u64, i32),
    Infinite,
    NotANumber,
}

/// The least exponent of a mantissa's lowest bit, and the largest.
const LEAST: i32 = -16_445;
const MOST: i32 = 16_320;

impl Extended {
    pub(crate) const ZERO: Extended = Extended { negative: false, size: Size::Finite(0, 0) };

    /// A whole number.
    pub(crate) fn whole(value: i128) -> Extended {
        let (number, _) = Extended::rounded(value < 0, Big::from(value.unsigned_abs()), 0, false);
        number
    }

    /// A number of an `f64`.
    pub(crate) fn double(value: f64) -> Extended {
        let negative = value.is_sign_negative();
        if value.is_nan() {
            return Extended { negative, size: Size::NotANumber };
        }
        if value.is_infinite() {
            return Extended { negative, size: Size::Infinite };
        }
        let bits = value.to_bits();
        let (exponent, fraction) = ((bits >> 52 & 0x7ff) as i32, bits & ((1 << 52) - 1));
        let (mantissa, exponent) =
            if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) };
        Extended::rounded(negative, Big::from(u128::from(mantissa)), exponent, false).0
    }

    /// Reads the ten bytes of x86's format.
    pub(crate) fn from_bytes(bytes: [u8; 10]) -> Extended {
        let mantissa =
            u64::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]]);
        let sign_and_exponent = u16::from_le_bytes([bytes[8], bytes[9]]);
        let negative = sign_and_exponent & 0x8000 != 0;
        let size = match sign_and_exponent & 0x7fff {
            0x7fff if mantissa << 1 == 0 => Size::Infinite,
            0x7fff => Size::NotANumber,
            // The machine refuses numbers whose highest bit is not set.
            exponent if exponent > 0 && mantissa >> 63 == 0 => Size::NotANumber,
            exponent => Size::Finite(mantissa, i32::from(exponent.max(1)) - 16_446),
        };
        Extended { negative, size }
    }

    pub(crate) fn is_zero(self) -> bool {
        matches!(self.size, Size::Finite(0, _))
    }

    pub(crate) fn is_finite(self) -> bool {
        matches!(self.size, Size::Finite(..))
    }

    /// Returns the nearest `f64`.
    pub(crate) fn to_double(self) -> f64 {
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

    /// Rounds `value * 2^exponent` to the nearest; `sticky` stands for bits further below. The flag is true if the
    /// number is in range.
    fn rounded(negative: bool, value: Big, exponent: i32, sticky: bool) -> (Extended, bool) {
        let bits = value.bits() as i32;
        if bits == 0 {
            return (Extended { negative, size: Size::Finite(0, 0) }, !sticky);
        }
        let mut shift = bits - 64;
        if exponent + shift < LEAST {
            shift = LEAST - exponent;
        }
        let (mut mantissa, mut exponent) = if shift <= 0 {
            (value.shifted_left(shift.unsigned_abs() as usize).low_128(), exponent + shift)
        } else {
            (value.rounded_right(shift as usize, sticky).low_128(), exponent + shift)
        };
        if mantissa >> 64 != 0 {
            mantissa >>= 1;
            exponent += 1;
        }
        if exponent > MOST {
            return (Extended { negative, size: Size::Infinite }, false);
        }
        let mantissa = mantissa as u64;
        let in_range = mantissa >> 63 != 0 || !sticky && shift <= 0;
        (Extended { negative, size: Size::Finite(mantissa, if mantissa == 0 { 0 } else { exponent }) }, in_range)
    }
}
