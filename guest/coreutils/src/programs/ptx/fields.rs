//! The part of a word's context that fits in a line.
//!
//! A line has two halves. The left one has the text before the word (`before`), the right one the word and the text
//! after it (`after`). If there is room to the left, it takes the text that did not fit at the right (`tail`), and the
//! other way round (`head`). Fields break between words.

use std::borrow::Cow;

use super::index::{Index, Occurrence};
use super::options::Settings;
use super::text::Text;
use super::words::ContextStart;

/// The widths of the parts of all lines. They are `i64`, as in GNU's on 64-bit machines, and may be negative.
pub(super) struct Layout<'a> {
    pub(super) settings: &'a Settings,
    index: &'a Index,
    pub(super) half: i64,
    before: i64,
    after: i64,
}

/// A part of a text, with a flag if it is cut.
#[derive(Clone, Copy, Default)]
pub(super) struct Field {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) is_cut: bool,
}

/// The fields of a line.
pub(super) struct Fields<'a> {
    pub(super) text: &'a Text,
    pub(super) tail: Field,
    pub(super) before: Field,
    pub(super) after: Field,
    pub(super) head: Field,
    pub(super) reference: Cow<'a, [u8]>,
}

impl Field {
    /// Returns its length, which is negative if white space was removed at both sides of an empty field.
    pub(super) fn width(&self) -> i64 {
        self.end as i64 - self.start as i64
    }
}

impl<'a> Layout<'a> {
    pub(super) fn new(settings: &'a Settings, index: &'a Index) -> Layout<'a> {
        let mut line = settings.width;
        if settings.has_references() && !settings.right_reference {
            line = (line - index.reference_width as i64 - settings.gap).max(0);
        }
        let half = line / 2;
        let marks = 2 * settings.truncation.len() as i64;
        let (before, after) = if settings.traditional {
            (half - settings.gap, half - marks - 1)
        } else {
            ((half - settings.gap - marks).max(0), half - marks)
        };
        Layout { settings, index, half, before, after }
    }

    /// Returns the columns of references at the left, with the gap after them.
    pub(super) fn reference_columns(&self) -> i64 {
        self.index.reference_width as i64 + self.settings.gap
    }

    /// Cuts a word's context into fields.
    pub(super) fn cut(&self, occurrence: &Occurrence) -> Fields<'a> {
        let Settings { words, gap, .. } = self.settings;
        let text = &self.index.texts[occurrence.text];
        let length = text.bytes.len();
        let (key, context) = (&occurrence.key, &occurrence.context);
        let marks = !self.settings.truncation.is_empty();

        let mut after = Field { start: key.start, end: key.end, is_cut: false };
        after.end = self.fill(text, key.end, key.start as i64 + self.after, context.end);
        after.is_cut = marks && after.end < context.end;
        after.end = text.before_white(after.end, after.start);

        // Far enough back for all that can be in a line, as long as no word is cut.
        let most = self.half + self.index.longest_word as i64;
        let left = if key.start as i64 - context.start as i64 > most {
            words.jump(text, key.start - most as usize, key.start)
        } else {
            ContextStart { at: context.start, jumped: false }
        };

        let mut before = Field { start: left.at, end: text.before_white(key.start, left.at), is_cut: false };
        before.start = words.trim(text, &left, before.end, self.before);
        before.is_cut = marks && text.before_white(before.start, 0) > context.start;
        before.start = text.after_white(before.start, length);

        let mut tail = Field::default();
        let tail_width = self.before - before.width() - gap;
        if tail_width > 0 {
            tail.start = text.after_white(after.end, length);
            tail.end = self.fill(text, tail.start, tail.start as i64 + tail_width - 1, context.end);
            if tail.end > tail.start {
                tail.is_cut = marks && tail.end < context.end;
                after.is_cut = false;
            }
            tail.end = text.before_white(tail.end, tail.start);
        }

        let mut head = Field::default();
        let head_width = self.after - after.width() - gap;
        if head_width > 0 {
            head.end = text.before_white(before.start, 0);
            head.start = words.trim(text, &left, head.end, head_width);
            if head.end > head.start {
                head.is_cut = marks && head.start > context.start;
                before.is_cut = false;
            }
            head.start = text.after_white(head.start, head.end);
        }
        Fields { text, tail, before, after, head, reference: self.reference(text, occurrence) }
    }

    /// Returns the end of as many words from `start` on as end at `last` or before.
    fn fill(&self, text: &Text, start: usize, last: i64, limit: usize) -> usize {
        let (mut end, mut at) = (start, start);
        while at < limit && at as i64 <= last {
            end = at;
            at = self.settings.words.skip(text, at, limit);
        }
        if at as i64 <= last { at } else { end }
    }

    fn reference(&self, text: &'a Text, occurrence: &Occurrence) -> Cow<'a, [u8]> {
        let line = occurrence.line;
        if self.settings.auto_reference {
            Cow::Owned(format!("{}:{}", text.name, line.number + 1).into_bytes())
        } else if self.settings.input_reference {
            let end = text.after_black(line.start, occurrence.context.end);
            Cow::Borrowed(&text.bytes[line.start..end])
        } else {
            Cow::Borrowed(&[])
        }
    }
}
