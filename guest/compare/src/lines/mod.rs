//! Line-by-line comparison of two files, with the result of GNU `diff`.
//!
//! Many edit scripts lead from one file to another, several of them equally short, and the output of `diff` is
//! compared with GNU's. So this follows GNU's algorithm in each step: equal lines at both ends are cut off except for
//! a few, lines without a match are left out of the search (`discard`), the shortest edit script is searched from
//! both ends with a bound on the effort (`search`), and changes are moved to where they read best (`shift`).

mod discard;
mod search;
mod shift;
mod text;

pub(crate) use text::{Text, Whitespace, is_binary, is_blank, without_carriage_returns};

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};

/// The rules by which lines are equal, and the effort of the search.
#[derive(Clone, Default)]
pub(crate) struct Rules {
    pub whitespace: Whitespace,
    pub ignore_case: bool,
    /// Finds the shortest edit script at any cost.
    pub minimal: bool,
    /// The number of equal lines at each end that take part, so that changes can be moved into them.
    pub horizon: usize,
    pub tab_size: usize,
}

/// Lines of the first file that are replaced by lines of the second. Line numbers start at 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub from: usize,
    pub deleted: usize,
    pub to: usize,
    pub inserted: usize,
}

/// Returns all changes in order.
pub(crate) fn changes(a: &Text, b: &Text, rules: &Rules) -> Vec<Change> {
    let (prefix, suffix) = equal_ends(a, b, rules.horizon);
    let ends = [a.count() - suffix, b.count() - suffix];
    let texts = [a, b];
    let mut classes = HashMap::with_capacity_and_hasher(ends[0] - prefix, BuildLineHasher);
    let mut equivalents = [Vec::new(), Vec::new()];
    for file in 0..2 {
        equivalents[file] = (prefix..ends[file])
            .map(|line| {
                let next = classes.len() as u32 + 1;
                *classes.entry(texts[file].key(line, rules)).or_insert(next)
            })
            .collect();
    }
    let count = classes.len() + 1;
    drop(classes);
    // One extra mark at each end is never set; `shift` reads it.
    let mut changed = [vec![false; equivalents[0].len() + 2], vec![false; equivalents[1].len() + 2]];
    let candidates = discard::candidates(&equivalents, count, rules.minimal, &mut changed);
    search::search(&candidates, &equivalents, rules.minimal, &mut changed);
    shift::shift(&equivalents, &mut changed);
    script(&changed, prefix)
}

/// Returns the number of identical lines at the start and at the end that are cut off, `horizon` lines less on each
/// side.
fn equal_ends(a: &Text, b: &Text, horizon: usize) -> (usize, usize) {
    let least = a.count().min(b.count());
    let prefix = (0..least).take_while(|line| a.line(*line) == b.line(*line)).count();
    let kept = prefix.saturating_sub(horizon);
    let left = least - kept;
    let same = |line: &usize| a.line(a.count() - 1 - line) == b.line(b.count() - 1 - line);
    let suffix = (0..left).take_while(same).count();
    (kept, suffix.saturating_sub(horizon))
}

fn script(changed: &[Vec<bool>; 2], prefix: usize) -> Vec<Change> {
    let mut changes = Vec::new();
    let (mut i, mut j) = (1, 1);
    let ends = [changed[0].len() - 1, changed[1].len() - 1];
    while i < ends[0] || j < ends[1] {
        if changed[0][i] || changed[1][j] {
            let (from, to) = (i, j);
            while changed[0][i] {
                i += 1;
            }
            while changed[1][j] {
                j += 1;
            }
            changes.push(Change { from: from - 1 + prefix, deleted: i - from, to: to - 1 + prefix, inserted: j - to });
        } else {
            i += 1;
            j += 1;
        }
    }
    changes
}

/// A hasher that mixes whole words. Input made to collide slows down only the process that reads it.
#[derive(Clone, Copy)]
struct BuildLineHasher;

impl BuildHasher for BuildLineHasher {
    type Hasher = LineHasher;
    fn build_hasher(&self) -> LineHasher {
        LineHasher(0)
    }
}

struct LineHasher(u64);

impl Hasher for LineHasher {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        let mut words = bytes.chunks_exact(8);
        for word in &mut words {
            let word = word.iter().rev().fold(0, |word, byte| (word << 8) | u64::from(*byte));
            self.write_u64(word);
        }
        let rest = words.remainder().iter().fold(0, |rest, byte| (rest << 8) | u64::from(*byte));
        self.write_u64(rest);
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes_of(a: &str, b: &str) -> Vec<(usize, usize, usize, usize)> {
        let rules = Rules { tab_size: 8, ..Rules::default() };
        let found = changes(&Text::new(a.into()), &Text::new(b.into()), &rules);
        found.iter().map(|change| (change.from, change.deleted, change.to, change.inserted)).collect()
    }

    /// Recorded from GNU diff 3.8.
    #[test]
    fn changes_are_where_gnu_finds_them() {
        assert_eq!(changes_of("a\nb\nc\n", "a\nb\nc\n"), []);
        assert_eq!(changes_of("", "a\n"), [(0, 0, 0, 1)]);
        assert_eq!(changes_of("a\nb\nc\n", "a\nx\nc\n"), [(1, 1, 1, 1)]);
        assert_eq!(changes_of("x\n{\n}\n", "x\n{\n}\n{\n}\n"), [(3, 0, 3, 2)]);
        assert_eq!(changes_of("a\nb", "a\nb\n"), [(1, 1, 1, 1)]);
    }

    #[test]
    fn large_files_that_have_nothing_in_common_take_no_time() {
        let (a, b): (String, String) =
            (0..20_000).map(|line| (format!("a{line}\n"), format!("b{}\n", line % 7))).unzip();
        assert_eq!(changes_of(&a, &b), [(0, 20_000, 0, 20_000)]);
    }
}
