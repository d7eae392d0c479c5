//! Bytes as text.
//!
//! The shell works on characters, but its data may be any bytes. A byte that is not part of valid UTF-8 becomes one
//! character of a reserved range, and that byte again in output. bash counts such a byte as one character too. A
//! genuine character of that range is split into such bytes, so that output always has the bytes of the input.

use std::borrow::Cow;

/// The start of the reserved range: the character of byte 0x80.
const FIRST: u32 = 0x10_FF80;
/// The first byte of every character of the range, which is rare in text.
const LEAD: u8 = 0xF4;

/// Converts bytes to text.
pub fn from_bytes(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) if !text.as_bytes().contains(&LEAD) || !text.chars().any(is_reserved) => text,
        Ok(text) => escape(text.as_bytes()),
        Err(error) => escape(error.as_bytes()),
    }
}

/// Converts a text to bytes.
pub fn to_bytes(text: &str) -> Cow<'_, [u8]> {
    if !text.as_bytes().contains(&LEAD) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    push_bytes(text, &mut bytes);
    Cow::Owned(bytes)
}

/// Appends the bytes of a text.
pub fn push_bytes(text: &str, bytes: &mut Vec<u8>) {
    if !text.as_bytes().contains(&LEAD) {
        bytes.extend_from_slice(text.as_bytes());
        return;
    }
    for c in text.chars() {
        match is_reserved(c) {
            true => bytes.push((u32::from(c) - FIRST + 0x80) as u8),
            false => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

/// Returns the text as other programs may see it; `None` if it is not valid UTF-8.
pub fn outward(text: &str) -> Option<Cow<'_, str>> {
    if !text.as_bytes().contains(&LEAD) {
        return Some(Cow::Borrowed(text));
    }
    String::from_utf8(to_bytes(text).into_owned()).ok().map(Cow::Owned)
}

/// Returns the character that stands for a byte.
pub fn byte_char(byte: u8) -> char {
    match byte < 0x80 {
        true => char::from(byte),
        false => char::from_u32(FIRST + u32::from(byte) - 0x80).unwrap_or(char::REPLACEMENT_CHARACTER),
    }
}

fn is_reserved(c: char) -> bool {
    u32::from(c) >= FIRST
}

fn escape(mut bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    while !bytes.is_empty() {
        let (valid, rest) = match std::str::from_utf8(bytes) {
            Ok(valid) => (valid, &[][..]),
            Err(error) => {
                let (valid, rest) = bytes.split_at(error.valid_up_to());
                (std::str::from_utf8(valid).unwrap_or_default(), rest)
            }
        };
        for c in valid.chars() {
            match is_reserved(c) {
                true => text.extend(c.encode_utf8(&mut [0; 4]).bytes().map(byte_char)),
                false => text.push(c),
            }
        }
        match rest.split_first() {
            Some((byte, after)) => {
                text.push(byte_char(*byte));
                bytes = after;
            }
            None => bytes = rest,
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_come_back() {
        for bytes in [&b"abc"[..], b"\xff\xfe", b"a\xc3\xa9\xc3", "\u{10FFFF}\u{10FF80}x".as_bytes(), b""] {
            assert_eq!(to_bytes(&from_bytes(bytes.to_vec())).as_ref(), bytes);
        }
    }

    #[test]
    fn a_stray_byte_is_one_character() {
        assert_eq!(from_bytes(b"a\xffb".to_vec()).chars().count(), 3);
    }
}
