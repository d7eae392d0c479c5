//! A program, parsed and resolved, as the machine runs it.

use crate::value::Value;

use super::natives::Native;

/// The number of an expression in the program.
pub(crate) type Node = u32;

/// An expression. Variables and functions are identified by the number of bindings since their own.
pub(crate) enum Expr {
    Identity,
    /// `..`
    RecurseAll,
    Const(Value),
    Variable(u32),
    /// `term[key]`
    Index(Node, Node),
    /// `term[from:to]`
    Slice(Node, Option<Node>, Option<Node>),
    /// `term[]`
    Iterate(Node),
    Pipe(Node, Node),
    Comma(Node, Node),
    And(Node, Node),
    Or(Node, Node),
    /// `a // b`
    Alternative(Node, Node),
    If(Node, Node, Node),
    /// `try body catch handler`
    Try(Node, Option<Node>),
    /// `source as patterns | body`
    Bind(Node, Box<Patterns>, Node),
    Reduce(Box<Fold>),
    Foreach(Box<Fold>),
    /// `def f: …; rest`
    Define(u32, Node),
    /// A call of a parameter of the function around it.
    CallParameter(u32),
    /// A call of a function that was bound so many bindings ago.
    CallLocal(u32, Box<[Node]>),
    /// A call of a library function.
    CallLibrary(u32, Box<[Node]>),
    /// A native function on the values of its arguments.
    Native(Native, Box<[Node]>),
    Label(Node),
    Break(u32),
    /// An object, as keys and values.
    Object(Box<[(Node, Node)]>),
    /// `[body]`
    Array(Node),
    /// The parts of a string, and the conversion of those at odd positions.
    Format(Option<Formatting>, Box<[Node]>),
    Empty,
    /// `error`, of the input
    Raise,
    /// `path(body)`
    Path(Node),
    /// `getpath(path)`, which is a path itself
    GetPath(Node),
    /// `range(from; to)`
    Range(Node, Node),
    /// `lhs |= update`
    Update(Node, Node),
    /// `lhs op= value`; without an operation it is `//=`
    UpdateWith(Option<Native>, Node, Node),
    /// `lhs = value`
    Assign(Node, Node),
    /// `input`
    Input,
    /// `halt`, and `halt_error` with its exit code
    Halt(Option<Node>),
}

/// The conversion of values to text in a string: `@base64` and the like.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Formatting {
    Text,
    Json,
    Csv,
    Tsv,
    Html,
    Uri,
    UriDecode,
    Sh,
    Base64,
    Base64Decode,
    Base32,
    Base32Decode,
}

/// `reduce` and `foreach`.
pub(crate) struct Fold {
    pub(crate) source: Node,
    pub(crate) patterns: Patterns,
    pub(crate) init: Node,
    pub(crate) update: Node,
    pub(crate) extract: Option<Node>,
}

/// The patterns of an `as`: the first one that fits binds.
pub(crate) struct Patterns {
    pub(crate) alternatives: Vec<Alternative>,
}

/// A pattern, and the order of its variables.
pub(crate) struct Alternative {
    pub(crate) pattern: u32,
    /// If there are several alternatives: for each variable of all of them, the number of bindings since this one bound
    /// it.
    pub(crate) order: Option<Vec<Option<u32>>>,
}

/// A pattern. Its parts are other patterns of the program, by number.
pub(crate) enum Pattern {
    Variable,
    Array(Vec<u32>),
    Object(Vec<Field>),
}

/// A part of an object's pattern.
pub(crate) struct Field {
    /// The key.
    pub(crate) key: Node,
    /// True if the value is bound as a whole: `$name` and `$name: pattern`.
    pub(crate) is_bound: bool,
    pub(crate) pattern: Option<u32>,
}

/// A function.
pub(crate) struct Function {
    pub(crate) body: Node,
}

/// A program.
#[derive(Default)]
pub(crate) struct Program {
    exprs: Vec<Expr>,
    /// For each expression, its depth if it has one value and no side effect. Such an expression is computed without
    /// the machine.
    depths: Vec<u8>,
    pub(crate) functions: Vec<Function>,
    pub(crate) patterns: Vec<Pattern>,
}

/// The deepest expression that is computed directly. Deeper ones go through the machine, whose stack is on the heap.
const DEEPEST_SIMPLE: u8 = 24;

const NOT_SIMPLE: u8 = u8::MAX;

impl Program {
    /// Adds an expression.
    pub(crate) fn add(&mut self, expr: Expr) -> Node {
        let depth = self.depth(&expr);
        self.exprs.push(expr);
        self.depths.push(depth);
        (self.exprs.len() - 1) as Node
    }

    /// Adds a pattern.
    pub(crate) fn add_pattern(&mut self, pattern: Pattern) -> u32 {
        self.patterns.push(pattern);
        (self.patterns.len() - 1) as u32
    }

    /// Returns an expression.
    pub(crate) fn expr(&self, node: Node) -> &Expr {
        &self.exprs[node as usize]
    }

    /// Returns true if an expression has exactly one value or an error, and depends only on its input and variables.
    pub(crate) fn is_simple(&self, node: Node) -> bool {
        self.depths[node as usize] <= DEEPEST_SIMPLE
    }

    fn depth(&self, expr: &Expr) -> u8 {
        let all = |nodes: &mut dyn Iterator<Item = Node>| {
            let deepest = nodes.map(|node| self.depths[node as usize]).max().unwrap_or(0);
            if deepest >= DEEPEST_SIMPLE { NOT_SIMPLE } else { deepest + 1 }
        };
        match expr {
            Expr::Identity | Expr::Const(_) | Expr::Variable(_) => 0,
            Expr::Index(a, b) | Expr::Pipe(a, b) | Expr::And(a, b) | Expr::Or(a, b) | Expr::Alternative(a, b) => {
                all(&mut [*a, *b].into_iter())
            }
            Expr::Slice(term, from, to) => all(&mut [Some(*term), *from, *to].into_iter().flatten()),
            Expr::If(a, b, c) => all(&mut [*a, *b, *c].into_iter()),
            Expr::Native(native, args) if native.is_pure() => all(&mut args.iter().copied()),
            Expr::Format(_, parts) => all(&mut parts.iter().copied()),
            Expr::Object(entries) => all(&mut entries.iter().flat_map(|(key, value)| [*key, *value])),
            Expr::Array(body) => all(&mut std::iter::once(*body)),
            _ => NOT_SIMPLE,
        }
    }
}
