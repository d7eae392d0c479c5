//! Numbers as text, in any base, in lines of limited length.

use super::number::Number;

/// Output that is broken into lines: a line that is too long ends with a backslash.
pub(crate) struct Lines {
    /// The columns of a line; 0 is no limit.
    limit: usize,
    column: usize,
    pub(crate) text: Vec<u8>,
}

impl Lines {
    /// Creates the output with the line length from a variable of the environment, or 70. `more` is added to it: dc has
    /// one digit more in a line than bc.
    pub(crate) fn new(variable: &str, more: usize) -> Lines {
        let limit = match std::env::var(variable).ok().and_then(|text| text.parse::<usize>().ok()) {
            Some(0) => 0,
            Some(limit @ 3..) => limit.saturating_add(more),
            _ => 70 + more,
        };
        Lines { limit, column: 0, text: Vec::new() }
    }

    /// Adds a byte, and starts a new line before it if needed.
    pub(crate) fn byte(&mut self, byte: u8) {
        if byte == b'\n' {
            self.column = 0;
        } else {
            self.column += 1;
            if self.limit > 0 && self.column == self.limit - 1 {
                self.text.extend_from_slice(b"\\\n");
                self.column = 1;
            }
        }
        self.text.push(byte);
    }

    /// Adds text without line breaks. It counts for the column.
    pub(crate) fn plain(&mut self, text: &[u8]) {
        for byte in text {
            self.column = if *byte == b'\n' { 0 } else { self.column + 1 };
        }
        self.text.extend_from_slice(text);
    }

    /// Adds a number.
    pub(crate) fn number(&mut self, number: &Number, base: i64) {
        if number.is_negative() {
            self.byte(b'-');
        }
        if number.is_zero() {
            return self.byte(b'0');
        }
        if base == 10 {
            let (whole, fraction) = number.digits();
            for digit in whole {
                self.byte(digit);
            }
            if !fraction.is_empty() {
                self.byte(b'.');
                for digit in fraction {
                    self.byte(digit);
                }
            }
            return;
        }
        self.in_base(number, base);
    }

    fn in_base(&mut self, number: &Number, base: i64) {
        let size = if number.is_negative() { number.negate() } else { number.clone() };
        let whole = size.truncate(0);
        let mut fraction = size.subtract(&whole);
        let divisor = Number::whole(base);
        // Digits are letters up to base 16, and decimal numbers of one width with a space before each in larger bases.
        let width = if base <= 16 { 0 } else { (base - 1).to_string().len() };
        let mut digits = Vec::new();
        let mut left = whole;
        while !left.is_zero() {
            let Some((quotient, rest)) = left.divide_with_rest(&divisor, 0) else { break };
            digits.push(rest.to_i64().unwrap_or(0));
            left = quotient;
        }
        for digit in digits.into_iter().rev() {
            self.digit(digit, width, true);
        }
        if size.scale() == 0 {
            return;
        }
        self.byte(b'.');
        let scale = size.scale();
        // There are as many digits as numbers of this scale need to differ.
        let mut reach = Number::whole(1);
        let mut is_first = true;
        while reach.length() <= scale {
            fraction = fraction.multiply(&divisor, scale);
            let digit = fraction.to_i64().unwrap_or(0);
            fraction = fraction.subtract(&Number::whole(digit));
            self.digit(digit, width, !is_first);
            is_first = false;
            reach = reach.multiply(&divisor, 0);
        }
    }

    fn digit(&mut self, digit: i64, width: usize, is_spaced: bool) {
        if width == 0 {
            return self.byte(b"0123456789ABCDEF"[digit as usize & 15]);
        }
        if is_spaced {
            self.byte(b' ');
        }
        for byte in format!("{digit:0width$}").bytes() {
            self.byte(byte);
        }
    }
}
