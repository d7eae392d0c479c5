//! Words.

use std::cell::OnceCell;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::command::{Assignment, List};
use crate::arith;

/// A word: the concatenation of its parts.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
pub struct Word {
    /// The parts.
    pub parts: Vec<Part>,
    /// The word as written, kept only within functions, which can be printed.
    pub source: Option<Rc<str>>,
}

/// A piece of a word.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
pub enum Part {
    /// Quoted text: taken literally, and present even when empty.
    Text(String),
    /// Unquoted text that no expansion applies to.
    Bare(String),
    /// Unquoted text with pattern characters or a tilde.
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

/// True for a part in double quotes.
pub type Quoted = bool;

/// The content of `$( … )`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
pub struct Substitution {
    /// The commands.
    pub list: Rc<List>,
}

/// The end of a process substitution that the word names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Direction {
    /// `<( … )`: the word is read.
    Read,
    /// `>( … )`: the word is written.
    Write,
}

/// A brace expansion.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
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
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
pub struct Parameter {
    /// The name.
    pub name: Name,
    /// `[…]` after it.
    pub index: Option<Index>,
    /// `!` before it.
    pub indirect: bool,
    /// The operator on the value.
    pub operation: Operation,
    /// It stands in double quotes.
    pub quoted: Quoted,
    /// `$x` without braces: letters that a brace expansion puts after it continue its name.
    pub open: bool,
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
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
pub enum Index {
    /// `[@]`
    All,
    /// `[*]`
    Joined,
    /// Anything else.
    Element(Arith),
}

/// The operator of a parameter expansion.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(PartialEq))]
pub enum Operation {
    /// None: the value itself.
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
        /// The place.
        place: ReplacePlace,
        /// The pattern.
        pattern: Word,
        /// The replacement.
        with: Word,
    },
    /// `^`, `^^`, `,`, `,,`, `~`, `~~`
    Case {
        /// The change of a letter.
        to: LetterCase,
        /// Changes each letter, not only the first.
        all: bool,
        /// The letters that it applies to; all when empty.
        pattern: Word,
    },
    /// `${x:offset:length}`
    Slice {
        /// The start.
        offset: Arith,
        /// The length.
        length: Option<Arith>,
    },
    /// `${x@Q}`
    Transform(u8),
    /// `${!x[@]}`
    Keys,
    /// `${!x*}`, `${!x@}`
    Names(String),
    /// An invalid expansion, with its text: an error when it is expanded.
    Bad(String),
}

/// The operators for unset parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fallback {
    /// `-`: use the word.
    Default,
    /// `=`: use and assign it.
    Assign,
    /// `?`: report it.
    Error,
    /// `+`: use it when set.
    Alternative,
}

/// The place of a replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReplacePlace {
    /// The first match.
    First,
    /// Every match.
    All,
    /// At the start only.
    Start,
    /// At the end only.
    End,
}

/// The change of a case operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LetterCase {
    /// To upper case.
    Upper,
    /// To lower case.
    Lower,
    /// To the other one.
    Toggle,
}

/// An arithmetic expression: a text that is expanded first and then parsed.
///
/// Most expressions have no expansion that could change how they parse. For those the parsed form is kept beside the
/// text, made at first use and not sent to subshells.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub struct Arith {
    /// The text, with its expansions.
    pub text: Word,
    /// The parsed form; `None` inside if the text has to be expanded each time.
    #[serde(skip)]
    pub parsed: OnceCell<Option<Rc<arith::Parsed>>>,
}

#[cfg(test)]
impl PartialEq for Arith {
    fn eq(&self, other: &Arith) -> bool {
        self.text == other.text
    }
}

impl Word {
    /// Makes a word of one part.
    pub fn of(part: Part) -> Word {
        Word { parts: vec![part], source: None }
    }

    /// Returns the text if the word needs no expansion and no part of it was quoted.
    pub fn bare(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Bare(text)] => Some(text),
            _ => None,
        }
    }

    /// Returns the text if the word is one literal, quoted or not, that expansion does not change.
    pub fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Bare(text) | Part::Text(text)] => Some(text),
            _ => None,
        }
    }
}
