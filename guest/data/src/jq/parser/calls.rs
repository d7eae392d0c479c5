//! The meaning of a name: a binding, a form that the machine knows, or a function of the library.

use std::rc::Rc;

use super::{Bound, Kind, Node, Parser, SyntaxError, lex};
use crate::jq::program::Expr;
use crate::jq::{library, natives};
use crate::value::{Object, Value};

impl Parser<'_> {
    /// Parses `$name`.
    pub(super) fn variable(&mut self, name: &str, at: usize) -> Result<Node, SyntaxError> {
        if name == "__loc__" {
            let mut place = Object::default();
            let line = self.source[..at.min(self.source.len())].matches('\n').count() + 1;
            place.insert(Rc::new("file".into()), Value::text("<top-level>"));
            place.insert(Rc::new("line".into()), Value::number(line as f64));
            return Ok(self.program.add(Expr::Const(Value::object(place))));
        }
        let found = self.scope.iter().rev().position(|bound| matches!(bound, Bound::Variable(other) if other == name));
        let expr = match (found, self.globals.get(name)) {
            (Some(ago), _) => Expr::Variable(ago as u32),
            (None, Some(value)) => Expr::Const(value.clone()),
            (None, None) if name == "ENV" => Expr::Const(natives::environment()),
            (None, None) => return Err((format!("${name} is not defined"), at)),
        };
        Ok(self.program.add(expr))
    }

    /// Parses `break $name`.
    pub(super) fn break_out(&mut self, at: usize) -> Result<Node, SyntaxError> {
        let Kind::Variable(name) = self.peek().clone() else { return Err(self.unexpected()) };
        self.at += 1;
        let found = self.scope.iter().rev().position(|bound| matches!(bound, Bound::Label(other) if *other == name));
        match found {
            Some(ago) => Ok(self.program.add(Expr::Break(ago as u32))),
            None => Err((format!("$*label-{name} is not defined"), at)),
        }
    }

    /// Parses a call whose name has been read.
    pub(super) fn call(&mut self, name: &str, at: usize) -> Result<Node, SyntaxError> {
        let mut args = Vec::new();
        if self.accept("(") {
            loop {
                args.push(self.pipe(false)?);
                if !self.accept(";") {
                    break;
                }
            }
            self.expect(")")?;
        }
        for (ago, bound) in self.scope.iter().rev().enumerate() {
            match bound {
                Bound::Parameter(other) if other == name && args.is_empty() => {
                    return Ok(self.program.add(Expr::CallParameter(ago as u32)));
                }
                Bound::Function(other, count) if other == name && *count == args.len() => {
                    return Ok(self.program.add(Expr::CallLocal(ago as u32, args.into())));
                }
                _ => {}
            }
        }
        if let Some(node) = self.form(name, &args) {
            return Ok(node);
        }
        if let Some(native) = natives::find(name, args.len()) {
            return Ok(self.program.add(Expr::Native(native, args.into())));
        }
        match self.library(name, args.len())? {
            Some(function) => Ok(self.program.add(Expr::CallLibrary(function, args.into()))),
            None => Err((format!("{name}/{} is not defined", args.len()), at)),
        }
    }

    /// Returns the expression of a form that the machine knows, or that is short enough to be inlined.
    fn form(&mut self, name: &str, args: &[Node]) -> Option<Node> {
        let expr = match (name, args) {
            ("null", []) => Expr::Const(Value::Null),
            ("true", []) => Expr::Const(Value::Bool(true)),
            ("false", []) => Expr::Const(Value::Bool(false)),
            ("empty", []) => Expr::Empty,
            ("error", []) => Expr::Raise,
            ("error", [message]) => {
                let raise = self.program.add(Expr::Raise);
                Expr::Pipe(*message, raise)
            }
            ("path", [body]) => Expr::Path(*body),
            ("getpath", [path]) => Expr::GetPath(*path),
            ("range", [to]) => {
                let from = self.program.add(Expr::Const(Value::number(0.0)));
                Expr::Range(from, *to)
            }
            ("range", [from, to]) => Expr::Range(*from, *to),
            ("input", []) => Expr::Input,
            ("halt", []) => Expr::Halt(None),
            ("halt_error", []) => Expr::Halt(Some(self.program.add(Expr::Const(Value::number(5.0))))),
            ("halt_error", [code]) => Expr::Halt(Some(*code)),
            ("env", []) => Expr::Const(natives::environment()),
            ("recurse", []) => Expr::RecurseAll,
            ("select", [condition]) => {
                let (yes, no) = (self.program.add(Expr::Identity), self.program.add(Expr::Empty));
                Expr::If(*condition, yes, no)
            }
            ("map", [body]) => {
                let items = self.each();
                let body = self.program.add(Expr::Pipe(items, *body));
                Expr::Array(body)
            }
            ("map_values", [update]) => Expr::Update(self.each(), *update),
            ("del", [body]) => {
                let path = self.program.add(Expr::Path(*body));
                let paths = self.program.add(Expr::Array(path));
                Expr::Native(natives::find("delpaths", 1)?, Box::new([paths]))
            }
            ("with_entries", [body]) => {
                let entries = self.program.add(Expr::Native(natives::find("to_entries", 0)?, Box::new([])));
                let mapped = self.form("map", &[*body])?;
                let object = self.program.add(Expr::Native(natives::find("from_entries", 0)?, Box::new([])));
                let rest = self.program.add(Expr::Pipe(mapped, object));
                Expr::Pipe(entries, rest)
            }
            ("add", [body]) => {
                let list = self.program.add(Expr::Array(*body));
                let sum = self.program.add(Expr::Native(natives::find("add", 0)?, Box::new([])));
                Expr::Pipe(list, sum)
            }
            ("sort_by" | "group_by" | "unique_by" | "min_by" | "max_by", [key]) => {
                // For each item, an array of all values of the key expression.
                let (items, keys) = (self.each(), self.program.add(Expr::Array(*key)));
                let pairs = self.program.add(Expr::Pipe(items, keys));
                let keys = self.program.add(Expr::Array(pairs));
                Expr::Native(natives::find(&format!("_{name}"), 1)?, Box::new([keys]))
            }
            _ => return None,
        };
        Some(self.program.add(expr))
    }

    fn each(&mut self) -> Node {
        let input = self.program.add(Expr::Identity);
        self.program.add(Expr::Iterate(input))
    }

    /// Returns a function that the library defines in jq's own language, and parses it the first time.
    fn library(&mut self, name: &str, arity: usize) -> Result<Option<u32>, SyntaxError> {
        let Some((name, source)) = library::find(name, arity) else { return Ok(None) };
        if let Some(function) = self.library.get(&(name, arity)) {
            return Ok(Some(*function));
        }
        let function = self.reserve();
        self.library.insert((name, arity), function);
        let tokens = std::mem::replace(&mut self.tokens, lex(source)?);
        let (at, scope) = (std::mem::replace(&mut self.at, 0), std::mem::take(&mut self.scope));
        let depth = std::mem::replace(&mut self.depth, 0);
        let parsed = self.parameters().and_then(|parameters| self.body(function, parameters));
        (self.tokens, self.at, self.scope, self.depth) = (tokens, at, scope, depth);
        parsed.map(|()| Some(function))
    }
}
