//! The tree between a pattern's text and the automata.

use crate::set::Set;
use crate::symbol::Symbol;

/// A part of a pattern.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    /// Matches nothing at all, everywhere.
    Empty,
    /// One symbol.
    Symbol(Symbol),
    /// One ASCII letter in either case; here it is small.
    Letter(u8),
    /// One symbol of a set.
    Set(Box<Set>),
    /// A condition on a position.
    Look(Look),
    /// A group, by its number from 1.
    Group(usize, Box<Node>),
    /// One after the other.
    Concat(Vec<Node>),
    /// One of several.
    Alternate(Vec<Node>),
    /// Between so many and so many times.
    Repeat(Box<Node>, u32, Option<u32>),
    /// What a group matched, again.
    BackReference(usize),
}

/// A condition on a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// Where the text starts.
    TextStart,
    /// Where the text ends.
    TextEnd,
    /// Where a line starts.
    LineStart,
    /// Where a line ends.
    LineEnd,
    /// `\<`
    WordStart,
    /// `\>`
    WordEnd,
    /// `\b`
    WordEdge,
    /// `\B`
    NoWordEdge,
    /// No word character before: what `grep -w` wants in front.
    NoWordBefore,
    /// No word character after.
    NoWordAfter,
}

impl Look {
    /// Whether it asks what kind of characters are around.
    pub(crate) fn is_about_words(self) -> bool {
        !matches!(self, Look::TextStart | Look::TextEnd | Look::LineStart | Look::LineEnd)
    }
}

impl Node {
    /// Whether some part of the tree is so. The depth is bounded by the parser.
    pub(crate) fn any(&self, is_so: &dyn Fn(&Node) -> bool) -> bool {
        is_so(self)
            || match self {
                Node::Group(_, inner) | Node::Repeat(inner, ..) => inner.any(is_so),
                Node::Concat(nodes) | Node::Alternate(nodes) => nodes.iter().any(|node| node.any(is_so)),
                _ => false,
            }
    }

    /// How many steps a machine for it takes, with repetitions written out.
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
