//! A file as lines.

use std::borrow::Cow;

use super::Rules;

/// Which blanks are ignored.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Whitespace {
    #[default]
    Counts,
    /// Tabs are as good as the blanks that they stand for.
    TabExpansion,
    /// Blanks at the end of a line.
    Trailing,
    /// How many blanks there are, and at the end whether.
    Amount,
    All,
}

impl Whitespace {
    /// With another option that ignores blanks.
    pub(crate) fn and(self, other: Whitespace) -> Whitespace {
        self.max(other)
    }
}

/// The content of a file, cut into lines.
pub(crate) struct Text {
    pub(crate) bytes: Vec<u8>,
    /// Where lines start, and the end.
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

    /// A line with its newline, if it has one.
    pub(crate) fn line(&self, number: usize) -> &[u8] {
        &self.bytes[self.starts[number]..self.starts[number + 1]]
    }

    /// A line without its newline.
    pub(crate) fn content(&self, number: usize) -> &[u8] {
        let line = self.line(number);
        line.strip_suffix(b"\n").unwrap_or(line)
    }

    /// What two lines have in common that count as equal.
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

fn is_blank(byte: u8) -> bool {
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
                        // Bytes within a character take no column of their own.
                        column += usize::from(byte & 0xc0 != 0x80);
                        normal.push(*byte);
                    }
                }
            }
            normal
        }
    }
}
