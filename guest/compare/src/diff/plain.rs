//! The normal format, and scripts for `ed` and RCS.

use super::Diff;
use super::hunk::Hunks;
use super::paint::LineColor;
use crate::lines::Change;

/// Formats a range of lines, counted from 1. An empty range is shown as the line before it.
fn range(start: usize, count: usize) -> String {
    match count {
        0 => start.to_string(),
        1 => (start + 1).to_string(),
        _ => format!("{},{}", start + 1, start + count),
    }
}

fn letter(change: &Change) -> char {
    match (change.deleted, change.inserted) {
        (0, _) => 'a',
        (_, 0) => 'd',
        _ => 'c',
    }
}

impl Diff<'_> {
    pub(super) fn normal(&mut self, hunks: &Hunks<'_>) {
        for change in hunks.each() {
            self.start_color(LineColor::Location);
            let from = range(change.from, change.deleted);
            let location = format!("{from}{}{}", letter(change), range(change.to, change.inserted));
            self.out.push(location.as_bytes());
            self.stop_color();
            self.out.byte(b'\n');
            for line in change.from..change.from + change.deleted {
                self.line("< ", hunks.texts[0].line(line), Some(LineColor::Deleted));
            }
            if change.deleted > 0 && change.inserted > 0 {
                self.out.push(b"---\n");
            }
            for line in change.to..change.to + change.inserted {
                self.line("> ", hunks.texts[1].line(line), Some(LineColor::Added));
            }
        }
    }

    /// Writes a script from the last change to the first, so that line numbers stay valid while it runs.
    pub(super) fn ed(&mut self, hunks: &Hunks<'_>) {
        for change in hunks.each().rev() {
            let location = format!("{}{}\n", range(change.from, change.deleted), letter(change));
            self.out.push(location.as_bytes());
            if change.inserted == 0 {
                continue;
            }
            let mut inserting = true;
            for line in change.to..change.to + change.inserted {
                if !inserting {
                    self.out.push(b"a\n");
                }
                inserting = true;
                let content = hunks.texts[1].content(line);
                if content == b"." {
                    // A lone dot would end the inserted text, so two are inserted and one is deleted again.
                    self.out.push(b"..\n.\ns/.//\n");
                    inserting = false;
                } else {
                    self.out.push(content);
                    self.out.byte(b'\n');
                }
            }
            if inserting {
                self.out.push(b".\n");
            }
        }
    }

    pub(super) fn rcs(&mut self, hunks: &Hunks<'_>) {
        for change in hunks.each() {
            if change.deleted > 0 {
                self.out.push(format!("d{} {}\n", change.from + 1, change.deleted).as_bytes());
            }
            if change.inserted > 0 {
                self.out.push(format!("a{} {}\n", change.from + change.deleted, change.inserted).as_bytes());
                for line in change.to..change.to + change.inserted {
                    self.out.push(hunks.texts[1].line(line));
                }
            }
        }
    }
}
