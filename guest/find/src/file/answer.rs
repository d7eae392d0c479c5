//! The answer of `file` about one file.

/// A description, a MIME type and an encoding.
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) mime: String,
    pub(super) encoding: &'static str,
    /// True if special permissions are printed before the description.
    pub(super) is_regular: bool,
}

impl Answer {
    /// Creates the answer for a binary file.
    pub(super) fn binary(text: &str, mime: &str) -> Answer {
        let is_regular = !mime.starts_with("inode/");
        Answer { text: text.to_owned(), mime: mime.to_owned(), encoding: "binary", is_regular }
    }

    /// Creates the answer for a text in an encoding.
    pub(super) fn text(text: &str, mime: &str, encoding: &'static str) -> Answer {
        Answer { text: text.to_owned(), mime: mime.to_owned(), encoding, is_regular: true }
    }

    /// Returns the line to print.
    pub(super) fn line(&self, has_type: bool, has_encoding: bool) -> String {
        match (has_type, has_encoding) {
            (true, true) => format!("{}; charset={}", self.mime, self.encoding),
            (true, false) => self.mime.clone(),
            (false, true) => self.encoding.to_owned(),
            (false, false) => self.text.clone(),
        }
    }
}

/// The bytes of a file, read as numbers. Beyond the end they are zero.
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl Bytes<'_> {
    pub(super) fn byte(&self, at: usize) -> u8 {
        self.0.get(at).copied().unwrap_or(0)
    }

    pub(super) fn le16(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.byte(at), self.byte(at + 1)])
    }

    pub(super) fn be16(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.byte(at), self.byte(at + 1)])
    }

    pub(super) fn le32(&self, at: usize) -> u32 {
        u32::from_le_bytes([self.byte(at), self.byte(at + 1), self.byte(at + 2), self.byte(at + 3)])
    }

    pub(super) fn be32(&self, at: usize) -> u32 {
        self.le32(at).swap_bytes()
    }

    pub(super) fn has(&self, at: usize, wanted: &[u8]) -> bool {
        self.0.get(at..at + wanted.len()) == Some(wanted)
    }
}
