//! Whole numbers of any size, with the few operations that reading and writing of numbers needs.

/// A whole number: digits of 32 bits, the lowest first, without zeros at the end.
#[derive(Clone, Debug)]
pub(super) struct Big {
    digits: Vec<u32>,
}

/// The largest power of ten in a digit.
const TENS: (u32, u32) = (9, 1_000_000_000);

impl From<u128> for Big {
    fn from(mut value: u128) -> Big {
        let mut digits = Vec::new();
        while value > 0 {
            digits.push(value as u32);
            value >>= 32;
        }
        Big { digits }
    }
}

impl Big {
    /// Reads decimal digits.
    pub(super) fn parse(text: &[u8]) -> Big {
        let mut number = Big::from(0);
        for chunk in text.chunks(TENS.0 as usize) {
            let value = chunk.iter().fold(0, |value, digit| value * 10 + u32::from(digit - b'0'));
            number.multiply_add(10u32.pow(chunk.len() as u32), value);
        }
        number
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Returns the number of bits.
    pub(super) fn bits(&self) -> usize {
        self.digits.last().map_or(0, |last| self.digits.len() * 32 - last.leading_zeros() as usize)
    }

    /// Returns the lowest 128 bits.
    pub(super) fn low_128(&self) -> u128 {
        self.digits.iter().take(4).rev().fold(0, |value, digit| value << 32 | u128::from(*digit))
    }

    pub(super) fn multiply_add(&mut self, factor: u32, add: u32) {
        let mut carry = u64::from(add);
        for digit in &mut self.digits {
            carry += u64::from(*digit) * u64::from(factor);
            *digit = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            self.digits.push(carry as u32);
        }
    }

    /// Divides and returns the remainder.
    pub(super) fn divide(&mut self, divisor: u32) -> u32 {
        let mut rest = 0u64;
        for digit in self.digits.iter_mut().rev() {
            rest = rest << 32 | u64::from(*digit);
            *digit = (rest / u64::from(divisor)) as u32;
            rest %= u64::from(divisor);
        }
        self.trim();
        rest as u32
    }

    pub(super) fn times_power_of_ten(&mut self, power: usize) {
        for _ in 0..power / TENS.0 as usize {
            self.multiply_add(TENS.1, 0);
        }
        self.multiply_add(10u32.pow((power % TENS.0 as usize) as u32), 0);
    }

    /// Divides by a power of ten and returns true if there is a remainder.
    pub(super) fn over_power_of_ten(&mut self, power: usize) -> bool {
        let mut left = false;
        for _ in 0..power / TENS.0 as usize {
            left |= self.divide(TENS.1) != 0;
        }
        self.divide(10u32.pow((power % TENS.0 as usize) as u32)) != 0 || left
    }

    pub(super) fn shifted_left(&self, bits: usize) -> Big {
        if self.is_zero() {
            return self.clone();
        }
        let mut digits = vec![0; bits / 32];
        let shift = bits % 32;
        let mut carry = 0;
        for digit in &self.digits {
            let wide = u64::from(*digit) << shift;
            digits.push(wide as u32 | carry);
            carry = (wide >> 32) as u32;
        }
        digits.push(carry);
        let mut result = Big { digits };
        result.trim();
        result
    }

    /// Removes the lowest bits and rounds to the nearest, a half to even; `sticky` stands for bits further below.
    pub(super) fn rounded_right(&self, bits: usize, sticky: bool) -> Big {
        if bits == 0 {
            return self.clone();
        }
        let bit = |at: usize| self.digits.get(at / 32).is_some_and(|digit| digit >> (at % 32) & 1 == 1);
        let half = bit(bits - 1);
        let below = sticky
            || self.digits.iter().take((bits - 1) / 32).any(|digit| *digit != 0)
            || self.digits.get((bits - 1) / 32).is_some_and(|digit| digit & ((1 << ((bits - 1) % 32)) - 1) != 0);
        let mut digits = Vec::new();
        let (skip, shift) = (bits / 32, bits % 32);
        for at in skip..self.digits.len() {
            let high = self.digits.get(at + 1).copied().unwrap_or(0);
            digits.push(((u64::from(high) << 32 | u64::from(self.digits[at])) >> shift) as u32);
        }
        let mut result = Big { digits };
        result.trim();
        if half && (below || bit(bits)) {
            result.multiply_add(1, 1);
        }
        result
    }

    /// Returns the decimal digits; none for zero.
    pub(super) fn decimal(mut self) -> String {
        let mut chunks = Vec::new();
        while !self.is_zero() {
            chunks.push(self.divide(TENS.1));
        }
        let mut text = String::new();
        for (index, chunk) in chunks.iter().rev().enumerate() {
            text.push_str(&if index == 0 { chunk.to_string() } else { format!("{chunk:09}") });
        }
        text
    }

    fn trim(&mut self) {
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
    }
}
