//! Which changes are shown together, and which do not count.

use super::settings::Settings;
use crate::lines::{Change, Text, Whitespace};

/// All changes of a pair of files.
pub(super) struct Hunks<'a> {
    pub texts: &'a [Text; 2],
    pub changes: Vec<Change>,
    /// Changes of nothing but lines that are ignored.
    ignored: Vec<bool>,
}

impl<'a> Hunks<'a> {
    pub(super) fn new(changes: Vec<Change>, texts: &'a [Text; 2], settings: &Settings) -> Hunks<'a> {
        let may_ignore = settings.ignore_blank_lines || !settings.ignore_matching.is_empty();
        let ignored = changes
            .iter()
            .map(|change| {
                may_ignore
                    && (change.from..change.from + change.deleted).all(|line| is_ignored(&texts[0], line, settings))
                    && (change.to..change.to + change.inserted).all(|line| is_ignored(&texts[1], line, settings))
            })
            .collect();
        Hunks { texts, changes, ignored }
    }

    pub(super) fn any_counts(&self) -> bool {
        self.ignored.iter().any(|ignored| !ignored)
    }

    /// The changes that count, each on its own.
    pub(super) fn each(&self) -> impl DoubleEndedIterator<Item = &Change> {
        self.changes.iter().zip(&self.ignored).filter(|(_, ignored)| !**ignored).map(|(change, _)| change)
    }

    /// The changes that are so close that their contexts meet, together. Those that do not count go along with others.
    pub(super) fn close(&self, context: usize) -> Vec<&[Change]> {
        let mut groups = Vec::new();
        let mut start = 0;
        for at in 0..self.changes.len() {
            let ends = match self.changes.get(at + 1) {
                None => true,
                Some(next) => {
                    let gap = next.from - (self.changes[at].from + self.changes[at].deleted);
                    // One that does not count is shown only within the context of another.
                    gap >= if self.ignored[at + 1] { context } else { 2 * context + 1 }
                }
            };
            if ends {
                if !self.ignored[start..=at].iter().all(|ignored| *ignored) {
                    groups.push(&self.changes[start..=at]);
                }
                start = at + 1;
            }
        }
        groups
    }
}

fn is_ignored(text: &Text, line: usize, settings: &Settings) -> bool {
    let content = text.content(line);
    if settings.ignore_blank_lines {
        let is_blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'\x0b';
        if content.is_empty() || (settings.rules.whitespace >= Whitespace::Trailing && content.iter().all(is_blank)) {
            return true;
        }
    }
    settings.ignore_matching.iter().any(|regex| regex.is_match(content))
}
