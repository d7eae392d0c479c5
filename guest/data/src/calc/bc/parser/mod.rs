//! The grammar. Statements are compiled as they are read, a line at a time; `expression` has the expressions.

mod expression;

use std::collections::HashMap;

use super::code::{Function, IBASE, LAST, Local, OBASE, Op, SCALE, Variable};
use super::lexer::{Lexer, Token};

/// The deepest nesting of statements and brackets, which the stack surely holds.
const DEEPEST: usize = 120;

/// An item of a program.
pub(super) enum Item {
    /// Code to run.
    Code(Vec<Op>),
    Define(String, Function),
    Quit,
    End,
    /// A message for standard error.
    Error(String),
}

/// The shape of an expression, which decides whether its value is printed.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Assignment,
    Value,
}

/// The reason why a line cannot be compiled.
enum CompileError {
    Syntax,
    Quit,
    Deep,
}

type Parsed<T> = Result<T, CompileError>;

/// A parser of one file.
pub(super) struct Parser<'b> {
    pub(super) lexer: Lexer,
    token: Option<Token>,
    /// Tokens that were put back, the next one last.
    waiting: Vec<Token>,
    code: Vec<Op>,
    names: &'b mut Names,
    /// Jumps of `break` and `continue` that wait for their targets, by loop.
    loops: Vec<Loop>,
    in_function: bool,
    depth: usize,
    before: &'b mut dyn FnMut(),
}

#[derive(Default)]
struct Loop {
    breaks: Vec<usize>,
    continues: Vec<usize>,
}

/// Numbers of variables and arrays, by name.
pub(super) struct Names {
    variables: HashMap<String, Variable>,
    arrays: HashMap<String, usize>,
}

impl Names {
    pub(super) fn new() -> Names {
        let own = [("scale", SCALE), ("ibase", IBASE), ("obase", OBASE), ("last", LAST)];
        Names {
            variables: own.into_iter().map(|(name, number)| (name.to_owned(), number)).collect(),
            arrays: HashMap::new(),
        }
    }

    fn variable(&mut self, name: &str) -> Variable {
        let next = self.variables.len();
        *self.variables.entry(name.to_owned()).or_insert(next)
    }

    fn array(&mut self, name: &str) -> usize {
        let next = self.arrays.len();
        *self.arrays.entry(name.to_owned()).or_insert(next)
    }
}

