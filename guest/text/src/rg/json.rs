//! `--json`: one object per line.

use std::fmt::Write as _;

/// Formats a text as ripgrep does: as a string if it is UTF-8, otherwise as bytes in base64.
pub(super) fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => format!("{{\"text\":{}}}", quoted(text)),
        Err(_) => format!("{{\"bytes\":\"{}\"}}", base64(bytes)),
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

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let word = chunk.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * place)) as usize & 63];
            out.push(if place <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
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
