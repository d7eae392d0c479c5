//! Times and sizes in human-readable form, on the command line and in configuration.

use std::time::Duration;

/// Parses seconds, or a number with `ms`, `s`, `m`, `h` or `d`. Zero is refused.
pub fn time(text: &str) -> Result<Duration, String> {
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let scale = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86400.0,
        _ => return Err("expected seconds, or a number with ms, s, m, h or d".to_owned()),
    };
    let seconds = number.parse::<f64>().map_err(|_| "expected a number".to_owned())? * scale;
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if !time.is_zero() => Ok(time),
        Ok(_) => Err("expected a time above zero".to_owned()),
        Err(_) => Err("too long".to_owned()),
    }
}

/// Parses bytes, or a number with `K`, `M` or `G`, which are powers of 1024. Zero is refused.
pub fn bytes(text: &str) -> Result<u64, String> {
    let at = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let scale = match unit {
        "" | "B" => 1,
        "K" | "KB" | "KiB" => 1 << 10,
        "M" | "MB" | "MiB" => 1 << 20,
        "G" | "GB" | "GiB" => 1 << 30,
        _ => return Err("expected bytes, or a number with K, M or G".to_owned()),
    };
    let number: u64 = number.parse().map_err(|_| "expected a number".to_owned())?;
    number.checked_mul(scale).filter(|bytes| *bytes > 0).ok_or_else(|| "out of range".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_never_nothing_and_never_endless() {
        assert_eq!(time("1"), Ok(Duration::from_secs(1)));
        assert_eq!(time("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(time("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(time("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(time("7d"), Ok(Duration::from_secs(7 * 24 * 3600)));
        for bad in ["0", "-1", "", "1w", "s", "1e9", "99999999999999999999h", "inf", "NaN", "0.0ms", "1.2.3"] {
            assert!(time(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_have_powers_of_1024() {
        assert_eq!(bytes("64M"), Ok(64 << 20));
        assert_eq!(bytes("1GiB"), Ok(1 << 30));
        for bad in ["0", "-1", "", "M", "1T", "1.5M", "99999999999999G"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
