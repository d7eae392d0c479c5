//! The output of a command on a terminal. Characters that would move the cursor, change the title, reach the clipboard or
//! hide text are shown as escapes.

use std::fmt::Write as _;

/// Escapes a stream of bytes that comes in pieces.
#[derive(Default)]
pub(super) struct Escaper {
    /// The first bytes of a character, or a carriage return, that goes on in the next piece.
    rest: Vec<u8>,
}

impl Escaper {
    /// Returns text for a terminal. Line feeds, tabs and carriage returns before a line feed stay; all other control
    /// characters are escaped, and so are the characters that hide or reorder text. Bytes that are not UTF-8 become U+FFFD.
    pub(super) fn escape(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut all = std::mem::take(&mut self.rest);
        all.extend_from_slice(bytes);
        let keep = unfinished(&all);
        self.rest = all.split_off(all.len() - keep);
        show(&all)
    }

    /// Returns the bytes that were held back for the next piece.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        show(&std::mem::take(&mut self.rest))
    }
}

fn show(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let mut safe = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let ends_line = c == '\r' && chars.peek() == Some(&'\n');
        if ends_line || !is_dangerous(c) {
            safe.push(c);
        } else {
            // Writing to a String cannot fail.
            let _ = write!(safe, "{}", c.escape_default());
        }
    }
    safe.into_bytes()
}

/// Escapes a whole text for a terminal.
pub(super) fn for_terminal(text: &str) -> String {
    String::from_utf8_lossy(&show(text.as_bytes())).into_owned()
}

/// Escapes JSON for a terminal. Its value stays the same.
pub(super) fn json_for_terminal(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        if is_dangerous(c) {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                let _ = write!(safe, "\\u{unit:04x}");
            });
        } else {
            safe.push(c);
        }
    }
    safe
}

/// Returns the number of bytes at the end that go on in the next piece.
fn unfinished(bytes: &[u8]) -> usize {
    if bytes.last() == Some(&b'\r') {
        return 1;
    }
    // At most three bytes of a character can stand before its last.
    (1..=bytes.len().min(3))
        .find(|&len| {
            let tail = &bytes[bytes.len() - len..];
            tail[0] >= 0xc0 && std::str::from_utf8(tail).is_err_and(|error| error.error_len().is_none())
        })
        .unwrap_or(0)
}

fn is_dangerous(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // Soft hyphen, Arabic letter mark, zero-width, separators, bidirectional overrides and isolates, variation
        // selectors, byte order mark, tags.
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{2069}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(pieces: &[&[u8]]) -> String {
        let mut escaper = Escaper::default();
        let mut bytes: Vec<u8> = pieces.iter().flat_map(|piece| escaper.escape(piece)).collect();
        bytes.extend(escaper.finish());
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn escape_sequences_are_shown_and_plain_text_is_not_touched() {
        let cases: [(&[u8], &str); 7] = [
            (b"plain\ttext\n", "plain\ttext\n"),
            (b"dos\r\nline", "dos\r\nline"),
            (b"hidden\rshown\n", "hidden\\rshown\n"),
            (b"\x1b]52;c;aGk=\x07", "\\u{1b}]52;c;aGk=\\u{7}"),
            (b"\x1b[31mred", "\\u{1b}[31mred"),
            ("a\u{202e}b".as_bytes(), "a\\u{202e}b"),
            (b"\xff\x9b.\xc3", "\u{fffd}\u{fffd}.\u{fffd}"),
        ];
        for (bytes, shown) in cases {
            assert_eq!(escaped(&[bytes]), shown);
        }
    }

    #[test]
    fn a_character_in_two_pieces_is_one_character() {
        let text = "é✓𝄞\r\n".as_bytes();
        for at in 0..=text.len() {
            assert_eq!(escaped(&[&text[..at], &text[at..]]), "é✓𝄞\r\n", "{at}");
        }
    }

    #[test]
    fn json_stays_the_same_json() {
        let json = serde_json::json!({ "text": "a\u{202e}b\u{9b}\u{e0041}" });
        let shown = json_for_terminal(&json.to_string());
        assert!(shown.is_ascii());
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), json);
    }
}
