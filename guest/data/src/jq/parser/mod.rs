//! The parser. Names are resolved as they are read, and a library function is parsed when it is first called: a program
//! pays only for the functions that it uses.

mod calls;
mod pattern;
mod term;

use std::collections::HashMap;

use super::lexer::{Kind, Token, lex};
use super::natives;
use super::program::{Expr, Function, Node, Program};
use crate::value::Value;

/// The deepest nesting of brackets, definitions and the like, which the stack surely holds.
const DEEPEST: usize = 160;

/// A syntax error: a message and its position.
pub(crate) type SyntaxError = (String, usize);

/// A binding of a name.
enum Bound {
    Variable(String),
    Parameter(String),
    /// A function with its number of parameters.
    Function(String, usize),
    Label(String),
}

/// A parser of programs.
pub(crate) struct Parser<'g> {
    source: String,
    tokens: Vec<Token>,
    at: usize,
    program: Program,
    scope: Vec<Bound>,
    depth: usize,
    /// Set after `term as $x |`: the body follows.
    binding: Option<Expr>,
    /// The number of bindings before that.
    bound_by_last: usize,
    /// The global variables, by name.
    globals: &'g HashMap<String, Value>,
    /// The library functions that have been parsed.
    library: HashMap<(&'static str, usize), u32>,
}

/// Parses a program with these global variables. Returns it with its main node.
pub(crate) fn parse(source: &str, globals: &HashMap<String, Value>) -> Result<(Program, Node), SyntaxError> {
    let mut parser = Parser {
        source: source.to_owned(),
        tokens: lex(source)?,
        at: 0,
        program: Program::default(),
        scope: Vec::new(),
        depth: 0,
        binding: None,
        bound_by_last: 0,
        globals,
        library: HashMap::new(),
    };
    if ["import", "include", "module"].iter().any(|word| parser.is_name(word)) {
        return Err(("modules are not supported".into(), 0));
    }
    // A program with only definitions passes its input through.
    let main = parser.pipe(true)?;
    match parser.peek() {
        Kind::End => Ok((parser.program, main)),
        _ => Err(parser.unexpected()),
    }
}

