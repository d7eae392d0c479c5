//! The tree between a pattern's text and the automata.

use crate::set::Set;
use crate::symbol::Symbol;

/// A part of a pattern.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    /// The empty text.
    Empty,
    /// One symbol.
    Symbol(Symbol),
    /// One ASCII letter in either case, stored in lower case.
    Letter(u8),
    /// One symbol of a set.
    Set(Box<Set>),
    /// A condition on a position.
    Look(Look),
    /// A group with its number, counted from 1.
    Group(usize, Box<Node>),
    /// Parts in sequence.
    Concat(Vec<Node>),
    /// One of several branches.
    Alternate(Vec<Node>),
    /// A repetition with its least and its largest count.
    Repeat(Box<Node>, u32, Option<u32>),
    /// The text of a group, again.
    BackReference(usize),
}

/// A condition on a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// The start of the text.
    TextStart,
    /// The end of the text.
    TextEnd,
    /// The start of a line.
    LineStart,
    /// The end of a line.
    LineEnd,
    /// `\<`
    WordStart,
    /// `\>`
    WordEnd,
    /// `\b`
    WordEdge,
    /// `\B`
    NoWordEdge,
    /// No word character before: the left side of `grep -w`.
    NoWordBefore,
    /// No word character after: the right side of `grep -w`.
    NoWordAfter,
}

impl Look {
    /// Returns true if the condition depends on word characters.
    pub(crate) fn is_about_words(self) -> bool {
        !matches!(self, Look::TextStart | Look::TextEnd | Look::LineStart | Look::LineEnd)
    }
}

impl Node {
    /// Returns true if a part of the tree satisfies the predicate. The parser bounds the depth.
    pub(crate) fn any(&self, is_so: &dyn Fn(&Node) -> bool) -> bool {
        is_so(self)
            || match self {
                Node::Group(_, inner) | Node::Repeat(inner, ..) => inner.any(is_so),
                Node::Concat(nodes) | Node::Alternate(nodes) => nodes.iter().any(|node| node.any(is_so)),
                _ => false,
            }
    }

    /// Returns the number of steps of the tree's program, with repetitions expanded.
    pub(crate) fn weight(&self) -> u64 {
        match self {
            Node::Empty => 0,
            Node::Symbol(_) | Node::Letter(_) | Node::Set(_) | Node::Look(_) | Node::BackReference(_) => 1,
            Node::Group(_, inner) => inner.weight() + 2,
            Node::Concat(nodes) => nodes.iter().map(Node::weight).fold(0, u64::saturating_add),
            Node::Alternate(nodes) => nodes.iter().map(|node| node.weight() + 2).fold(0, u64::saturating_add),
            Node::Repeat(inner, least, most) => {
                let copies = u64::from(most.unwrap_or(least.saturating_add(1)).max(1));
                (inner.weight() + 2).saturating_mul(copies)
            }
        }
    }
}
