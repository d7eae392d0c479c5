//! Numbers with a scale, as POSIX bc defines their arithmetic: every operation defines the number of digits after the
//! point of its result, and further digits are cut off, not rounded.

use std::cmp::Ordering;

use isopod_gnu::natural::{self, BASE, WIDTH};

/// A decimal number of any length.
#[derive(Clone, Debug, Default)]
pub(crate) struct Number {
    pub(super) is_negative: bool,
    /// The digits, `WIDTH` to a limb, those after the point first. Digits after the last one of the scale are zeros.
    pub(super) limbs: Vec<u32>,
    /// The number of digits after the point.
    pub(super) scale: usize,
}

impl Number {
    /// Returns zero.
    pub(crate) fn zero() -> Number {
        Number::default()
    }

    /// Returns an integer as a number.
    pub(crate) fn whole(value: i64) -> Number {
        let mut left = value.unsigned_abs();
        let mut limbs = Vec::new();
        while left > 0 {
            limbs.push((left % BASE) as u32);
            left /= BASE;
        }
        Number { is_negative: value < 0, limbs, scale: 0 }
    }

    /// Reads digits of a base, with a point among them. A digit that is too large for the base counts as its highest
    /// one, unless it is the only digit.
    pub(crate) fn read(text: &[u8], base: u32) -> Number {
        let digit = |byte: &u8| match byte {
            b'0'..=b'9' => u32::from(byte - b'0'),
            byte => u32::from(byte - b'A') + 10,
        };
        let point = text.iter().position(|byte| *byte == b'.').unwrap_or(text.len());
        let (whole, fraction) = (&text[..point], text.get(point + 1..).unwrap_or_default());
        let is_alone = whole.len() + fraction.len() == 1;
        let value = |byte: &u8| if is_alone { digit(byte) } else { digit(byte).min(base - 1) };
        if base == 10 {
            let digits: Vec<u32> = whole.iter().chain(fraction).map(value).collect();
            return Number::from_digits(&digits, fraction.len());
        }
        let base_number = Number::whole(i64::from(base));
        let mut number = Number::zero();
        let mut divisor = Number::whole(1);
        for (index, byte) in whole.iter().chain(fraction).enumerate() {
            number = number.multiply(&base_number, 0).add(&Number::whole(i64::from(value(byte))));
            if index >= whole.len() {
                divisor = divisor.multiply(&base_number, 0);
            }
        }
        if fraction.is_empty() { number } else { number.divide(&divisor, fraction.len()).unwrap_or_default() }
    }

    /// Creates a number from decimal digits, the highest first, of which `scale` are after the point.
    fn from_digits(digits: &[u32], scale: usize) -> Number {
        let fraction_limbs = scale.div_ceil(WIDTH);
        let padding = fraction_limbs * WIDTH - scale;
        let all: Vec<u32> = digits.iter().copied().chain(std::iter::repeat_n(0, padding)).collect();
        let limbs = all.rchunks(WIDTH).map(|chunk| chunk.iter().fold(0, |limb, digit| limb * 10 + digit)).collect();
        let mut number = Number { is_negative: false, limbs, scale };
        number.normalize();
        number
    }

    /// Returns the decimal digits before and after the point. There are none before it if they are all zeros.
    pub(super) fn digits(&self) -> (Vec<u8>, Vec<u8>) {
        let fraction_limbs = self.fraction_limbs();
        let mut text = String::new();
        for limb in self.limbs.iter().rev() {
            text.push_str(&format!("{limb:09}"));
        }
        let missing = (fraction_limbs * WIDTH).saturating_sub(text.len());
        let text = format!("{}{text}", "0".repeat(missing));
        let (whole, fraction) = text.split_at(text.len() - fraction_limbs * WIDTH);
        (whole.trim_start_matches('0').as_bytes().to_vec(), fraction.as_bytes()[..self.scale].to_vec())
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.limbs.iter().all(|limb| *limb == 0)
    }

    /// Returns true for a number below zero.
    pub(crate) fn is_negative(&self) -> bool {
        self.is_negative && !self.is_zero()
    }

    /// Returns the number of digits after the point.
    pub(crate) fn scale(&self) -> usize {
        self.scale
    }

