//! A backtracking matcher for groups, back-references and word boundaries outside ASCII, which an automaton cannot
//! do.
//!
//! It follows one thread through the program after the other, in glibc's order of preference, and records visited
//! states. No state is entered twice at one position, so time is bounded by the product of pattern and text. With
//! back-references the contents of the referenced groups are part of the state. Time is still polynomial then, and
//! bounded by a limit.

use std::collections::HashSet;

use crate::program::{Program, Step};
use crate::set::{Class, others};
use crate::symbol::{Encoding, Symbol};
use crate::tree::Look;

/// The number of steps before states are recorded for a pattern with back-references. Most searches end sooner and
/// save the cost.
const UNRECORDED_STEPS: u64 = 20_000;

/// The limits of one search: steps, and recorded states. Only back-references come near them.
const STEP_LIMIT: u64 = 50_000_000;
const STATE_LIMIT: usize = 500_000;

/// Start and end of a group.
pub(crate) type Span = Option<(usize, usize)>;

/// The search exceeded its limits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GaveUp;

/// The range of a search, and the number of groups, the whole match included.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) base: usize,
    pub(crate) stop: usize,
    pub(crate) groups: usize,
}

/// One search.
pub(crate) struct Backtracker<'a> {
    program: &'a Program,
    text: &'a [u8],
    encoding: Encoding,
    fold: bool,
    line_end: Option<u8>,
    /// The first and the last offset of a match. Look-around conditions see the text outside of them.
    base: usize,
    stop: usize,
    visited: Visited,
    stack: Vec<Frame>,
    slots: Vec<Slot>,
    steps: u64,
}

/// Start and end of a group. `before` is set if the group had matched before its last start.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    start: Option<usize>,
    end: Option<usize>,
    before: bool,
}

enum Frame {
    /// A thread to try: a step and an offset.
    Try(usize, usize),
    /// The former value of a group, to be restored before the next thread.
    Restore(usize, Slot),
}

enum Visited {
    Bits { bits: Vec<u64>, width: usize },
    States(HashSet<(usize, usize, Vec<Option<usize>>)>),
}

