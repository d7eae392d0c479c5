//! Lazy DFAs from regex-automata, which search in linear time.
//!
//! The leftmost, longest match takes three passes. A forward search that prefers the thread with the earliest start
//! finds the end of some leftmost match. A backward search from there finds its start. An anchored forward search
//! that follows all threads finds the longest end. A test for a match needs the first pass only.

use std::cell::{OnceCell, RefCell};

use regex_automata::hybrid::dfa::{Cache, Config, DFA};
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::look::LookMatcher;
use regex_automata::{Anchored, Input, MatchErrorKind, MatchKind};
use regex_syntax::hir::Hir;

use crate::error::Error;

/// The memory limit of an NFA. An interval with the largest count over a Unicode class stays below it.
const NFA_LIMIT: usize = 64 << 20;

/// The memory limit of the cached states of one DFA. A full cache is cleared and filled again.
const CACHE_LIMIT: usize = 4 << 20;

/// The search stopped at a byte that the automaton cannot handle; holds its offset.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quit(pub(crate) usize);

/// The automata of one pattern.
#[derive(Debug)]
pub(crate) struct Automaton {
    forward: Search,
    nfa: NFA,
    hir: Hir,
    line_end: u8,
    ascii_only: bool,
    longest: OnceCell<Option<Search>>,
    backward: OnceCell<Option<Search>>,
}

#[derive(Debug)]
struct Search {
    dfa: DFA,
    cache: RefCell<Cache>,
}

impl Automaton {
    /// Compiles the forward automaton. With `ascii_only` it quits at every byte outside ASCII.
    pub(crate) fn new(hir: Hir, line_end: u8, ascii_only: bool) -> Result<Automaton, Error> {
        let nfa = compile(&hir, line_end, false).ok_or(Error::TooBig)?;
        let forward = Search::new(nfa.clone(), MatchKind::LeftmostFirst, ascii_only).ok_or(Error::TooBig)?;
        let (longest, backward) = (OnceCell::new(), OnceCell::new());
        Ok(Automaton { forward, nfa, hir, line_end, ascii_only, longest, backward })
    }

    /// Returns the earliest offset at which a match is certain.
    pub(crate) fn shortest(&self, text: &[u8], start: usize) -> Result<Option<usize>, Quit> {
        self.forward.forward(Input::new(text).span(start..text.len()).earliest(true))
    }

    /// Returns the leftmost, longest match.
    pub(crate) fn find(&self, text: &[u8], start: usize) -> Result<Option<(usize, usize)>, Quit> {
        let Some(end) = self.forward.forward(Input::new(text).span(start..text.len()))? else { return Ok(None) };
        let backward = self
            .backward
            .get_or_init(|| Search::new(compile(&self.hir, self.line_end, true)?, MatchKind::All, self.ascii_only));
        let longest = self.longest.get_or_init(|| Search::new(self.nfa.clone(), MatchKind::All, self.ascii_only));
        // These two are normally no larger than the forward automaton. If one exceeds its limit, the backtracker
        // takes over.
        let (Some(backward), Some(longest)) = (backward, longest) else { return Err(Quit(start)) };
        let from = backward.backward(Input::new(text).span(start..end).anchored(Anchored::Yes))?.unwrap_or(end);
        let end = longest.forward(Input::new(text).span(from..text.len()).anchored(Anchored::Yes))?.unwrap_or(end);
        Ok(Some((from, end)))
    }
}

impl Search {
    fn new(nfa: NFA, kind: MatchKind, ascii_only: bool) -> Option<Search> {
        let mut config = Config::new().match_kind(kind).cache_capacity(CACHE_LIMIT).skip_cache_capacity_check(true);
        if ascii_only {
            for byte in 0x80..=0xff {
                config = config.quit(byte, true);
            }
        }
        let dfa = DFA::builder().configure(config).build_from_nfa(nfa).ok()?;
        let cache = RefCell::new(dfa.create_cache());
        Some(Search { dfa, cache })
    }

    fn forward(&self, input: Input<'_>) -> Result<Option<usize>, Quit> {
        let found = self.dfa.try_search_fwd(&mut self.cache.borrow_mut(), &input);
        found.map(|end| end.map(|end| end.offset())).map_err(|error| quit(&error, &input))
    }

    fn backward(&self, input: Input<'_>) -> Result<Option<usize>, Quit> {
        let found = self.dfa.try_search_rev(&mut self.cache.borrow_mut(), &input);
        found.map(|start| start.map(|start| start.offset())).map_err(|error| quit(&error, &input))
    }
}

fn compile(hir: &Hir, line_end: u8, backward: bool) -> Option<NFA> {
    let mut look = LookMatcher::new();
    look.set_line_terminator(line_end);
    let config = thompson::Config::new()
        .utf8(false)
        .reverse(backward)
        .nfa_size_limit(Some(NFA_LIMIT))
        .which_captures(WhichCaptures::None)
        .look_matcher(look);
    thompson::Compiler::new().configure(config).build_from_hir(hir).ok()
}

fn quit(error: &regex_automata::MatchError, input: &Input<'_>) -> Quit {
    match error.kind() {
        MatchErrorKind::Quit { offset, .. } | MatchErrorKind::GaveUp { offset } => Quit(*offset),
        _ => Quit(input.start()),
    }
}
