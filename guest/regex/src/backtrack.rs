//! The machine for what an automaton cannot do: groups, back-references, and words beyond ASCII.
//!
//! It follows one way through the program after the other, in the order in which glibc prefers them, and remembers
//! where it has been: no place is entered twice at one position, so time is bounded by the product of pattern and text.
//! With back-references, what the groups hold is part of the place; that is polynomial still, and there is a limit.

use std::collections::HashSet;

use crate::program::{Program, Step};
use crate::set::{Class, others};
use crate::symbol::{Encoding, Symbol};
use crate::tree::Look;

/// Steps before places are remembered when there are back-references: most searches end sooner, and go without.
const UNREMEMBERED: u64 = 20_000;

/// Steps of one search, and places that it remembers, before it gives up. Only back-references come near them.
const PATIENCE: u64 = 50_000_000;
const MEMORY: usize = 500_000;

/// Start and end of a group.
pub(crate) type Span = Option<(usize, usize)>;

/// The search did not come to an end within its bounds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GaveUp;

/// Where a search starts and where it stops, and how many groups there are, with the whole.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reach {
    pub(crate) base: usize,
    pub(crate) stop: usize,
    pub(crate) groups: usize,
}

/// One search.
pub(crate) struct Machine<'a> {
    program: &'a Program,
    text: &'a [u8],
    encoding: Encoding,
    fold: bool,
    line_end: Option<u8>,
    /// Positions count from here, and go no further than there. What is around them is seen all the same.
    base: usize,
    stop: usize,
    visited: Visited,
    stack: Vec<Frame>,
    slots: Vec<Slot>,
    steps: u64,
}

/// Where a group started and ended, and whether it had matched before it started last.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    start: Option<usize>,
    end: Option<usize>,
    before: bool,
}

enum Frame {
    /// A way that is left to try.
    Try(usize, usize),
    /// What a group was on that way.
    Restore(usize, Slot),
}

enum Visited {
    Bits { bits: Vec<u64>, width: usize },
    Places(HashSet<(usize, usize, Vec<Option<usize>>)>),
}

impl<'a> Machine<'a> {
    pub(crate) fn new(
        program: &'a Program,
        text: &'a [u8],
        reach: Reach,
        encoding: Encoding,
        fold: bool,
        line_end: Option<u8>,
    ) -> Machine<'a> {
        let Reach { base, stop, groups } = reach;
        let visited = if program.referenced.is_empty() {
            Visited::Bits { bits: Vec::new(), width: stop + 1 - base }
        } else {
            Visited::Places(HashSet::new())
        };
        let slots = vec![Slot::default(); groups];
        Machine { program, text, encoding, fold, line_end, base, stop, visited, stack: Vec::new(), slots, steps: 0 }
    }

    /// The leftmost, longest match.
    pub(crate) fn find(&mut self) -> Result<Option<(usize, usize)>, GaveUp> {
        self.forget();
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

    /// The groups of the match from `base` to `end`, in the way that glibc prefers.
    pub(crate) fn groups(&mut self, end: usize, spans: &mut [Span]) -> Result<bool, GaveUp> {
        self.forget();
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

    fn forget(&mut self) {
        match &mut self.visited {
            Visited::Bits { bits, width } => {
                bits.clear();
                bits.resize((self.program.steps.len() * *width).div_ceil(64), 0);
            }
            Visited::Places(places) => places.clear(),
        }
    }

    /// Follows all ways from `start`. With `wanted`, until one ends there; without, to the longest.
    fn explore(&mut self, start: usize, wanted: Option<usize>) -> Result<Option<usize>, GaveUp> {
        let mut longest = None;
        self.stack.clear();
        self.slots.fill(Slot::default());
        self.stack.push(Frame::Try(0, start));
        while let Some(frame) = self.stack.pop() {
            match frame {
                Frame::Restore(group, slot) => self.slots[group] = slot,
                Frame::Try(place, at) => {
                    if let Some(end) = self.follow(place, at)? {
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

    /// Follows one way to its end; what branches off is left on the stack.
    fn follow(&mut self, mut place: usize, mut at: usize) -> Result<Option<usize>, GaveUp> {
        loop {
            self.steps += 1;
            if self.steps > PATIENCE {
                return Err(GaveUp);
            }
            match &self.program.steps[place] {
                Step::Match => return Ok(Some(at)),
                Step::Jump(to) => {
                    place = *to;
                    continue;
                }
                Step::Split(first, second) => {
                    if !self.enter(place, at)? {
                        return Ok(None);
                    }
                    self.stack.push(Frame::Try(*second, at));
                    place = *first;
                    continue;
                }
                Step::Again { start, exit, group } => {
                    // The body matched nothing: once, that sets its groups; again, it would only spoil them.
                    let empty = self.has_entered(*start, at);
                    if empty && group.is_some_and(|group| self.slots[group].before) {
                        return Ok(None);
                    }
                    place = if empty { *exit } else { *start };
                    continue;
                }
                _ if !self.enter(place, at)? => return Ok(None),
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
                step => {
                    if at >= self.stop {
                        return Ok(None);
                    }
                    let (symbol, length) = self.encoding.at(self.text, at);
                    let accepts = match step {
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
            place += 1;
        }
    }

    /// Notes that a place is entered; false if it has been before.
    fn enter(&mut self, place: usize, at: usize) -> Result<bool, GaveUp> {
        match &mut self.visited {
            Visited::Bits { bits, width } => {
                let index = place * *width + (at - self.base);
                let is_new = bits[index / 64] >> (index % 64) & 1 == 0;
                bits[index / 64] |= 1 << (index % 64);
                Ok(is_new)
            }
            Visited::Places(places) => {
                // Loops are told by their places, so those of splits are always noted.
                let is_split = matches!(self.program.steps[place], Step::Split(..));
                if !is_split || (self.steps < UNREMEMBERED && !self.program.loops_can_be_empty) {
                    return Ok(true);
                }
                if places.len() >= MEMORY {
                    return Err(GaveUp);
                }
                let held = held(self.program, &self.slots);
                Ok(places.insert((place, at, held)))
            }
        }
    }

    fn has_entered(&self, place: usize, at: usize) -> bool {
        match &self.visited {
            Visited::Bits { bits, width } => {
                let index = place * *width + (at - self.base);
                bits[index / 64] >> (index % 64) & 1 == 1
            }
            Visited::Places(places) => places.contains(&(place, at, held(self.program, &self.slots))),
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
