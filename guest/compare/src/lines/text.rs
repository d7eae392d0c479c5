//! The lines of a file, and the rules by which they are equal.

use std::borrow::Cow;

use super::Rules;

/// The white space to ignore.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Whitespace {
    #[default]
    Counts,
    /// A tab equals the blanks up to its tab stop.
    TabExpansion,
    /// White space at the end of a line.
    Trailing,
    /// The amount of white space within a line, and any at its end.
    Amount,
    All,
}

/// The number of bytes at the start of a file that decide if it is text. GNU looks at one buffer.
const SNIFFED: usize = 4096;

/// Returns true if a file is not text: if there is a NUL near its start.
pub(crate) fn is_binary(content: &[u8]) -> bool {
    content[..content.len().min(SNIFFED)].contains(&0)
}

/// Returns the content with every carriage return before a newline removed.
pub(crate) fn without_carriage_returns(content: &[u8]) -> Vec<u8> {
    let mut stripped = Vec::with_capacity(content.len());
    for (at, byte) in content.iter().enumerate() {
        if *byte != b'\r' || content.get(at + 1) != Some(&b'\n') {
            stripped.push(*byte);
        }
    }
    stripped
}

/// The content of a file with its division into lines.
pub(crate) struct Text {
    pub(crate) bytes: Vec<u8>,
    /// The offset of each line, and the end.
    starts: Vec<usize>,
}

impl Text {
    pub(crate) fn new(bytes: Vec<u8>) -> Text {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', &bytes).map(|at| at + 1));
        if starts.last() != Some(&bytes.len()) {
            starts.push(bytes.len());
        }
        Text { bytes, starts }
    }

    pub(crate) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns a line with its newline, if it has one.
    pub(crate) fn line(&self, number: usize) -> &[u8] {
        &self.bytes[self.starts[number]..self.starts[number + 1]]
    }

    /// Returns a line without its newline.
    pub(crate) fn content(&self, number: usize) -> &[u8] {
        let line = self.line(number);
        line.strip_suffix(b"\n").unwrap_or(line)
    }

    /// Returns the normalized form of a line. Lines with the same form count as equal.
    pub(super) fn key(&self, number: usize, rules: &Rules) -> Cow<'_, [u8]> {
        let line = self.line(number);
        if rules.whitespace == Whitespace::Counts && !rules.ignore_case {
            return Cow::Borrowed(line);
        }
        let mut key = normal(line, rules.whitespace, rules.tab_size);
        if rules.ignore_case {
            key = key.to_ascii_lowercase();
        }
        Cow::Owned(key)
    }
}

/// Returns true for white space within a line, and for its end.
pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\x0b' | b'\x0c' | b'\r' | b'\n')
}

fn normal(line: &[u8], whitespace: Whitespace, tab_size: usize) -> Vec<u8> {
    let trimmed = || {
        let end = line.iter().rposition(|byte| !is_blank(*byte)).map_or(0, |last| last + 1);
        &line[..end]
    };
    match whitespace {
        Whitespace::Counts => line.to_vec(),
        Whitespace::Trailing => trimmed().to_vec(),
        Whitespace::All => line.iter().copied().filter(|byte| !is_blank(*byte)).collect(),
        Whitespace::Amount => {
            let mut normal = Vec::with_capacity(line.len());
            let mut after_blank = false;
            for byte in trimmed() {
                if is_blank(*byte) {
                    after_blank = true;
                    continue;
                }
                if std::mem::take(&mut after_blank) {
                    normal.push(b' ');
                }
                normal.push(*byte);
            }
            normal
        }
        Whitespace::TabExpansion => {
            let mut normal = Vec::with_capacity(line.len());
            let mut column = 0;
            for byte in line {
                match byte {
                    b'\t' => {
                        let width = tab_size - column % tab_size;
                        normal.resize(normal.len() + width, b' ');
                        column += width;
                    }
                    b'\r' => {
                        column = 0;
                        normal.push(b'\r');
                    }
                    b'\x08' => {
                        column = column.saturating_sub(1);
                        normal.push(b'\x08');
                    }
                    byte => {
                        // Continuation bytes of a character take no column.
                        column += usize::from(byte & 0xc0 != 0x80);
                        normal.push(*byte);
                    }
                }
            }
            normal
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_carriage_returns_before_newlines_are_removed() {
        assert_eq!(without_carriage_returns(b"a\r\n\xff\rb\r\r\nc\r"), b"a\n\xff\rb\r\nc\r");
    }
}
