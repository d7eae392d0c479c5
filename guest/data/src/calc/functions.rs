//! Sine, cosine, arctangent, logarithm, exponential and Bessel's functions, to any number of digits.
//!
//! Each is computed with spare digits and cut to the scale, which gives the same digits as GNU's library.

use super::number::Number;

/// The number of spare digits.
const SPARE: usize = 12;

/// `e(x)`.
pub(crate) fn exponential(x: &Number, scale: usize) -> Number {
    if x.is_negative() {
        // The reciprocal of a large number needs its digits after the point.
        let digits = scale + SPARE;
        let inverse = exponential(&x.negate(), digits);
        return Number::whole(1).divide(&inverse, digits).unwrap_or_default().with_scale(scale);
    }
    // e^x has about 0.44·x digits before the point, and each squaring loses one.
    let size = x.to_i64().unwrap_or(i64::from(u32::MAX)).min(1 << 22) as usize;
    let mut halvings = 0;
    let mut small = x.clone();
    let digits = scale + SPARE + size / 2;
    let two = Number::whole(2);
    let digits = digits + 24;
    small = small.with_scale(digits.max(small.scale()));
    while small.compare(&Number::read(b".1", 10)).is_gt() {
        small = small.divide(&two, digits).unwrap_or_default();
        halvings += 1;
    }
    let mut sum = Number::whole(1);
    let mut term = Number::whole(1).with_scale(digits);
    let mut index = 1;
    loop {
        term = term.multiply(&small, digits).truncate(digits).divide(&Number::whole(index), digits).unwrap_or_default();
        if term.is_zero() {
            break;
        }
        sum = sum.add(&term);
        index += 1;
    }
    for _ in 0..halvings {
        sum = sum.multiply(&sum, digits).truncate(digits);
    }
    sum.with_scale(scale)
}

/// `l(x)`.
pub(crate) fn logarithm(x: &Number, scale: usize) -> Number {
    if x.is_negative() || x.is_zero() {
        // GNU's library gives this for arguments without a logarithm.
        let ten = Number::whole(10).power(scale as i64, 0).unwrap_or_default();
        return Number::whole(1).subtract(&ten).with_scale(scale);
    }
    let digits = scale + SPARE + x.length() / 2 + 8;
    let (one, two) = (Number::whole(1), Number::whole(2));
    let mut factor = two.clone();
    let mut near = x.with_scale(digits.max(x.scale()));
    let (low, high) = (Number::read(b".9", 10), Number::read(b"1.1", 10));
    while near.compare(&high).is_gt() || near.compare(&low).is_lt() {
        near = near.square_root(digits).unwrap_or_default().truncate(digits);
        factor = factor.multiply(&two, 0);
    }
    // Twice the inverse hyperbolic tangent, whose series has odd powers only.
    let ratio = near.subtract(&one).divide(&near.add(&one), digits).unwrap_or_default();
    let square = ratio.multiply(&ratio, digits).truncate(digits);
    let mut power = ratio.clone();
    let mut sum = ratio;
    let mut index = 3;
    loop {
        power = power.multiply(&square, digits).truncate(digits);
        let term = power.divide(&Number::whole(index), digits).unwrap_or_default();
        if term.is_zero() {
            break;
        }
        sum = sum.add(&term);
        index += 2;
    }
    sum.multiply(&factor, digits).with_scale(scale)
}

/// `s(x)`.
pub(crate) fn sine(x: &Number, scale: usize) -> Number {
    sine_of(x, scale + SPARE).with_scale(scale)
}

/// `c(x)`.
pub(crate) fn cosine(x: &Number, scale: usize) -> Number {
    let digits = scale + SPARE + x.length();
    let quarter = pi(digits).divide(&Number::whole(2), digits).unwrap_or_default();
    sine_of(&x.add(&quarter), scale + SPARE).with_scale(scale)
}

