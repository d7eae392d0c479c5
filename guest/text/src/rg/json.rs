//! `--json`: one object per line.

use std::fmt::Write as _;

use data_encoding::BASE64;

/// Formats a text as ripgrep does: as a string if it is UTF-8, otherwise as bytes in base64.
pub(super) fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => format!("{{\"text\":{}}}", quoted(text)),
        Err(_) => format!("{{\"bytes\":\"{}\"}}", BASE64.encode(bytes)),
    }
}

/// Formats a string with quotes and escapes.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\x08' => out.push_str("\\b"),
            '\x0c' => out.push_str("\\f"),
            c if u32::from(c) < 0x20 => {
                // Writing to a string does not fail.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Formats the statistics of a search as an object. Times are not measured.
pub(super) fn stats(searches: u64, with_match: u64, searched: u64, printed: u64, lines: u64, matches: u64) -> String {
    format!(
        "{{\"elapsed\":{{\"secs\":0,\"nanos\":0,\"human\":\"0.000000s\"}},\"searches\":{searches},\
         \"searches_with_match\":{with_match},\"bytes_searched\":{searched},\"bytes_printed\":{printed},\
         \"matched_lines\":{lines},\"matches\":{matches}}}"
    )
}
