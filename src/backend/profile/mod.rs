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
    // A number of 64 bits ends in the year 2554, and jiff in 9999.
    let time = jiff::Timestamp::from_nanosecond(i128::from(nanos)).unwrap_or(jiff::Timestamp::MAX);
    time.strftime("%Y-%m-%dT%H:%M:%S+00:00").to_string()
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
