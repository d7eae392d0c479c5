//! The words of texts, each with its context and its reference.

use std::ops::Range;

use super::options::Settings;
use super::quoted;
use super::text::Text;

/// The words of texts.
#[derive(Default)]
pub(super) struct Index {
    pub(super) texts: Vec<Text>,
    pub(super) occurrences: Vec<Occurrence>,
    /// The length of the longest word, in the list or not.
    pub(super) longest_word: usize,
    /// The width of the widest reference.
    pub(super) reference_width: usize,
}

/// A word in a text.
pub(super) struct Occurrence {
    pub(super) text: usize,
    pub(super) key: Range<usize>,
    /// The line or sentence that it is in, without white space at its end.
    pub(super) context: Range<usize>,
    /// The line that it is in.
    pub(super) line: Line,
}

/// A line of a text.
#[derive(Clone, Copy)]
pub(super) struct Line {
    pub(super) start: usize,
    pub(super) number: usize,
}

impl Index {
    /// Adds the words of a text.
    pub(super) fn add(&mut self, text: Text, settings: &Settings) -> Result<(), String> {
        let searched = text.searched();
        let length = searched.len();
        let mut lines = Lines::new(&text, settings.input_reference);
        let mut next = 0;
        while next < length {
            let mut context = next..length;
            if let Some(ends) = &settings.contexts
                && let Some(found) = ends.pattern.find(&searched[context.clone()])
            {
                // GNU's takes any match at the very start for an empty one.
                if found.start == 0 {
                    let shown = quoted(&ends.source);
                    return Err(format!("error: regular expression has a match of length zero: {shown}"));
                }
                context.end = next + found.end;
            }
            let mut at = next;
            next = context.end;
            context.end = text.before_white(context.end, context.start);
            while at <= context.end
                && let Some(key) = settings.words.next(&text, at..context.end)
            {
                at = key.end.max(key.start + 1);
                if key.is_empty() {
                    continue;
                }
                self.longest_word = self.longest_word.max(key.len());
                if settings.input_reference {
                    lines.go_to(key.start);
                    if lines.scanned > key.start {
                        continue;
                    }
                }
                if !settings.wants(&searched[key.clone()]) {
                    continue;
                }
                if settings.auto_reference {
                    lines.go_to(key.start);
                } else if settings.input_reference {
                    self.reference_width = self.reference_width.max(lines.reference);
                }
                // A reference at the start of a context is not part of it.
                if settings.input_reference && lines.line.start == context.start {
                    let after = text.after_black(context.start, context.end);
                    context.start = text.after_white(after, context.end);
                }
                let (text, context) = (self.texts.len(), context.clone());
                self.occurrences.push(Occurrence { text, key, context, line: lines.line });
            }
        }
        if settings.auto_reference {
            // GNU's reserves room for a line after the last one that has a word.
            let width = text.name.len() + (lines.line.number + 2).to_string().len() + 1;
            self.reference_width = self.reference_width.max(width);
        }
        self.texts.push(text);
        Ok(())
    }

    /// Sorts by word; equal words stay in the order of the input. GNU's sorts those of several files by the addresses
    /// of the files in memory, which are arbitrary.
    pub(super) fn sort(&mut self) {
        let texts = &self.texts;
        let key = |occurrence: &Occurrence| &texts[occurrence.text].searched()[occurrence.key.clone()];
        self.occurrences.sort_by(|a, b| key(a).cmp(key(b)));
    }
}

/// The position of the search in the lines of a text.
struct Lines<'a> {
    text: &'a Text,
    line: Line,
    /// The length of its reference.
    reference: usize,
    scanned: usize,
}

impl Lines<'_> {
    fn new(text: &Text, input_reference: bool) -> Lines<'_> {
        let mut lines = Lines { text, line: Line { start: 0, number: 0 }, reference: 0, scanned: 0 };
        // The first line's reference is skipped, so that no word in it counts.
        if input_reference {
            lines.reference = text.after_black(0, text.bytes.len());
            lines.scanned = text.after_white(lines.reference, text.bytes.len());
        }
        lines
    }

    /// Goes on to a place; at the start of a line, past its reference.
    fn go_to(&mut self, place: usize) {
        while self.scanned < place {
            self.scanned += 1;
            if self.text.bytes[self.scanned - 1] == b'\n' {
                let start = self.scanned;
                self.scanned = self.text.after_black(start, self.text.bytes.len());
                self.line = Line { start, number: self.line.number + 1 };
                self.reference = self.scanned - start;
            }
        }
    }
}
