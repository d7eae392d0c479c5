//! The parser of expressions, by precedence.

use super::functions::Function;
use super::lexer::Token;
use super::parser::{Parsed, Parser};
use super::tree::{Arithmetic, Comparison, Expr, GetlineFrom};

/// The precedence of operators, lowest first.
mod level {
    pub(super) const OR: u8 = 1;
    pub(super) const AND: u8 = 2;
    pub(super) const IN: u8 = 3;
    pub(super) const MATCH: u8 = 4;
    pub(super) const COMPARE: u8 = 5;
    pub(super) const PIPE: u8 = 6;
    pub(super) const CONCAT: u8 = 7;
    pub(super) const SUM: u8 = 8;
    pub(super) const PRODUCT: u8 = 9;
}

/// A binary operator.
enum Infix {
    Or,
    And,
    In,
    Match(bool),
    Compare(Comparison),
    PipeGetline,
    Concat,
    Arithmetic(Arithmetic),
}

impl Parser<'_> {
    /// Parses an expression.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.deeper(Self::conditional)
    }

    /// Parses an operand of a redirection: a concatenation, or an expression of higher precedence.
    pub(super) fn concatenation(&mut self) -> Parsed<Expr> {
        self.deeper(|parser| parser.binary(level::CONCAT))
    }

    fn conditional(&mut self) -> Parsed<Expr> {
        let test = self.binary(level::OR)?;
        if !self.take("?")? {
            return Ok(test);
        }
        self.skip_newlines()?;
        let yes = self.expression()?;
        self.skip_newlines()?;
        self.expect(":")?;
        self.skip_newlines()?;
        let no = self.expression()?;
        Ok(Expr::Conditional(Box::new(test), Box::new(yes), Box::new(no)))
    }

    fn binary(&mut self, loosest: u8) -> Parsed<Expr> {
        let mut left = self.unary()?;
        if left.is_lvalue() && loosest <= level::COMPARE {
            left = self.assignment(left)?;
        }
        while let Some((infix, level)) = self.infix()? {
            if level < loosest {
                break;
            }
            left = self.joined(left, infix, level)?;
        }
        Ok(left)
    }

    /// Parses an assignment to an lvalue, if an assignment operator follows.
    fn assignment(&mut self, target: Expr) -> Parsed<Expr> {
        let Token::Operator(operator) = self.token else { return Ok(target) };
        let arithmetic = match operator {
            "=" => None,
            "+=" => Some(Arithmetic::Add),
            "-=" => Some(Arithmetic::Subtract),
            "*=" => Some(Arithmetic::Multiply),
            "/=" => Some(Arithmetic::Divide),
            "%=" => Some(Arithmetic::Remainder),
            "^=" | "**=" => Some(Arithmetic::Power),
            _ => return Ok(target),
        };
        self.advance()?;
        self.skip_newlines()?;
        let value = Box::new(self.expression()?);
        Ok(match arithmetic {
            Some(arithmetic) => Expr::Update(arithmetic, Box::new(target), value),
            None => Expr::Assign(Box::new(target), value),
        })
    }

    /// Returns the next binary operator without consuming it. For `|` the token after it is inspected, too.
    fn infix(&mut self) -> Parsed<Option<(Infix, u8)>> {
        let operator = match &self.token {
            Token::Operator(operator) => *operator,
            Token::Keyword("in") => return Ok(Some((Infix::In, level::IN))),
            Token::Number(_) | Token::Text(_) | Token::Name(_) | Token::FunctionName(_) | Token::BuiltIn(_) => {
                return Ok(Some((Infix::Concat, level::CONCAT)));
            }
            _ => return Ok(None),
        };
        let compare = |comparison| (Infix::Compare(comparison), level::COMPARE);
        let arithmetic = |arithmetic, level| (Infix::Arithmetic(arithmetic), level);
        Ok(Some(match operator {
            "||" => (Infix::Or, level::OR),
            "&&" => (Infix::And, level::AND),
            "~" => (Infix::Match(false), level::MATCH),
            "!~" => (Infix::Match(true), level::MATCH),
            "<" => compare(Comparison::Less),
            "<=" => compare(Comparison::LessOrEqual),
            "==" => compare(Comparison::Equal),
            "!=" => compare(Comparison::NotEqual),
            ">" if !self.no_greater => compare(Comparison::Greater),
            ">=" => compare(Comparison::GreaterOrEqual),
            "|" => {
                let before = self.lexer.position();
                let (next, _) = self.lexer.next()?;
                self.lexer.go_to(before);
                if next != Token::Keyword("getline") {
                    return Ok(None);
                }
                (Infix::PipeGetline, level::PIPE)
            }
            "$" | "!" | "(" | "++" | "--" | "@" => (Infix::Concat, level::CONCAT),
            "+" => arithmetic(Arithmetic::Add, level::SUM),
            "-" => arithmetic(Arithmetic::Subtract, level::SUM),
            "*" => arithmetic(Arithmetic::Multiply, level::PRODUCT),
            "/" => arithmetic(Arithmetic::Divide, level::PRODUCT),
            "%" => arithmetic(Arithmetic::Remainder, level::PRODUCT),
            _ => return Ok(None),
        }))
    }

    /// Parses the right operand of an operator, and combines both operands.
    fn joined(&mut self, left: Expr, infix: Infix, level: u8) -> Parsed<Expr> {
        if matches!(left, Expr::List(_)) && !matches!(infix, Infix::In) {
            return Err(self.unexpected());
        }
        if !matches!(infix, Infix::Concat) {
            self.advance()?;
        }
        Ok(match infix {
            Infix::Or | Infix::And => {
                self.skip_newlines()?;
                let right = self.binary(level + 1)?;
                match (infix, left) {
                    (Infix::Or, Expr::Or(mut all)) => {
                        all.push(right);
                        Expr::Or(all)
                    }
                    (Infix::Or, left) => Expr::Or(vec![left, right]),
                    (_, Expr::And(mut all)) => {
                        all.push(right);
                        Expr::And(all)
                    }
                    (_, left) => Expr::And(vec![left, right]),
                }
            }
            Infix::In => {
                let array = Box::new(self.lvalue()?);
                match left {
                    Expr::List(subscript) => Expr::In(subscript, array),
                    left => Expr::In(vec![left], array),
                }
            }
            Infix::Match(negated) => {
                let regex = Box::new(self.binary(level + 1)?);
                Expr::Match { text: Box::new(left), regex, negated }
            }
            Infix::Compare(comparison) => Expr::Compare(comparison, Box::new(left), Box::new(self.binary(level + 1)?)),
            Infix::PipeGetline => {
                self.advance()?;
                let target = self.getline_target()?;
                Expr::Getline { from: GetlineFrom::Command(Box::new(left)), target }
            }
            Infix::Concat => {
                let right = self.binary(level + 1)?;
                match left {
                    Expr::Concat(mut all) => {
                        all.push(right);
                        Expr::Concat(all)
                    }
                    left => Expr::Concat(vec![left, right]),
                }
            }
            Infix::Arithmetic(arithmetic) => {
                let right = self.binary(level + 1)?;
                match left {
                    Expr::Chain(first, mut rest) => {
                        rest.push((arithmetic, right));
                        Expr::Chain(first, rest)
                    }
                    left => Expr::Chain(Box::new(left), vec![(arithmetic, right)]),
                }
            }
        })
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let Token::Operator(operator) = self.token else { return self.power() };
        match operator {
            "!" | "-" | "+" => {
                self.advance()?;
                let operand = Box::new(self.deeper(Self::unary)?);
                Ok(match operator {
                    "!" => Expr::Not(operand),
                    "-" => Expr::Negative(operand),
                    _ => Expr::Positive(operand),
                })
            }
            _ => self.power(),
        }
    }

    fn power(&mut self) -> Parsed<Expr> {
        let base = self.postfix()?;
        if !self.is("^") && !self.is("**") {
            return Ok(base);
        }
        self.advance()?;
        // The operator is right-associative, and a sign can follow: 2^-3.
        let exponent = self.deeper(Self::unary)?;
        // The group keeps a longer chain from taking the power apart.
        let power = Expr::Chain(Box::new(base), vec![(Arithmetic::Power, exponent)]);
        Ok(Expr::Group(Box::new(power)))
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let operand = self.primary()?;
        if !operand.is_lvalue() {
            return Ok(operand);
        }
        let by = match self.token {
            Token::Operator("++") => 1.0,
            Token::Operator("--") => -1.0,
            _ => return Ok(operand),
        };
        self.advance()?;
        Ok(Expr::Increment { target: Box::new(operand), by, before: false })
    }

    pub(super) fn primary(&mut self) -> Parsed<Expr> {
        let at = self.start;
        match self.token.clone() {
            Token::Number(number) => {
                self.advance()?;
                Ok(Expr::Number(number))
            }
            Token::Text(text) => {
                self.advance()?;
                Ok(Expr::Text(text))
            }
            Token::Name(_) => self.lvalue(),
            Token::FunctionName(name) => {
                self.advance()?;
                let args = self.arguments()?;
                Ok(Expr::Call(self.name(name), args))
            }
            Token::BuiltIn(function) => {
                self.advance()?;
                let args = if function == Function::Length && !self.is("(") { Vec::new() } else { self.arguments()? };
                self.checked_call(function, args, at)
            }
            Token::Keyword("getline") => {
                self.advance()?;
                let target = self.getline_target()?;
                if !self.take("<")? {
                    return Ok(Expr::Getline { from: GetlineFrom::Main, target });
                }
                let file = Box::new(self.deeper(Self::primary)?);
                Ok(Expr::Getline { from: GetlineFrom::File(file), target })
            }
            Token::Operator(operator) => self.operator_primary(operator),
            _ => Err(self.unexpected()),
        }
    }

    fn operator_primary(&mut self, operator: &str) -> Parsed<Expr> {
        match operator {
            "$" => {
                self.advance()?;
                let field = match self.token {
                    Token::Operator("++" | "--" | "-" | "+" | "!") => self.deeper(Self::unary)?,
                    _ => self.deeper(Self::primary)?,
                };
                Ok(Expr::Field(Box::new(field)))
            }
            "++" | "--" => {
                self.advance()?;
                let target = self.deeper(Self::primary)?;
                if !target.is_lvalue() {
                    return Err(self.unexpected());
                }
                let by = if operator == "++" { 1.0 } else { -1.0 };
                Ok(Expr::Increment { target: Box::new(target), by, before: true })
            }
            "-" | "+" | "!" => self.unary(),
            "(" => {
                self.advance()?;
                let before = std::mem::replace(&mut self.no_greater, false);
                self.skip_newlines()?;
                let mut list = self.list()?;
                self.skip_newlines()?;
                self.expect(")")?;
                self.no_greater = before;
                match list.pop() {
                    Some(only) if list.is_empty() => Ok(Expr::Group(Box::new(only))),
                    last => {
                        list.extend(last);
                        Ok(Expr::List(list))
                    }
                }
            }
            "/" | "/=" => {
                let at = self.start;
                self.lexer.go_to(super::lexer::Position { source: at.source, at: at.at + 1 });
                let regex = self.lexer.regex(at)?;
                self.advance()?;
                Ok(Expr::Regex(regex))
            }
            "@" => {
                self.advance()?;
                match self.token.clone() {
                    Token::Operator("/" | "/=") => match self.operator_primary("/")? {
                        Expr::Regex(regex) => Ok(Expr::TypedRegex(regex)),
                        other => Ok(other),
                    },
                    Token::FunctionName(name) => {
                        self.advance()?;
                        let args = self.arguments()?;
                        Ok(Expr::CallIndirect(self.name(name), args))
                    }
                    Token::Name(name) if matches!(name.as_str(), "include" | "load" | "namespace") => {
                        Err(self.lexer.error(self.start, format!("@{name} is not supported")))
                    }
                    _ => Err(self.unexpected()),
                }
            }
            _ => Err(self.unexpected()),
        }
    }

    fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        self.expect("(")?;
        let before = std::mem::replace(&mut self.no_greater, false);
        self.skip_newlines()?;
        let args = if self.is(")") { Vec::new() } else { self.list()? };
        self.skip_newlines()?;
        self.expect(")")?;
        self.no_greater = before;
        Ok(args)
    }

    /// Parses a variable with any number of subscripts.
    pub(super) fn lvalue(&mut self) -> Parsed<Expr> {
        let Token::Name(name) = self.token.clone() else { return Err(self.unexpected()) };
        let mut target = Expr::Variable(self.name(name));
        self.advance()?;
        let mut subscripts = 0;
        while self.is("[") {
            subscripts += 1;
            if subscripts > 50 {
                return Err(self.lexer.error(self.start, "nested too deeply"));
            }
            self.advance()?;
            let before = std::mem::replace(&mut self.no_greater, false);
            let subscript = self.list()?;
            self.expect("]")?;
            self.no_greater = before;
            target = Expr::Element(Box::new(target), subscript);
        }
        Ok(target)
    }

    fn getline_target(&mut self) -> Parsed<Option<Box<Expr>>> {
        match self.token {
            Token::Name(_) => self.lvalue().map(|target| Some(Box::new(target))),
            Token::Operator("$") => self.primary().map(|target| Some(Box::new(target))),
            _ => Ok(None),
        }
    }
}
