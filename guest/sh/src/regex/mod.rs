//! POSIX extended regular expressions, for `[[ … =~ … ]]`.
//!
//! A Thompson simulation: time is bounded by the product of text and pattern, whatever the pattern. The match
//! is the leftmost and the longest, as POSIX wants it. Where a group can match in several ways within that
//! match, greedy operators and the order of alternatives decide, not POSIX's rule of longest groups; the two
//! differ only for alternatives of which one is the beginning of the other. Back-references are refused.

mod compile;
mod parse;
mod run;
#[cfg(test)]
mod tests;

/// A compiled expression.
#[derive(Debug)]
pub struct Regex {
    program: Vec<Inst>,
    groups: usize,
    fold: bool,
}

/// The expression is wrong, or has what is not supported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid;

/// Start and end of a group in the text, in bytes; `None` if it took no part.
pub type Span = Option<(usize, usize)>;

/// A step of the program. Positions are indices.
#[derive(Debug, Clone)]
enum Inst {
    Char(char),
    Any,
    Set(Set),
    Start,
    End,
    /// `\b`, `\B`, `\<`, `\>`
    Word(Boundary),
    Save(usize),
    Jump(usize),
    /// Both ways, the first preferred.
    Split(usize, usize),
    Match,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Boundary {
    Any,
    None,
    Start,
    End,
}

/// A set of characters.
#[derive(Debug, Clone, Default, PartialEq)]
struct Set {
    negated: bool,
    ranges: Vec<(char, char)>,
    classes: Vec<fn(char) -> bool>,
}

/// The tree between text and program.
#[derive(Debug, Clone)]
enum Node {
    Empty,
    Char(char),
    Any,
    Set(Set),
    Start,
    End,
    Word(Boundary),
    Group(Box<Node>, usize),
    Concat(Vec<Node>),
    Alternate(Vec<Node>),
    Repeat(Box<Node>, u32, Option<u32>),
}

impl Regex {
    /// Compiles an expression. `fold` ignores the case of letters.
    pub fn new(source: &str, fold: bool) -> Result<Regex, Invalid> {
        let (node, groups) = parse::parse(source)?;
        let program = compile::compile(&node)?;
        Ok(Regex { program, groups: groups + 1, fold })
    }

    /// The leftmost, longest match: the whole, then its groups.
    pub fn captures(&self, text: &str) -> Option<Vec<Span>> {
        self.search(text)
    }
}