fn sine_of(x: &Number, scale: usize) -> Number {
    // Whole turns are removed with as many digits as the number has before its point.
    let digits = scale + x.length().saturating_sub(x.scale()) + 4;
    let pi = pi(digits);
    let turns = x.divide(&pi, 0).unwrap_or_default();
    let mut rest = x.with_scale(digits.max(x.scale())).subtract(&turns.multiply(&pi, digits)).truncate(digits);
    if turns.divide_with_rest(&Number::whole(2), 0).is_some_and(|(_, odd)| !odd.is_zero()) {
        rest = rest.negate();
    }
    let square = rest.multiply(&rest, digits).truncate(digits);
    let mut term = rest.clone();
    let mut sum = rest;
    let mut index = 1;
    loop {
        let divisor = Number::whole((index + 1) * (index + 2));
        term = term.multiply(&square, digits).truncate(digits).divide(&divisor, digits).unwrap_or_default().negate();
        if term.is_zero() {
            break;
        }
        sum = sum.add(&term);
        index += 2;
    }
    sum
}

/// `a(x)`.
pub(crate) fn arctangent(x: &Number, scale: usize) -> Number {
    let digits = scale + SPARE + x.length().saturating_sub(x.scale());
    arctangent_of(&x.with_scale(digits.max(x.scale())), digits).with_scale(scale)
}

fn arctangent_of(x: &Number, digits: usize) -> Number {
    let one = Number::whole(1);
    // The angle is halved until the series is short.
    let mut small = x.clone();
    let mut factor = one.clone();
    let limit = Number::read(b".1", 10);
    while small.compare(&limit).is_gt() || small.negate().compare(&limit).is_gt() {
        let square = small.multiply(&small, digits).truncate(digits).add(&one);
        let root = square.square_root(digits).unwrap_or_default();
        small = small.divide(&root.add(&one), digits).unwrap_or_default();
        factor = factor.multiply(&Number::whole(2), 0);
    }
    let square = small.multiply(&small, digits).truncate(digits);
    let mut power = small.clone();
    let mut sum = small;
    let mut index = 3;
    loop {
        power = power.multiply(&square, digits).truncate(digits).negate();
        let term = power.divide(&Number::whole(index), digits).unwrap_or_default();
        if term.is_zero() {
            break;
        }
        sum = sum.add(&term);
        index += 2;
    }
    sum.multiply(&factor, digits).truncate(digits)
}

fn pi(digits: usize) -> Number {
    let part = |x: i64| {
        let inverse = Number::whole(1).divide(&Number::whole(x), digits + 6).unwrap_or_default();
        arctangent_of(&inverse, digits + 6)
    };
    // Machin's formula.
    let quarter = part(5).multiply(&Number::whole(4), digits + 6).subtract(&part(239));
    quarter.multiply(&Number::whole(4), digits + 6).truncate(digits)
}

/// `j(n, x)`.
pub(crate) fn bessel(order: &Number, x: &Number, scale: usize) -> Number {
    let mut order = order.to_i64().unwrap_or(0);
    let mut is_negative = false;
    if order < 0 {
        order = -order;
        is_negative = order % 2 == 1;
    }
    let size = x.to_i64().unwrap_or(0).unsigned_abs().min(1 << 20) as usize;
    let digits = scale + SPARE + size + 4;
    let half = x.with_scale(digits.max(x.scale())).divide(&Number::whole(2), digits).unwrap_or_default();
    let square = half.multiply(&half, digits).truncate(digits);
    let mut term = Number::whole(1).with_scale(digits);
    for index in 1..=order {
        term = term.multiply(&half, digits).truncate(digits).divide(&Number::whole(index), digits).unwrap_or_default();
    }
    let mut sum = term.clone();
    let mut index = 1;
    loop {
        let divisor = Number::whole(index).multiply(&Number::whole(index + order), 0);
        term = term.multiply(&square, digits).truncate(digits).divide(&divisor, digits).unwrap_or_default().negate();
        if term.is_zero() {
            break;
        }
        sum = sum.add(&term);
        index += 1;
    }
    if is_negative {
        sum = sum.negate();
    }
    sum.with_scale(scale)
}
