//! Texts: their encoding, their line ends and other peculiarities.

use super::answer::Answer;
use super::json::{self, Json};
use super::script;

/// Lines longer than this are reported as long.
const LONG: usize = 300;

/// An encoding: its name in a description, its MIME name, and the text in UTF-8.
struct Encoding {
    name: &'static str,
    mime: &'static str,
    text: String,
}

/// Returns the answer if the bytes are a text.
pub(super) fn answer(bytes: &[u8]) -> Option<Answer> {
    let encoding = encoding(bytes)?;
    let name = encoding.name;
    match json::parse(encoding.text.as_bytes()) {
        Some(Json::One) => return Some(Answer::text("JSON text data", "application/json", encoding.mime)),
        Some(Json::Lines) => {
            return Some(Answer::text("New Line Delimited JSON text data", "application/x-ndjson", encoding.mime));
        }
        None => {}
    }
    let oddities = oddities(&encoding.text);
    let Some(purpose) = script::purpose(&encoding.text) else {
        return Some(Answer::text(&format!("{name}{oddities}"), "text/plain", encoding.mime));
    };
    let text = if purpose.has_encoding {
        let run = if purpose.is_executable { " executable" } else { "" };
        format!("{}, {name}{run}{oddities}", purpose.text)
    } else {
        purpose.text
    };
    Some(Answer::text(&text, purpose.mime, encoding.mime))
}

fn encoding(bytes: &[u8]) -> Option<Encoding> {
    if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        let text = utf8(rest)?;
        return Some(Encoding { name: "Unicode text, UTF-8 (with BOM) text", mime: "utf-8", text });
    }
    for (mark, order, name, mime) in [
        (b"\xff\xfe", u16::from_le_bytes as fn([u8; 2]) -> u16, "Unicode text, UTF-16, little-endian text", "utf-16le"),
        (b"\xfe\xff", u16::from_be_bytes, "Unicode text, UTF-16, big-endian text", "utf-16be"),
    ] {
        if let Some(rest) = bytes.strip_prefix(mark) {
            let units: Vec<u16> = rest.chunks_exact(2).map(|pair| order([pair[0], pair[1]])).collect();
            return Some(Encoding { name, mime, text: String::from_utf16(&units).ok()? });
        }
    }
    if !bytes.iter().all(|byte| is_text(*byte)) {
        return None;
    }
    if bytes.is_ascii() {
        return Some(Encoding { name: "ASCII text", mime: "us-ascii", text: utf8(bytes)? });
    }
    if let Some(text) = utf8(bytes) {
        return Some(Encoding { name: "Unicode text, UTF-8 text", mime: "utf-8", text });
    }
    let is_latin = !bytes.iter().any(|byte| matches!(byte, 0x80..0xa0) && *byte != 0x85);
    let text = bytes.iter().map(|byte| char::from(*byte)).collect();
    Some(if is_latin {
        Encoding { name: "ISO-8859 text", mime: "iso-8859-1", text }
    } else {
        Encoding { name: "Non-ISO extended-ASCII text", mime: "unknown-8bit", text }
    })
}

/// Decodes UTF-8. The text may end in the middle of a character, because only the start of a file is read.
fn utf8(bytes: &[u8]) -> Option<String> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text.to_owned()),
        Err(error) if error.error_len().is_none() && bytes.len() > 1 << 19 => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).ok().map(str::to_owned)
        }
        Err(_) => None,
    }
}

/// Returns true for a byte that occurs in texts.
pub(super) fn is_text(byte: u8) -> bool {
    !matches!(byte, 0..=6 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f)
}

fn oddities(text: &str) -> String {
    let (mut crlf, mut lf, mut cr, mut longest, mut column) = (0, 0, 0, 0, 0);
    let mut nel = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {
                chars.next();
                crlf += 1;
                column = 0;
            }
            '\r' => {
                cr += 1;
                column = 0;
            }
            '\n' => {
                lf += 1;
                column = 0;
            }
            '\u{85}' => {
                nel += 1;
                column = 0;
            }
            _ => {
                column += 1;
                longest = longest.max(column);
            }
        }
    }
    let mut oddities = String::new();
    if longest > LONG {
        oddities.push_str(&format!(", with very long lines ({longest})"));
    }
    let ends = [(crlf, "CRLF"), (cr, "CR"), (lf, "LF"), (nel, "NEL")];
    let used: Vec<&str> = ends.iter().filter(|(count, _)| *count > 0).map(|(_, name)| *name).collect();
    if used.is_empty() {
        oddities.push_str(", with no line terminators");
    } else if used != ["LF"] {
        oddities.push_str(&format!(", with {} line terminators", used.join(", ")));
    }
    if text.contains('\x1b') {
        oddities.push_str(", with escape sequences");
    }
    if text.contains('\x08') {
        oddities.push_str(", with overstriking");
    }
    oddities
}