impl Parser<'_> {
    /// Parses expressions joined by `|`, with the definitions and bindings before them. Only the whole program may end
    /// after a definition.
    fn pipe(&mut self, may_end: bool) -> Result<Node, SyntaxError> {
        self.deeper(|parser| {
            // All bindings of a pipe together count as one level.
            let mut before = Vec::new();
            let bound = parser.scope.len();
            let mut last = loop {
                if may_end && *parser.peek() == Kind::End && parser.at == 0 {
                    break parser.program.add(Expr::Identity);
                }
                if parser.is_name("def") {
                    let function = parser.definition()?;
                    before.push(Expr::Define(function, 0));
                    if may_end && *parser.peek() == Kind::End {
                        break parser.program.add(Expr::Identity);
                    }
                    continue;
                }
                if parser.is_name("label") {
                    parser.at += 1;
                    let Kind::Variable(name) = parser.peek().clone() else { return Err(parser.unexpected()) };
                    parser.at += 1;
                    parser.expect("|")?;
                    parser.scope.push(Bound::Label(name));
                    before.push(Expr::Label(0));
                    continue;
                }
                let stage = parser.binary(0)?;
                if let Some(binding) = parser.binding.take() {
                    before.push(binding);
                    continue;
                }
                if parser.accept("|") {
                    before.push(Expr::Pipe(stage, 0));
                    continue;
                }
                break stage;
            };
            while let Some(mut expr) = before.pop() {
                match &mut expr {
                    Expr::Define(_, rest) | Expr::Label(rest) | Expr::Pipe(_, rest) | Expr::Bind(_, _, rest) => {
                        *rest = last;
                    }
                    _ => {}
                }
                last = parser.program.add(expr);
            }
            parser.scope.truncate(bound);
            Ok(last)
        })
    }

    /// Parses operands joined by operators that bind tighter than `least`.
    fn binary(&mut self, least: u8) -> Result<Node, SyntaxError> {
        let mut left = self.operand()?;
        // Operators that do not chain: `1 < 2 < 3` is an error.
        let mut closed = u8::MAX;
        loop {
            if self.binding.is_some() {
                return Ok(left);
            }
            let sign = match self.peek() {
                Kind::Sign(sign) => *sign,
                Kind::Name(name) if name == "and" => "and",
                Kind::Name(name) if name == "or" => "or",
                _ => return Ok(left),
            };
            let (level, right_level) = match sign {
                "," => (1, 1),
                "//" => (2, 1),
                "=" | "|=" | "+=" | "-=" | "*=" | "/=" | "%=" | "//=" => (3, 3),
                "or" => (4, 4),
                "and" => (5, 5),
                "==" | "!=" | "<" | "<=" | ">" | ">=" => (6, 6),
                "+" | "-" => (7, 7),
                "*" | "/" | "%" => (8, 8),
                _ => return Ok(left),
            };
            if level <= least {
                return Ok(left);
            }
            if level == closed {
                return Err(self.unexpected());
            }
            self.at += 1;
            let right = self.deeper(|parser| parser.binary(right_level))?;
            let right = self.close_binding(right)?;
            left = self.operation(sign, left, right);
            closed = if level == 3 || level == 6 { level } else { u8::MAX };
        }
    }

    /// Ends an operation with a binding in it: in `1 + . as $x | …` the body ends the operation.
    fn close_binding(&mut self, right: Node) -> Result<Node, SyntaxError> {
        let Some(mut binding) = self.binding.take() else { return Ok(right) };
        let bound = self.bound_by_last;
        let body = self.pipe(false)?;
        self.scope.truncate(bound);
        if let Expr::Bind(_, _, rest) = &mut binding {
            *rest = body;
        }
        Ok(self.program.add(binding))
    }

    fn operation(&mut self, sign: &str, left: Node, right: Node) -> Node {
        let native = |name: &str| natives::find(name, 2);
        let expr = match sign {
            "," => Expr::Comma(left, right),
            "//" => Expr::Alternative(left, right),
            "and" => Expr::And(left, right),
            "or" => Expr::Or(left, right),
            "=" => Expr::Assign(left, right),
            "|=" => Expr::Update(left, right),
            "//=" => Expr::UpdateWith(None, left, right),
            "+=" | "-=" | "*=" | "/=" | "%=" => Expr::UpdateWith(native(&sign[..1]), left, right),
            sign => match native(sign) {
                Some(native) => Expr::Native(native, Box::new([left, right])),
                None => Expr::Empty,
            },
        };
        self.program.add(expr)
    }

    /// Parses `def name(parameters): body;`
    fn definition(&mut self) -> Result<u32, SyntaxError> {
        self.at += 1;
        let Kind::Name(name) = self.peek().clone() else { return Err(self.unexpected()) };
        self.at += 1;
        let parameters = self.parameters()?;
        let function = self.reserve();
        self.scope.push(Bound::Function(name, parameters.len()));
        self.body(function, parameters)?;
        Ok(function)
    }

    fn parameters(&mut self) -> Result<Vec<(String, bool)>, SyntaxError> {
        let mut parameters = Vec::new();
        if self.accept("(") {
            loop {
                parameters.push(match self.peek().clone() {
                    Kind::Name(name) => (name, false),
                    Kind::Variable(name) => (name, true),
                    _ => return Err(self.unexpected()),
                });
                self.at += 1;
                if !self.accept(";") {
                    break;
                }
            }
            self.expect(")")?;
        }
        self.expect(":")?;
        Ok(parameters)
    }

    fn reserve(&mut self) -> u32 {
        self.program.functions.push(Function { body: 0 });
        (self.program.functions.len() - 1) as u32
    }

    /// Parses the body of a function, up to its `;`. A parameter `$x` is bound to a variable first.
    fn body(&mut self, function: u32, parameters: Vec<(String, bool)>) -> Result<(), SyntaxError> {
        let outside = self.scope.len();
        let variables: Vec<_> = parameters.iter().enumerate().filter(|(_, (_, is_variable))| *is_variable).collect();
        let mut binds = Vec::new();
        for (name, _) in &parameters {
            self.scope.push(Bound::Parameter(name.clone()));
        }
        for (index, (name, _)) in &variables {
            let ago = (self.scope.len() - 1 - (outside + index)) as u32;
            binds.push(self.program.add(Expr::CallParameter(ago)));
            self.scope.push(Bound::Variable(name.clone()));
        }
        let mut body = self.pipe(false)?;
        self.expect(";")?;
        for source in binds.into_iter().rev() {
            let pattern = self.one_variable();
            body = self.program.add(Expr::Bind(source, Box::new(pattern), body));
        }
        self.scope.truncate(outside);
        self.program.functions[function as usize] = Function { body };
        Ok(())
    }

    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Result<T, SyntaxError>) -> Result<T, SyntaxError> {
        if self.depth >= DEEPEST {
            return Err(("the program is nested too deep".into(), self.tokens[self.at].at));
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn peek(&self) -> &Kind {
        &self.tokens[self.at.min(self.tokens.len() - 1)].kind
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.peek(), Kind::Sign(other) if *other == sign)
    }

    fn is_name(&self, name: &str) -> bool {
        matches!(self.peek(), Kind::Name(other) if other == name)
    }

    fn accept(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        self.at += usize::from(found);
        found
    }

    fn accept_name(&mut self, name: &str) -> bool {
        let found = self.is_name(name);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: &str) -> Result<(), SyntaxError> {
        if self.accept(sign) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn expect_name(&mut self, name: &str) -> Result<(), SyntaxError> {
        if self.accept_name(name) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn unexpected(&self) -> SyntaxError {
        let token = &self.tokens[self.at.min(self.tokens.len() - 1)];
        let name = match &token.kind {
            Kind::Name(name) if term::is_keyword(name) => name.clone(),
            Kind::Name(_) => "IDENT".into(),
            Kind::Field(_) => "FIELD".into(),
            Kind::Variable(_) => "'$'".into(),
            Kind::Format(_) => "FORMAT".into(),
            Kind::Number(_) => "LITERAL".into(),
            Kind::StringStart => "QQSTRING_START".into(),
            Kind::Text(_) => "QQSTRING_TEXT".into(),
            Kind::InterpolationStart => "QQSTRING_INTERP_START".into(),
            Kind::InterpolationEnd => "QQSTRING_INTERP_END".into(),
            Kind::StringEnd => "QQSTRING_END".into(),
            Kind::Sign(sign) => format!("'{sign}'"),
            Kind::End => "$end".into(),
        };
        (format!("syntax error, unexpected {name} (Unix shell quoting issues?)"), token.at)
    }
}
