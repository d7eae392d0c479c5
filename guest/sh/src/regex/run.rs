//! The simulation.

use std::rc::Rc;

use super::{Boundary, Inst, Regex, Set, Span};

/// A way through the program: where it is, and where its groups began and ended.
#[derive(Clone)]
struct Thread {
    at: usize,
    saved: Rc<Vec<Option<usize>>>,
}

/// The ways that are alive at one position of the text, preferred ones first.
struct Threads {
    list: Vec<Thread>,
    /// For each step of the program, the position at which it was last added, plus one.
    added: Vec<usize>,
}

impl Regex {
    pub(super) fn search(&self, text: &str) -> Option<Vec<Span>> {
        let mut now = Threads { list: Vec::new(), added: vec![0; self.program.len()] };
        let mut next = Threads { list: Vec::new(), added: vec![0; self.program.len()] };
        let fresh = Rc::new(vec![None; self.groups * 2]);
        let mut best: Option<Rc<Vec<Option<usize>>>> = None;
        let mut before = None;
        let mut at = 0;
        let mut chars = text.chars();
        loop {
            let c = chars.next();
            let context = Context { at, before, after: c, length: text.len() };
            // A later start is not looked at once there is a match, and comes after all that started earlier.
            if best.is_none() {
                self.add(&mut now, Thread { at: 0, saved: fresh.clone() }, &context);
            }
            for thread in &now.list {
                if let Inst::Match = self.program[thread.at] {
                    best = better(best, &thread.saved);
                    break;
                }
            }
            if now.list.is_empty() && best.is_some() {
                break;
            }
            let Some(c) = c else { break };
            let after = at + c.len_utf8();
            let following = chars.clone().next();
            let context = Context { at: after, before: Some(c), after: following, length: text.len() };
            for thread in now.list.drain(..) {
                // Ways that started later than the match cannot be part of it.
                if best.as_ref().is_some_and(|b| thread.saved[0] > b[0]) {
                    continue;
                }
                if self.takes(&self.program[thread.at], c) {
                    self.add(&mut next, Thread { at: thread.at + 1, saved: thread.saved }, &context);
                }
            }
            std::mem::swap(&mut now, &mut next);
            before = Some(c);
            at = after;
        }
        let saved = best?;
        Some(saved.chunks(2).map(|pair| Some((pair[0]?, pair[1]?))).collect())
    }

    /// Follows the steps that take no character, preferred ones first.
    fn add(&self, threads: &mut Threads, thread: Thread, context: &Context) {
        let mut pending = vec![thread];
        while let Some(mut thread) = pending.pop() {
            if std::mem::replace(&mut threads.added[thread.at], context.at + 1) == context.at + 1 {
                continue;
            }
            match &self.program[thread.at] {
                Inst::Jump(to) => {
                    thread.at = *to;
                    pending.push(thread);
                }
                Inst::Split(first, second) => {
                    pending.push(Thread { at: *second, saved: thread.saved.clone() });
                    thread.at = *first;
                    pending.push(thread);
                }
                Inst::Save(slot) => {
                    Rc::make_mut(&mut thread.saved)[*slot] = Some(context.at);
                    thread.at += 1;
                    pending.push(thread);
                }
                Inst::Start | Inst::End | Inst::Word(_) => {
                    if context.allows(&self.program[thread.at]) {
                        thread.at += 1;
                        pending.push(thread);
                    }
                }
                _ => threads.list.push(thread),
            }
        }
    }

    fn takes(&self, inst: &Inst, c: char) -> bool {
        match inst {
            Inst::Char(expected) => *expected == c || (self.fold && expected.to_lowercase().eq(c.to_lowercase())),
            Inst::Any => true,
            Inst::Set(set) => set.has(c) || (self.fold && folded(c).any(|o| o != c && set.includes(o) != set.negated)),
            _ => false,
        }
    }
}

/// The longer of two matches that start at the same place; the earlier found if they are the same.
fn better(best: Option<Rc<Vec<Option<usize>>>>, found: &Rc<Vec<Option<usize>>>) -> Option<Rc<Vec<Option<usize>>>> {
    match best {
        Some(best) if (best[0], std::cmp::Reverse(best[1])) <= (found[0], std::cmp::Reverse(found[1])) => Some(best),
        _ => Some(found.clone()),
    }
}

fn folded(c: char) -> impl Iterator<Item = char> {
    c.to_lowercase().chain(c.to_uppercase())
}

impl Set {
    fn has(&self, c: char) -> bool {
        self.includes(c) != self.negated
    }

    fn includes(&self, c: char) -> bool {
        self.ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) || self.classes.iter().any(|class| class(c))
    }
}

/// What stands around a position.
struct Context {
    at: usize,
    before: Option<char>,
    after: Option<char>,
    length: usize,
}

impl Context {
    fn allows(&self, inst: &Inst) -> bool {
        let before = self.before.is_some_and(is_word);
        let after = self.after.is_some_and(is_word);
        match inst {
            Inst::Start => self.at == 0,
            Inst::End => self.at == self.length,
            Inst::Word(Boundary::Any) => before != after,
            Inst::Word(Boundary::None) => before == after,
            Inst::Word(Boundary::Start) => !before && after,
            Inst::Word(Boundary::End) => before && !after,
            _ => false,
        }
    }
}

/// Whether a character belongs to a word.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
