//! Lines in memory.

use std::cmp::Ordering;

use memchr::{memchr, memchr_iter, memrchr};

use super::options::Settings;
use super::radix;

/// Lines one after the other, each with its end.
pub(super) struct Batch {
    bytes: Vec<u8>,
    count: usize,
    end: u8,
}

/// The position of a line, and the part of its key that decides most comparisons.
#[derive(Clone, Copy)]
pub(super) struct Line {
    pub(super) start: u32,
    pub(super) length: u32,
    pub(super) hint: u64,
}

impl Batch {
    pub(super) fn new(end: u8) -> Batch {
        Batch { bytes: Vec::new(), count: 0, end }
    }

    /// Adds bytes that were read.
    pub(super) fn add(&mut self, piece: &[u8]) {
        self.count += memchr_iter(self.end, piece).count();
        self.bytes.extend_from_slice(piece);
    }

    /// Ends the last line of a file if the file does not.
    pub(super) fn end_line(&mut self) {
        if self.bytes.last().is_some_and(|last| *last != self.end) {
            self.bytes.push(self.end);
            self.count += 1;
        }
    }

    /// Returns the bytes of memory for sorting: the lines, their index, and the space of a stable sort or of `radix`.
    pub(super) fn size(&self) -> usize {
        self.bytes.len() + self.count * (size_of::<Line>() + size_of::<Line>() / 2)
    }

    /// Splits off the last line, which is not complete.
    pub(super) fn split_last(&mut self) -> Batch {
        let keep = memrchr(self.end, &self.bytes).map_or(0, |at| at + 1);
        Batch { bytes: self.bytes.split_off(keep), count: 0, end: self.end }
    }

    /// Returns the lines in order.
    pub(super) fn sorted(&self, settings: &Settings) -> Vec<Line> {
        // One more for a last line without an end; a vector that grows would need three times the memory.
        let mut lines = Vec::with_capacity(self.count + 1);
        let mut start = 0;
        while start < self.bytes.len() {
            let rest = &self.bytes[start..];
            let length = memchr(self.end, rest).unwrap_or(rest.len());
            lines.push(Line { start: start as u32, length: length as u32, hint: 0 });
            start += length + 1;
        }
        if settings.is_plain() {
            radix::sort(&self.bytes, &mut lines);
            if settings.hint_reversed() {
                lines.reverse();
            }
            return lines;
        }
        for line in &mut lines {
            line.hint = settings.hint(self.line(line));
        }
        let order = |a: &Line, b: &Line| {
            let by_hint = if settings.hint_reversed() { b.hint.cmp(&a.hint) } else { a.hint.cmp(&b.hint) };
            by_hint.then_with(|| settings.compare_hinted(self.line(a), self.line(b), a.hint))
        };
        // Only identical lines compare equal then, so that an unstable sort makes no difference.
        if settings.is_total() {
            lines.sort_unstable_by(order);
        } else {
            lines.sort_by(order);
        }
        lines
    }

    /// Returns the bytes of sorted lines; with `-u`, of the first of equal ones.
    pub(super) fn output_lines<'a>(
        &'a self,
        lines: &'a [Line],
        settings: &'a Settings,
    ) -> impl Iterator<Item = &'a [u8]> {
        let mut last: Option<&[u8]> = None;
        lines.iter().map(|line| self.line(line)).filter(move |line| {
            if !settings.unique {
                return true;
            }
            let is_new = last.is_none_or(|last| settings.compare_keys(last, line) != Ordering::Equal);
            if is_new {
                last = Some(line);
            }
            is_new
        })
    }

    fn line(&self, line: &Line) -> &[u8] {
        &self.bytes[line.start as usize..(line.start + line.length) as usize]
    }
}
