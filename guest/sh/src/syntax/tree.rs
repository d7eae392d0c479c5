//! The syntax tree: what the parser makes, the compiler reads and a subshell gets by post.
//!
//! Nodes that the machine holds on to while they run are behind `Rc`, so that compiling copies nothing.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use crate::arith;

/// Commands in sequence.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct List {
    /// The commands, in order.
    pub items: Vec<Item>,
}

/// One `&&`/`||` chain of a list, and how it is ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Item {
    /// The chain.
    pub chain: Rc<Chain>,
    /// Ended by `&`.
    pub background: bool,
}

/// Pipelines joined by `&&` and `||`, which bind equally and from the left.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chain {
    /// The first one.
    pub first: Rc<Pipeline>,
    /// The others, each with the operator before it.
    pub rest: Vec<(Connector, Rc<Pipeline>)>,
}

/// What joins two pipelines of a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Connector {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// Commands joined by `|`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pipeline {
    /// `!` before it.
    pub negated: bool,
    /// `time` before it.
    pub timed: Option<TimeFormat>,
    /// The commands; one at least, unless `time` or `!` stands alone.
    pub stages: Vec<Command>,
}

/// How `time` reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimeFormat {
    /// As TIMEFORMAT says.
    Variable,
    /// `time -p`
    Posix,
}

/// One stage of a pipeline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// What it is.
    pub kind: Kind,
    /// Redirections of a compound command; a simple command keeps its own.
    pub redirects: Rc<[Redirect]>,
    /// The source line it starts on.
    pub line: u32,
}

/// The kinds of command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
        /// What is tried.
        condition: List,
        /// What is repeated.
        body: List,
    },
    /// `for NAME in …`
    For(Rc<For>),
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
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct For {
    /// The variable.
    pub name: String,
    /// What it runs over; the positional parameters when absent.
    pub words: Option<Vec<Word>>,
    /// What is repeated.
    pub body: List,
    /// The source line.
    pub line: u32,
}

/// `for ((initial; condition; step))`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForArith {
    /// Done once.
    pub initial: Option<Arith>,
    /// Tried before each turn.
    pub condition: Option<Arith>,
    /// Done after each turn.
    pub step: Option<Arith>,
    /// What is repeated.
    pub body: List,
    /// The source line.
    pub line: u32,
}

/// `case WORD in …`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// What is compared.
    pub word: Word,
    /// The branches.
    pub arms: Vec<Arm>,
    /// The source line.
    pub line: u32,
}

/// A branch of `case`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Arm {
    /// Its patterns.
    pub patterns: Vec<Word>,
    /// Its commands.
    pub body: List,
    /// What follows them.
    pub end: ArmEnd,
}

/// How a branch of `case` ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArmEnd {
    /// `;;`
    Break,
    /// `;&`: the next body runs too.
    FallThrough,
    /// `;;&`: the next patterns are tried too.
    Continue,
}

/// A function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its body, a compound command with its redirections.
    pub body: Command,
}

/// `coproc [NAME] command`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Coproc {
    /// The array that gets the descriptors.
    pub name: String,
    /// What runs.
    pub body: Command,
}

/// An expression of `[[ … ]]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// The element, if one is named.
    pub index: Option<Arith>,
    /// `+=`
    pub append: bool,
    /// What it gets.
    pub value: Assigned,
}

/// The right side of an assignment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Assigned {
    /// A word.
    Scalar(Word),
    /// `( … )`
    Array(Vec<Element>),
}

/// One element between the parentheses of an array assignment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Element {
    /// `[i]=`
    pub index: Option<Arith>,
    /// `[i]+=`
    pub append: bool,
    /// The word; without an index it may expand to several elements.
    pub word: Word,
}

/// A redirection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Redirect {
    /// Which descriptor; the operator's own when absent.
    pub descriptor: Option<Descriptor>,
    /// What is done.
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
    /// `{name}>`: a free one, whose number the variable gets.
    Variable(String),
}

/// What a redirection does.
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

/// A word: the concatenation of its parts.
#[derive(Debug, Default, Clone, PartialEq, Serialize, Deserialize)]
pub struct Word {
    /// The parts.
    pub parts: Vec<Part>,
    /// The word as written, kept only within functions, which can be printed.
    pub source: Option<Rc<str>>,
}

/// A piece of a word.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Part {
    /// Quoted text: taken as it is, and there even when empty.
    Text(String),
    /// Unquoted text that no expansion looks at.
    Bare(String),
    /// Unquoted text with characters of patterns or a tilde.
    Glob(String),
    /// `$x`, `${…}`
    Parameter(Box<Parameter>),
    /// `$( … )` and backquotes.
    Command(Rc<Substitution>, Quoted),
    /// `$(( … ))`
    Arith(Rc<Arith>, Quoted),
    /// `<( … )` and `>( … )`
    Process(Rc<List>, Direction),
    /// `{a,b}` and `{1..9}`
    Brace(Rc<Brace>),
    /// An argument of a declaration command that is an assignment.
    Assignment(Rc<Assignment>),
}

