//! Profiles: translations between a backend and the types and strings of one framework.
//!
//! Each profile has pure functions of two kinds: from a framework's call to a request of a backend, and from a result
//! of a backend to the framework's result. They do no input or output, so the glue to Python or HTTP only serialises.

pub mod aio;
pub mod artisan;
pub mod deepagents;
pub mod deerflow;

use super::exec_files::{decode, encode};

/// Decodes UTF-8, with U+FFFD for invalid bytes.
fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Encodes bytes as base64 in one line.
pub fn base64(bytes: &[u8]) -> String {
    encode(bytes, 0)
}

/// Decodes base64. White space is skipped, and padding is optional.
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    decode(text.as_bytes())
}

/// Formats nanoseconds since 1970 as ISO 8601 in UTC.
fn iso8601(nanos: u64) -> String {
    let seconds = nanos / 1_000_000_000;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Computes the date by eras of 400 years that begin in March, so that leap days come last.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year_of_era + next;
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}+00:00", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00+00:00"),
            (951_827_696, "2000-02-29T12:34:56+00:00"),
            (1_794_787_200, "2026-11-16T00:00:00+00:00"),
            (4_107_542_399, "2100-02-28T23:59:59+00:00"),
            (4_107_542_400, "2100-03-01T00:00:00+00:00"),
        ] {
            assert_eq!(iso8601(seconds * 1_000_000_000), text);
        }
    }
}
