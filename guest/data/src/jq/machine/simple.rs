//! Expressions with exactly one value, computed directly: no choices, nothing on the heap but values.
//!
//! They recurse, and `Program` limits their depth.

use std::rc::Rc;

use super::super::natives::Call;
use super::super::program::{Expr, Node};
use super::super::{access, formats};
use super::Machine;
use super::state::{Binding, Env};
use crate::value::{Object, Value};

impl Machine<'_> {
    pub(super) fn simple(&self, node: Node, env: &Env, input: Value) -> Result<Value, Value> {
        match self.program.expr(node) {
            Expr::Identity => Ok(input),
            Expr::Const(value) => Ok(value.clone()),
            Expr::Variable(ago) => Ok(Self::bound(env.ago(*ago).map(|(binding, _): (&Binding, _)| binding))),
            Expr::Index(term, key) => {
                // A field of a field is read in place, without another reference to the value around it.
                if let Expr::Const(key) = self.program.expr(*key) {
                    return match self.program.expr(*term) {
                        Expr::Identity => access::get(&input, key),
                        _ => access::get(&self.simple(*term, env, input)?, key),
                    };
                }
                let key = self.simple(*key, env, input.clone())?;
                access::get(&self.simple(*term, env, input)?, &key)
            }
            Expr::Slice(term, from, to) => {
                let mut bounds = Object::default();
                for (name, bound) in [("start", from), ("end", to)] {
                    let value = match bound {
                        Some(bound) => self.simple(*bound, env, input.clone())?,
                        None => Value::Null,
                    };
                    bounds.insert(Rc::new(name.into()), value);
                }
                access::get(&self.simple(*term, env, input)?, &Value::object(bounds))
            }
            Expr::Pipe(first, second) => {
                let value = self.simple(*first, env, input)?;
                self.simple(*second, env, value)
            }
            Expr::And(left, right) => Ok(Value::Bool(
                self.simple(*left, env, input.clone())?.is_true() && self.simple(*right, env, input)?.is_true(),
            )),
            Expr::Or(left, right) => Ok(Value::Bool(
                self.simple(*left, env, input.clone())?.is_true() || self.simple(*right, env, input)?.is_true(),
            )),
            Expr::Alternative(left, right) => match self.simple(*left, env, input.clone())? {
                value if value.is_true() => Ok(value),
                _ => self.simple(*right, env, input),
            },
            Expr::If(condition, yes, no) => {
                let node = if self.simple(*condition, env, input.clone())?.is_true() { *yes } else { *no };
                self.simple(node, env, input)
            }
            Expr::Native(native, args) => {
                let Call::Plain(call) = native.call else { return Err(Value::Null) };
                match args.as_ref() {
                    [] => call(input, Vec::new()),
                    [only] => {
                        let only = self.simple(*only, env, input.clone())?;
                        call(input, vec![only])
                    }
                    [left, right] => {
                        let right = self.simple(*right, env, input.clone())?;
                        if native.ignores_input() {
                            // The last use of the input takes the only reference, so that `. + [1]` appends in place.
                            let left = self.simple(*left, env, input)?;
                            return call(Value::Null, vec![left, right]);
                        }
                        let left = self.simple(*left, env, input.clone())?;
                        call(input, vec![left, right])
                    }
                    args => {
                        let mut values = Vec::with_capacity(args.len());
                        for arg in args.iter().rev() {
                            values.push(self.simple(*arg, env, input.clone())?);
                        }
                        values.reverse();
                        call(input, values)
                    }
                }
            }
            Expr::Object(entries) => {
                let mut object = Object::default();
                for (key, value) in entries {
                    let key = self.simple(*key, env, input.clone())?;
                    let value = self.simple(*value, env, input.clone())?;
                    match key {
                        Value::Text(key) => object.insert(key, value),
                        key => return Err(access::bad_object_key(&key)),
                    }
                }
                Ok(Value::object(object))
            }
            Expr::Array(body) => Ok(Value::array(vec![self.simple(*body, env, input)?])),
            Expr::Format(formatting, parts) => {
                let mut values = Vec::with_capacity(parts.len());
                for part in parts.iter().rev() {
                    values.push(self.simple(*part, env, input.clone())?);
                }
                values.reverse();
                formats::join(*formatting, values)
            }
            _ => Err(Value::Null),
        }
    }
}
