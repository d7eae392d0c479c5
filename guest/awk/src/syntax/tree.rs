//! The syntax tree.

use super::functions::Function;

/// A name, as an index into the program's list of names.
pub(crate) type Name = usize;

/// A whole program.
#[derive(Default)]
pub(crate) struct Program {
    pub names: Vec<String>,
    pub begin: Vec<Vec<Statement>>,
    pub end: Vec<Vec<Statement>>,
    pub begin_file: Vec<Vec<Statement>>,
    pub end_file: Vec<Vec<Statement>>,
    pub rules: Vec<Rule>,
    pub functions: Vec<UserFunction>,
    /// The warnings that gawk would print.
    pub warnings: Vec<String>,
}

/// A pattern with its action.
pub(crate) struct Rule {
    pub pattern: Pattern,
    /// A rule without an action prints the record.
    pub action: Option<Vec<Statement>>,
}

pub(crate) enum Pattern {
    Always,
    When(Expr),
    Range(Expr, Expr),
}

/// A function of the program.
pub(crate) struct UserFunction {
    pub name: Name,
    pub parameters: Vec<Name>,
    pub body: Vec<Statement>,
}

pub(crate) enum Statement {
    Expr(Expr),
    Print {
        args: Vec<Expr>,
        to: Option<(Redirect, Expr)>,
        formatted: bool,
    },
    /// `if` with all its `else if`s, and the last `else`.
    If(Vec<(Expr, Vec<Statement>)>, Vec<Statement>),
    While(Expr, Vec<Statement>),
    Do(Vec<Statement>, Expr),
    For {
        init: Option<Box<Statement>>,
        test: Option<Expr>,
        step: Option<Box<Statement>>,
        body: Vec<Statement>,
    },
    ForIn {
        variable: Name,
        array: Expr,
        body: Vec<Statement>,
    },
    Switch(Expr, Vec<Case>),
    Block(Vec<Statement>),
    Next,
    NextFile,
    Exit(Option<Expr>),
    Return(Option<Expr>),
    Break,
    Continue,
    /// An element, or the whole array if there is no subscript.
    Delete(Expr, Option<Vec<Expr>>),
}

/// A label of a `switch` with the statements after it. `None` is the default.
pub(crate) struct Case {
    pub label: Option<Expr>,
    pub body: Vec<Statement>,
}

/// The target of redirected output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Redirect {
    File,
    Append,
    Pipe,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Comparison {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
}

pub(crate) enum Expr {
    Number(f64),
    Text(Vec<u8>),
    /// A literal, which on its own is matched against the record.
    Regex(Vec<u8>),
    /// `@/re/`.
    TypedRegex(Vec<u8>),
    Variable(Name),
    Field(Box<Expr>),
    Element(Box<Expr>, Vec<Expr>),
    Assign(Box<Expr>, Box<Expr>),
    Update(Arithmetic, Box<Expr>, Box<Expr>),
    Increment {
        target: Box<Expr>,
        by: f64,
        before: bool,
    },
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Not(Box<Expr>),
    Negative(Box<Expr>),
    Positive(Box<Expr>),
    /// The first operand, and the operators with their operands. A chain does not nest, however long it is.
    Chain(Box<Expr>, Vec<(Arithmetic, Expr)>),
    Compare(Comparison, Box<Expr>, Box<Expr>),
    Match {
        text: Box<Expr>,
        regex: Box<Expr>,
        negated: bool,
    },
    In(Vec<Expr>, Box<Expr>),
    Concat(Vec<Expr>),
    Call(Name, Vec<Expr>),
    /// `@name(…)`: calls the function whose name is in the variable.
    CallIndirect(Name, Vec<Expr>),
    BuiltIn(Function, Vec<Expr>),
    Getline {
        from: GetlineFrom,
        target: Option<Box<Expr>>,
    },
    /// An expression in parentheses. It is not an lvalue.
    Group(Box<Expr>),
    /// Several expressions in parentheses: a subscript before `in`, or the arguments of `print`.
    List(Vec<Expr>),
}

pub(crate) enum GetlineFrom {
    Main,
    File(Box<Expr>),
    Command(Box<Expr>),
}

impl Expr {
    /// Returns true if the expression is an lvalue.
    pub(crate) fn is_lvalue(&self) -> bool {
        matches!(self, Expr::Variable(_) | Expr::Field(_) | Expr::Element(..))
    }
}
