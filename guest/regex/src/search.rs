//! A compiled expression, and which engine answers what.

use std::cell::{Cell, OnceCell};

use memchr::{memchr, memrchr};

use crate::automaton::{Automaton, Quit};
use crate::error::Error;
use crate::literal::{self, Finder, Required};
use crate::machine::{GaveUp, Machine, Reach};
use crate::program::{self, Program};
use crate::symbol::Encoding;
use crate::syntax::Syntax;
use crate::translate::{Depth, translate};
use crate::tree::{Look, Node};
use crate::{Captures, Flags, Lines, Whole, parse};

/// A compiled expression.
#[derive(Debug)]
pub struct Regex {
    node: Node,
    groups: usize,
    flags: Flags,
    /// The pattern is nothing but this text, or one of these.
    exact: Option<Finder>,
    /// A text that is in every match.
    required: Option<Required>,
    /// What the required text has been worth.
    worth: Cell<Worth>,
    has_references: bool,
    has_words: bool,
    /// Knows ASCII, and of the rest what costs little.
    shallow: OnceCell<Option<Box<Automaton>>>,
    is_shallow: bool,
    /// Knows everything but words.
    full: OnceCell<Option<Box<Automaton>>>,
    /// The shallow one met what it does not know, so that the other is asked first.
    beyond: Cell<bool>,
    program: OnceCell<Program>,
    gave_up: Cell<bool>,
}

/// Bytes that a search for the required text has to spare the automaton: to find it, and to start anew there, costs
/// what the automaton takes for some forty.
const WORTH_SKIPPING: usize = 32;

/// How often the required text was found, and how much text the automaton did not have to read.
#[derive(Debug, Clone, Copy, Default)]
struct Worth {
    found: u32,
    skipped: usize,
}

impl Regex {
    /// Compiles a pattern.
    pub fn new(pattern: &[u8], syntax: Syntax, flags: Flags) -> Result<Regex, Error> {
        Regex::any_of(&[pattern], syntax, flags)
    }

    /// Compiles several patterns, of which one has to match. Each has its own groups, numbered on.
    pub fn any_of(patterns: &[&[u8]], syntax: Syntax, flags: Flags) -> Result<Regex, Error> {
        let mut branches = Vec::with_capacity(patterns.len());
        let mut groups = 0;
        for pattern in patterns {
            let node;
            (node, groups) = parse::parse(pattern, syntax, &flags, groups)?;
            branches.push(node);
        }
        let node = if branches.len() == 1 { branches.swap_remove(0) } else { Node::Alternate(branches) };
        Regex::from_tree(wrap(node, flags), groups, flags)
    }

    fn from_tree(node: Node, groups: usize, flags: Flags) -> Result<Regex, Error> {
        program::check(&node)?;
        let is_word = |node: &Node| matches!(node, Node::Look(look) if look.is_about_words());
        let has_words = node.any(&is_word) && !flags.bytes;
        let has_references = node.any(&|node| matches!(node, Node::BackReference(_)));
        let is_deep = node.any(&|node| matches!(node, Node::Set(set) if set.is_deep()));
        let exact = literal::exact(&node).map(literal::Run::finder).or_else(|| literal::several(&node));
        let required = if exact.is_none() { literal::required(&node) } else { None };
        let regex = Regex {
            groups: groups + 1,
            flags,
            exact,
            required,
            worth: Cell::default(),
            has_references,
            has_words,
            shallow: OnceCell::new(),
            is_shallow: has_words || is_deep,
            full: OnceCell::new(),
            beyond: Cell::new(false),
            program: OnceCell::new(),
            gave_up: Cell::new(false),
            node,
        };
        // A pattern that is too big is refused now, not in the middle of a file.
        if regex.exact.is_none() && regex.node.weight() > 1000 && regex.automaton(false).is_none() {
            return Err(Error::TooBig);
        }
        Ok(regex)
    }

    /// How many groups there are, with the whole match.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Whether a search with back-references was ended because it took too long: then an answer may be wrong, and
    /// the program has to say so.
    pub fn gave_up(&self) -> bool {
        self.gave_up.get()
    }

    /// Whether the text has a match.
    pub fn is_match(&self, text: &[u8]) -> bool {
        self.shortest_at(text, 0).is_some()
    }

    /// A position in or at the end of the first match that starts at or after `start`: enough to know its line.
    pub fn shortest_at(&self, text: &[u8], start: usize) -> Option<usize> {
        if let Some(finder) = &self.exact {
            return finder.find(text, start).map(|(_, end)| end);
        }
        self.search(text, start, |automaton, text, at| automaton.shortest(text, at), |(_, end)| end)
    }

    /// Start and end of the leftmost, longest match that starts at or after `start`. What is before `start` counts
    /// for `^` and `\<`.
    pub fn find_at(&self, text: &[u8], start: usize) -> Option<(usize, usize)> {
        if let Some(finder) = &self.exact {
            return finder.find(text, start);
        }
        let encoding = self.encoding();
        let mut start = start;
        loop {
            let (from, end) =
                self.search(text, start, |automaton, text, at| automaton.find(text, at), |found| found)?;
            // An automaton of bytes finds nothing in the middle of a character, too.
            if from != end || !encoding.splits(text, from) {
                return Some((from, end));
            }
            start = from + 1;
        }
    }

