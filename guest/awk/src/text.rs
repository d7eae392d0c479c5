//! Characters: UTF-8, and each byte that is not part of a character counts as one.

/// Returns the length of the first character in bytes.
#[inline]
pub(crate) fn length_of_first(text: &[u8]) -> usize {
    let length = match text.first() {
        None => return 0,
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        Some(_) => return 1,
    };
    match text.get(..length) {
        Some(encoded) if std::str::from_utf8(encoded).is_ok() => length,
        _ => 1,
    }
}

/// Returns the number of characters.
pub(crate) fn count(text: &[u8]) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    let mut count = 0;
    let mut at = 0;
    while at < text.len() {
        at += length_of_first(&text[at..]);
        count += 1;
    }
    count
}

/// Returns the offset of a character by its number, counted from 0, or the end if there are fewer characters.
pub(crate) fn offset(text: &[u8], number: usize) -> usize {
    if text.is_ascii() {
        return number.min(text.len());
    }
    let mut at = 0;
    for _ in 0..number {
        if at >= text.len() {
            break;
        }
        at += length_of_first(&text[at..]);
    }
    at
}

/// Returns the text with each character mapped. A character that maps to none or to several stays.
pub(crate) fn mapped(text: &[u8], ascii: fn(&u8) -> u8, other: fn(char) -> Option<char>) -> Vec<u8> {
    if text.is_ascii() {
        return text.iter().map(ascii).collect();
    }
    let mut changed = Vec::with_capacity(text.len());
    for piece in text.utf8_chunks() {
        for c in piece.valid().chars() {
            let c = other(c).unwrap_or(c);
            changed.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        changed.extend_from_slice(piece.invalid());
    }
    changed
}

/// Returns the lower-case form of a letter, if it is a single character.
pub(crate) fn lower(c: char) -> Option<char> {
    only(c.to_lowercase())
}

/// Returns the upper-case form of a letter, if it is a single character.
pub(crate) fn upper(c: char) -> Option<char> {
    only(c.to_uppercase())
}

fn only(mut chars: impl Iterator<Item = char>) -> Option<char> {
    chars.next().filter(|_| chars.next().is_none())
}
