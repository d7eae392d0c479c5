//! C's conversions of texts and numbers, with flags, width and precision.

use isopod_gnu::long_double::{LongDouble, Notation, Style};

/// Flags, width and precision of a conversion.
#[derive(Clone, Copy, Default)]
pub(crate) struct Directive {
    pub(crate) left: bool,
    pub(crate) plus: bool,
    pub(crate) space: bool,
    pub(crate) alternate: bool,
    pub(crate) zero: bool,
    /// `'`: no locale here has a thousands separator, so that it changes nothing.
    pub(crate) group: bool,
    pub(crate) width: usize,
    pub(crate) precision: Option<usize>,
}

impl Directive {
    /// Reads a flag.
    pub(crate) fn flag(&mut self, letter: u8) -> bool {
        match letter {
            b'-' => self.left = true,
            b'+' => self.plus = true,
            b' ' => self.space = true,
            b'#' => self.alternate = true,
            b'0' => self.zero = true,
            b'\'' => self.group = true,
            _ => return false,
        }
        true
    }

    /// Writes a text, cut to the precision and filled up to the width.
    pub(crate) fn text(&self, text: &[u8], out: &mut Vec<u8>) {
        let text = &text[..text.len().min(self.precision.unwrap_or(usize::MAX))];
        self.fill(b"", text, false, out);
    }

    /// Writes a signed whole number.
    pub(crate) fn signed(&self, value: i64, out: &mut Vec<u8>) {
        let sign = self.sign(value < 0);
        self.digits(sign, value.unsigned_abs().to_string(), out);
    }

    /// Writes an unsigned whole number by the letter of its conversion.
    pub(crate) fn unsigned(&self, value: u64, letter: u8, out: &mut Vec<u8>) {
        match letter {
            b'o' => {
                let mut digits = format!("{value:o}");
                if self.alternate && !digits.starts_with('0') && self.precision.is_none_or(|p| p <= digits.len()) {
                    digits.insert(0, '0');
                }
                self.digits(b"", digits, out);
            }
            b'x' => self.digits(if self.alternate && value != 0 { b"0x" } else { b"" }, format!("{value:x}"), out),
            b'X' => self.digits(if self.alternate && value != 0 { b"0X" } else { b"" }, format!("{value:X}"), out),
            _ => self.digits(b"", value.to_string(), out),
        }
    }

    /// Writes a number by the letter of its conversion, one of `aefgAEFG`.
    pub(crate) fn float(&self, value: LongDouble, letter: u8, out: &mut Vec<u8>) {
        let notation = match letter.to_ascii_lowercase() {
            b'f' => Notation::Fixed,
            b'e' => Notation::Exponent,
            b'g' => Notation::General,
            _ => Notation::Hexadecimal,
        };
        let upper = letter.is_ascii_uppercase();
        let style = Style { notation, upper, precision: self.precision, alternate: self.alternate };
        let mut text = value.magnitude(style);
        let mut lead = self.sign(value.negative).to_vec();
        if notation == Notation::Hexadecimal && value.is_finite() {
            lead.extend_from_slice(&text.as_bytes()[..2]);
            text.drain(..2);
        }
        self.fill(&lead, text.as_bytes(), self.zero && value.is_finite(), out);
    }

    fn sign(&self, negative: bool) -> &'static [u8] {
        match () {
            () if negative => b"-",
            () if self.plus => b"+",
            () if self.space => b" ",
            () => b"",
        }
    }

    fn digits(&self, lead: &[u8], mut digits: String, out: &mut Vec<u8>) {
        if let Some(precision) = self.precision {
            if precision == 0 && digits == "0" {
                digits.clear();
            }
            digits = format!("{}{digits}", "0".repeat(precision.saturating_sub(digits.len())));
        }
        self.fill(lead, digits.as_bytes(), self.zero && self.precision.is_none(), out);
    }

    fn fill(&self, lead: &[u8], text: &[u8], zeros: bool, out: &mut Vec<u8>) {
        let gap = self.width.saturating_sub(lead.len() + text.len());
        let pad = |out: &mut Vec<u8>, byte| out.extend(std::iter::repeat_n(byte, gap));
        if self.left {
            out.extend_from_slice(lead);
            out.extend_from_slice(text);
            pad(out, b' ');
        } else {
            if !zeros {
                pad(out, b' ');
            }
            out.extend_from_slice(lead);
            if zeros {
                pad(out, b'0');
            }
            out.extend_from_slice(text);
        }
    }
}