impl<'a> Backtracker<'a> {
    pub(crate) fn new(
        program: &'a Program,
        text: &'a [u8],
        bounds: Bounds,
        encoding: Encoding,
        fold: bool,
        line_end: Option<u8>,
    ) -> Backtracker<'a> {
        let Bounds { base, stop, groups } = bounds;
        let visited = if program.referenced.is_empty() {
            Visited::Bits { bits: Vec::new(), width: stop + 1 - base }
        } else {
            Visited::States(HashSet::new())
        };
        let slots = vec![Slot::default(); groups];
        Backtracker { program, text, encoding, fold, line_end, base, stop, visited, stack: Vec::new(), slots, steps: 0 }
    }

    /// Returns the leftmost, longest match.
    pub(crate) fn find(&mut self) -> Result<Option<(usize, usize)>, GaveUp> {
        self.reset();
        let mut start = self.base;
        loop {
            if let Some(end) = self.explore(start, None)? {
                return Ok(Some((start, end)));
            }
            if start >= self.stop {
                return Ok(None);
            }
            start += self.encoding.at(self.text, start).1;
        }
    }

    /// Finds the groups of the match from `base` to `end`, in glibc's order of preference.
    pub(crate) fn groups(&mut self, end: usize, spans: &mut [Span]) -> Result<bool, GaveUp> {
        self.reset();
        let found = self.explore(self.base, Some(end))?.is_some();
        if found {
            for (span, slot) in spans.iter_mut().zip(&self.slots).skip(1) {
                *span = slot.start.zip(slot.end);
            }
            if let Some(whole) = spans.first_mut() {
                *whole = Some((self.base, end));
            }
        }
        Ok(found)
    }

    fn reset(&mut self) {
        match &mut self.visited {
            Visited::Bits { bits, width } => {
                bits.clear();
                bits.resize((self.program.steps.len() * *width).div_ceil(64), 0);
            }
            Visited::States(states) => states.clear(),
        }
    }

    /// Follows all threads from `start`. With `wanted`, stops at the first one that ends there; otherwise returns the
    /// longest end.
    fn explore(&mut self, start: usize, wanted: Option<usize>) -> Result<Option<usize>, GaveUp> {
        let mut longest = None;
        self.stack.clear();
        self.slots.fill(Slot::default());
        self.stack.push(Frame::Try(0, start));
        while let Some(frame) = self.stack.pop() {
            match frame {
                Frame::Restore(group, slot) => self.slots[group] = slot,
                Frame::Try(step, at) => {
                    if let Some(end) = self.follow(step, at)? {
                        if wanted == Some(end) {
                            return Ok(wanted);
                        }
                        if wanted.is_none() {
                            longest = longest.max(Some(end));
                            if end == self.stop {
                                return Ok(longest);
                            }
                        }
                    }
                }
            }
        }
        Ok(longest)
    }

    /// Follows one thread to its end. Branches are left on the stack.
    fn follow(&mut self, mut step: usize, mut at: usize) -> Result<Option<usize>, GaveUp> {
        loop {
            self.steps += 1;
            if self.steps > STEP_LIMIT {
                return Err(GaveUp);
            }
            match &self.program.steps[step] {
                Step::Match => return Ok(Some(at)),
                Step::Jump(to) => {
                    step = *to;
                    continue;
                }
                Step::Split(first, second) => {
                    if !self.record(step, at)? {
                        return Ok(None);
                    }
                    self.stack.push(Frame::Try(*second, at));
                    step = *first;
                    continue;
                }
                Step::Again { start, exit, group } => {
                    // The body matched nothing. The first time, that sets its groups. A second time would only
                    // overwrite them.
                    let empty = self.is_recorded(*start, at);
                    if empty && group.is_some_and(|group| self.slots[group].before) {
                        return Ok(None);
                    }
                    step = if empty { *exit } else { *start };
                    continue;
                }
                _ if !self.record(step, at)? => return Ok(None),
                Step::Open(group) => {
                    let slot = self.slots[*group];
                    self.stack.push(Frame::Restore(*group, slot));
                    self.slots[*group] = Slot { start: Some(at), end: None, before: slot.end.is_some() };
                }
                Step::Close(group) => {
                    self.stack.push(Frame::Restore(*group, self.slots[*group]));
                    self.slots[*group].end = Some(at);
                }
                Step::Look(look) if self.holds(*look, at) => {}
                Step::BackReference(group) => match self.repeats(*group, at) {
                    Some(end) if end <= self.stop => at = end,
                    _ => return Ok(None),
                },
                Step::Look(_) => return Ok(None),
                consuming => {
                    if at >= self.stop {
                        return Ok(None);
                    }
                    let (symbol, length) = self.encoding.at(self.text, at);
                    let accepts = match consuming {
                        Step::Symbol(wanted) => symbol == *wanted,
                        Step::Letter(small) => symbol < 0x80 && symbol | 0x20 == Symbol::from(*small),
                        Step::Set(set) => self.program.sets[*set].contains(symbol),
                        _ => false,
                    };
                    if !accepts || at + length > self.stop {
                        return Ok(None);
                    }
                    at += length;
                }
            }
            step += 1;
        }
    }

    /// Records a state. Returns false if it has been recorded before.
    fn record(&mut self, step: usize, at: usize) -> Result<bool, GaveUp> {
        match &mut self.visited {
            Visited::Bits { bits, width } => {
                let index = step * *width + (at - self.base);
                let is_new = bits[index / 64] >> (index % 64) & 1 == 0;
                bits[index / 64] |= 1 << (index % 64);
                Ok(is_new)
            }
            Visited::States(states) => {
                // The detection of empty loops looks up the states of splits, so these are recorded in any case.
                let is_split = matches!(self.program.steps[step], Step::Split(..));
                if !is_split || (self.steps < UNRECORDED_STEPS && !self.program.loops_can_be_empty) {
                    return Ok(true);
                }
                if states.len() >= STATE_LIMIT {
                    return Err(GaveUp);
                }
                let held = held(self.program, &self.slots);
                Ok(states.insert((step, at, held)))
            }
        }
    }

    fn is_recorded(&self, step: usize, at: usize) -> bool {
        match &self.visited {
            Visited::Bits { bits, width } => {
                let index = step * *width + (at - self.base);
                bits[index / 64] >> (index % 64) & 1 == 1
            }
            Visited::States(states) => states.contains(&(step, at, held(self.program, &self.slots))),
        }
    }

    fn repeats(&self, group: usize, at: usize) -> Option<usize> {
        let slot = self.slots[group];
        let wanted = &self.text[slot.start?..slot.end?];
        let end = at + wanted.len();
        let found = self.text.get(at..end);
        if found == Some(wanted) {
            return Some(end);
        }
        if !self.fold {
            return None;
        }
        let (mut here, mut there) = (0, at);
        while here < wanted.len() {
            let (a, length_a) = self.encoding.at(wanted, here);
            if there >= self.text.len() {
                return None;
            }
            let (b, length_b) = self.encoding.at(self.text, there);
            if a != b && !others(a).contains(&Some(b)) {
                return None;
            }
            (here, there) = (here + length_a, there + length_b);
        }
        Some(there)
    }

    fn holds(&self, look: Look, at: usize) -> bool {
        let text = self.text;
        let word_before = || self.encoding.before(text, at).is_some_and(|symbol| Class::Word.contains(symbol));
        let word_after = || at < text.len() && Class::Word.contains(self.encoding.at(text, at).0);
        match look {
            Look::TextStart => at == 0,
            Look::TextEnd => at == text.len(),
            Look::LineStart => at == 0 || Some(text[at - 1]) == self.line_end,
            Look::LineEnd => at == text.len() || Some(text[at]) == self.line_end,
            Look::WordStart => !word_before() && word_after(),
            Look::WordEnd => word_before() && !word_after(),
            Look::WordEdge => word_before() != word_after(),
            Look::NoWordEdge => word_before() == word_after(),
            Look::NoWordBefore => !word_before(),
            Look::NoWordAfter => !word_after(),
        }
    }
}

fn held(program: &Program, slots: &[Slot]) -> Vec<Option<usize>> {
    program.referenced.iter().flat_map(|group| [slots[*group].start, slots[*group].end]).collect()
}
