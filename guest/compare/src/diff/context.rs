//! The context format: the lines of one file, then those of the other.

use super::Diff;
use super::hunk::Hunks;
use super::paint::LineColor;
use super::pair::Side;
use crate::lines::Change;

impl Diff<'_> {
    pub(super) fn context(&mut self, sides: [&Side; 2], hunks: &Hunks<'_>) {
        self.header("***", sides[0], 0);
        self.header("---", sides[1], 1);
        for group in hunks.groups(self.settings.context) {
            let shown = self.shown(group, hunks);
            self.out.push(b"***************");
            self.function_line(hunks, shown.from.0);
            self.out.byte(b'\n');
            self.location("***", "****", shown.from);
            if group.iter().any(|change| change.deleted > 0) {
                let marks = group.iter().map(|change| (change.from, change.deleted, mark(change, "- ")));
                self.half(hunks, 0, shown.from, marks, LineColor::Deleted);
            }
            self.location("---", "----", shown.to);
            if group.iter().any(|change| change.inserted > 0) {
                let marks = group.iter().map(|change| (change.to, change.inserted, mark(change, "+ ")));
                self.half(hunks, 1, shown.to, marks, LineColor::Added);
            }
        }
    }

    fn location(&mut self, before: &str, after: &str, (first, end): (usize, usize)) {
        let range = if end - first > 1 { format!("{},{end}", first + 1) } else { end.to_string() };
        self.start_color(LineColor::Location);
        self.out.push(format!("{before} {range} {after}").as_bytes());
        self.stop_color();
        self.out.byte(b'\n');
    }

    fn half(
        &mut self,
        hunks: &Hunks<'_>,
        file: usize,
        shown: (usize, usize),
        marks: impl Iterator<Item = (usize, usize, &'static str)>,
        color: LineColor,
    ) {
        let mut line = shown.0;
        for (start, count, mark) in marks {
            for common in line..start {
                self.line("  ", hunks.texts[file].line(common), Some(color));
            }
            for changed in start..start + count {
                self.line(mark, hunks.texts[file].line(changed), Some(color));
            }
            line = start + count;
        }
        for common in line..shown.1 {
            self.line("  ", hunks.texts[file].line(common), Some(color));
        }
    }
}

fn mark(change: &Change, alone: &'static str) -> &'static str {
    if change.deleted > 0 && change.inserted > 0 { "! " } else { alone }
}
