//! What a word is.

use std::collections::BTreeSet;
use std::ops::Range;

use isopod_sys::Errno;

use super::pattern::Pattern;
use super::text::Text;

/// How words are told from what is between them.
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
    /// Words of letters. What is beyond ASCII counts as none, since bytes are looked at.
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

    /// The next word in a part of a text. One that matched may be empty.
    pub(super) fn next(&self, text: &Text, part: Range<usize>) -> Option<Range<usize>> {
        let base = part.start;
        let found = match self {
            Words::Matching(pattern) => pattern.find(&text.searched()[part])?,
            // Case counts here, even where it does not.
            Words::Bytes(letters) => {
                let text = &text.bytes[part];
                let start = text.iter().position(|byte| letters[usize::from(*byte)])?;
                let length = text[start..].iter().take_while(|byte| letters[usize::from(**byte)]).count();
                start..start + length
            }
        };
        Some(base + found.start..base + found.end)
    }

    /// Where a word that begins here ends, at `limit` at the latest; else the next byte.
    pub(super) fn skip(&self, text: &Text, at: usize, limit: usize) -> usize {
        match self {
            // A match of nothing leads on, too: GNU's loops for ever here.
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

    /// Where to look for the begin of fields in a long context: after what is at this place before a key, if that can be
    /// found out without going through a long word.
    pub(super) fn jump(&self, text: &Text, at: usize, key: usize) -> Left {
        let at = match self {
            Words::Matching(_) => self.skip(text, at, key),
            Words::Bytes(_) => at + 1,
        };
        Left { at, jumped: true }
    }

    /// Skips words and other bytes from the left of a context until what is left before `end` is at most `width` bytes; a
    /// negative width leads beyond.
    pub(super) fn trim(&self, text: &Text, from: &Left, end: usize, width: i64) -> usize {
        match self {
            Words::Matching(_) => {
                let mut at = from.at;
                while at as i64 + width < end as i64 && at < text.bytes.len() {
                    at = self.skip(text, at, end);
                }
                at
            }
            // Skipping stops at every byte that is not inside a word, so that the way there need not be gone.
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

/// Where the fields before a key may begin.
pub(super) struct Left {
    pub(super) at: usize,
    /// It is a place in the middle of the context, maybe in a word, which is passed over then.
    pub(super) jumped: bool,
}

impl WordList {
    /// Reads a file with a word a line; `None` if it has none, which is as good as no file.
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
