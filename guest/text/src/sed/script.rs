//! What commands and addresses are.

use std::rc::Rc;

use isopod_regex::Regex;

use super::replacement::Replacement;

/// One command with its addresses.
pub(super) struct Command {
    pub(super) from: Option<Address>,
    pub(super) to: Option<Address>,
    pub(super) negated: bool,
    pub(super) range: Range,
    pub(super) action: Action,
}

/// An address.
pub(super) enum Address {
    /// A line, by its number; 0 only before a pattern.
    Line(u64),
    /// `first~step`
    Step(u64, u64),
    /// `$`
    Last,
    /// `/x/`; without a pattern, the one that was used last.
    Match(Option<Rc<Regex>>),
    /// `+n`
    Plus(u64),
    /// `~n`
    Multiple(u64),
}

/// How far a range has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Range {
    Inactive,
    /// Until this line, if that is known.
    Active(Option<u64>),
    /// It ended, and starts at a line number that is past.
    Closed,
}

/// What a command does.
pub(super) enum Action {
    /// `{`: what follows, up to this index, if the addresses fit.
    Block(usize),
    /// `}`, a label or a comment
    Nothing,
    Equals,
    Append(Vec<u8>),
    Insert(Vec<u8>),
    Change(Vec<u8>),
    /// `b`, to this index
    Branch(usize),
    /// `t`
    BranchIfReplaced(usize),
    /// `T`
    BranchUnlessReplaced(usize),
    Delete,
    DeleteLine,
    /// `e`: a command, or the pattern space itself
    Execute(Vec<u8>),
    FileName,
    CopyToHold,
    AppendToHold,
    CopyFromHold,
    AppendFromHold,
    List(Option<usize>),
    Next,
    AppendNext,
    Print,
    PrintLine,
    Quit(u8),
    QuitSilently(u8),
    ReadFile(String),
    ReadLine(usize),
    Substitute(Box<Substitute>),
    Write(usize),
    WriteLine(usize),
    Exchange,
    Translate(Box<Translation>),
    Zap,
}

/// What `y` does.
pub(super) struct Translation {
    /// For each byte of ASCII, what it becomes.
    pub(super) ascii: Vec<Vec<u8>>,
    pub(super) others: Vec<(char, Vec<u8>)>,
}

/// Whether `s` prints the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prints {
    Never,
    /// Before it is executed: `pe`.
    Before,
    After,
}

/// What `s` does.
pub(super) struct Substitute {
    /// Without a pattern, the one that was used last.
    pub(super) regex: Option<Rc<Regex>>,
    pub(super) replacement: Replacement,
    pub(super) global: bool,
    /// Which match is the first to be replaced, from 1.
    pub(super) number: u64,
    pub(super) prints: Prints,
    pub(super) executes: bool,
    pub(super) file: Option<usize>,
}

/// A script.
pub(super) struct Script {
    pub(super) commands: Vec<Command>,
    /// Files that are written, and files that lines are read from.
    pub(super) outputs: Vec<String>,
    pub(super) inputs: Vec<String>,
}