    /// Like `find_at`, with the groups.
    pub fn captures_at(&self, text: &[u8], start: usize, captures: &mut Captures) -> bool {
        captures.spans.clear();
        captures.spans.resize(self.groups, None);
        let Some((from, end)) = self.find_at(text, start) else { return false };
        captures.spans[0] = Some((from, end));
        if self.groups > 1 {
            // The text's end is kept, for what asks what follows.
            let found = self.machine(text, from, end).groups(end, &mut captures.spans);
            if found.is_err() {
                self.gave_up.set(true);
            }
        }
        true
    }

    /// Looks for a match with whichever engine can do it. `ask` is put to automata, `answer` made of a span.
    fn search<T>(
        &self,
        text: &[u8],
        mut start: usize,
        ask: impl Fn(&Automaton, &[u8], usize) -> Result<Option<T>, Quit>,
        answer: impl Fn((usize, usize)) -> T,
    ) -> Option<T> {
        while start <= text.len() {
            let mut part = text;
            let mut from = start;
            if let Some(required) = &self.required
                && self.is_worth_it()
            {
                let (at, _) = required.finder.find(text, start)?;
                match self.flags.lines {
                    _ if required.is_first => from = at,
                    Lines::Records(end) => from = start.max(line_start(text, at, end)),
                    _ => {}
                }
                if let Lines::Records(end) = self.flags.lines {
                    part = &text[..line_end(text, at, end)];
                    self.note(from - start);
                }
            }
            let quit = match self.automaton(self.beyond.get()) {
                Some(automaton) => match ask(automaton, part, from) {
                    Ok(None) if part.len() == text.len() => return None,
                    Ok(None) => {
                        start = part.len() + 1;
                        continue;
                    }
                    Ok(found) if !self.has_references => return found,
                    // A match of more than the pattern: it is worth a closer look, in its line.
                    Ok(_) => match self.automaton(self.beyond.get()).map(|automaton| automaton.shortest(part, from)) {
                        Some(Ok(Some(at))) => at,
                        _ => from,
                    },
                    Err(Quit(_)) if self.goes_beyond() => continue,
                    Err(Quit(at)) => at,
                },
                None => from,
            };
            let (line, line_end) = match self.flags.lines {
                Lines::Records(end) => (line_start(part, quit, end), line_end(part, quit, end)),
                _ => (0, part.len()),
            };
            let from = from.max(line);
            match self.machine(&part[line..line_end], from - line, line_end - line).find() {
                Ok(Some((at, end))) => return Some(answer((at + line, end + line))),
                Ok(None) => {}
                Err(GaveUp) => self.gave_up.set(true),
            }
            start = line_end + 1;
        }
        None
    }

    /// Turns to the automaton that knows everything, if that helps and is not done.
    fn goes_beyond(&self) -> bool {
        let helps = !self.has_words && !self.beyond.get() && self.automaton(true).is_some();
        self.beyond.set(self.beyond.get() || helps);
        helps
    }

    fn automaton(&self, full: bool) -> Option<&Automaton> {
        let line_end = match self.flags.lines {
            Lines::Records(end) | Lines::Within(end) => end,
            Lines::None => b'\n',
        };
        let make = |depth: Depth, ascii_only: bool| {
            Automaton::new(translate(&self.node, depth), line_end, ascii_only).ok().map(Box::new)
        };
        if full && self.is_shallow {
            self.full.get_or_init(|| make(Depth::Full, false)).as_deref()
        } else {
            self.shallow.get_or_init(|| make(Depth::Shallow, self.is_shallow)).as_deref()
        }
    }

    /// A machine for matches from `base` to at most `stop`.
    fn machine<'a>(&'a self, text: &'a [u8], base: usize, stop: usize) -> Machine<'a> {
        let program = self.program.get_or_init(|| Program::new(&self.node));
        let line_end = match self.flags.lines {
            Lines::Records(end) | Lines::Within(end) => Some(end),
            Lines::None => None,
        };
        let reach = Reach { base, stop, groups: self.groups };
        Machine::new(program, text, reach, self.encoding(), self.flags.icase, line_end)
    }

    fn encoding(&self) -> Encoding {
        if self.flags.bytes { Encoding::Bytes } else { Encoding::Utf8 }
    }

    /// Whether it pays to look for the required text first: not if it is all over the place.
    fn is_worth_it(&self) -> bool {
        let worth = self.worth.get();
        worth.found < 64 || worth.skipped / (worth.found as usize) > WORTH_SKIPPING
    }

    fn note(&self, skipped: usize) {
        let worth = self.worth.get();
        self.worth.set(Worth { found: worth.found.saturating_add(1), skipped: worth.skipped.saturating_add(skipped) });
    }
}

/// With what must be around a match.
fn wrap(node: Node, flags: Flags) -> Node {
    let (before, after) = match (flags.whole, flags.lines) {
        (Whole::Any, _) => return node,
        (Whole::Word, _) => (Look::NoWordBefore, Look::NoWordAfter),
        (Whole::Line, Lines::None) => (Look::TextStart, Look::TextEnd),
        (Whole::Line, _) => (Look::LineStart, Look::LineEnd),
    };
    Node::Concat(vec![Node::Look(before), node, Node::Look(after)])
}

/// Where the line around a position starts.
fn line_start(text: &[u8], at: usize, end: u8) -> usize {
    memrchr(end, &text[..at]).map_or(0, |before| before + 1)
}

/// Where the line around a position ends, before what ends it.
fn line_end(text: &[u8], at: usize, end: u8) -> usize {
    memchr(end, &text[at..]).map_or(text.len(), |after| at + after)
}
