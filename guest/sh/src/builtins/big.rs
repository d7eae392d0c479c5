//! Integers of any length, with the operations that writing numbers needs.

/// A natural number of any length, the least significant word first.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Big(Vec<u32>);

impl Big {
    pub(super) fn one() -> Big {
        Big(vec![1])
    }

    pub(super) fn from_u64(value: u64) -> Big {
        Big(vec![value as u32, (value >> 32) as u32]).normal()
    }

    pub(super) fn from_digits(digits: &str) -> Big {
        let mut value = Big(Vec::new());
        for chunk in digits.as_bytes().chunks(9) {
            let text = std::str::from_utf8(chunk).unwrap_or_default();
            value.multiply_add(10u32.pow(chunk.len() as u32), text.parse().unwrap_or(0));
        }
        value
    }

    fn normal(mut self) -> Big {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
        self
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn bits(&self) -> u32 {
        self.0.last().map_or(0, |top| self.0.len() as u32 * 32 - top.leading_zeros())
    }

    fn multiply_add(&mut self, factor: u32, addend: u32) {
        let mut carry = u64::from(addend);
        for word in &mut self.0 {
            let product = u64::from(*word) * u64::from(factor) + carry;
            *word = product as u32;
            carry = product >> 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    pub(super) fn multiply_power_of_ten(&mut self, mut power: u32) {
        while power > 0 {
            let step = power.min(9);
            self.multiply_add(10u32.pow(step), 0);
            power -= step;
        }
    }

    pub(super) fn shift_left(&mut self, bits: u32) {
        if self.is_zero() {
            return;
        }
        let (words, bits) = ((bits / 32) as usize, bits % 32);
        if bits > 0 {
            let mut carry = 0;
            for word in &mut self.0 {
                let next = *word >> (32 - bits);
                *word = (*word << bits) | carry;
                carry = next;
            }
            if carry > 0 {
                self.0.push(carry);
            }
        }
        self.0.splice(0..0, std::iter::repeat_n(0, words));
    }

    fn bit(&self, at: u32) -> bool {
        self.0.get((at / 32) as usize).is_some_and(|w| w >> (at % 32) & 1 == 1)
    }

    /// Divides by 2 to the power of `bits` and rounds to the nearest, to even when halfway.
    pub(super) fn shift_right_rounding(&mut self, bits: u32) {
        if bits == 0 {
            return;
        }
        let half = self.bit(bits - 1);
        let sticky = (0..bits - 1).any(|b| self.bit(b));
        self.0.drain(..((bits / 32) as usize).min(self.0.len()));
        let rest = bits % 32;
        if rest > 0 {
            let mut carry = 0;
            for word in self.0.iter_mut().rev() {
                let next = *word << (32 - rest);
                *word = (*word >> rest) | carry;
                carry = next;
            }
        }
        *self = std::mem::replace(self, Big(Vec::new())).normal();
        if half && (sticky || self.bit(0)) {
            self.increment();
        }
    }

    fn increment(&mut self) {
        for word in &mut self.0 {
            let (sum, overflow) = word.overflowing_add(1);
            *word = sum;
            if !overflow {
                return;
            }
        }
        self.0.push(1);
    }

    fn at_least(&self, other: &Big) -> bool {
        if self.0.len() != other.0.len() {
            return self.0.len() > other.0.len();
        }
        self.0.iter().rev().ge(other.0.iter().rev())
    }

    fn subtract(&mut self, other: &Big) {
        let mut borrow = 0i64;
        for (i, word) in self.0.iter_mut().enumerate() {
            let difference = i64::from(*word) - i64::from(other.0.get(i).copied().unwrap_or(0)) - borrow;
            borrow = i64::from(difference < 0);
            *word = difference as u32;
        }
        *self = std::mem::replace(self, Big(Vec::new())).normal();
    }

    /// Divides. Returns the quotient, which fits 66 bits, and whether the division left a remainder; `self` becomes the
    /// remainder.
    pub(super) fn divide(&mut self, divisor: &Big) -> (u128, bool) {
        let mut quotient = 0u128;
        let shift = self.bits().saturating_sub(divisor.bits());
        for bit in (0..=shift).rev() {
            let mut shifted = divisor.clone();
            shifted.shift_left(bit);
            quotient <<= 1;
            if self.at_least(&shifted) {
                self.subtract(&shifted);
                quotient |= 1;
            }
        }
        (quotient, !self.is_zero())
    }

    /// Returns true if the remainder `self` is half of the divisor or more. Sets `sticky` if it is not exactly half.
    pub(super) fn remainder_is_at_least_half(&self, divisor: &Big, sticky: &mut bool) -> bool {
        let mut doubled = self.clone();
        doubled.shift_left(1);
        let half = doubled.at_least(divisor);
        *sticky = half && doubled != *divisor;
        half
    }

    pub(super) fn divide_rounding(mut self, divisor: &Big) -> Big {
        let mut quotient = Big(Vec::new());
        let shift = self.bits().saturating_sub(divisor.bits());
        for bit in (0..=shift).rev() {
            let mut shifted = divisor.clone();
            shifted.shift_left(bit);
            quotient.shift_left(1);
            if self.at_least(&shifted) {
                self.subtract(&shifted);
                quotient.multiply_add(1, 1);
            }
        }
        let mut sticky = false;
        if self.remainder_is_at_least_half(divisor, &mut sticky) && (sticky || quotient.bit(0)) {
            quotient.increment();
        }
        quotient
    }

    pub(super) fn to_digits(mut self: Big) -> String {
        let mut groups = Vec::new();
        while !self.is_zero() {
            let mut rest = 0u64;
            for word in self.0.iter_mut().rev() {
                let value = (rest << 32) | u64::from(*word);
                *word = (value / 1_000_000_000) as u32;
                rest = value % 1_000_000_000;
            }
            groups.push(rest);
            self = self.normal();
        }
        let mut text = groups.pop().map_or_else(|| "0".to_owned(), |g| g.to_string());
        for group in groups.iter().rev() {
            text.push_str(&format!("{group:09}"));
        }
        text
    }
}
