//! The patterns after `as`.

use super::{Bound, Kind, Node, Parser, SyntaxError};
use crate::jq::program::{Alternative, Expr, Field, Pattern, Patterns};
use crate::value::Value;

impl Parser<'_> {
    /// Returns the pattern of one variable.
    pub(super) fn one_variable(&mut self) -> Patterns {
        let pattern = self.program.add_pattern(Pattern::Variable);
        Patterns { alternatives: vec![Alternative { pattern, order: None }] }
    }

    /// Parses patterns joined by `?//`. Their variables are in scope from here on.
    pub(super) fn patterns(&mut self) -> Result<Patterns, SyntaxError> {
        let outside = self.scope.len();
        let mut alternatives = vec![(self.pattern()?, self.names_since(outside))];
        while self.accept("?//") {
            self.scope.truncate(outside);
            alternatives.push((self.pattern()?, self.names_since(outside)));
        }
        if alternatives.len() == 1 {
            let pattern = alternatives.remove(0).0;
            return Ok(Patterns { alternatives: vec![Alternative { pattern, order: None }] });
        }
        // Every alternative binds the variables of all alternatives, in the same order.
        let mut all: Vec<String> = Vec::new();
        for (_, names) in &alternatives {
            for name in names {
                if !all.contains(name) {
                    all.push(name.clone());
                }
            }
        }
        self.scope.truncate(outside);
        for name in &all {
            self.scope.push(Bound::Variable(name.clone()));
        }
        let ordered = alternatives.into_iter().map(|(pattern, names)| {
            let ago = |name: &String| names.iter().rev().position(|other| other == name).map(|ago| ago as u32);
            Alternative { pattern, order: Some(all.iter().map(ago).collect()) }
        });
        Ok(Patterns { alternatives: ordered.collect() })
    }

    fn names_since(&self, outside: usize) -> Vec<String> {
        let names = self.scope[outside..].iter().map(|bound| match bound {
            Bound::Variable(name) => name.clone(),
            _ => String::new(),
        });
        names.collect()
    }

    fn pattern(&mut self) -> Result<u32, SyntaxError> {
        self.deeper(|parser| {
            if let Kind::Variable(name) = parser.peek().clone() {
                parser.at += 1;
                parser.scope.push(Bound::Variable(name));
                return Ok(parser.program.add_pattern(Pattern::Variable));
            }
            if parser.accept("[") {
                let mut items = vec![parser.pattern()?];
                while parser.accept(",") {
                    items.push(parser.pattern()?);
                }
                parser.expect("]")?;
                return Ok(parser.program.add_pattern(Pattern::Array(items)));
            }
            parser.expect("{")?;
            let mut fields = vec![parser.field()?];
            while parser.accept(",") {
                fields.push(parser.field()?);
            }
            parser.expect("}")?;
            Ok(parser.program.add_pattern(Pattern::Object(fields)))
        })
    }

    fn field(&mut self) -> Result<Field, SyntaxError> {
        let mut is_bound = false;
        let key: Node = match self.peek().clone() {
            Kind::Variable(name) => {
                self.at += 1;
                self.scope.push(Bound::Variable(name.clone()));
                is_bound = true;
                self.program.add(Expr::Const(Value::text(name)))
            }
            Kind::Name(name) => {
                self.at += 1;
                self.program.add(Expr::Const(Value::text(name)))
            }
            Kind::StringStart => self.string(None)?,
            _ => {
                self.expect("(")?;
                let key = self.pipe(false)?;
                self.expect(")")?;
                key
            }
        };
        let pattern = if self.accept(":") {
            Some(self.pattern()?)
        } else if is_bound {
            None
        } else {
            return Err(self.unexpected());
        };
        Ok(Field { key, is_bound, pattern })
    }
}
