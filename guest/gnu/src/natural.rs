//! Natural numbers of any length: limbs in base 10⁹, the lowest first.
//!
//! The base is 10⁹ and not 2³²: a calculator cuts decimal digits off after every operation and prints the rest, and
//! `printf` needs the decimal digits of a binary fraction. Both cost nothing in this base, and a long division in the
//! other.

use std::cmp::Ordering;

/// The base of a limb.
pub const BASE: u64 = 1_000_000_000;

/// The number of decimal digits in a limb.
pub const WIDTH: usize = 9;

/// The number of limbs from which Karatsuba's three products of half the length are faster than one plain product.
const KARATSUBA: usize = 64;

/// The number of limbs from which a column of products is longer than the work around it.
const FEW: usize = 16;

/// The number of products of two limbs whose sum, with the carry, fits 64 bits.
const PRODUCTS: usize = 16;

/// Returns the limbs of a machine number.
pub fn from_u128(mut value: u128) -> Vec<u32> {
    let mut limbs = Vec::new();
    while value > 0 {
        limbs.push((value % u128::from(BASE)) as u32);
        value /= u128::from(BASE);
    }
    limbs
}

/// Returns the number as a machine number, or its lowest 128 bits if it is larger.
pub fn to_u128(limbs: &[u32]) -> u128 {
    limbs.iter().rev().fold(0u128, |value, limb| value.wrapping_mul(u128::from(BASE)).wrapping_add(u128::from(*limb)))
}

/// Reads decimal digits in ASCII, the highest first.
pub fn parse(digits: &[u8]) -> Vec<u32> {
    let limb = |chunk: &[u8]| chunk.iter().fold(0, |limb, digit| limb * 10 + u32::from(digit - b'0'));
    let mut limbs = digits.rchunks(WIDTH).map(limb).collect();
    trim(&mut limbs);
    limbs
}

/// Returns the decimal digits, the highest first. Zero has none.
pub fn digits(limbs: &[u32]) -> String {
    let mut text = String::with_capacity(limbs.len() * WIDTH);
    for (index, limb) in trimmed(limbs).iter().rev().enumerate() {
        text.push_str(&if index == 0 { limb.to_string() } else { format!("{limb:09}") });
    }
    text
}

/// Removes zeros from the high end.
pub fn trim(limbs: &mut Vec<u32>) {
    while limbs.last() == Some(&0) {
        limbs.pop();
    }
}

