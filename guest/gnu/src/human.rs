//! Sizes in units, for `ls` and `du`.

use isopod_sys::files::{Attributes, Kind};

/// The notation of sizes.
#[derive(Clone, Copy, PartialEq)]
pub enum Unit {
    /// Multiples of so many bytes, rounded up, with a suffix.
    Bytes(u64, &'static str),
    /// At most three digits and a letter, by powers of 1024 or 1000.
    Human(u64),
}

impl Unit {
    /// Formats a size in bytes.
    pub fn text(self, bytes: u64) -> String {
        match self {
            Unit::Bytes(unit, suffix) => format!("{}{suffix}", bytes.div_ceil(unit)),
            Unit::Human(base) => human(bytes, base),
        }
    }

    /// Reads a `--block-size`.
    pub fn parse(text: &str) -> Option<Unit> {
        match text {
            "human-readable" => return Some(Unit::Human(1024)),
            "si" => return Some(Unit::Human(1000)),
            _ => {}
        }
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let number: u64 = if digits == 0 { 1 } else { text[..digits].parse().ok()? };
        let (factor, suffix) = match &text[digits..] {
            "" if digits > 0 => (1, ""),
            "K" | "KiB" | "k" => (1 << 10, "K"),
            "M" | "MiB" => (1 << 20, "M"),
            "G" | "GiB" => (1 << 30, "G"),
            "T" | "TiB" => (1 << 40, "T"),
            "kB" | "KB" => (1000, "kB"),
            "MB" => (1_000_000, "MB"),
            "GB" => (1_000_000_000, "GB"),
            _ => return None,
        };
        let unit = number.checked_mul(factor).filter(|unit| *unit > 0)?;
        // A unit that is given without a number is written after each size.
        Some(Unit::Bytes(unit, if digits == 0 { suffix } else { "" }))
    }
}

/// Returns the bytes that a file takes on a file system with blocks of 4 KiB. The kernel counts the content only.
pub fn disk_usage(of: &Attributes) -> u64 {
    match of.kind {
        Kind::File => of.size.div_ceil(4096) * 4096,
        Kind::Directory => of.size.div_ceil(4096).max(1) * 4096,
        _ => 0,
    }
}

fn human(bytes: u64, base: u64) -> String {
    if bytes < base {
        return bytes.to_string();
    }
    let letters = if base == 1024 { ["K", "M", "G", "T", "P", "E"] } else { ["k", "M", "G", "T", "P", "E"] };
    let (size, base) = (u128::from(bytes), u128::from(base));
    let mut unit = base;
    for letter in letters {
        let tenths = (size * 10).div_ceil(unit);
        if tenths < 100 {
            return format!("{}.{}{letter}", tenths / 10, tenths % 10);
        }
        let whole = size.div_ceil(unit);
        if whole < base || letter == "E" {
            return format!("{whole}{letter}");
        }
        unit *= base;
    }
    bytes.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recorded from `ls -lh` and `ls -l --si` of GNU coreutils 9.1.
    #[test]
    fn sizes_are_rounded_up() {
        for (bytes, text) in [
            (0, "0"),
            (1023, "1023"),
            (1024, "1.0K"),
            (1025, "1.1K"),
            (10239, "10K"),
            (10241, "11K"),
            (1_048_575, "1.0M"),
            (1_048_576, "1.0M"),
            (123_456_789, "118M"),
            (u64::MAX, "16E"),
        ] {
            assert_eq!(human(bytes, 1024), text, "{bytes}");
        }
        assert_eq!(human(999_999, 1000), "1.0M");
        assert_eq!(human(1500, 1000), "1.5k");
        assert_eq!(Unit::parse("K").map(|unit| unit.text(2000)), Some("2K".into()));
        assert_eq!(Unit::parse("1K").map(|unit| unit.text(2000)), Some("2".into()));
    }
}
