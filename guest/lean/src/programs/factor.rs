//! `factor`: the prime factors of numbers.

use isopod_sys::files;

use isopod_gnu::options::Opt;
use isopod_gnu::output::{Out, PIECE};
use isopod_gnu::program::{Call, Program, Syntax};
use isopod_gnu::quote::plain;

/// `factor`.
pub(crate) const PROGRAM: Program = Program {
    name: "factor",
    operands: &["[OPTION] [NUMBER]..."],
    about: "Print the prime factors of each specified integer NUMBER below 2^64.\n\
            If none are specified on the command line, read them from standard input.",
    syntax: Syntax::Mixed,
    options: &[Opt::flag('h', "exponents", "print repeated factors in form p^e unless e is 1")],
    failure: 1,
    run,
};

fn run(call: &Call) -> u8 {
    let mut out = Out::new();
    let mut code = 0;
    let mut handle = |text: &str, out: &mut Out| {
        if let Err(message) = print(text, call.has("exponents"), out) {
            call.complain(&message);
            code = 1;
        }
    };
    for number in &call.operands {
        handle(number, &mut out);
    }
    if call.operands.is_empty() {
        let mut held = Vec::new();
        while let Ok(piece) = files::read(0, PIECE as u32, None) {
            let ended = piece.is_empty();
            held.extend_from_slice(&piece);
            // A number may go on in the next piece.
            let whole =
                if ended { held.len() } else { held.iter().rposition(u8::is_ascii_whitespace).map_or(0, |at| at + 1) };
            let text: Vec<u8> = held.drain(..whole).collect();
            for number in String::from_utf8_lossy(&text).split_ascii_whitespace() {
                handle(number, &mut out);
            }
            if ended {
                break;
            }
            out.flush();
        }
    }
    call.finish(out, code)
}

fn print(text: &str, exponents: bool, out: &mut Out) -> Result<(), String> {
    let digits = text.trim().trim_start_matches('+');
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("{} is not a valid positive integer", plain(text)));
    }
    let number: u64 = digits.parse().map_err(|_| format!("{} is too large", plain(text)))?;
    let mut factors = Vec::new();
    split(number, &mut factors);
    factors.sort_unstable();
    out.push(format!("{number}:").as_bytes());
    let mut rest = factors.as_slice();
    while let Some(&factor) = rest.first() {
        let count = if exponents { rest.iter().take_while(|other| **other == factor).count() } else { 1 };
        rest = &rest[count..];
        let power = if count > 1 { format!("^{count}") } else { String::new() };
        out.push(format!(" {factor}{power}").as_bytes());
    }
    out.byte(b'\n');
    Ok(())
}

/// Adds the prime factors of a number, in no order.
fn split(mut number: u64, factors: &mut Vec<u64>) {
    for small in [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37] {
        while number > 1 && number.is_multiple_of(small) {
            factors.push(small);
            number /= small;
        }
    }
    if number < 2 {
        return;
    }
    if is_prime(number) {
        factors.push(number);
    } else {
        let divisor = divisor(number);
        split(divisor, factors);
        split(number / divisor, factors);
    }
}

fn times(a: u64, b: u64, modulus: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(modulus)) as u64
}

fn power(mut base: u64, mut exponent: u64, modulus: u64) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = times(result, base, modulus);
        }
        base = times(base, base, modulus);
        exponent >>= 1;
    }
    result
}

/// Miller and Rabin's test; with these twelve bases it is exact below 2^64.
fn is_prime(number: u64) -> bool {
    let twos = (number - 1).trailing_zeros();
    let odd = (number - 1) >> twos;
    [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37].into_iter().filter(|base| base % number != 0).all(|base| {
        let mut value = power(base, odd, number);
        if value == 1 || value == number - 1 {
            return true;
        }
        (1..twos).any(|_| {
            value = times(value, value, number);
            value == number - 1
        })
    })
}

/// Returns a divisor of a composite odd number, by Pollard's rho.
fn divisor(number: u64) -> u64 {
    for offset in 1.. {
        let step = |x: u64| ((u128::from(times(x, x, number)) + offset) % u128::from(number)) as u64;
        let (mut slow, mut fast) = (2, 2);
        loop {
            slow = step(slow);
            fast = step(step(fast));
            match common(slow.abs_diff(fast), number) {
                1 => {}
                // The sequence ended in a cycle without a divisor; the next one is tried.
                divisor if divisor == number => break,
                divisor => return divisor,
            }
        }
    }
    number
}

fn common(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_prime_and_multiply_to_the_number() {
        let large = [u64::MAX, u64::MAX - 58, 4_294_967_291 * 4_294_967_279, 1_000_000_007 * 998_244_353, 1 << 63];
        for number in (1..2000).chain(large) {
            let mut factors = Vec::new();
            split(number, &mut factors);
            assert_eq!(factors.iter().product::<u64>(), number);
            assert!(factors.iter().all(|factor| (2..*factor).take(50).all(|small| factor % small != 0)));
        }
        assert!(is_prime(u64::MAX - 58));
        assert!(!is_prime(4_294_967_291 * 4_294_967_279));
    }
}
