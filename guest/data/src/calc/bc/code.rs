//! What programs are compiled to.

use std::rc::Rc;

/// A simple variable; the first ones are bc's own.
pub(super) type Variable = usize;

/// Digits after the point.
pub(super) const SCALE: Variable = 0;
/// The base of numbers that are read.
pub(super) const IBASE: Variable = 1;
/// The base of numbers that are printed.
pub(super) const OBASE: Variable = 2;
/// The last number that was printed.
pub(super) const LAST: Variable = 3;

/// An instruction of the stack machine.
#[derive(Clone, Debug)]
pub(super) enum Op {
    /// Digits, which are a number of the base that holds when they are run.
    Constant(Rc<[u8]>),
    Load(Variable),
    /// Sets a variable and leaves the value.
    Store(Variable),
    /// The element whose index is on the stack.
    LoadElement(usize),
    /// The same, and the index stays below it.
    PeekElement(usize),
    /// Sets the element whose index is below the value, and leaves the value.
    StoreElement(usize),
    /// `++` and `--`: by how much, and whether the value is the old one.
    Step(Variable, i64, bool),
    StepElement(usize, i64, bool),
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
    Negate,
    Not,
    Compare(&'static str),
    /// Whether it is not zero, as 1 or 0.
    Truth,
    Jump(usize),
    JumpZero(usize),
    Call(String, Rc<[Argument]>),
    Return,
    Length,
    ScaleOf,
    SquareRoot,
    Read,
    /// Prints a value of an expression, with a newline, if it is one.
    Print,
    /// Prints a value of a `print` statement.
    PrintPlain,
    PrintText(Rc<[u8]>),
    Pop,
    Halt,
}

/// What a function is called with.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Argument {
    /// The value on the stack.
    Value,
    Array(usize),
}

/// What a function binds.
#[derive(Clone, Debug)]
pub(super) enum Local {
    Variable(Variable),
    Array(usize),
    /// An array of the caller's, not a copy of it.
    Reference(usize),
}

/// A function.
#[derive(Clone)]
pub(super) struct Function {
    pub(super) parameters: Vec<Local>,
    pub(super) autos: Vec<Local>,
    pub(super) code: Rc<[Op]>,
    pub(super) is_void: bool,
}
