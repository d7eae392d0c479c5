//! The unified format, and the parts that it shares with the context format.

use isopod_gnu::calendar;

use super::Diff;
use super::hunk::Hunks;
use super::paint::LineColor;
use super::pair::{Side, quoted};
use crate::lines::Change;

/// The lines shown for a group of changes: the first, and the one after the last, in each file.
pub(super) struct ShownLines {
    pub from: (usize, usize),
    pub to: (usize, usize),
}

impl Diff<'_> {
    pub(super) fn unified(&mut self, sides: [&Side; 2], hunks: &Hunks<'_>) {
        self.header("---", sides[0], 0);
        self.header("+++", sides[1], 1);
        for group in hunks.groups(self.settings.context) {
            let shown = self.shown(group, hunks);
            self.start_color(LineColor::Location);
            self.out.push(format!("@@ -{} +{} @@", range(shown.from), range(shown.to)).as_bytes());
            self.stop_color();
            self.function_line(hunks, shown.from.0);
            self.out.byte(b'\n');
            let mut line = shown.from.0;
            for change in group {
                for common in line..change.from {
                    self.line(" ", hunks.texts[0].line(common), None);
                }
                for deleted in change.from..change.from + change.deleted {
                    self.line("-", hunks.texts[0].line(deleted), Some(LineColor::Deleted));
                }
                for inserted in change.to..change.to + change.inserted {
                    self.line("+", hunks.texts[1].line(inserted), Some(LineColor::Added));
                }
                line = change.from + change.deleted;
            }
            for common in line..shown.from.1 {
                self.line(" ", hunks.texts[0].line(common), None);
            }
        }
    }

    /// Returns the lines of a group with the context around them.
    pub(super) fn shown(&self, group: &[Change], hunks: &Hunks<'_>) -> ShownLines {
        let context = self.settings.context;
        let (first, last) = (&group[0], &group[group.len() - 1]);
        let end = |at: usize, file: usize| (at + context).min(hunks.texts[file].count());
        ShownLines {
            from: (first.from.saturating_sub(context), end(last.from + last.deleted, 0)),
            to: (first.to.saturating_sub(context), end(last.to + last.inserted, 1)),
        }
    }

    /// Writes the name of a file with its time, or its label.
    pub(super) fn header(&mut self, mark: &str, side: &Side, index: usize) {
        let line = match self.settings.labels.get(index) {
            Some(label) => format!("{mark} {label}"),
            None => {
                let modified = side.found.as_ref().map_or(0, |found| found.modified);
                format!("{mark} {}\t{}", quoted(&side.path), calendar::timestamp(modified))
            }
        };
        self.paint_header(&line);
    }

    /// Writes the last line before the hunk that matches the function pattern, behind the hunk's range.
    pub(super) fn function_line(&mut self, hunks: &Hunks<'_>, before: usize) {
        let Some(regex) = self.settings.function.clone() else { return };
        let Some(line) = (0..before).rev().find(|line| regex.is_match(hunks.texts[0].content(*line))) else { return };
        let content = hunks.texts[0].content(line);
        let start = content.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(content.len());
        let shown = &content[start..content.len().min(start + 40)];
        let end = shown.iter().rposition(|byte| !byte.is_ascii_whitespace()).map_or(0, |last| last + 1);
        self.out.byte(b' ');
        self.out.push(&shown[..end]);
    }
}

fn range((first, end): (usize, usize)) -> String {
    match end - first {
        0 => format!("{first},0"),
        1 => (first + 1).to_string(),
        count => format!("{},{count}", first + 1),
    }
}