/// Compares two numbers, with or without zeros at the high end.
pub fn compare(a: &[u32], b: &[u32]) -> Ordering {
    let (a, b) = (trimmed(a), trimmed(b));
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

/// Returns `a + b`.
pub fn add(a: &[u32], b: &[u32]) -> Vec<u32> {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let mut sum = Vec::with_capacity(long.len() + 1);
    sum.extend_from_slice(long);
    sum.push(0);
    add_at(&mut sum, short, 0);
    trim(&mut sum);
    sum
}

/// Returns `a - b`, which must not be negative.
pub fn subtract(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut rest = a.to_vec();
    subtract_from(&mut rest, b);
    trim(&mut rest);
    rest
}

/// Returns `a * b`.
pub fn multiply(a: &[u32], b: &[u32]) -> Vec<u32> {
    let (a, b) = (trimmed(a), trimmed(b));
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    if short.len() < KARATSUBA {
        return multiply_plainly(long, short);
    }
    let half = short.len() / 2;
    if long.len() > 2 * short.len() {
        // Pieces of the length of the short one, each a product of equals.
        let mut product = vec![0; a.len() + b.len() + 1];
        for (index, piece) in long.chunks(short.len()).enumerate() {
            let part = multiply(piece, short);
            add_at(&mut product, &part, index * short.len());
        }
        trim(&mut product);
        return product;
    }
    let half = half.max(long.len() / 2);
    let (a0, a1) = (&long[..half], &long[half..]);
    let (b0, b1) = if short.len() > half { (&short[..half], &short[half..]) } else { (short, &short[..0]) };
    let low = multiply(a0, b0);
    let high = multiply(a1, b1);
    let mut middle = multiply(&add(a0, a1), &add(b0, b1));
    subtract_from(&mut middle, &low);
    subtract_from(&mut middle, &high);
    trim(&mut middle);
    let mut product = vec![0; a.len() + b.len() + 1];
    add_at(&mut product, &low, 0);
    add_at(&mut product, &middle, half);
    add_at(&mut product, &high, 2 * half);
    trim(&mut product);
    product
}

/// Returns `base` to the power of `exponent`.
pub fn power(base: u32, mut exponent: u32) -> Vec<u32> {
    let mut square = from_u128(u128::from(base));
    let mut product = vec![1];
    while exponent > 0 {
        if exponent & 1 == 1 {
            product = multiply(&product, &square);
        }
        exponent >>= 1;
        if exponent > 0 {
            square = multiply(&square, &square);
        }
    }
    product
}

/// Returns the quotient `a / b` and the remainder, by Knuth's algorithm D. `b` is not zero.
pub fn divide(a: &[u32], b: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let (a, b) = (trimmed(a), trimmed(b));
    if compare(a, b) == Ordering::Less {
        return (Vec::new(), a.to_vec());
    }
    if let [only] = b {
        let (quotient, rest) = divide_small(a, *only);
        return (quotient, if rest == 0 { Vec::new() } else { vec![rest] });
    }
    // Both are multiplied so that the divisor's highest limb is large: a guess from two limbs is then off by two at
    // most.
    let factor = (BASE / (u64::from(b[b.len() - 1]) + 1)) as u32;
    let mut rest = scale(a, factor);
    rest.resize(a.len() + 1, 0);
    let mut divisor = scale(b, factor);
    divisor.truncate(b.len());
    let count = divisor.len();
    let (top, second) = (u64::from(divisor[count - 1]), u64::from(divisor[count - 2]));
    let mut quotient = vec![0; rest.len() - count];
    for at in (0..quotient.len()).rev() {
        let head = u64::from(rest[at + count]) * BASE + u64::from(rest[at + count - 1]);
        let (mut guess, mut left) = (head / top, head % top);
        while guess >= BASE || guess * second > left * BASE + u64::from(rest[at + count - 2]) {
            guess -= 1;
            left += top;
            if left >= BASE {
                break;
            }
        }
        if subtract_multiple(&mut rest[at..=at + count], &divisor, guess) {
            guess -= 1;
            add_at(&mut rest[at..=at + count], &divisor, 0);
        }
        rest[at + count] = 0;
        quotient[at] = guess as u32;
    }
    trim(&mut quotient);
    rest.truncate(count);
    let (mut rest, _) = divide_small(&rest, factor);
    trim(&mut rest);
    (quotient, rest)
}

/// Returns the quotient `a / b` and the remainder, for a divisor of one limb.
pub fn divide_small(a: &[u32], b: u32) -> (Vec<u32>, u32) {
    let mut quotient = vec![0; a.len()];
    let mut rest = 0u64;
    for (index, limb) in a.iter().enumerate().rev() {
        let head = rest * BASE + u64::from(*limb);
        quotient[index] = (head / u64::from(b)) as u32;
        rest = head % u64::from(b);
    }
    trim(&mut quotient);
    (quotient, rest as u32)
}

/// Returns `a * factor`, for a factor of one limb. There may be a zero at the high end.
fn scale(a: &[u32], factor: u32) -> Vec<u32> {
    let mut product = Vec::with_capacity(a.len() + 1);
    let mut carry = 0u64;
    for limb in a {
        let sum = u64::from(*limb) * u64::from(factor) + carry;
        product.push((sum % BASE) as u32);
        carry = sum / BASE;
    }
    product.push(carry as u32);
    product
}

fn trimmed(limbs: &[u32]) -> &[u32] {
    let zeros = limbs.iter().rev().take_while(|limb| **limb == 0).count();
    &limbs[..limbs.len() - zeros]
}

fn multiply_plainly(long: &[u32], short: &[u32]) -> Vec<u32> {
    if short.len() < FEW { multiply_rows(long, short) } else { multiply_columns(long, short) }
}

/// Multiplies limb by limb, with a division by the base for each product.
fn multiply_rows(long: &[u32], short: &[u32]) -> Vec<u32> {
    let mut product = vec![0u32; long.len() + short.len()];
    for (shift, factor) in short.iter().enumerate() {
        let mut carry = 0u64;
        for (slot, limb) in product[shift..].iter_mut().zip(long) {
            let sum = u64::from(*limb) * u64::from(*factor) + u64::from(*slot) + carry;
            *slot = (sum % BASE) as u32;
            carry = sum / BASE;
        }
        product[shift + long.len()] = carry as u32;
    }
    trim(&mut product);
    product
}

/// Multiplies column by column: the products of a column are added up in 64 bits and divided by the base once for
/// every `PRODUCTS` of them, and not each. Neither number is empty.
fn multiply_columns(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut product = Vec::with_capacity(a.len() + b.len());
    let mut carry = 0u64;
    for column in 0..a.len() + b.len() - 1 {
        let (first, end) = ((column + 1).saturating_sub(b.len()), a.len().min(column + 1));
        let (mut sum, mut next) = (carry, 0);
        let rows = b[column + 1 - end..=column - first].rchunks(PRODUCTS);
        for (left, right) in a[first..end].chunks(PRODUCTS).zip(rows) {
            for (x, y) in left.iter().zip(right.iter().rev()) {
                sum += u64::from(*x) * u64::from(*y);
            }
            next += sum / BASE;
            sum %= BASE;
        }
        product.push(sum as u32);
        carry = next;
    }
    product.push(carry as u32);
    trim(&mut product);
    product
}

/// Adds a number at a limb. There is room for the carry, or the carry out of the highest limb is not wanted.
fn add_at(sum: &mut [u32], other: &[u32], at: usize) {
    let mut carry = 0;
    for (index, slot) in sum[at..].iter_mut().enumerate() {
        if index >= other.len() && carry == 0 {
            return;
        }
        let total = *slot + other.get(index).copied().unwrap_or(0) + carry;
        carry = u32::from(total >= BASE as u32);
        *slot = total - carry * BASE as u32;
    }
}

fn subtract_from(rest: &mut [u32], other: &[u32]) {
    let mut borrow = 0;
    for (index, slot) in rest.iter_mut().enumerate() {
        if index >= other.len() && borrow == 0 {
            return;
        }
        let wanted = other.get(index).copied().unwrap_or(0) + borrow;
        borrow = u32::from(*slot < wanted);
        *slot = *slot + borrow * BASE as u32 - wanted;
    }
}

/// Subtracts `factor * divisor` from `rest`, which has one limb more. Returns true if that is more than `rest`: the
/// result is then too low by one divisor.
fn subtract_multiple(rest: &mut [u32], divisor: &[u32], factor: u64) -> bool {
    let mut borrow = 0u64;
    for (slot, limb) in rest.iter_mut().zip(divisor) {
        let product = factor * u64::from(*limb) + borrow;
        let (low, high) = ((product % BASE) as u32, product / BASE);
        let is_short = *slot < low;
        *slot = *slot + u32::from(is_short) * BASE as u32 - low;
        borrow = high + u64::from(is_short);
    }
    u64::from(rest[divisor.len()]) < borrow
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns limbs that are zero or the highest more often than by chance, where carries are longest.
    fn random(count: usize, state: &mut u64) -> Vec<u32> {
        let limb = |state: &mut u64| {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            match *state >> 60 {
                0 => 0,
                1 => (BASE - 1) as u32,
                _ => ((*state >> 20) % BASE) as u32,
            }
        };
        (0..count).map(|_| limb(state)).collect()
    }

    #[test]
    fn products_divided_give_their_factors() {
        let mut state = 1;
        for (left, right) in [(1, 1), (3, 2), (50, 49), (100, 60), (300, 130), (7, 200), (97, 96)] {
            for _ in 0..20 {
                let mut a = random(left, &mut state);
                let mut b = random(right, &mut state);
                a.push(1);
                b.push(7);
                let product = multiply(&a, &b);
                assert_eq!(product, multiply_rows(&a, &b));
                assert_eq!(product, multiply_columns(&a, &b));
                let rest: Vec<u32> = b[..right / 2].to_vec();
                let (quotient, left) = divide(&add(&product, &rest), &b);
                assert_eq!(compare(&quotient, &a), Ordering::Equal);
                assert_eq!(compare(&left, &rest), Ordering::Equal);
            }
        }
    }

    #[test]
    fn columns_of_the_highest_limbs_do_not_overflow() {
        for count in [15, 16, 17, 33, 300] {
            let nines = vec![(BASE - 1) as u32; count];
            assert_eq!(multiply_columns(&nines, &nines), multiply_rows(&nines, &nines));
        }
    }

    #[test]
    fn powers_have_the_digits_that_are_known() {
        assert_eq!(digits(&power(2, 100)), "1267650600228229401496703205376");
        assert_eq!(digits(&power(5, 0)), "1");
        assert_eq!(digits(&parse(b"0000000001000000000")), "1000000000");
        assert_eq!(digits(&[]), "");
        assert_eq!(to_u128(&from_u128(u128::MAX)), u128::MAX);
    }
}
