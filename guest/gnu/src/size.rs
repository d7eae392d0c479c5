//! Numbers with units, as `head` and `sort` take them.

/// Reads `10`, `2K`, `1MB`, `b`: a number and a unit. A number that is too large becomes the largest.
pub fn parse(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return None;
    }
    let number: u64 = text[..digits].parse().unwrap_or(u64::MAX);
    let unit = match &text[digits..] {
        "" => 1,
        "b" => 512,
        suffix => {
            let (letter, rest) = suffix.split_at_checked(1)?;
            let power = match letter {
                "k" | "K" => 1,
                "m" | "M" => 2,
                "G" => 3,
                "T" => 4,
                "P" => 5,
                "E" => 6,
                _ => return None,
            };
            match rest {
                "" | "iB" => 1u64 << (10 * power),
                "B" => 1000u64.pow(power),
                _ => return None,
            }
        }
    };
    Some(number.saturating_mul(unit))
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn units_are_gnus() {
        for (text, size) in [
            ("10", 10),
            ("1b", 512),
            ("2K", 2048),
            ("2kB", 2000),
            ("1MiB", 1 << 20),
            ("99999999999999999999", u64::MAX),
        ] {
            assert_eq!(parse(text), Some(size), "{text}");
        }
        for wrong in ["", "x", "K", "1x", "1KX", "-1", "1é"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
