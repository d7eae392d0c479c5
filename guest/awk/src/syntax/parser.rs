//! The parser of rules and statements.

use std::collections::HashMap;

use super::lexer::{Lexer, Position, Token};
use super::tree::{Case, Expr, Name, Pattern, Program, Redirect, Rule, Statement, UserFunction};
use super::{Source, SyntaxError, functions};

/// The deepest nesting of statements and parentheses. The parser is recursive, and its stack is small.
const DEEPEST: usize = 200;

pub(super) type Parsed<T> = Result<T, SyntaxError>;

pub(super) struct Parser<'a> {
    pub(super) lexer: Lexer<'a>,
    pub(super) token: Token,
    /// The position of the current token.
    pub(super) start: Position,
    /// Set in the arguments of `print`, where `>` is not a comparison.
    pub(super) no_greater: bool,
    names: HashMap<String, Name>,
    program: Program,
    depth: usize,
    loops: usize,
    switches: usize,
    in_function: bool,
}

/// Parses a whole program.
pub(crate) fn parse(sources: &[Source]) -> Parsed<Program> {
    let mut parser = Parser {
        lexer: Lexer::new(sources),
        token: Token::Newline,
        start: Position { source: 0, at: 0 },
        no_greater: false,
        names: HashMap::new(),
        program: Program::default(),
        depth: 0,
        loops: 0,
        switches: 0,
        in_function: false,
    };
    parser.advance()?;
    loop {
        parser.skip_terminators()?;
        if parser.token == Token::End {
            break;
        }
        parser.item()?;
    }
    parser.program.warnings = std::mem::take(&mut parser.lexer.warnings);
    Ok(parser.program)
}

