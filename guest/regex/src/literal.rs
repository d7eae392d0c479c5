//! Literal text that every match contains. Searching for it first makes `grep foo` fast.

use aho_corasick::{AhoCorasick, MatchKind};
use memchr::{memchr_iter, memchr2_iter, memmem};

use crate::symbol::Encoding;
use crate::tree::Node;

/// A search for one text or for several.
#[derive(Debug)]
pub(crate) enum Finder {
    /// Byte by byte.
    Plain(Box<memmem::Finder<'static>>),
    /// Without regard to case.
    Folded(Folded),
    /// Several texts: the leftmost match, and the longest of those.
    Several(Box<AhoCorasick>),
}

/// A text in lower case, and the index of its rarest byte, which is the one searched for.
#[derive(Debug)]
pub(crate) struct Folded {
    text: Vec<u8>,
    rarest: usize,
}

/// Consecutive symbols that every match contains.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Run {
    bytes: Vec<u8>,
    folded: bool,
}

/// Returns the text that a tree stands for, if the tree is nothing but that text.
pub(crate) fn exact(node: &Node) -> Option<Run> {
    let mut run = Run::default();
    extend(node, &mut run).then_some(run).filter(|run| !run.bytes.is_empty())
}

/// Returns a search for all branches, if a tree is an alternation of plain texts. Either all of them are folded, or
/// none.
pub(crate) fn several(node: &Node) -> Option<Finder> {
    let Node::Alternate(branches) = node else { return None };
    let runs: Vec<Run> = branches.iter().map(exact).collect::<Option<_>>()?;
    let is_folded = runs.iter().any(|run| run.folded);
    if is_folded && runs.iter().any(|run| !run.folded && run.bytes.iter().any(u8::is_ascii_alphabetic)) {
        return None;
    }
    let builder = AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .ascii_case_insensitive(is_folded)
        .build(runs.iter().map(|run| &run.bytes));
    builder.ok().map(|searcher| Finder::Several(Box::new(searcher)))
}

/// A text that every match contains.
#[derive(Debug)]
pub(crate) struct Required {
    pub(crate) finder: Finder,
    /// Every match begins with the text, so no match begins before it.
    pub(crate) is_first: bool,
}

/// Returns the longest text that every match contains.
pub(crate) fn required(node: &Node) -> Option<Required> {
    let mut best = Run::default();
    let mut run = Run::default();
    collect(node, &mut run, &mut best);
    keep(&mut run, &mut best);
    let mut first = Run::default();
    extend(node, &mut first);
    let is_first = first == best;
    (!best.bytes.is_empty()).then(|| Required { finder: best.finder(), is_first })
}

/// Appends the text that a tree begins with. Returns true if that is the whole tree.
fn extend(node: &Node, run: &mut Run) -> bool {
    match node {
        Node::Empty => {}
        Node::Symbol(symbol) => Encoding::push(*symbol, &mut run.bytes),
        Node::Letter(small) => {
            run.bytes.push(*small);
            run.folded = true;
        }
        Node::Group(_, inner) => return extend(inner, run),
        Node::Concat(nodes) => return nodes.iter().all(|node| extend(node, run)),
        _ => return false,
    }
    true
}

fn collect(node: &Node, run: &mut Run, best: &mut Run) {
    match node {
        Node::Group(_, inner) => collect(inner, run, best),
        Node::Concat(nodes) => nodes.iter().for_each(|node| collect(node, run, best)),
        // A condition has no width, so the symbols around it are still adjacent.
        Node::Look(_) => {}
        Node::Repeat(inner, 1.., _) => {
            keep(run, best);
            collect(inner, run, best);
            keep(run, best);
        }
        node => {
            if !extend(node, run) {
                keep(run, best);
            }
        }
    }
}

fn keep(run: &mut Run, best: &mut Run) {
    let run = std::mem::take(run);
    if run.bytes.len() > best.bytes.len() {
        *best = run;
    }
}

impl Run {
    pub(crate) fn finder(self) -> Finder {
        if !self.folded {
            return Finder::Plain(Box::new(memmem::Finder::new(&self.bytes).into_owned()));
        }
        let rarest = (0..self.bytes.len()).min_by_key(|at| frequency(self.bytes[*at])).unwrap_or(0);
        Finder::Folded(Folded { text: self.bytes, rarest })
    }
}

impl Finder {
    /// Returns start and end of the first occurrence at or after `start`.
    #[inline]
    pub(crate) fn find(&self, haystack: &[u8], start: usize) -> Option<(usize, usize)> {
        let rest = haystack.get(start..)?;
        let (at, length) = match self {
            Finder::Plain(finder) => (finder.find(rest)?, finder.needle().len()),
            Finder::Folded(folded) => (folded.find(rest)?, folded.text.len()),
            Finder::Several(searcher) => {
                let found = searcher.find(rest)?;
                (found.start(), found.len())
            }
        };
        Some((start + at, start + at + length))
    }
}

impl Folded {
    fn find(&self, haystack: &[u8]) -> Option<usize> {
        let last = haystack.len().checked_sub(self.text.len())?;
        let (rare, searched) = (self.text[self.rarest], &haystack[self.rarest..=last + self.rarest]);
        let is_here = |at: &usize| {
            let found = &haystack[*at..*at + self.text.len()];
            // The pattern is in lower case already. Bytes other than letters have to be equal.
            found.iter().zip(&self.text).all(|(a, b)| a == b || (a ^ b == 0x20 && b.is_ascii_lowercase()))
        };
        if rare.is_ascii_lowercase() {
            memchr2_iter(rare, rare.to_ascii_uppercase(), searched).find(is_here)
        } else {
            memchr_iter(rare, searched).find(is_here)
        }
    }
}

/// Ranks a byte by its frequency in text and programs. The order of the letters is approximate.
fn frequency(byte: u8) -> usize {
    const COMMON: &[u8] = b" etaoinsrlhdcu\nmpfgywb,.v_k-01\"=();:/x2'jqz";
    COMMON.iter().position(|common| *common == byte).map_or(0, |index| COMMON.len() - index)
}
