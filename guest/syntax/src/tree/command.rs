//! Commands.

use std::cell::RefCell;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::word::{Arith, Word};

/// Commands in sequence.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
pub struct List {
    /// The commands, in order.
    pub items: Vec<Item>,
}

/// One `&&`/`||` chain of a list, and its terminator.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
pub struct Item {
    /// The chain.
    pub chain: Rc<Chain>,
    /// Ended by `&`.
    pub background: bool,
}

/// Pipelines joined by `&&` and `||`, which bind equally and from the left.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
pub struct Chain {
    /// The first one.
    pub first: Rc<Pipeline>,
    /// The others, each with the operator before it.
    pub rest: Vec<(Connector, Rc<Pipeline>)>,
}

/// The operator between two pipelines of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Connector {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Commands joined by `|`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
pub struct Pipeline {
    /// `!` before it.
    pub negated: bool,
    /// `time` before it.
    pub timed: Option<TimeFormat>,
    /// The commands; at least one, unless `time` or `!` stands alone.
    pub stages: Vec<Command>,
}

/// The format of the report of `time`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimeFormat {
    /// The format of TIMEFORMAT.
    Variable,
    /// `time -p`
    Posix,
}

/// One stage of a pipeline.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
pub struct Command {
    /// The kind of the command.
    pub kind: Kind,
    /// Redirections of a compound command; a simple command keeps its own.
    pub redirects: Rc<[Redirect]>,
    /// The source line it starts on.
    pub line: u32,
}

/// The kinds of command.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
pub enum Kind {
    /// Words, assignments and redirections.
    Simple(Rc<Simple>),
    /// `{ …; }`
    Group(Rc<List>),
    /// `( … )`
    Subshell(Rc<List>),
    /// `if`: conditions with their bodies, and the `else` part.
    If(Vec<(List, List)>, Option<List>),
    /// `while` and `until`.
    While {
        /// `until`.
        until: bool,
        /// The condition.
        condition: List,
        /// The body.
        body: List,
    },
    /// `for NAME in …`
    For(Rc<For>),
    /// `select NAME in …`
    Select(Rc<For>),
    /// `for ((…; …; …))`
    ForArith(Rc<ForArith>),
    /// `case`
    Case(Rc<Case>),
    /// `(( … ))`
    Arith(Rc<Arith>),
    /// `[[ … ]]`
    Condition(Rc<Condition>),
    /// A function definition.
    Function(Rc<Function>),
    /// `coproc`
    Coproc(Rc<Coproc>),
}

/// A simple command.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
pub struct Simple {
    /// Assignments before the first word.
    pub assignments: Vec<Assignment>,
    /// The words. Arguments of `declare` and its kin that are assignments are one `Part::Assignment`.
    pub words: Vec<Word>,
    /// The redirections, in order.
    pub redirects: Vec<Redirect>,
    /// The source line.
    pub line: u32,
}

/// `for NAME [in WORDS]; do …; done`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
pub struct For {
    /// The variable.
    pub name: String,
    /// The words; the positional parameters when absent.
    pub words: Option<Vec<Word>>,
    /// The body.
    pub body: List,
    /// The source line.
    pub line: u32,
}

/// `for ((initial; condition; step))`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
pub struct ForArith {
    /// Evaluated once.
    pub initial: Option<Arith>,
    /// Evaluated before each turn.
    pub condition: Option<Arith>,
    /// Evaluated after each turn.
    pub step: Option<Arith>,
    /// The body.
    pub body: List,
    /// The source line.
    pub line: u32,
}

/// `case WORD in …`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
pub struct Case {
    /// The word that is matched.
    pub word: Word,
    /// The branches.
    pub arms: Vec<Arm>,
    /// The source line.
    pub line: u32,
}

/// A branch of `case`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
pub struct Arm {
    /// Its patterns.
    pub patterns: Vec<Word>,
    /// Its commands.
    pub body: List,
    /// The terminator.
    pub end: ArmEnd,
}

/// The terminator of a branch of `case`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArmEnd {
    /// `;;`
    Break,
    /// `;&`: the next body runs too.
    FallThrough,
    /// `;;&`: the following patterns are tried too.
    Continue,
}

/// A function.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its body, a compound command with its redirections.
    pub body: Command,
}

/// `coproc [NAME] command`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
pub struct Coproc {
    /// The array that gets the descriptors.
    pub name: String,
    /// The command.
    pub body: Command,
}

/// An expression of `[[ … ]]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
pub enum Condition {
    /// A word that is not empty.
    Word(Word),
    /// `! e`
    Not(Box<Condition>),
    /// `a && b`
    And(Vec<Condition>),
    /// `a || b`
    Or(Vec<Condition>),
    /// `( e )`, kept for printing.
    Group(Box<Condition>),
    /// `-f w`
    Unary(u8, Word),
    /// `a == b`
    Binary(Comparison, Word, Word),
}

/// The binary operators of `[[ … ]]` and `test`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Comparison {
    Match,
    Equal,
    NotMatch,
    Regex,
    Before,
    After,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Newer,
    Older,
    SameFile,
}

/// `NAME=…`, `NAME+=…`, `NAME[i]=…`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// The element, if one is named.
    pub index: Option<Arith>,
    /// `+=`
    pub append: bool,
    /// The value.
    pub value: AssignedValue,
}

/// The right side of an assignment.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
pub enum AssignedValue {
    /// A word.
    Scalar(Word),
    /// `( … )`
    Array(Vec<Element>),
}

/// One element between the parentheses of an array assignment.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
pub struct Element {
    /// `[i]=`
    pub index: Option<Arith>,
    /// `[i]+=`
    pub append: bool,
    /// The word; without an index it may expand to several elements.
    pub word: Word,
}

/// A redirection.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
pub struct Redirect {
    /// The descriptor; the operator's default when absent.
    pub descriptor: Option<Descriptor>,
    /// The operation.
    pub action: RedirectAction,
    /// The target, or the here-document's delimiter as written.
    pub target: Word,
    /// A here-document's text, which is read only after the rest of the line is parsed.
    pub document: Option<Rc<RefCell<Word>>>,
}

/// The descriptor of a redirection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Descriptor {
    /// `2>`
    Number(u32),
    /// `{name}>`: a free one, whose number is assigned to the variable.
    Variable(String),
}

/// The operation of a redirection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RedirectAction {
    /// `<`
    Read,
    /// `>`
    Write,
    /// `>|`
    Clobber,
    /// `>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `<&`
    DuplicateRead,
    /// `>&`
    DuplicateWrite,
    /// `&>`
    Both,
    /// `&>>`
    AppendBoth,
    /// `<<`
    Document,
    /// `<<-`
    DocumentTabs,
    /// `<<<`
    String,
}
