//! Characters: UTF-8, and any byte that is part of none counts as one.

/// How long the character at the start of a text is.
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

/// Characters in a text.
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

/// Where the character with this number, from 0, starts; the end if there are not as many.
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

/// With every character changed that one other stands for.
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

/// The one lower-case letter of a letter.
pub(crate) fn lower(c: char) -> Option<char> {
    only(c.to_lowercase())
}

/// The one upper-case letter of a letter.
pub(crate) fn upper(c: char) -> Option<char> {
    only(c.to_uppercase())
}

fn only(mut chars: impl Iterator<Item = char>) -> Option<char> {
    chars.next().filter(|_| chars.next().is_none())
}
