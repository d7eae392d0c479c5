//! The context format: the lines of both files, one after the other.

use super::Diff;
use super::hunk::Hunks;
use super::paint::Ink;
use super::pair::Side;
use crate::lines::Change;

impl Diff<'_> {
    pub(super) fn context(&mut self, sides: [&Side; 2], hunks: &Hunks<'_>) {
        self.header("***", sides[0], 0);
        self.header("---", sides[1], 1);
        for group in hunks.close(self.settings.context) {
            let shown = self.shown(group, hunks);
            self.out.push(b"***************");
            self.function_line(hunks, shown.from.0);
            self.out.byte(b'\n');
            self.place("***", "****", shown.from);
            if group.iter().any(|change| change.deleted > 0) {
                let marks = group.iter().map(|change| (change.from, change.deleted, mark(change, "- ")));
                self.half(hunks, 0, shown.from, marks, Ink::Deleted);
            }
            self.place("---", "----", shown.to);
            if group.iter().any(|change| change.inserted > 0) {
                let marks = group.iter().map(|change| (change.to, change.inserted, mark(change, "+ ")));
                self.half(hunks, 1, shown.to, marks, Ink::Added);
            }
        }
    }

    fn place(&mut self, before: &str, after: &str, (first, end): (usize, usize)) {
        let range = if end - first > 1 { format!("{},{end}", first + 1) } else { end.to_string() };
        self.start(Ink::Place);
        self.out.push(format!("{before} {range} {after}").as_bytes());
        self.stop();
        self.out.byte(b'\n');
    }

    fn half(
        &mut self,
        hunks: &Hunks<'_>,
        file: usize,
        shown: (usize, usize),
        marks: impl Iterator<Item = (usize, usize, &'static str)>,
        ink: Ink,
    ) {
        let mut line = shown.0;
        for (start, count, mark) in marks {
            for common in line..start {
                self.line("  ", hunks.texts[file].line(common), Some(ink));
            }
            for changed in start..start + count {
                self.line(mark, hunks.texts[file].line(changed), Some(ink));
            }
            line = start + count;
        }
        for common in line..shown.1 {
            self.line("  ", hunks.texts[file].line(common), Some(ink));
        }
    }
}

fn mark(change: &Change, alone: &'static str) -> &'static str {
    if change.deleted > 0 && change.inserted > 0 { "! " } else { alone }
}
