//! The definition of a word.

use std::collections::BTreeSet;
use std::ops::Range;

use isopod_sys::Errno;

use super::pattern::Pattern;
use super::text::Text;

/// The rule that finds words.
pub(super) enum Words {
    /// Runs of these bytes.
    Bytes(Box<[bool; 256]>),
    /// Matches.
    Matching(Pattern),
}

/// A list of words, in capitals if case does not count.
pub(super) struct WordList {
    words: BTreeSet<Vec<u8>>,
}

impl Words {
    /// Words of ASCII letters: bytes are compared, so no others count.
    pub(super) fn letters() -> Words {
        Words::Bytes(Box::new(std::array::from_fn(|byte| (byte as u8).is_ascii_alphabetic())))
    }

    /// Words of all but these bytes.
    pub(super) fn between(breaks: &[u8]) -> Words {
        let mut letters = [true; 256];
        for byte in breaks {
            letters[usize::from(*byte)] = false;
        }
        Words::Bytes(Box::new(letters))
    }

    /// Returns the next word in a part of a text. A match of a pattern may be empty.
    pub(super) fn next(&self, text: &Text, part: Range<usize>) -> Option<Range<usize>> {
        let base = part.start;
        let found = match self {
            Words::Matching(pattern) => pattern.find(&text.searched()[part])?,
            // Case counts here, even with -f.
            Words::Bytes(letters) => {
                let text = &text.bytes[part];
                let start = text.iter().position(|byte| letters[usize::from(*byte)])?;
                let length = text[start..].iter().take_while(|byte| letters[usize::from(**byte)]).count();
                start..start + length
            }
        };
        Some(base + found.start..base + found.end)
    }

    /// Returns the end of a word that begins here, at most `limit`; else the next byte.
    pub(super) fn skip(&self, text: &Text, at: usize, limit: usize) -> usize {
        match self {
            // An empty match must advance, too: GNU's loops for ever here.
            Words::Matching(pattern) => match pattern.find(&text.searched()[at.min(limit)..limit]) {
                Some(found) if found.start == 0 => at + found.end.max(1),
                _ => at + 1,
            },
            Words::Bytes(letters) if letters[usize::from(text.bytes[at])] => {
                let rest = &text.bytes[at..limit.max(at)];
                at + rest.iter().take_while(|byte| letters[usize::from(**byte)]).count()
            }
            Words::Bytes(_) => at + 1,
        }
    }

    /// Returns a start for the fields of a long context that is near the key: behind the match or byte at `at`. Long
    /// words are not scanned for their start.
    pub(super) fn jump(&self, text: &Text, at: usize, key: usize) -> ContextStart {
        let at = match self {
            Words::Matching(_) => self.skip(text, at, key),
            Words::Bytes(_) => at + 1,
        };
        ContextStart { at, jumped: true }
    }

    /// Skips words and other bytes from the left of a context until at most `width` bytes are left before `end`; a
    /// negative width leads beyond it.
    pub(super) fn trim(&self, text: &Text, from: &ContextStart, end: usize, width: i64) -> usize {
        match self {
            Words::Matching(_) => {
                let mut at = from.at;
                while at as i64 + width < end as i64 && at < text.bytes.len() {
                    at = self.skip(text, at, end);
                }
                at
            }
            // Skipping stops at every byte outside a word, so the bytes before need not be scanned.
            Words::Bytes(letters) => {
                let least = (end as i64 - width).clamp(0, text.bytes.len() as i64) as usize;
                if !from.jumped && least <= from.at {
                    return from.at;
                }
                let is_letter = |at: usize| letters[usize::from(text.bytes[at])];
                let mut at = least.max(from.at);
                while at > 0 && at < end && is_letter(at - 1) && is_letter(at) {
                    at += 1;
                }
                at
            }
        }
    }
}

/// The earliest start of the fields before a key.
pub(super) struct ContextStart {
    pub(super) at: usize,
    /// The start is inside the context, maybe in a word, which is skipped then.
    pub(super) jumped: bool,
}

impl WordList {
    /// Reads a file with one word a line; `None` if it has none.
    pub(super) fn read(path: &str, fold: bool) -> Result<Option<WordList>, Errno> {
        let text = Text::read(path, fold)?;
        let lines = text.searched().split(|byte| *byte == b'\n');
        let words: BTreeSet<Vec<u8>> = lines.filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect();
        Ok((!words.is_empty()).then_some(WordList { words }))
    }

    pub(super) fn contains(&self, word: &[u8]) -> bool {
        self.words.contains(word)
    }
}