/// Whether a part stands in double quotes.
pub type Quoted = bool;

/// What stands in `$( … )`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Substitution {
    /// The commands.
    pub list: Rc<List>,
}

/// Which end of a process substitution the word names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Direction {
    /// `<( … )`: the word is read.
    Read,
    /// `>( … )`: the word is written.
    Write,
}

/// A brace expansion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Brace {
    /// `{a,b,c}`
    List(Vec<Vec<Part>>),
    /// `{1..9..2}`; `width` pads with zeros.
    Numbers {
        /// First number.
        from: i64,
        /// Last number.
        to: i64,
        /// Distance, its sign ignored.
        step: i64,
        /// Digits, the sign included.
        width: usize,
    },
    /// `{a..e}`
    Letters {
        /// First letter.
        from: u8,
        /// Last letter.
        to: u8,
        /// Distance, its sign ignored.
        step: i64,
    },
}

/// A parameter expansion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Parameter {
    /// Which parameter.
    pub name: Name,
    /// `[…]` after it.
    pub index: Option<Index>,
    /// `!` before it.
    pub indirect: bool,
    /// What is done with it.
    pub operation: Operation,
    /// Whether it stands in double quotes.
    pub quoted: Quoted,
}

/// The name of a parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Name {
    /// A variable.
    Variable(String),
    /// `$1`, `${10}`
    Positional(u32),
    /// One of `@ * # ? - $ !`
    Special(u8),
}

/// The subscript of a parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Index {
    /// `[@]`
    All,
    /// `[*]`
    Joined,
    /// Anything else.
    Element(Arith),
}

/// What a parameter expansion does with the value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Operation {
    /// Nothing.
    Value,
    /// `${#x}`
    Length,
    /// `-`, `=`, `?`, `+`; with a colon, empty counts as unset.
    Fallback {
        /// The operator.
        kind: Fallback,
        /// With a colon.
        colon: bool,
        /// The word after it.
        word: Word,
    },
    /// `#`, `##`, `%`, `%%`
    Remove {
        /// From the end.
        suffix: bool,
        /// As much as matches.
        longest: bool,
        /// The pattern.
        pattern: Word,
    },
    /// `/`, `//`, `/#`, `/%`
    Replace {
        /// Where.
        place: Place,
        /// The pattern.
        pattern: Word,
        /// What it is replaced with.
        with: Word,
    },
    /// `^`, `^^`, `,`, `,,`, `~`, `~~`
    Case {
        /// What is done to a letter.
        to: LetterCase,
        /// To each, or only the first.
        all: bool,
        /// Which letters; all when empty.
        pattern: Word,
    },
    /// `${x:offset:length}`
    Slice {
        /// Where it starts.
        offset: Arith,
        /// How much.
        length: Option<Arith>,
    },
    /// `${x@Q}`
    Transform(u8),
    /// `${!x[@]}`
    Keys,
    /// `${!x*}`, `${!x@}`
    Names(String),
    /// Nothing that exists: an error when it is expanded, with the text.
    Bad(String),
}

/// The operators that deal with unset parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fallback {
    /// `-`: use the word.
    Default,
    /// `=`: use and assign it.
    Assign,
    /// `?`: complain with it.
    Error,
    /// `+`: use it when set.
    Alternative,
}

/// Where a replacement may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Place {
    /// The first match.
    First,
    /// Every match.
    All,
    /// At the start only.
    Start,
    /// At the end only.
    End,
}

/// What a case operator does to a letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LetterCase {
    /// To upper case.
    Upper,
    /// To lower case.
    Lower,
    /// To the other one.
    Toggle,
}

/// An arithmetic expression: text that is expanded first and parsed then.
///
/// Most expressions need no expansion that could change how they parse; for those the parsed form is kept
/// beside the text, made when first used and not sent to subshells.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub struct Arith {
    /// The text, with its expansions.
    pub text: Word,
    /// The parsed form, `None` inside if the text has to be expanded each time.
    #[serde(skip)]
    pub parsed: OnceCell<Option<Rc<arith::Parsed>>>,
}

impl PartialEq for Arith {
    fn eq(&self, other: &Arith) -> bool {
        self.text == other.text
    }
}

impl Word {
    /// A word of one part.
    pub fn of(part: Part) -> Word {
        Word { parts: vec![part], source: None }
    }

    /// The text if nothing in the word needs expansion and nothing was quoted.
    pub fn bare(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Bare(text)] => Some(text),
            _ => None,
        }
    }

    /// The text if the word is one literal, quoted or not, that expansion leaves as it is.
    pub fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Bare(text) | Part::Text(text)] => Some(text),
            _ => None,
        }
    }
}