impl Parser<'_> {
    pub(super) fn advance(&mut self) -> Parsed<()> {
        (self.token, self.start) = self.lexer.next()?;
        Ok(())
    }

    pub(super) fn is(&self, operator: &str) -> bool {
        matches!(self.token, Token::Operator(found) if found == operator)
    }

    pub(super) fn is_keyword(&self, keyword: &str) -> bool {
        matches!(self.token, Token::Keyword(found) if found == keyword)
    }

    /// Consumes an operator if it is the next token. Returns true if it was.
    pub(super) fn take(&mut self, operator: &str) -> Parsed<bool> {
        let there = self.is(operator);
        if there {
            self.advance()?;
        }
        Ok(there)
    }

    pub(super) fn expect(&mut self, operator: &str) -> Parsed<()> {
        if self.take(operator)? { Ok(()) } else { Err(self.unexpected()) }
    }

    pub(super) fn unexpected(&self) -> SyntaxError {
        let message = match self.token {
            Token::End => "unexpected end of program",
            Token::Newline => "unexpected newline or end of string",
            _ => "syntax error",
        };
        self.lexer.error(self.start, message)
    }

    pub(super) fn skip_newlines(&mut self) -> Parsed<()> {
        while self.token == Token::Newline {
            self.advance()?;
        }
        Ok(())
    }

    fn skip_terminators(&mut self) -> Parsed<()> {
        while self.token == Token::Newline || self.is(";") {
            self.advance()?;
        }
        Ok(())
    }

    pub(super) fn name(&mut self, name: String) -> Name {
        let next = self.program.names.len();
        match self.names.entry(name) {
            std::collections::hash_map::Entry::Occupied(known) => *known.get(),
            std::collections::hash_map::Entry::Vacant(new) => {
                self.program.names.push(new.key().clone());
                *new.insert(next)
            }
        }
    }

    pub(super) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= DEEPEST {
            return Err(self.lexer.error(self.start, "nested too deeply"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn item(&mut self) -> Parsed<()> {
        let keyword = if let Token::Keyword(keyword) = self.token { keyword } else { "" };
        match keyword {
            "BEGIN" | "END" | "BEGINFILE" | "ENDFILE" => {
                self.advance()?;
                if !self.is("{") {
                    return Err(self.lexer.error(self.start, format!("{keyword} blocks must have an action part")));
                }
                let body = self.braces()?;
                match keyword {
                    "BEGIN" => self.program.begin.push(body),
                    "END" => self.program.end.push(body),
                    "BEGINFILE" => self.program.begin_file.push(body),
                    _ => self.program.end_file.push(body),
                }
            }
            "function" => self.function()?,
            _ => {
                let pattern = if self.is("{") {
                    Pattern::Always
                } else {
                    let first = self.expression()?;
                    if self.take(",")? {
                        self.skip_newlines()?;
                        Pattern::Range(first, self.expression()?)
                    } else {
                        Pattern::When(first)
                    }
                };
                let action = if self.is("{") { Some(self.braces()?) } else { None };
                if action.is_none() && !matches!(self.token, Token::Newline | Token::End) && !self.is(";") {
                    return Err(self.unexpected());
                }
                self.program.rules.push(Rule { pattern, action });
            }
        }
        Ok(())
    }

    fn function(&mut self) -> Parsed<()> {
        self.advance()?;
        let name = match std::mem::replace(&mut self.token, Token::Newline) {
            Token::Name(name) | Token::FunctionName(name) => name,
            Token::BuiltIn(function) => {
                let message = format!("`{}' is a built-in function, it cannot be redefined", function.name());
                return Err(self.lexer.error(self.start, message));
            }
            other => {
                self.token = other;
                return Err(self.unexpected());
            }
        };
        let at = self.start;
        let name = self.name(name);
        if self.program.functions.iter().any(|known| known.name == name) {
            let message = format!("function name `{}' previously defined", self.program.names[name]);
            return Err(self.lexer.error(at, message));
        }
        self.advance()?;
        self.expect("(")?;
        self.skip_newlines()?;
        let mut parameters = Vec::new();
        while !self.is(")") {
            let Token::Name(parameter) = self.token.clone() else { return Err(self.unexpected()) };
            let parameter = self.name(parameter);
            if parameters.contains(&parameter) || parameter == name {
                return Err(self.lexer.error(self.start, "duplicate parameter"));
            }
            parameters.push(parameter);
            self.advance()?;
            self.skip_newlines()?;
            if self.take(",")? {
                self.skip_newlines()?;
            } else if !self.is(")") {
                return Err(self.unexpected());
            }
        }
        self.advance()?;
        self.skip_newlines()?;
        self.in_function = true;
        let body = self.braces()?;
        self.in_function = false;
        self.program.functions.push(UserFunction { name, parameters, body });
        Ok(())
    }

    /// Parses statements in braces.
    fn braces(&mut self) -> Parsed<Vec<Statement>> {
        self.expect("{")?;
        let mut body = Vec::new();
        loop {
            self.skip_terminators()?;
            if self.take("}")? {
                return Ok(body);
            }
            if self.token == Token::End {
                return Err(self.unexpected());
            }
            body.push(self.statement()?);
        }
    }

    /// Parses the body of a loop or a condition: braces, one statement, or just a semicolon.
    fn body(&mut self) -> Parsed<Vec<Statement>> {
        self.skip_newlines()?;
        if self.is("{") {
            return self.braces();
        }
        if self.take(";")? {
            return Ok(Vec::new());
        }
        Ok(vec![self.statement()?])
    }

    fn loop_body(&mut self) -> Parsed<Vec<Statement>> {
        self.loops += 1;
        let body = self.body();
        self.loops -= 1;
        body
    }

    fn statement(&mut self) -> Parsed<Statement> {
        self.deeper(Self::any_statement)
    }

    fn any_statement(&mut self) -> Parsed<Statement> {
        if self.is("{") {
            return Ok(Statement::Block(self.braces()?));
        }
        let Token::Keyword(keyword) = self.token else { return self.simple() };
        match keyword {
            "if" => self.if_statement(),
            "while" => {
                self.advance()?;
                let test = self.condition()?;
                Ok(Statement::While(test, self.loop_body()?))
            }
            "do" => self.do_statement(),
            "for" => self.for_statement(),
            "switch" => self.switch_statement(),
            _ => self.simple(),
        }
    }

    fn condition(&mut self) -> Parsed<Expr> {
        self.expect("(")?;
        let test = self.expression()?;
        self.expect(")")?;
        Ok(test)
    }

    fn if_statement(&mut self) -> Parsed<Statement> {
        let mut branches = Vec::new();
        loop {
            self.advance()?;
            let test = self.condition()?;
            branches.push((test, self.body()?));
            self.skip_terminators_before_else()?;
            if !self.is_keyword("else") {
                return Ok(Statement::If(branches, Vec::new()));
            }
            self.advance()?;
            self.skip_newlines()?;
            if !self.is_keyword("if") {
                return Ok(Statement::If(branches, self.body()?));
            }
        }
    }

    /// Skips a semicolon and newlines before `else`. Without an `else` nothing is consumed.
    fn skip_terminators_before_else(&mut self) -> Parsed<()> {
        let before = (self.lexer.position(), self.token.clone(), self.start);
        self.skip_terminators()?;
        if !self.is_keyword("else") {
            self.lexer.go_to(before.0);
            (self.token, self.start) = (before.1, before.2);
        }
        Ok(())
    }

    fn do_statement(&mut self) -> Parsed<Statement> {
        self.advance()?;
        let body = self.loop_body()?;
        self.skip_terminators()?;
        if !self.is_keyword("while") {
            return Err(self.unexpected());
        }
        self.advance()?;
        let test = self.condition()?;
        self.end_of_statement()?;
        Ok(Statement::Do(body, test))
    }

    fn for_statement(&mut self) -> Parsed<Statement> {
        self.advance()?;
        self.expect("(")?;
        if let Some(statement) = self.for_in()? {
            return Ok(statement);
        }
        let init = if self.is(";") { None } else { Some(Box::new(self.simple_open()?)) };
        self.expect(";")?;
        self.skip_newlines()?;
        let test = if self.is(";") { None } else { Some(self.expression()?) };
        self.expect(";")?;
        self.skip_newlines()?;
        let step = if self.is(")") { None } else { Some(Box::new(self.simple_open()?)) };
        self.expect(")")?;
        Ok(Statement::For { init, test, step, body: self.loop_body()? })
    }

    /// Parses `name in array)`. If something else follows, nothing is consumed.
    fn for_in(&mut self) -> Parsed<Option<Statement>> {
        let before = (self.lexer.position(), self.token.clone(), self.start);
        if let Token::Name(variable) = self.token.clone() {
            self.advance()?;
            if self.is_keyword("in") {
                self.advance()?;
                if let Token::Name(_) = self.token {
                    let array = self.lvalue()?;
                    if self.is(")") {
                        self.advance()?;
                        let variable = self.name(variable);
                        return Ok(Some(Statement::ForIn { variable, array, body: self.loop_body()? }));
                    }
                }
            }
        }
        self.lexer.go_to(before.0);
        (self.token, self.start) = (before.1, before.2);
        Ok(None)
    }

    fn switch_statement(&mut self) -> Parsed<Statement> {
        self.advance()?;
        let subject = self.condition()?;
        self.skip_newlines()?;
        self.expect("{")?;
        self.switches += 1;
        let mut cases: Vec<Case> = Vec::new();
        loop {
            self.skip_terminators()?;
            if self.take("}")? {
                break;
            }
            let Token::Keyword(keyword) = self.token else { return Err(self.unexpected()) };
            let label = match keyword {
                "case" => {
                    self.advance()?;
                    Some(self.case_label()?)
                }
                "default" => {
                    if cases.iter().any(|case| case.label.is_none()) {
                        return Err(self.lexer.error(self.start, "duplicate `default' detected in switch body"));
                    }
                    self.advance()?;
                    None
                }
                _ => return Err(self.unexpected()),
            };
            self.expect(":")?;
            let mut body = Vec::new();
            loop {
                self.skip_terminators()?;
                if self.is("}") || self.is_keyword("case") || self.is_keyword("default") {
                    break;
                }
                body.push(self.statement()?);
            }
            cases.push(Case { label, body });
        }
        self.switches -= 1;
        Ok(Statement::Switch(subject, cases))
    }

    /// Parses a constant: a number with or without a sign, a string or a regular expression.
    fn case_label(&mut self) -> Parsed<Expr> {
        let negative = self.take("-")?;
        let positive = !negative && self.take("+")?;
        match self.primary()? {
            Expr::Number(number) => Ok(Expr::Number(if negative { -number } else { number })),
            label @ (Expr::Text(_) | Expr::Regex(_) | Expr::TypedRegex(_)) if !negative && !positive => Ok(label),
            _ => Err(self.unexpected()),
        }
    }

    /// Parses a statement that ends at a semicolon, a newline or a brace.
    fn simple(&mut self) -> Parsed<Statement> {
        let statement = self.simple_open()?;
        self.end_of_statement()?;
        Ok(statement)
    }

    fn end_of_statement(&mut self) -> Parsed<()> {
        match self.token {
            Token::Newline => self.advance(),
            Token::Operator(";") => self.advance(),
            Token::Operator("}") => Ok(()),
            _ => Err(self.unexpected()),
        }
    }

    fn ends_here(&self) -> bool {
        matches!(self.token, Token::Newline | Token::End) || self.is(";") || self.is("}")
    }

    fn simple_open(&mut self) -> Parsed<Statement> {
        let Token::Keyword(keyword) = self.token else { return Ok(Statement::Expr(self.expression()?)) };
        let outside = |parser: &Self, message: String| Err(parser.lexer.error(parser.start, message));
        match keyword {
            "print" | "printf" => return self.print(keyword == "printf"),
            "getline" => return Ok(Statement::Expr(self.expression()?)),
            "delete" => return self.delete(),
            "break" if self.loops + self.switches == 0 => {
                return outside(self, "`break' is not allowed outside a loop or switch".into());
            }
            "continue" if self.loops == 0 => return outside(self, "`continue' is not allowed outside a loop".into()),
            "return" if !self.in_function => return outside(self, "`return' used outside function context".into()),
            _ => {}
        }
        self.advance()?;
        Ok(match keyword {
            "next" => Statement::Next,
            "nextfile" => Statement::NextFile,
            "break" => Statement::Break,
            "continue" => Statement::Continue,
            "exit" => Statement::Exit(self.optional()?),
            "return" => Statement::Return(self.optional()?),
            _ => return Err(self.unexpected()),
        })
    }

    fn optional(&mut self) -> Parsed<Option<Expr>> {
        if self.ends_here() { Ok(None) } else { self.expression().map(Some) }
    }

    fn delete(&mut self) -> Parsed<Statement> {
        self.advance()?;
        let parenthesised = self.take("(")?;
        let target = self.lvalue()?;
        if parenthesised {
            self.expect(")")?;
        }
        match target {
            Expr::Element(array, subscript) => Ok(Statement::Delete(*array, Some(subscript))),
            array @ Expr::Variable(_) => Ok(Statement::Delete(array, None)),
            _ => Err(self.unexpected()),
        }
    }

    fn print(&mut self, formatted: bool) -> Parsed<Statement> {
        self.advance()?;
        let before = std::mem::replace(&mut self.no_greater, true);
        let mut args = Vec::new();
        if !self.ends_here() && !self.is(">") && !self.is(">>") && !self.is("|") {
            args = self.list()?;
        }
        if let [Expr::List(_)] = args.as_slice()
            && let Some(Expr::List(list)) = args.pop()
        {
            args = list;
        }
        let to = match self.token {
            Token::Operator(">") => Some(Redirect::File),
            Token::Operator(">>") => Some(Redirect::Append),
            Token::Operator("|") => Some(Redirect::Pipe),
            Token::Operator("|&") => return Err(self.lexer.error(self.start, "co-processes (|&) are not supported")),
            _ => None,
        };
        let to = match to {
            Some(redirect) => {
                self.advance()?;
                Some((redirect, self.concatenation()?))
            }
            None => None,
        };
        self.no_greater = before;
        if formatted && args.is_empty() {
            return Err(self.lexer.error(self.start, "printf: no format"));
        }
        Ok(Statement::Print { args, to, formatted })
    }

    /// Parses expressions separated by commas.
    pub(super) fn list(&mut self) -> Parsed<Vec<Expr>> {
        let mut list = vec![self.expression()?];
        while self.take(",")? {
            self.skip_newlines()?;
            list.push(self.expression()?);
        }
        Ok(list)
    }

    pub(super) fn checked_call(&self, function: functions::Function, args: Vec<Expr>, at: Position) -> Parsed<Expr> {
        if !function.takes(args.len()) {
            let message = format!("{} is invalid as number of arguments for {}", args.len(), function.name());
            return Err(self.lexer.error(at, message));
        }
        Ok(Expr::BuiltIn(function, args))
    }
}
