//! Pages of text files, for all backends.

use super::{BackendError, Page, Result, bounds};

/// The range of a page: the first line, and the limits of lines and bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageRequest {
    pub(super) offset: u64,
    pub(super) limit: u64,
    pub(super) most: u64,
    pub(super) universal_newlines: bool,
}

/// Takes a file piece by piece and keeps the lines of the page. It never holds more than the page may have.
pub(super) struct Pager {
    wanted: PageRequest,
    text: Vec<u8>,
    /// The number of complete lines of the file so far.
    ended: u64,
    /// The number of complete lines in `text`.
    lines: u64,
    /// True if the last line is incomplete.
    is_within: bool,
    /// True if a `\n` at the start of the next piece belongs to the `\r` before it.
    skip_lf: bool,
    is_cut: bool,
    /// True if lines after the page are counted.
    counts_all: bool,
}

impl Pager {
    /// Makes a pager for a file of `size` bytes.
    pub(super) fn new(wanted: PageRequest, size: u64) -> Pager {
        Pager {
            wanted,
            text: Vec::new(),
            ended: 0,
            lines: 0,
            is_within: false,
            skip_lf: false,
            is_cut: false,
            counts_all: size <= bounds::COUNT_BYTES,
        }
    }

    /// Takes the next piece. Returns false if no more pieces are needed.
    pub(super) fn feed(&mut self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.skip_lf) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            if self.is_full() && !self.counts_all {
                return false;
            }
            let is_end = |byte: &u8| *byte == b'\n' || self.wanted.universal_newlines && *byte == b'\r';
            match bytes.iter().position(is_end) {
                Some(at) => {
                    self.skip_lf = bytes[at] == b'\r';
                    self.take(&bytes[..at]);
                    self.end_line();
                    bytes = &bytes[at + 1..];
                }
                None => {
                    self.take(bytes);
                    self.is_within = true;
                    bytes = &[];
                }
            }
        }
        true
    }

    /// Returns the page. `at_end` tells whether all of the file was fed.
    pub(super) fn finish(mut self, path: &str, at_end: bool) -> Result<Page> {
        if self.is_within {
            self.end_line();
        }
        if self.lines == 0 && !self.is_cut {
            let (offset, lines) = (self.wanted.offset, self.ended);
            return Err(BackendError::PastEnd { path: path.to_owned(), offset, lines });
        }
        // The start of a line that is longer than a page is returned, the rest is not. The next page starts after that
        // line, or a reader would request the same page for ever.
        let lines = self.lines.max(1);
        let total_lines = at_end.then_some(self.ended);
        let end = self.wanted.offset + lines;
        let next_offset = if total_lines.is_some_and(|total| end >= total) { None } else { Some(end) };
        Ok(Page {
            text: String::from_utf8_lossy(&self.text).into_owned(),
            offset: self.wanted.offset,
            lines,
            total_lines,
            next_offset,
            is_cut: self.is_cut,
        })
    }

    fn is_full(&self) -> bool {
        self.is_cut || self.lines >= self.wanted.limit
    }

    fn is_wanted(&self) -> bool {
        self.ended >= self.wanted.offset && !self.is_full()
    }

    /// Adds a part of a line.
    fn take(&mut self, part: &[u8]) {
        if !self.is_wanted() {
            return;
        }
        let most = usize::try_from(self.wanted.most).unwrap_or(usize::MAX);
        if self.lines > 0 && !self.is_within {
            if self.text.len() >= most {
                self.is_cut = true;
                return;
            }
            self.text.push(b'\n');
        }
        let room = most.saturating_sub(self.text.len());
        if part.len() > room {
            self.text.extend_from_slice(&part[..room]);
            self.text.truncate(whole_chars(&self.text));
            self.is_cut = true;
        } else {
            self.text.extend_from_slice(part);
        }
    }

    fn end_line(&mut self) {
        if self.is_wanted() {
            self.lines += 1;
        }
        self.ended += 1;
        self.is_within = false;
    }
}

/// The length of the text without an incomplete character at its end.
fn whole_chars(bytes: &[u8]) -> usize {
    let start = bytes.len().saturating_sub(3);
    for at in (start..bytes.len()).rev() {
        let want = match bytes[at] {
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xff => 4,
            0x80..=0xbf => continue,
            _ => 1,
        };
        return if bytes.len() - at < want { at } else { bytes.len() };
    }
    bytes.len()
}

/// Returns true if the start of a file is text. An incomplete character at its end does not count against it.
pub(super) fn is_text(start: &[u8]) -> bool {
    match std::str::from_utf8(start) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none() && start.len() >= bounds::SNIFF_BYTES,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str, offset: u64, limit: u64, most: u64) -> Result<Page> {
        let wanted = PageRequest { offset, limit, most, universal_newlines: true };
        let whole = {
            let mut pager = Pager::new(wanted, text.len() as u64);
            let more = pager.feed(text.as_bytes());
            pager.finish("/f", more)
        };
        for size in [1, 2, 5] {
            let mut pager = Pager::new(wanted, text.len() as u64);
            let more = text.as_bytes().chunks(size).all(|piece| pager.feed(piece));
            assert_eq!(pager.finish("/f", more), whole, "{text:?} in pieces of {size}");
        }
        whole
    }

    #[test]
    fn pages_are_lines_without_a_last_newline() {
        for (text, offset, limit, expected, total, next) in [
            ("a\nb\nc\n", 0, 10, "a\nb\nc", 3, None),
            ("a\nb\nc", 0, 10, "a\nb\nc", 3, None),
            ("a\nb\nc\n", 1, 1, "b", 3, Some(2)),
            ("a\nb\nc\n", 0, 3, "a\nb\nc", 3, None),
            ("a\r\nb\rc\r\n", 0, 2, "a\nb", 3, Some(2)),
            ("a\r\n", 0, 1, "a", 1, None),
            ("\n\n", 0, 9, "\n", 2, None),
            ("\n\nx", 1, 9, "\nx", 3, None),
            ("a\n\n\nb", 0, 3, "a\n\n", 4, Some(3)),
        ] {
            let page = page(text, offset, limit, 100).unwrap();
            assert_eq!(
                (page.text.as_str(), page.total_lines, page.next_offset),
                (expected, Some(total), next),
                "{text:?}"
            );
        }
        let past = BackendError::PastEnd { path: "/f".into(), offset: 3, lines: 3 };
        assert_eq!(page("a\nb\nc\n", 3, 1, 9), Err(past));
    }

    #[test]
    fn a_page_that_is_full_is_cut_between_characters_and_goes_on_with_the_line() {
        let page1 = page("ab\ncdef\ng\n", 0, 9, 5).unwrap();
        assert_eq!((page1.text.as_str(), page1.lines, page1.next_offset, page1.is_cut), ("ab\ncd", 1, Some(1), true));
        let page2 = page("ééé\nx", 0, 9, 3).unwrap();
        assert_eq!((page2.text.as_str(), page2.lines, page2.next_offset, page2.is_cut), ("é", 1, Some(1), true));
    }
}
