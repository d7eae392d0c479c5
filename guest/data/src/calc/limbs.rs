//! Whole numbers of any length: digits in base 10⁹, the lowest first.
//!
//! Base 10⁹ and not 2³²: calculators cut decimal digits off with every operation and print what is left, which costs
//! nothing here and a division there.

use std::cmp::Ordering;

/// What a limb is a digit of.
pub(super) const BASE: u64 = 1_000_000_000;

/// From this many limbs on, a product is made of three of half the length.
const KARATSUBA: usize = 48;

/// Takes zeros off the high end.
pub(super) fn trim(limbs: &mut Vec<u32>) {
    while limbs.last() == Some(&0) {
        limbs.pop();
    }
}

/// How two numbers compare.
pub(super) fn compare(a: &[u32], b: &[u32]) -> Ordering {
    let (a, b) = (trimmed(a), trimmed(b));
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

/// `a + b`.
pub(super) fn add(a: &[u32], b: &[u32]) -> Vec<u32> {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let mut sum = long.to_vec();
    add_to(&mut sum, short);
    sum
}

/// `a - b`, which must not be negative.
pub(super) fn subtract(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut rest = a.to_vec();
    subtract_from(&mut rest, b);
    trim(&mut rest);
    rest
}

/// `a * b`.
pub(super) fn multiply(a: &[u32], b: &[u32]) -> Vec<u32> {
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

/// `a / b` and what is left, by Knuth's algorithm D. `b` is not zero.
pub(super) fn divide(a: &[u32], b: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let (a, b) = (trimmed(a), trimmed(b));
    if compare(a, b) == Ordering::Less {
        return (Vec::new(), a.to_vec());
    }
    if let [only] = b {
        let (quotient, rest) = divide_small(a, *only);
        return (quotient, if rest == 0 { Vec::new() } else { vec![rest] });
    }
    // The divisor's highest limb is made large, so that a guess from two limbs is off by two at most.
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
        let mut borrow = 0i64;
        for (index, limb) in divisor.iter().enumerate() {
            let product = guess * u64::from(*limb) + borrow as u64;
            let low = (product % BASE) as i64;
            borrow = (product / BASE) as i64;
            let slot = &mut rest[at + index];
            let mut difference = i64::from(*slot) - low;
            if difference < 0 {
                difference += BASE as i64;
                borrow += 1;
            }
            *slot = difference as u32;
        }
        let last = i64::from(rest[at + count]) - borrow;
        if last < 0 {
            guess -= 1;
            let mut carry = 0u64;
            for (index, limb) in divisor.iter().enumerate() {
                let sum = u64::from(rest[at + index]) + u64::from(*limb) + carry;
                rest[at + index] = (sum % BASE) as u32;
                carry = sum / BASE;
            }
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

/// `a / b` for one limb.
pub(super) fn divide_small(a: &[u32], b: u32) -> (Vec<u32>, u32) {
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

/// `a * factor`, for one limb.
pub(super) fn scale(a: &[u32], factor: u32) -> Vec<u32> {
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

fn multiply_plainly(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut product = vec![0u32; a.len() + b.len()];
    for (shift, factor) in b.iter().enumerate() {
        let mut carry = 0u64;
        for (index, limb) in a.iter().enumerate() {
            let slot = &mut product[shift + index];
            let sum = u64::from(*limb) * u64::from(*factor) + u64::from(*slot) + carry;
            *slot = (sum % BASE) as u32;
            carry = sum / BASE;
        }
        product[shift + a.len()] = carry as u32;
    }
    trim(&mut product);
    product
}

fn add_to(sum: &mut Vec<u32>, other: &[u32]) {
    if sum.len() < other.len() {
        sum.resize(other.len(), 0);
    }
    sum.push(0);
    add_at(sum, other, 0);
    trim(sum);
}

/// Adds a number at a limb; there is room for the carry.
fn add_at(sum: &mut [u32], other: &[u32], at: usize) {
    let mut carry = 0u64;
    let mut index = 0;
    while index < other.len() || carry > 0 {
        let slot = &mut sum[at + index];
        let total = u64::from(*slot) + u64::from(other.get(index).copied().unwrap_or(0)) + carry;
        *slot = (total % BASE) as u32;
        carry = total / BASE;
        index += 1;
    }
}

fn subtract_from(rest: &mut [u32], other: &[u32]) {
    let mut borrow = 0i64;
    for (index, slot) in rest.iter_mut().enumerate() {
        if index >= other.len() && borrow == 0 {
            break;
        }
        let mut difference = i64::from(*slot) - i64::from(other.get(index).copied().unwrap_or(0)) - borrow;
        borrow = i64::from(difference < 0);
        if difference < 0 {
            difference += BASE as i64;
        }
        *slot = difference as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_divided_give_their_factors() {
        let mut state = 1u64;
        let mut limb = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            match state >> 60 {
                0 => 0,
                1 => (BASE - 1) as u32,
                _ => ((state >> 20) % BASE) as u32,
            }
        };
        for (left, right) in [(1, 1), (3, 2), (50, 49), (100, 60), (300, 130), (7, 200), (97, 96)] {
            for _ in 0..20 {
                let mut a: Vec<u32> = (0..left).map(|_| limb()).collect();
                let mut b: Vec<u32> = (0..right).map(|_| limb()).collect();
                a.push(1);
                b.push(7);
                let product = multiply(&a, &b);
                assert_eq!(product, multiply_plainly(&a, &b));
                let rest: Vec<u32> = b[..right / 2].to_vec();
                let (quotient, left) = divide(&add(&product, &rest), &b);
                assert_eq!(compare(&quotient, &a), Ordering::Equal);
                assert_eq!(compare(&left, &rest), Ordering::Equal);
            }
        }
    }
}