impl<'b> Parser<'b> {
    pub(super) fn new(lexer: Lexer, names: &'b mut Names, before: &'b mut dyn FnMut()) -> Parser<'b> {
        Parser {
            lexer,
            token: None,
            waiting: Vec::new(),
            code: Vec::new(),
            names,
            loops: Vec::new(),
            in_function: false,
            depth: 0,
            before,
        }
    }

    /// Returns the next line or function.
    pub(super) fn item(&mut self) -> Item {
        self.code.clear();
        self.loops.clear();
        (self.in_function, self.depth) = (false, 0);
        let parsed = if self.is_name("define") { self.definition().map(Some) } else { self.line().map(|()| None) };
        match parsed {
            Ok(Some((name, function))) => Item::Define(name, function),
            Ok(None) if self.code.is_empty() && *self.peek() == Token::End => Item::End,
            Ok(None) => Item::Code(std::mem::take(&mut self.code)),
            Err(CompileError::Quit) => Item::Quit,
            Err(refusal) => {
                let what = match (refusal, self.peek()) {
                    (CompileError::Deep, _) => "nested too deep".to_owned(),
                    (_, Token::Wrong(byte)) => format!("illegal character: {}", char::from(*byte)),
                    _ => "syntax error".to_owned(),
                };
                let message = format!("({}) {}: {what}", self.lexer.name, self.lexer.line);
                while !matches!(self.peek(), Token::Newline | Token::End) {
                    self.advance();
                }
                if *self.peek() == Token::Newline {
                    self.advance();
                }
                Item::Error(message)
            }
        }
    }

    fn line(&mut self) -> Parsed<()> {
        loop {
            match self.peek() {
                Token::Sign(";") => self.advance(),
                Token::Newline => {
                    self.advance();
                    return Ok(());
                }
                Token::End => return Ok(()),
                _ => {
                    self.statement()?;
                    if !matches!(self.peek(), Token::Sign(";") | Token::Newline | Token::End) {
                        return Err(CompileError::Syntax);
                    }
                }
            }
        }
    }

    fn statement(&mut self) -> Parsed<()> {
        if self.depth >= DEEPEST {
            return Err(CompileError::Deep);
        }
        self.depth += 1;
        let result = self.statement_here();
        self.depth -= 1;
        result
    }

    fn statement_here(&mut self) -> Parsed<()> {
        match self.peek().clone() {
            Token::Text(text) => {
                self.advance();
                self.code.push(Op::PrintText(text.into()));
                Ok(())
            }
            Token::Sign("{") => {
                self.advance();
                self.block()
            }
            Token::Name(name) => match name.as_str() {
                "if" => self.condition(),
                "while" => self.repeat(),
                "for" => self.count(),
                "print" => self.print(),
                "break" | "continue" => {
                    self.advance();
                    let at = self.code.len();
                    self.code.push(Op::Jump(0));
                    let Some(current) = self.loops.last_mut() else { return Err(CompileError::Syntax) };
                    if name == "break" { &mut current.breaks } else { &mut current.continues }.push(at);
                    Ok(())
                }
                "return" => {
                    self.advance();
                    if !self.in_function {
                        return Err(CompileError::Syntax);
                    }
                    if matches!(self.peek(), Token::Sign(";" | "}") | Token::Newline | Token::End) {
                        self.code.push(Op::Constant((*b"0").into()));
                    } else {
                        self.expression()?;
                    }
                    self.code.push(Op::Return);
                    Ok(())
                }
                "halt" => {
                    self.advance();
                    self.code.push(Op::Halt);
                    Ok(())
                }
                "quit" => Err(CompileError::Quit),
                "limits" => {
                    self.advance();
                    self.code.push(Op::PrintText((*super::LIMITS).as_bytes().into()));
                    Ok(())
                }
                "define" | "auto" | "else" | "warranty" => Err(CompileError::Syntax),
                _ => self.expression_statement(),
            },
            _ => self.expression_statement(),
        }
    }

    fn expression_statement(&mut self) -> Parsed<()> {
        let shape = self.expression()?;
        self.code.push(if shape == Shape::Assignment { Op::Pop } else { Op::Print });
        Ok(())
    }

    fn block(&mut self) -> Parsed<()> {
        loop {
            match self.peek() {
                Token::Sign("}") => {
                    self.advance();
                    return Ok(());
                }
                Token::Sign(";") | Token::Newline => self.advance(),
                Token::End => return Err(CompileError::Syntax),
                _ => {
                    self.statement()?;
                    if !matches!(self.peek(), Token::Sign(";" | "}") | Token::Newline) {
                        return Err(CompileError::Syntax);
                    }
                }
            }
        }
    }

    fn condition(&mut self) -> Parsed<()> {
        self.advance();
        self.bracketed()?;
        let skip = self.jump(Op::JumpZero(0));
        self.skip_newlines();
        self.statement()?;
        if self.is_name("else") {
            self.advance();
            let end = self.jump(Op::Jump(0));
            self.land(skip);
            self.skip_newlines();
            self.statement()?;
            self.land(end);
        } else {
            self.land(skip);
        }
        Ok(())
    }

    fn repeat(&mut self) -> Parsed<()> {
        self.advance();
        let start = self.code.len();
        self.bracketed()?;
        let out = self.jump(Op::JumpZero(0));
        self.skip_newlines();
        self.body(|parser| {
            parser.statement()?;
            Ok(start)
        })?;
        self.land(out);
        Ok(())
    }

    fn count(&mut self) -> Parsed<()> {
        self.advance();
        self.expect("(")?;
        if !self.is_sign(";") {
            self.expression()?;
            self.code.push(Op::Pop);
        }
        self.expect(";")?;
        let test = self.code.len();
        if self.is_sign(";") {
            self.code.push(Op::Constant((*b"1").into()));
        } else {
            self.expression()?;
        }
        self.expect(";")?;
        let out = self.jump(Op::JumpZero(0));
        let body = self.jump(Op::Jump(0));
        let step = self.code.len();
        if !self.is_sign(")") {
            self.expression()?;
            self.code.push(Op::Pop);
        }
        self.expect(")")?;
        self.code.push(Op::Jump(test));
        self.land(body);
        self.skip_newlines();
        self.body(|parser| {
            parser.statement()?;
            Ok(step)
        })?;
        self.land(out);
        Ok(())
    }

    /// Compiles the body of a loop, which returns the target of `continue`. The target of `break` is the code after it.
    fn body(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<usize>) -> Parsed<()> {
        self.loops.push(Loop::default());
        let again = parse(self)?;
        self.code.push(Op::Jump(again));
        let current = self.loops.pop().unwrap_or_default();
        for at in current.continues {
            self.code[at] = Op::Jump(again);
        }
        for at in current.breaks {
            self.land(at);
        }
        Ok(())
    }

    fn print(&mut self) -> Parsed<()> {
        self.advance();
        loop {
            if let Token::Text(text) = self.peek().clone() {
                self.advance();
                self.code.push(Op::PrintText(unescape(&text).into()));
            } else {
                self.expression()?;
                self.code.push(Op::PrintPlain);
            }
            if !self.is_sign(",") {
                return Ok(());
            }
            self.advance();
        }
    }

    fn definition(&mut self) -> Parsed<(String, Function)> {
        self.advance();
        let mut is_void = false;
        let mut name = self.name()?;
        if name == "void" && !self.is_sign("(") {
            is_void = true;
            name = self.name()?;
        }
        self.expect("(")?;
        let parameters = self.locals(")")?;
        self.expect(")")?;
        self.skip_newlines();
        self.expect("{")?;
        self.in_function = true;
        let mut autos = Vec::new();
        while matches!(self.peek(), Token::Newline | Token::Sign(";")) {
            self.advance();
        }
        if self.is_name("auto") {
            self.advance();
            autos = self.locals(";")?;
        }
        self.block()?;
        self.code.push(Op::Constant((*b"0").into()));
        self.code.push(Op::Return);
        let code = std::mem::take(&mut self.code).into();
        Ok((name, Function { parameters, autos, code, is_void }))
    }

    fn locals(&mut self, end: &str) -> Parsed<Vec<Local>> {
        let mut locals = Vec::new();
        while !self.is_sign(end) && *self.peek() != Token::Newline {
            if !locals.is_empty() {
                self.expect(",")?;
            }
            let is_reference = self.is_sign("*") || self.is_sign("&");
            if is_reference {
                self.advance();
            }
            let name = self.name()?;
            if self.is_sign("[") {
                self.advance();
                self.expect("]")?;
                let array = self.names.array(&name);
                locals.push(if is_reference { Local::Reference(array) } else { Local::Array(array) });
            } else {
                locals.push(Local::Variable(self.names.variable(&name)));
            }
        }
        Ok(locals)
    }

    fn jump(&mut self, op: Op) -> usize {
        self.code.push(op);
        self.code.len() - 1
    }

    fn land(&mut self, jump: usize) {
        let here = self.code.len();
        self.code[jump] = match self.code[jump] {
            Op::JumpZero(_) => Op::JumpZero(here),
            _ => Op::Jump(here),
        };
    }

    fn peek(&mut self) -> &Token {
        if self.token.is_none() {
            self.token = Some(self.waiting.pop().unwrap_or_else(|| self.lexer.next(self.before)));
        }
        self.token.as_ref().unwrap_or(&Token::End)
    }

    fn advance(&mut self) {
        self.peek();
        // The end stays: nothing is read after it.
        if self.token != Some(Token::End) {
            self.token = None;
        }
    }

    fn push_back(&mut self, words: &[Token]) {
        self.waiting.extend(self.token.take());
        self.waiting.extend(words.iter().rev().cloned());
    }

    fn name(&mut self) -> Parsed<String> {
        match self.peek().clone() {
            Token::Name(name) => {
                self.advance();
                Ok(name)
            }
            _ => Err(CompileError::Syntax),
        }
    }

    fn is_sign(&mut self, sign: &str) -> bool {
        matches!(self.peek(), Token::Sign(other) if *other == sign)
    }

    fn is_name(&mut self, name: &str) -> bool {
        matches!(self.peek(), Token::Name(other) if other == name)
    }

    fn expect(&mut self, sign: &str) -> Parsed<()> {
        if !self.is_sign(sign) {
            return Err(CompileError::Syntax);
        }
        self.advance();
        Ok(())
    }

    fn skip_newlines(&mut self) {
        while *self.peek() == Token::Newline {
            self.advance();
        }
    }
}

fn is_keyword(name: &str) -> bool {
    matches!(
        name,
        "define"
            | "auto"
            | "if"
            | "else"
            | "while"
            | "for"
            | "return"
            | "break"
            | "continue"
            | "halt"
            | "quit"
            | "print"
            | "length"
            | "sqrt"
            | "scale"
            | "read"
            | "limits"
            | "warranty"
    )
}

/// Replaces the escapes of `print`. An unknown one is removed.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        match bytes.next() {
            Some(b'a') => out.push(7),
            Some(b'b') => out.push(8),
            Some(b'f') => out.push(12),
            Some(b'n') => out.push(b'\n'),
            Some(b'r') => out.push(b'\r'),
            Some(b'q') => out.push(b'"'),
            Some(b't') => out.push(b'\t'),
            Some(b'\\') => out.push(b'\\'),
            _ => {}
        }
    }
    out
}
