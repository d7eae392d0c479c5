//! One hunk, and the search for the lines it applies to.

use std::ops::RangeInclusive;

/// The effect of a line in a hunk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Common,
    Deleted,
    Inserted,
}

/// Changed lines with their context. Line numbers start at 1.
#[derive(Default, Clone, Debug)]
pub(super) struct Hunk {
    pub old_start: usize,
    pub new_start: usize,
    pub lines: Vec<(Kind, Vec<u8>)>,
    /// The text after the range in the hunk's header.
    pub function: Vec<u8>,
}

/// The position at which a hunk applies.
pub(super) struct Fit {
    /// The index of the first line of the pattern.
    pub at: usize,
    pub fuzz: usize,
}

impl Hunk {
    /// Returns the lines that the file has to contain.
    pub(super) fn pattern(&self) -> Vec<&[u8]> {
        self.with(Kind::Inserted)
    }

    /// Returns the lines that replace the pattern.
    pub(super) fn replacement(&self) -> Vec<&[u8]> {
        self.with(Kind::Deleted)
    }

    fn with(&self, without: Kind) -> Vec<&[u8]> {
        self.lines.iter().filter(|(kind, _)| *kind != without).map(|(_, line)| line.as_slice()).collect()
    }

    /// Returns the number of common lines at the start and at the end.
    fn context(&self) -> (usize, usize) {
        let is_common = |line: &&(Kind, Vec<u8>)| line.0 == Kind::Common;
        (self.lines.iter().take_while(is_common).count(), self.lines.iter().rev().take_while(is_common).count())
    }

    /// Returns the index of the pattern's first line. An empty pattern is addressed by the line before it.
    pub(super) fn first(&self) -> usize {
        if self.pattern().is_empty() { self.old_start } else { self.old_start.saturating_sub(1) }
    }

    pub(super) fn reversed(mut self) -> Hunk {
        std::mem::swap(&mut self.old_start, &mut self.new_start);
        for (kind, _) in &mut self.lines {
            *kind = match kind {
                Kind::Common => Kind::Common,
                Kind::Deleted => Kind::Inserted,
                Kind::Inserted => Kind::Deleted,
            };
        }
        // Deleted lines come before inserted ones, also after the reversal.
        let mut sorted: Vec<(Kind, Vec<u8>)> = Vec::with_capacity(self.lines.len());
        let mut inserted = Vec::new();
        for line in std::mem::take(&mut self.lines) {
            match line.0 {
                Kind::Inserted => inserted.push(line),
                Kind::Deleted => sorted.push(line),
                Kind::Common => {
                    sorted.append(&mut inserted);
                    sorted.push(line);
                }
            }
        }
        sorted.append(&mut inserted);
        self.lines = sorted;
        self
    }

    /// Searches for the pattern around a guess, with full context first and then with less, within the range of
    /// `fuzz`.
    pub(super) fn find(
        &self,
        file: &[Vec<u8>],
        guess: isize,
        frozen: usize,
        fuzz: RangeInclusive<usize>,
        same: &dyn Fn(&[u8], &[u8]) -> bool,
    ) -> Option<Fit> {
        let pattern = self.pattern();
        let (prefix, suffix) = self.context();
        let context = prefix.max(suffix);
        let matches = |at: isize, skip: usize, cut: usize| {
            let Ok(at) = usize::try_from(at) else { return false };
            if at < frozen && !pattern.is_empty() || at + pattern.len() > file.len() || skip + cut > pattern.len() {
                return false;
            }
            (skip..pattern.len() - cut).all(|line| same(&file[at + line], pattern[line]))
        };
        for fuzz in *fuzz.start()..=(*fuzz.end()).min(context) {
            // Less context on one side means that the hunk is at that end of the file and has to apply exactly there.
            let prefix_fuzz = (fuzz + prefix) as isize - context as isize;
            let suffix_fuzz = (fuzz + suffix) as isize - context as isize;
            let found = if pattern.is_empty() {
                Some(guess.clamp(0, file.len() as isize))
            } else if prefix_fuzz < 0 && self.old_start <= 1 {
                let fits_whole = suffix_fuzz >= 0 || pattern.len() == file.len();
                (fits_whole && matches(0, 0, suffix_fuzz.max(0) as usize)).then_some(0)
            } else if suffix_fuzz < 0 {
                let at = file.len() as isize - pattern.len() as isize;
                matches(at, prefix_fuzz.max(0) as usize, 0).then_some(at)
            } else {
                let (skip, cut) = (prefix_fuzz.max(0) as usize, suffix_fuzz as usize);
                let furthest = guess.max(file.len() as isize - guess).max(0);
                let near = |offset: isize| {
                    let candidates = if offset == 0 { vec![guess] } else { vec![guess + offset, guess - offset] };
                    candidates.into_iter().find(|at| matches(*at, skip, cut))
                };
                (0..=furthest).find_map(near)
            };
            if let Some(at) = found {
                return Some(Fit { at: at as usize, fuzz });
            }
        }
        None
    }
}
