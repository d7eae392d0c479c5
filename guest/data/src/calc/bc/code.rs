//! The instructions that programs are compiled to.

use std::rc::Rc;

/// The number of a simple variable; the first ones are bc's own.
pub(super) type Variable = usize;

/// `scale`: digits after the point.
pub(super) const SCALE: Variable = 0;
/// `ibase`: the base of numbers that are read.
pub(super) const IBASE: Variable = 1;
/// `obase`: the base of numbers that are printed.
pub(super) const OBASE: Variable = 2;
/// `last`: the last number that was printed.
pub(super) const LAST: Variable = 3;

/// An instruction of the stack machine.
#[derive(Clone, Debug)]
pub(super) enum Op {
    /// Pushes a number. The digits are read in the input base of that moment.
    Constant(Rc<[u8]>),
    Load(Variable),
    /// Sets a variable and leaves the value on the stack.
    Store(Variable),
    /// Pushes the element whose index is on the stack.
    LoadElement(usize),
    /// Pushes the element and leaves the index below it.
    PeekElement(usize),
    /// Sets the element whose index is below the value, and leaves the value.
    StoreElement(usize),
    /// `++` and `--`, with the amount. The flag is true if the old value is pushed.
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
    /// Replaces a value by 1 if it is not zero, and by 0 otherwise.
    Truth,
    Jump(usize),
    JumpZero(usize),
    Call(String, Rc<[Argument]>),
    Return,
    Length,
    ScaleOf,
    SquareRoot,
    Read,
    /// Prints the value of an expression and a newline, unless the value is void.
    Print,
    /// Prints the value of a `print` statement.
    PrintPlain,
    PrintText(Rc<[u8]>),
    Pop,
    Halt,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Argument {
    /// A value, which is on the stack.
    Value,
    Array(usize),
}

/// A local name of a function.
#[derive(Clone, Debug)]
pub(super) enum Local {
    Variable(Variable),
    Array(usize),
    /// An array of the caller, not a copy of it.
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
