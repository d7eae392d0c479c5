//! What a program is made of.

use super::functions::Function;

/// A name, as an index in the program's list.
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
    /// What gawk would warn about.
    pub warnings: Vec<String>,
}

/// A pattern and what is done about it.
pub(crate) struct Rule {
    pub pattern: Pattern,
    /// No action prints the record.
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
    /// `if` and all its `else if`s, and the last `else`.
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
    /// An element, or with no subscript the whole array.
    Delete(Expr, Option<Vec<Expr>>),
}

/// One label of a `switch` and the statements after it; no label is the default.
pub(crate) struct Case {
    pub label: Option<Expr>,
    pub body: Vec<Statement>,
}

/// Where output goes.
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
    /// Alone, it is matched against the record.
    Regex(Vec<u8>),
    /// `@/re/`.
    TypedRegex(Vec<u8>),
    Variable(Name),
    Field(Box<Expr>),
    Element(Box<Expr>, Vec<Expr>),
    Assign(Box<Expr>, Box<Expr>),
    Update(Arithmetic, Box<Expr>, Box<Expr>),
    Increment {
        place: Box<Expr>,
        by: f64,
        before: bool,
    },
    Conditional(Box<Expr>, Box<Expr>, Box<Expr>),
    And(Vec<Expr>),
    Or(Vec<Expr>),
    Not(Box<Expr>),
    Negative(Box<Expr>),
    Positive(Box<Expr>),
    /// The first operand, and what follows it: a chain does not nest, however long.
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
    /// `@name(…)`: the function whose name the variable holds.
    CallIndirect(Name, Vec<Expr>),
    BuiltIn(Function, Vec<Expr>),
    Getline {
        from: GetlineFrom,
        target: Option<Box<Expr>>,
    },
    /// In parentheses: not a place to assign to.
    Group(Box<Expr>),
    /// Several in parentheses: a subscript before `in`, or the arguments of `print`.
    List(Vec<Expr>),
}

pub(crate) enum GetlineFrom {
    Main,
    File(Box<Expr>),
    Command(Box<Expr>),
}

impl Expr {
    /// Whether it can be assigned to.
    pub(crate) fn is_place(&self) -> bool {
        matches!(self, Expr::Variable(_) | Expr::Field(_) | Expr::Element(..))
    }
}
