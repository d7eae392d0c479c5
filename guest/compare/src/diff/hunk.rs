//! Grouping of changes into hunks, and changes to ignore.

use super::settings::Settings;
use crate::lines::{Change, Text, Whitespace, is_blank};

/// All changes of a pair of files.
pub(super) struct Hunks<'a> {
    pub texts: &'a [Text; 2],
    pub changes: Vec<Change>,
    /// Marks changes that consist of ignored lines only.
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

    pub(super) fn has_changes(&self) -> bool {
        self.ignored.iter().any(|ignored| !ignored)
    }

    /// Returns the changes that are not ignored, one by one.
    pub(super) fn each(&self) -> impl DoubleEndedIterator<Item = &Change> {
        self.changes.iter().zip(&self.ignored).filter(|(_, ignored)| !**ignored).map(|(change, _)| change)
    }

    /// Groups changes whose contexts overlap. An ignored change is part of a group only if another change is close.
    pub(super) fn groups(&self, context: usize) -> Vec<&[Change]> {
        let mut groups = Vec::new();
        let mut start = 0;
        for at in 0..self.changes.len() {
            let ends = match self.changes.get(at + 1) {
                None => true,
                Some(next) => {
                    let gap = next.from - (self.changes[at].from + self.changes[at].deleted);
                    // An ignored change is shown only within the context of another.
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
    let ignores_blanks = settings.rules.whitespace >= Whitespace::Trailing;
    let is_empty = content.is_empty() || (ignores_blanks && content.iter().all(|byte| is_blank(*byte)));
    if settings.ignore_blank_lines && is_empty {
        return true;
    }
    settings.ignore_matching.iter().any(|regex| regex.is_match(content))
}
