//! A compiled expression, and the choice of engine for each search.

use std::cell::{Cell, OnceCell};

use memchr::{memchr, memrchr};

use crate::automaton::{Automaton, Quit};
use crate::backtrack::{Backtracker, Bounds, GaveUp};
use crate::error::Error;
use crate::literal::{self, Finder, Required};
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
    /// The search for the pattern, if it is plain text or an alternation of plain texts.
    exact: Option<Finder>,
    /// A text that every match contains.
    required: Option<Required>,
    /// The measured benefit of the search for the required text.
    skip_statistics: Cell<SkipStatistics>,
    has_references: bool,
    has_words: bool,
    /// Handles ASCII, and other characters where that is cheap.
    shallow: OnceCell<Option<Box<Automaton>>>,
    is_shallow: bool,
    /// Handles all characters, but not word boundaries outside ASCII.
    full: OnceCell<Option<Box<Automaton>>>,
    /// The shallow automaton has met a byte that it cannot handle, so the full one is used first.
    beyond: Cell<bool>,
    program: OnceCell<Program>,
    gave_up: Cell<bool>,
}

/// The number of bytes that a search for the required text has to save on average. Finding the text and restarting
/// the automaton there cost as much as some forty bytes in the automaton.
const LEAST_SKIPPED: usize = 32;

/// The number of times the required text was found, and the bytes that the automaton did not have to read.
#[derive(Debug, Clone, Copy, Default)]
struct SkipStatistics {
    found: u32,
    skipped: usize,
}

impl Regex {
    /// Compiles a pattern.
    pub fn new(pattern: &[u8], syntax: Syntax, flags: Flags) -> Result<Regex, Error> {
        Regex::any_of(&[pattern], syntax, flags)
    }

    /// Compiles several patterns, one of which has to match. Groups are numbered across all patterns.
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
            skip_statistics: Cell::default(),
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
        // Refuses a pattern that is too big now, not in the middle of a file.
        if regex.exact.is_none() && regex.node.weight() > 1000 && regex.automaton(false).is_none() {
            return Err(Error::TooBig);
        }
        Ok(regex)
    }

    /// Returns the number of groups, the whole match included.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// Returns true if a search with back-references exceeded its limits. An answer may then be wrong, and the
    /// program has to report it.
    pub fn gave_up(&self) -> bool {
        self.gave_up.get()
    }

    /// Returns true if the text has a match.
    pub fn is_match(&self, text: &[u8]) -> bool {
        self.shortest_at(text, 0).is_some()
    }

    /// Returns an offset in or at the end of the first match that starts at or after `start`. This is enough to find
    /// its line.
    pub fn shortest_at(&self, text: &[u8], start: usize) -> Option<usize> {
        if let Some(finder) = &self.exact {
            return finder.find(text, start).map(|(_, end)| end);
        }
        self.search(text, start, |automaton, text, at| automaton.shortest(text, at), |(_, end)| end)
    }

    /// Returns start and end of the leftmost, longest match that starts at or after `start`. `^` and `\<` see the
    /// text before `start`.
    pub fn find_at(&self, text: &[u8], start: usize) -> Option<(usize, usize)> {
        if let Some(finder) = &self.exact {
            return finder.find(text, start);
        }
        let encoding = self.encoding();
        let mut start = start;
        loop {
            let (from, end) =
                self.search(text, start, |automaton, text, at| automaton.find(text, at), |found| found)?;
            // An automaton works on bytes and also finds empty matches inside of a character.
            if from != end || !encoding.splits(text, from) {
                return Some((from, end));
            }
            start = from + 1;
        }
    }

    /// Does the same as `find_at`, and finds the groups.
    pub fn captures_at(&self, text: &[u8], start: usize, captures: &mut Captures) -> bool {
        captures.spans.clear();
        captures.spans.resize(self.groups, None);
        let Some((from, end)) = self.find_at(text, start) else { return false };
        captures.spans[0] = Some((from, end));
        if self.groups > 1 {
            // The text is passed whole, for conditions that look beyond the match.
            let found = self.backtracker(text, from, end).groups(end, &mut captures.spans);
            if found.is_err() {
                self.gave_up.set(true);
            }
        }
        true
    }

    /// Starts a search for successive matches in a text.
    pub fn matches<'a>(&'a self, text: &'a [u8]) -> Matches<'a> {
        Matches { regex: self, text, at: Some(0), last_end: None }
    }

    /// Searches with the first engine that can do it. `ask` queries an automaton, `answer` converts a span of the
    /// backtracker.
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
                && self.skipping_pays()
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
                    // The automaton overestimates back-references, so the backtracker checks the line.
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
            match self.backtracker(&part[line..line_end], from - line, line_end - line).find() {
                Ok(Some((at, end))) => return Some(answer((at + line, end + line))),
                Ok(None) => {}
                Err(GaveUp) => self.gave_up.set(true),
            }
            start = line_end + 1;
        }
        None
    }

    /// Switches to the full automaton, if that helps and has not been done. Returns true if it switched.
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

    /// Returns a backtracker for matches from `base` to at most `stop`.
    fn backtracker<'a>(&'a self, text: &'a [u8], base: usize, stop: usize) -> Backtracker<'a> {
        let program = self.program.get_or_init(|| Program::new(&self.node));
        let line_end = match self.flags.lines {
            Lines::Records(end) | Lines::Within(end) => Some(end),
            Lines::None => None,
        };
        let bounds = Bounds { base, stop, groups: self.groups };
        Backtracker::new(program, text, bounds, self.encoding(), self.flags.icase, line_end)
    }

    fn encoding(&self) -> Encoding {
        if self.flags.bytes { Encoding::Bytes } else { Encoding::Utf8 }
    }

    /// Returns true if searching for the required text first pays off. It does not if the text is frequent.
    fn skipping_pays(&self) -> bool {
        let SkipStatistics { found, skipped } = self.skip_statistics.get();
        found < 64 || skipped / (found as usize) > LEAST_SKIPPED
    }

    fn note(&self, skipped: usize) {
        let mut statistics = self.skip_statistics.get();
        statistics.found = statistics.found.saturating_add(1);
        statistics.skipped = statistics.skipped.saturating_add(skipped);
        self.skip_statistics.set(statistics);
    }
}

