//! Tree to the form that regex-automata compiles.

use regex_syntax::hir::{self, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, Repetition};
use regex_syntax::utf8::{Utf8Sequence, Utf8Sequences};

use crate::set::Set;
use crate::symbol::{Encoding, RAW, Symbol};
use crate::tree::{Look, Node};

/// The largest number of ranges of a set that is expanded to bytes: enough for `.`, `[^x]` and the like.
const FEW: usize = 16;

/// The extent to which sets are expanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// ASCII only for sets whose other members take long to compute. The automaton has to quit at a byte outside
    /// ASCII.
    Shallow,
    /// All characters.
    Full,
}

/// Translates a tree. Groups are left out. A back-reference becomes any text, since that is the most it can match.
pub(crate) fn translate(node: &Node, depth: Depth) -> Hir {
    match node {
        Node::Empty => Hir::empty(),
        Node::Symbol(symbol) => {
            let mut bytes = Vec::new();
            Encoding::push(*symbol, &mut bytes);
            Hir::literal(bytes)
        }
        Node::Letter(small) => bytes_class([small.to_ascii_uppercase(), *small].map(|byte| (byte, byte))),
        Node::Set(set) => translate_set(set, depth),
        Node::Look(look) => Hir::look(translate_look(*look)),
        Node::Group(_, inner) => translate(inner, depth),
        Node::Concat(nodes) => Hir::concat(nodes.iter().map(|node| translate(node, depth)).collect()),
        Node::Alternate(nodes) => Hir::alternation(nodes.iter().map(|node| translate(node, depth)).collect()),
        Node::Repeat(inner, least, most) => Hir::repetition(Repetition {
            min: *least,
            max: *most,
            greedy: true,
            sub: Box::new(translate(inner, depth)),
        }),
        Node::BackReference(_) => {
            Hir::repetition(Repetition { min: 0, max: None, greedy: true, sub: Box::new(bytes_class([(0, 0xff)])) })
        }
    }
}

fn translate_set(set: &Set, depth: Depth) -> Hir {
    let last = if depth == Depth::Shallow && set.is_deep() { 0x7f } else { 0x10_ffff };
    let ranges = set.ranges(last);
    let (characters, raw): (Vec<_>, Vec<_>) = ranges.into_iter().partition(|(low, _)| *low < RAW);
    let byte = |symbol: Symbol| (symbol & 0xff) as u8;
    let raw = raw.into_iter().map(|(low, high)| (byte(low), byte(high)));
    // With `Encoding::Bytes` all characters are ASCII.
    let is_ascii = characters.last().is_none_or(|(_, high)| *high < 0x80);
    if is_ascii {
        return bytes_class(characters.iter().map(|(low, high)| (byte(*low), byte(*high))).chain(raw));
    }
    let raw: Vec<(u8, u8)> = raw.collect();
    let unicode = if characters.len() > FEW {
        Hir::class(hir::Class::Unicode(ClassUnicode::new(characters.into_iter().flat_map(split))))
    } else {
        spelled_out(characters.into_iter().flat_map(split))
    };
    if raw.is_empty() { unicode } else { Hir::alternation(vec![unicode, bytes_class(raw)]) }
}

/// Translates ranges of characters to sequences of bytes. regex-automata can do it, but sets up a table for half a
/// millisecond, which pays only for large classes.
fn spelled_out(ranges: impl Iterator<Item = ClassUnicodeRange>) -> Hir {
    let sequences = ranges.flat_map(|range| Utf8Sequences::new(range.start(), range.end()));
    let sequence = |bytes: Utf8Sequence| {
        Hir::concat(bytes.as_slice().iter().map(|range| bytes_class([(range.start, range.end)])).collect())
    };
    Hir::alternation(sequences.map(sequence).collect())
}

/// Splits a range around the surrogates, which are not characters.
fn split((low, high): (Symbol, Symbol)) -> impl Iterator<Item = ClassUnicodeRange> {
    let range = |low: Symbol, high: Symbol| {
        let (low, high) = (char::from_u32(low)?, char::from_u32(high)?);
        (low <= high).then(|| ClassUnicodeRange::new(low, high))
    };
    let parts = if high < 0xd800 || low > 0xdfff {
        [range(low, high), None]
    } else {
        [range(low.min(0xd7ff), 0xd7ff).filter(|_| low < 0xd800), range(0xe000, high)]
    };
    parts.into_iter().flatten()
}

fn bytes_class(ranges: impl IntoIterator<Item = (u8, u8)>) -> Hir {
    let ranges = ranges.into_iter().map(|(low, high)| ClassBytesRange::new(low, high));
    Hir::class(hir::Class::Bytes(ClassBytes::new(ranges)))
}

/// Translates a condition. Words are ASCII here, and an automaton with a word condition quits at a byte outside
/// ASCII.
fn translate_look(look: Look) -> hir::Look {
    match look {
        Look::TextStart => hir::Look::Start,
        Look::TextEnd => hir::Look::End,
        Look::LineStart => hir::Look::StartLF,
        Look::LineEnd => hir::Look::EndLF,
        Look::WordStart => hir::Look::WordStartAscii,
        Look::WordEnd => hir::Look::WordEndAscii,
        Look::WordEdge => hir::Look::WordAscii,
        Look::NoWordEdge => hir::Look::WordAsciiNegate,
        Look::NoWordBefore => hir::Look::WordStartHalfAscii,
        Look::NoWordAfter => hir::Look::WordEndHalfAscii,
    }
}
