//! Arithmetic: 64-bit integers, the operators of C, and `**`.
//!
//! An expression is compiled to a flat sequence of operations on a stack, so that a sum of ten thousand terms nests no
//! deeper than a sum of two. This module compiles; the shell runs the code on its variables.

mod number;
mod parse;

use std::rc::Rc;

use crate::tree::{Arith, Operation, Parameter, Part};

pub use number::parse_number;
pub use parse::compile;

/// A compiled expression whose expansions, if any, are plain parameters.
#[derive(Debug)]
pub struct Parsed {
    /// The code.
    pub code: Code,
    /// The parameters that stand for the placeholders. Each must be a number when the code runs.
    pub dollars: Vec<Parameter>,
}

/// A compiled expression.
#[derive(Debug, Default)]
pub struct Code {
    /// The steps.
    pub operations: Vec<Op>,
    /// The source, for messages.
    pub text: String,
}

/// One step.
#[derive(Debug)]
pub enum Op {
    /// A constant.
    Number(i64),
    /// The value of a placeholder.
    Dollar(usize),
    /// The value of a variable.
    Load(Target),
    /// An operator on the top of the stack.
    Unary(Unary),
    /// An operator on the two topmost values, and the position of the right operand in the text.
    Binary(Binary, u32),
    /// Resolves the target of an assignment with an operator and loads its value, both before the right side.
    Fetch(Target),
    /// Assigns the top of the stack, combined with the fetched value if an operator is given.
    Store(Target, Option<Binary>, u32),
    /// `++` and `--`: the change, and whether the old value is the result.
    Step(Target, i64, bool),
    /// If the top is zero leave 0 and jump, else drop it.
    And(usize),
    /// If the top is not zero leave 1 and jump, else drop it.
    Or(usize),
    /// Make the top 0 or 1.
    Truth,
    /// Drop the top and jump if it was zero.
    JumpIfZero(usize),
    /// Jump.
    Jump(usize),
    /// Drop the top.
    Drop,
}

/// A variable or an element of one.
#[derive(Debug, Clone)]
pub struct Target {
    /// The variable.
    pub name: Rc<str>,
    /// The element.
    pub index: Option<Rc<Subscript>>,
}

/// A subscript: an expression, or, in an associative array, its text.
#[derive(Debug)]
pub struct Subscript {
    /// The text.
    pub text: String,
    /// The expression, or its error.
    pub code: Result<Code, Error>,
}

/// The operators with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Unary {
    Minus,
    Not,
    Complement,
}

/// The operators with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    ShiftLeft,
    ShiftRight,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    BitAnd,
    BitXor,
    BitOr,
}

/// An error in an expression, and the text from there on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The message.
    pub message: &'static str,
    /// The offending text.
    pub token: String,
    /// The expression that has the error, if it is not the one that was evaluated.
    pub within: Option<String>,
}

impl Error {
    /// Makes an error at this text.
    pub fn new(message: &'static str, token: impl Into<String>) -> Error {
        Error { message, token: token.into(), within: None }
    }

    /// Sets the expression that has the error, unless it is set already.
    pub fn within(mut self, text: &str) -> Error {
        self.within.get_or_insert_with(|| text.trim_start().to_owned());
        self
    }
}

/// Marks a placeholder in the text given to `compile`; the next character is its number plus 32.
pub const PLACEHOLDER: char = '\u{1}';

impl Parsed {
    /// Compiles an expression before its expansion. Returns `None` if the expansion may change how it parses.
    pub fn new(arith: &Arith) -> Option<Rc<Parsed>> {
        let mut text = String::new();
        let mut dollars = Vec::new();
        for part in &arith.text.parts {
            match part {
                Part::Bare(piece) | Part::Glob(piece) if !piece.contains(PLACEHOLDER) => text.push_str(piece),
                Part::Parameter(parameter) if is_plain(parameter) && dollars.len() < 64 => {
                    text.push(PLACEHOLDER);
                    text.push(char::from(32 + dollars.len() as u8));
                    dollars.push((**parameter).clone());
                }
                _ => return None,
            }
        }
        let code = parse::compile_marked(&text).ok()?;
        Some(Rc::new(Parsed { code, dollars }))
    }
}

/// Returns true if expanding the parameter has no side effects, so that the result may be discarded.
fn is_plain(parameter: &Parameter) -> bool {
    matches!(parameter.operation, Operation::Value) && parameter.index.is_none() && !parameter.indirect
}