/// Successive matches in a text, as `sed` and `awk` replace them: they do not overlap, and an empty match right after
/// another match does not count.
#[derive(Debug)]
pub struct Matches<'a> {
    regex: &'a Regex,
    text: &'a [u8],
    /// The offset at which to continue, or `None` after the last match.
    at: Option<usize>,
    last_end: Option<usize>,
}

impl Matches<'_> {
    /// Returns start and end of the next match. With `captures`, its groups are found, too.
    #[inline]
    pub fn next(&mut self, mut captures: Option<&mut Captures>) -> Option<(usize, usize)> {
        loop {
            let at = self.at?;
            let found = match captures.as_deref_mut() {
                Some(captures) => self.regex.captures_at(self.text, at, captures).then(|| captures.get(0)).flatten(),
                None => self.regex.find_at(self.text, at),
            };
            let (start, end) = found?;
            self.at = if start < end { Some(end) } else { self.after_character(end) };
            if start == end && self.last_end == Some(start) {
                continue;
            }
            self.last_end = Some(end);
            return Some((start, end));
        }
    }

    fn after_character(&self, at: usize) -> Option<usize> {
        (at < self.text.len()).then(|| at + self.regex.encoding().at(self.text, at).1)
    }
}

/// Adds the required context of a match to a tree.
fn wrap(node: Node, flags: Flags) -> Node {
    let (before, after) = match (flags.whole, flags.lines) {
        (Whole::Any, _) => return node,
        (Whole::Word, _) => (Look::NoWordBefore, Look::NoWordAfter),
        (Whole::Line, Lines::None) => (Look::TextStart, Look::TextEnd),
        (Whole::Line, _) => (Look::LineStart, Look::LineEnd),
    };
    Node::Concat(vec![Node::Look(before), node, Node::Look(after)])
}

/// Returns the start of the line around an offset.
fn line_start(text: &[u8], at: usize, end: u8) -> usize {
    memrchr(end, &text[..at]).map_or(0, |before| before + 1)
}

/// Returns the end of the line around an offset, without its terminator.
fn line_end(text: &[u8], at: usize, end: u8) -> usize {
    memchr(end, &text[at..]).map_or(text.len(), |after| at + after)
}