    /// Returns the number of digits, without leading zeros.
    pub(crate) fn length(&self) -> usize {
        let (whole, fraction) = self.digits();
        (whole.len() + fraction.len()).max(1)
    }

    /// Returns the whole part as an integer, if it fits.
    pub(crate) fn to_i64(&self) -> Option<i64> {
        let whole = self.limbs.get(self.fraction_limbs()..).unwrap_or_default();
        let mut value: i64 = 0;
        for limb in whole.iter().rev() {
            value = value.checked_mul(BASE as i64)?.checked_add(i64::from(*limb))?;
        }
        Some(if self.is_negative { -value } else { value })
    }

    pub(crate) fn negate(&self) -> Number {
        Number { is_negative: !self.is_negative && !self.is_zero(), ..self.clone() }
    }

    pub(crate) fn compare(&self, other: &Number) -> Ordering {
        match (self.is_negative(), other.is_negative()) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.compare_size(other),
            (true, true) => other.compare_size(self),
        }
    }

    pub(crate) fn add(&self, other: &Number) -> Number {
        let scale = self.scale.max(other.scale);
        let (a, b) = (self.aligned(scale), other.aligned(scale));
        let (is_negative, limbs) = if self.is_negative == other.is_negative {
            (self.is_negative, natural::add(&a, &b))
        } else {
            match natural::compare(&a, &b) {
                Ordering::Less => (other.is_negative, natural::subtract(&b, &a)),
                _ => (self.is_negative, natural::subtract(&a, &b)),
            }
        };
        let mut sum = Number { is_negative, limbs, scale };
        sum.normalize();
        sum
    }

    pub(crate) fn subtract(&self, other: &Number) -> Number {
        self.add(&other.negate())
    }

    /// Returns the product, with as many digits as the factors have together, but no more than the scale or the longer
    /// one.
    pub(crate) fn multiply(&self, other: &Number, scale: usize) -> Number {
        let full = self.scale + other.scale;
        let wanted = full.min(scale.max(self.scale).max(other.scale));
        let product = natural::multiply(&self.limbs, &other.limbs);
        let is_negative = self.is_negative != other.is_negative;
        self.cut(is_negative, product, self.fraction_limbs() + other.fraction_limbs(), wanted)
    }

    /// Returns the quotient with `scale` digits; none if the divisor is zero.
    pub(crate) fn divide(&self, other: &Number, scale: usize) -> Option<Number> {
        if other.is_zero() {
            return None;
        }
        let wanted = scale.div_ceil(WIDTH);
        let shift = wanted as i64 + other.fraction_limbs() as i64 - self.fraction_limbs() as i64;
        let dividend = if shift >= 0 {
            let mut shifted = vec![0; shift as usize];
            shifted.extend_from_slice(&self.limbs);
            shifted
        } else {
            self.limbs.get((-shift) as usize..).unwrap_or_default().to_vec()
        };
        let (quotient, _) = natural::divide(&dividend, &other.limbs);
        Some(self.cut(self.is_negative != other.is_negative, quotient, wanted, scale))
    }

    /// Returns the quotient with `scale` digits and the remainder; none if the divisor is zero.
    pub(crate) fn divide_with_rest(&self, other: &Number, scale: usize) -> Option<(Number, Number)> {
        let quotient = self.divide(other, scale)?;
        let wanted = self.scale.max(other.scale + scale);
        let rest = self.subtract(&quotient.multiply(other, wanted));
        Some((quotient, rest.with_scale(wanted)))
    }

    /// Returns a power with an integer exponent; none if it needs a division by zero.
    pub(crate) fn power(&self, exponent: i64, scale: usize) -> Option<Number> {
        if exponent == 0 {
            return Some(Number::whole(1));
        }
        let mut power = self.clone();
        let mut result: Option<Number> = None;
        let mut left = exponent.unsigned_abs();
        let wanted =
            if exponent < 0 { scale } else { self.scale.saturating_mul(left as usize).min(scale.max(self.scale)) };
        while left > 0 {
            if left & 1 == 1 {
                result = Some(match result {
                    Some(result) => result.multiply(&power, result.scale + power.scale),
                    None => power.clone(),
                });
            }
            left >>= 1;
            if left > 0 {
                power = power.multiply(&power, 2 * power.scale);
            }
        }
        let result = result.unwrap_or_default();
        if exponent < 0 {
            return Number::whole(1).divide(&result, wanted);
        }
        Some(result.truncate(wanted))
    }

    /// Returns the square root; none of a negative number.
    pub(crate) fn square_root(&self, scale: usize) -> Option<Number> {
        if self.is_negative() {
            return None;
        }
        let scale = scale.max(self.scale);
        let wanted = scale.div_ceil(WIDTH);
        let mut square = vec![0; 2 * wanted - self.fraction_limbs()];
        square.extend_from_slice(&self.limbs);
        natural::trim(&mut square);
        Some(self.cut(false, root(&square), wanted, scale))
    }

    /// Returns the number with at most `scale` digits after the point.
    pub(crate) fn truncate(&self, scale: usize) -> Number {
        if scale >= self.scale { self.clone() } else { self.with_scale(scale) }
    }

    /// Returns the number with exactly `scale` digits after the point.
    pub(crate) fn with_scale(&self, scale: usize) -> Number {
        if scale >= self.scale {
            let mut number = Number { is_negative: self.is_negative, limbs: self.aligned(scale), scale };
            number.normalize();
            return number;
        }
        self.cut(self.is_negative, self.limbs.clone(), self.fraction_limbs(), scale)
    }

    /// Creates a number from limbs, of which `fraction_limbs` are after the point, cut to a scale.
    fn cut(&self, is_negative: bool, mut limbs: Vec<u32>, fraction_limbs: usize, scale: usize) -> Number {
        let wanted = scale.div_ceil(WIDTH);
        if fraction_limbs > wanted {
            limbs.drain(..(fraction_limbs - wanted).min(limbs.len()));
        } else if wanted > fraction_limbs {
            let mut padded = vec![0; wanted - fraction_limbs];
            padded.append(&mut limbs);
            limbs = padded;
        }
        let beyond = wanted * WIDTH - scale;
        if let Some(lowest) = limbs.first_mut()
            && wanted > 0
            && beyond > 0
        {
            let unit = 10u32.pow(beyond as u32);
            *lowest -= *lowest % unit;
        }
        let mut number = Number { is_negative, limbs, scale };
        number.normalize();
        number
    }

    fn normalize(&mut self) {
        natural::trim(&mut self.limbs);
        self.is_negative &= !self.limbs.is_empty();
    }

    fn fraction_limbs(&self) -> usize {
        self.scale.div_ceil(WIDTH)
    }

    fn aligned(&self, scale: usize) -> Vec<u32> {
        let mut limbs = vec![0; scale.div_ceil(WIDTH) - self.fraction_limbs()];
        limbs.extend_from_slice(&self.limbs);
        limbs
    }

    fn compare_size(&self, other: &Number) -> Ordering {
        let scale = self.scale.max(other.scale);
        natural::compare(&self.aligned(scale), &other.aligned(scale))
    }
}

/// Returns the whole part of a square root, by Newton's method from above.
fn root(square: &[u32]) -> Vec<u32> {
    if square.is_empty() {
        return Vec::new();
    }
    // The first guess comes from the root of the highest limbs. It is close, and surely too large.
    let count = square.len().div_ceil(2);
    let top = square[square.len() - 1] as f64 * BASE as f64
        + if square.len() > 1 { square[square.len() - 2] as f64 } else { 0.0 };
    let lifted = if square.len() % 2 == 1 { (top / BASE as f64).sqrt() } else { top.sqrt() };
    let head = lifted * (1.0 + 1e-12) + 2.0;
    let mut guess = vec![(BASE - 1) as u32; count.saturating_sub(1)];
    let head = head as u64;
    guess.push((head % BASE) as u32);
    guess.push((head / BASE) as u32);
    natural::trim(&mut guess);
    loop {
        let (quotient, _) = natural::divide(square, &guess);
        let (next, _) = natural::divide_small(&natural::add(&guess, &quotient), 2);
        if natural::compare(&next, &guess) != Ordering::Less {
            return guess;
        }
        guess = next;
    }
}
