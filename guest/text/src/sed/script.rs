//! The commands and addresses of a script.

use std::rc::Rc;

use isopod_regex::Regex;

use super::replacement::Replacement;

/// A command with its addresses.
pub(super) struct Command {
    pub(super) from: Option<Address>,
    pub(super) to: Option<Address>,
    pub(super) negated: bool,
    pub(super) range: Range,
    pub(super) action: Action,
}

/// An address.
pub(super) enum Address {
    /// A line number. 0 is valid only before a pattern.
    Line(u64),
    /// `first~step`
    Step(u64, u64),
    /// `$`
    Last,
    /// `/x/`, or the last pattern used if it is empty.
    Match(Option<Rc<Regex>>),
    /// `+n`
    Plus(u64),
    /// `~n`
    Multiple(u64),
}

/// The state of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Range {
    Inactive,
    /// Active up to this line, if the line is known.
    Active(Option<u64>),
    /// Ended. The start address is tested again.
    Closed,
}

/// The action of a command.
pub(super) enum Action {
    /// `{`: continues at this index if the addresses do not match.
    Block(usize),
    /// `}`, a label or a comment.
    Nothing,
    Equals,
    Append(Vec<u8>),
    Insert(Vec<u8>),
    Change(Vec<u8>),
    /// `b`, to this index.
    Branch(usize),
    /// `t`
    BranchIfReplaced(usize),
    /// `T`
    BranchUnlessReplaced(usize),
    Delete,
    DeleteLine,
    /// `e`: a command, or the pattern space itself.
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

/// The mapping of `y`.
pub(super) struct Translation {
    /// The replacement of each ASCII character.
    pub(super) ascii: Vec<Vec<u8>>,
    pub(super) others: Vec<(char, Vec<u8>)>,
}

/// The time at which `s` prints the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prints {
    Never,
    /// Before it is executed: `pe`.
    Before,
    After,
}

/// The parameters of `s`.
pub(super) struct Substitute {
    /// `None` stands for the last pattern used.
    pub(super) regex: Option<Rc<Regex>>,
    pub(super) replacement: Replacement,
    pub(super) global: bool,
    /// The number of the first match to replace, counted from 1.
    pub(super) number: u64,
    pub(super) prints: Prints,
    pub(super) executes: bool,
    pub(super) file: Option<usize>,
}

/// A script.
pub(super) struct Script {
    pub(super) commands: Vec<Command>,
    /// The files written by `w`, and the files read by `R`.
    pub(super) outputs: Vec<String>,
    pub(super) inputs: Vec<String>,
}
