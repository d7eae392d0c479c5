//! A text and its bytes.

use isopod_gnu::input::Input;
use isopod_sys::Errno;

/// A whole text.
pub(super) struct Text {
    /// The file's name; empty for standard input.
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
    /// In capitals, if case does not count. glibc folds a text in this way before it searches it.
    folded: Option<Vec<u8>>,
}

impl Text {
    /// Reads a file; `-` and no name at all are standard input.
    pub(super) fn read(path: &str, fold: bool) -> Result<Text, Errno> {
        let path = if path.is_empty() { "-" } else { path };
        let bytes = Input::open(path)?.read_all()?;
        let folded = fold.then(|| bytes.to_ascii_uppercase());
        let name = if path == "-" { String::new() } else { path.to_owned() };
        Ok(Text { name, bytes, folded })
    }

    /// Returns the bytes that are compared and searched.
    pub(super) fn searched(&self) -> &[u8] {
        self.folded.as_deref().unwrap_or(&self.bytes)
    }

    /// Returns the index of the first byte from `at` on, before `limit`, that is no white space.
    pub(super) fn after_white(&self, mut at: usize, limit: usize) -> usize {
        while at < limit && is_white(self.bytes[at]) {
            at += 1;
        }
        at
    }

    /// Returns the index of the first byte from `at` on, before `limit`, that is white space.
    pub(super) fn after_black(&self, mut at: usize, limit: usize) -> usize {
        while at < limit && !is_white(self.bytes[at]) {
            at += 1;
        }
        at
    }

    /// Goes back from `at` over white space, to `start` at most.
    pub(super) fn before_white(&self, mut at: usize, start: usize) -> usize {
        while at > start && is_white(self.bytes[at - 1]) {
            at -= 1;
        }
        at
    }
}

/// Returns true for C's white space.
pub(super) fn is_white(byte: u8) -> bool {
    byte == 0x0b || byte.is_ascii_whitespace()
}
