//! Operands: terms with their suffixes.

use std::rc::Rc;

use super::{Kind, Node, Parser, SyntaxError};
use crate::jq::program::{Expr, Fold, Formatting};
use crate::jq::{formats, natives};
use crate::value::{Number, Object, Value};

/// The keywords, which are not functions.
const KEYWORDS: &[&str] = &[
    "def", "if", "then", "elif", "else", "end", "as", "reduce", "foreach", "try", "catch", "label", "and", "or",
    "import", "include", "__loc__",
];

/// Returns true for a keyword.
pub(super) fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

impl Parser<'_> {
    /// Parses a term with its suffixes, a sign before it, a definition or a binding.
    pub(super) fn operand(&mut self) -> Result<Node, SyntaxError> {
        if self.accept("-") {
            let operand = self.deeper(|parser| parser.binary(7))?;
            let operand = self.close_binding(operand)?;
            return Ok(match natives::find("_negate", 0) {
                Some(native) => {
                    let negation = self.program.add(Expr::Native(native, Box::new([])));
                    self.program.add(Expr::Pipe(operand, negation))
                }
                None => operand,
            });
        }
        if self.is_name("def") || self.is_name("label") {
            return self.pipe(false);
        }
        let bound = self.scope.len();
        let term = self.postfix()?;
        if self.accept_name("as") {
            let patterns = self.patterns()?;
            self.expect("|")?;
            self.bound_by_last = bound;
            self.binding = Some(Expr::Bind(term, Box::new(patterns), 0));
        }
        Ok(term)
    }

    /// Parses a term with its suffixes.
    pub(super) fn postfix(&mut self) -> Result<Node, SyntaxError> {
        let mut term = self.term()?;
        loop {
            term = match self.peek().clone() {
                Kind::Field(name) => {
                    self.at += 1;
                    self.index(term, Value::text(name))
                }
                Kind::Sign("?") => {
                    self.at += 1;
                    self.program.add(Expr::Try(term, None))
                }
                Kind::Sign("[") => self.bracket(term)?,
                Kind::Sign(".") if matches!(self.tokens[self.at + 1].kind, Kind::Sign("[")) => {
                    self.at += 1;
                    self.bracket(term)?
                }
                Kind::Sign(".") if self.tokens[self.at + 1].kind == Kind::StringStart => {
                    self.at += 1;
                    let key = self.string(None)?;
                    self.program.add(Expr::Index(term, key))
                }
                _ => return Ok(term),
            };
        }
    }

    fn index(&mut self, term: Node, key: Value) -> Node {
        let key = self.program.add(Expr::Const(key));
        self.program.add(Expr::Index(term, key))
    }

    /// Parses `[…]` after a term.
    fn bracket(&mut self, term: Node) -> Result<Node, SyntaxError> {
        self.expect("[")?;
        if self.accept("]") {
            return Ok(self.program.add(Expr::Iterate(term)));
        }
        let mut from = None;
        if !self.is_sign(":") {
            let key = self.pipe(false)?;
            if self.accept("]") {
                return Ok(self.program.add(Expr::Index(term, key)));
            }
            from = Some(key);
        }
        self.expect(":")?;
        let to = if self.is_sign("]") { None } else { Some(self.pipe(false)?) };
        if from.is_none() && to.is_none() {
            return Err(self.unexpected());
        }
        self.expect("]")?;
        Ok(self.program.add(Expr::Slice(term, from, to)))
    }

    fn term(&mut self) -> Result<Node, SyntaxError> {
        let at = self.tokens[self.at].at;
        let kind = self.peek().clone();
        if kind != Kind::StringStart {
            self.at += 1;
        }
        let expr = match kind {
            Kind::Number(text) => match Number::read(&text) {
                Some(number) => Expr::Const(Value::Number(number)),
                None => return Err(("syntax error, invalid number".into(), at)),
            },
            Kind::Field(name) => {
                let input = self.program.add(Expr::Identity);
                return Ok(self.index(input, Value::text(name)));
            }
            Kind::StringStart => return self.string(None),
            Kind::Format(name) => {
                let Some(formatting) = formats::find(&name) else {
                    return Err((format!("{} is not a valid format", &name[1..]), at));
                };
                if *self.peek() == Kind::StringStart {
                    return self.string(Some(formatting));
                }
                let input = self.program.add(Expr::Identity);
                Expr::Format(Some(formatting), Box::new([input]))
            }
            Kind::Variable(name) => return self.variable(&name, at),
            Kind::Sign("..") => Expr::RecurseAll,
            Kind::Sign(".") => {
                let input = self.program.add(Expr::Identity);
                return match self.peek() {
                    Kind::StringStart => {
                        let key = self.string(None)?;
                        Ok(self.program.add(Expr::Index(input, key)))
                    }
                    _ => Ok(input),
                };
            }
            Kind::Sign("(") => {
                let inner = self.pipe(false)?;
                self.expect(")")?;
                return Ok(inner);
            }
            Kind::Sign("[") => {
                if self.accept("]") {
                    Expr::Const(Value::array(Vec::new()))
                } else {
                    let body = self.pipe(false)?;
                    self.expect("]")?;
                    Expr::Array(body)
                }
            }
            Kind::Sign("{") => return self.deeper(Self::object),
            Kind::Name(name) => match name.as_str() {
                "if" => return self.deeper(Self::condition),
                "reduce" | "foreach" => return self.deeper(|parser| parser.fold(name == "foreach")),
                "try" => return self.deeper(Self::attempt),
                "break" if matches!(self.peek(), Kind::Variable(_)) => return self.break_out(at),
                name if is_keyword(name) => {
                    self.at -= 1;
                    return Err(self.unexpected());
                }
                name => return self.call(name, at),
            },
            _ => {
                self.at -= 1;
                return Err(self.unexpected());
            }
        };
        Ok(self.program.add(expr))
    }

    /// Parses a string. Interpolated values are converted to text by `formatting`.
    pub(super) fn string(&mut self, formatting: Option<Formatting>) -> Result<Node, SyntaxError> {
        self.at += 1;
        let mut parts = Vec::new();
        loop {
            let kind = self.peek().clone();
            self.at += 1;
            match kind {
                Kind::Text(text) => parts.push(self.program.add(Expr::Const(Value::text(text)))),
                Kind::InterpolationStart => {
                    parts.push(self.pipe(false)?);
                    if *self.peek() != Kind::InterpolationEnd {
                        return Err(self.unexpected());
                    }
                    self.at += 1;
                }
                Kind::StringEnd => break,
                _ => {
                    self.at -= 1;
                    return Err(self.unexpected());
                }
            }
        }
        if let [only] = parts.as_slice() {
            return Ok(*only);
        }
        Ok(self.program.add(Expr::Format(Some(formatting.unwrap_or(Formatting::Text)), parts.into())))
    }

    fn object(&mut self) -> Result<Node, SyntaxError> {
        let mut entries = Vec::new();
        while !self.accept("}") {
            if !entries.is_empty() {
                self.expect(",")?;
                // A comma may end the list, as in later versions.
                if self.accept("}") {
                    break;
                }
            }
            entries.push(self.entry()?);
        }
        if entries.is_empty() {
            return Ok(self.program.add(Expr::Const(Value::Object(Rc::new(Object::default())))));
        }
        Ok(self.program.add(Expr::Object(entries.into())))
    }

    fn entry(&mut self) -> Result<(Node, Node), SyntaxError> {
        let at = self.tokens[self.at].at;
        let kind = self.peek().clone();
        let (key, short) = match kind {
            Kind::Variable(name) => {
                self.at += 1;
                let value = self.variable(&name, at)?;
                return Ok((self.program.add(Expr::Const(Value::text(name))), value));
            }
            Kind::Name(name) | Kind::Number(name) => {
                self.at += 1;
                (self.program.add(Expr::Const(Value::text(name))), true)
            }
            Kind::StringStart => (self.string(None)?, true),
            Kind::Format(name) => {
                self.at += 1;
                let Some(formatting) = formats::find(&name) else {
                    return Err((format!("{} is not a valid format", &name[1..]), at));
                };
                if *self.peek() != Kind::StringStart {
                    return Err(self.unexpected());
                }
                (self.string(Some(formatting))?, true)
            }
            _ => {
                self.expect("(")?;
                let key = self.pipe(false)?;
                self.expect(")")?;
                (key, false)
            }
        };
        if self.accept(":") {
            let mut value = self.member()?;
            while self.accept("|") {
                let next = self.member()?;
                value = self.program.add(Expr::Pipe(value, next));
            }
            return Ok((key, value));
        }
        if !short {
            return Err(self.unexpected());
        }
        let input = self.program.add(Expr::Identity);
        Ok((key, self.program.add(Expr::Index(input, key))))
    }

    /// Parses a value in an object: anything that binds tighter than the comma.
    fn member(&mut self) -> Result<Node, SyntaxError> {
        let value = self.deeper(|parser| parser.binary(1))?;
        self.close_binding(value)
    }

    fn condition(&mut self) -> Result<Node, SyntaxError> {
        let mut branches = Vec::new();
        let last = loop {
            let condition = self.pipe(false)?;
            self.expect_name("then")?;
            let then = self.pipe(false)?;
            branches.push((condition, then));
            if self.accept_name("elif") {
                continue;
            }
            if self.accept_name("else") {
                let other = self.pipe(false)?;
                self.expect_name("end")?;
                break other;
            }
            self.expect_name("end")?;
            break self.program.add(Expr::Identity);
        };
        let chain = branches.into_iter().rev();
        Ok(chain.fold(last, |other, (condition, then)| self.program.add(Expr::If(condition, then, other))))
    }

    fn fold(&mut self, is_foreach: bool) -> Result<Node, SyntaxError> {
        let source = self.postfix()?;
        self.expect_name("as")?;
        let outside = self.scope.len();
        let patterns = self.patterns()?;
        let bound = self.scope.split_off(outside);
        self.expect("(")?;
        let init = self.pipe(false)?;
        self.expect(";")?;
        self.scope.extend(bound);
        let update = self.pipe(false)?;
        let extract = if is_foreach && self.accept(";") { Some(self.pipe(false)?) } else { None };
        self.expect(")")?;
        self.scope.truncate(outside);
        let fold = Box::new(Fold { source, patterns, init, update, extract });
        Ok(self.program.add(if is_foreach { Expr::Foreach(fold) } else { Expr::Reduce(fold) }))
    }

    fn attempt(&mut self) -> Result<Node, SyntaxError> {
        let body = self.attempted()?;
        let handler = if self.accept_name("catch") { Some(self.attempted()?) } else { None };
        Ok(self.program.add(Expr::Try(body, handler)))
    }

    fn attempted(&mut self) -> Result<Node, SyntaxError> {
        if self.is_sign("-") {
            return self.operand();
        }
        self.postfix()
    }
}
