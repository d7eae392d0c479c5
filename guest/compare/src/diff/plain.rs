//! The normal format, and scripts for `ed` and RCS.

use super::Diff;
use super::hunk::Hunks;
use super::paint::Ink;
use crate::lines::Change;

/// A range of lines as it is shown, from 1: an empty one is the line before it.
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
            self.start(Ink::Place);
            let from = range(change.from, change.deleted);
            let place = format!("{from}{}{}", letter(change), range(change.to, change.inserted));
            self.out.push(place.as_bytes());
            self.stop();
            self.out.byte(b'\n');
            for line in change.from..change.from + change.deleted {
                self.line("< ", hunks.texts[0].line(line), Some(Ink::Deleted));
            }
            if change.deleted > 0 && change.inserted > 0 {
                self.out.push(b"---\n");
            }
            for line in change.to..change.to + change.inserted {
                self.line("> ", hunks.texts[1].line(line), Some(Ink::Added));
            }
        }
    }

    /// From the end to the start, so that line numbers stay right while the script runs.
    pub(super) fn ed(&mut self, hunks: &Hunks<'_>) {
        for change in hunks.each().rev() {
            let place = format!("{}{}\n", range(change.from, change.deleted), letter(change));
            self.out.push(place.as_bytes());
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
                    // A lone dot would end the text: two are put in, and one is taken away again.
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
