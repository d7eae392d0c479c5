//! Whole numbers as text.

/// Adds a number in decimal. A format does the same more slowly: awk and jq write millions of numbers.
pub fn push(number: i64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut left = number.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    if number < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::push;

    #[test]
    fn numbers_are_written_as_a_format_writes_them() {
        for number in [0, 7, -7, 10, 1_234_567_890, i64::MAX, i64::MIN] {
            let mut text = b"x".to_vec();
            push(number, &mut text);
            assert_eq!(text, format!("x{number}").into_bytes());
        }
    }
}
