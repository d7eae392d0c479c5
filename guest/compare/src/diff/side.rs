//! The side-by-side format: two columns.

use isopod_gnu::width;

use super::Diff;
use super::hunk::Hunks;

/// The least number of columns between the two halves.
const GUTTER: usize = 3;

/// The layout of the two halves.
struct Columns {
    /// The width of each half.
    half: usize,
    /// The column at which the second half starts.
    second: usize,
    tab_size: usize,
    expand_tabs: bool,
}

impl Columns {
    fn new(width: usize, tab_size: usize, expand_tabs: bool) -> Columns {
        let tab = if expand_tabs { 1 } else { tab_size };
        let apart = tab + GUTTER;
        let unaligned = (width >> 1) + (apart >> 1) + (width & apart & 1);
        let offset = unaligned - unaligned % tab;
        let half = if offset <= GUTTER || width <= offset { 0 } else { (offset - GUTTER).min(width - offset) };
        Columns { half, second: if half > 0 { offset } else { width }, tab_size, expand_tabs }
    }

    /// Moves from one column to another, with tabs unless these are expanded. Returns the column reached.
    fn advance(&self, mut from: usize, to: usize, out: &mut Vec<u8>) -> usize {
        if !self.expand_tabs {
            let mut tab = from + self.tab_size - from % self.tab_size;
            while tab <= to {
                out.push(b'\t');
                from = tab;
                tab += self.tab_size;
            }
        }
        while from < to {
            out.push(b' ');
            from += 1;
        }
        to.max(from)
    }

    /// Writes as much of a line as fits into a half. Returns the column after it.
    fn half_line(&self, line: &[u8], out: &mut Vec<u8>) -> usize {
        let (mut read, mut written) = (0, 0);
        for piece in line.utf8_chunks() {
            for c in piece.valid().chars() {
                match c {
                    '\n' => return written,
                    '\t' => {
                        let width = self.tab_size - read % self.tab_size;
                        if read == written {
                            let stop = written + width;
                            if self.expand_tabs {
                                while written < stop.min(self.half) {
                                    out.push(b' ');
                                    written += 1;
                                }
                            } else if stop < self.half {
                                written = stop;
                                out.push(b'\t');
                            }
                        }
                        read += width;
                    }
                    c => {
                        let columns = width::of(c);
                        if c.is_control() {
                            if read < self.half {
                                out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                            }
                            continue;
                        }
                        read += columns;
                        if read <= self.half {
                            written = read;
                            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                        }
                    }
                }
            }
            for byte in piece.invalid() {
                if read < self.half {
                    read += 1;
                    written = read;
                    out.push(*byte);
                }
            }
        }
        written
    }

    fn row(&self, left: Option<&[u8]>, mut mark: u8, right: Option<&[u8]>) -> Vec<u8> {
        let mut out = Vec::new();
        let mut column = 0;
        let ends = |line: &[u8]| line.ends_with(b"\n");
        let mut newline = false;
        if let Some(left) = left {
            newline |= ends(left);
            column = self.half_line(left, &mut out);
        }
        if mark != b' ' {
            column = self.advance(column, (self.half + self.second - 1) / 2, &mut out) + 1;
            if mark == b'|' && right.is_some_and(|right| ends(right) != newline) {
                mark = if newline { b'/' } else { b'\\' };
            }
            out.push(mark);
        }
        if let Some(right) = right {
            newline |= ends(right);
            if right.first() != Some(&b'\n') {
                self.advance(column, self.second, &mut out);
                self.half_line(right, &mut out);
            }
        }
        if newline {
            out.push(b'\n');
        }
        out
    }
}

impl Diff<'_> {
    pub(super) fn side_by_side(&mut self, hunks: &Hunks<'_>) {
        let columns = Columns::new(self.settings.width, self.settings.rules.tab_size, self.settings.expand_tabs);
        let (mut left, mut right) = (0, 0);
        for change in hunks.each() {
            self.common(&columns, hunks, (left, change.from), (right, change.to));
            let paired = change.deleted.min(change.inserted);
            for offset in 0..change.deleted.max(change.inserted) {
                let (from, to) = (change.from + offset, change.to + offset);
                let (left, mark, right) = if offset < paired {
                    (Some(hunks.texts[0].line(from)), b'|', Some(hunks.texts[1].line(to)))
                } else if offset < change.deleted {
                    (Some(hunks.texts[0].line(from)), b'<', None)
                } else {
                    (None, b'>', Some(hunks.texts[1].line(to)))
                };
                self.out.push(&columns.row(left, mark, right));
            }
            (left, right) = (change.from + change.deleted, change.to + change.inserted);
        }
        let ends = (hunks.texts[0].count(), hunks.texts[1].count());
        self.common(&columns, hunks, (left, ends.0), (right, ends.1));
    }

    fn common(&mut self, columns: &Columns, hunks: &Hunks<'_>, left: (usize, usize), right: (usize, usize)) {
        if self.settings.suppress_common {
            return;
        }
        let (lefts, rights) = (left.1 - left.0, right.1 - right.0);
        for offset in 0..lefts.max(rights) {
            let at = |file: usize, start: usize, count: usize| {
                (offset < count).then(|| hunks.texts[file].line(start + offset))
            };
            let (first, second) = (at(0, left.0, lefts), at(1, right.0, rights));
            let row = match (first, second) {
                (Some(_), Some(_)) if self.settings.left_column => columns.row(first, b'(', None),
                (Some(_), Some(_)) => columns.row(first, b' ', second),
                (Some(_), None) => columns.row(first, b'<', None),
                _ => columns.row(None, b'>', second),
            };
            self.out.push(&row);
        }
    }
}
