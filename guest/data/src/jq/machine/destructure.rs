//! `as` and its patterns.

use std::cell::RefCell;
use std::rc::Rc;

use super::super::access;
use super::super::program::{Expr, Node, Pattern, Patterns};
use super::Machine;
use super::state::{BindTarget, Binding, Choice, Env, Error, Frame, Next, Part, State, Task, Unbound};
use crate::value::Value;

impl Machine<'_> {
    /// Binds a value and continues with the body.
    pub(super) fn bind(&mut self, node: Node, env: Env, input: State, value: Value, next: Next) -> Task {
        self.bind_alternative(node, 0, env, input, value, BindTarget::Body, next)
    }

    /// Binds an item of a `reduce` or a `foreach`.
    pub(super) fn bind_item(
        &mut self,
        node: Node,
        env: Env,
        item: State,
        cell: Rc<RefCell<Value>>,
        next: Next,
    ) -> Task {
        let input = State { value: Value::Null, cursor: item.cursor };
        self.bind_alternative(node, 0, env, input, item.value, BindTarget::Fold(cell), next)
    }

    /// Binds by one of several patterns. After an error the next pattern is tried.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn bind_alternative(
        &mut self,
        node: Node,
        alternative: usize,
        env: Env,
        input: State,
        value: Value,
        then: BindTarget,
        mut next: Next,
    ) -> Task {
        let Some(patterns) = self.patterns(node) else { return Task::Backtrack };
        let pattern = patterns.alternatives[alternative].pattern;
        if alternative + 1 < patterns.alternatives.len() {
            self.labels += 1;
            let id = self.labels;
            let guarded = next.clone();
            next = next.with(Frame::TryEnd(self.choices.len(), id));
            self.choices.push(Choice::Pattern {
                id,
                node,
                alternative,
                value: value.clone(),
                env: env.clone(),
                input: input.clone(),
                then: then.clone(),
                next: guarded,
            });
        }
        let todo = vec![Part::Pattern(pattern, value)];
        self.bind_parts(Unbound { node, alternative, env, input, todo, then }, next)
    }

    fn bind_parts(&mut self, mut unbound: Unbound, next: Next) -> Task {
        while let Some(part) = unbound.todo.pop() {
            match part {
                Part::Pattern(pattern, value) => match &self.program.patterns[pattern as usize] {
                    Pattern::Variable => unbound.env = unbound.env.with(Binding::Value(value)),
                    Pattern::Array(items) => {
                        for (index, item) in items.iter().enumerate().rev() {
                            match access::get(&value, &Value::number(index as f64)) {
                                Ok(value) => unbound.todo.push(Part::Pattern(*item, value)),
                                Err(error) => return Task::Raise(Error::Value(error)),
                            }
                        }
                    }
                    Pattern::Object(fields) => {
                        let parts = (0..fields.len()).rev().map(|index| Part::Field(pattern, index, value.clone()));
                        unbound.todo.extend(parts);
                    }
                },
                Part::Field(pattern, index, value) => {
                    let Pattern::Object(fields) = &self.program.patterns[pattern as usize] else {
                        return Task::Backtrack;
                    };
                    let key = fields[index].key;
                    let env = unbound.env.clone();
                    unbound.todo.push(Part::Field(pattern, index, value.clone()));
                    return Task::Eval(key, env, State::new(value), next.with(Frame::PatternKey(Rc::new(unbound))));
                }
            }
        }
        self.bound_all(unbound, next)
    }

    /// Binds a field whose key has been computed.
    pub(super) fn bind_field(&mut self, mut unbound: Unbound, key: Value, next: Next) -> Task {
        let Some(Part::Field(pattern, index, value)) = unbound.todo.pop() else { return Task::Backtrack };
        let Pattern::Object(fields) = &self.program.patterns[pattern as usize] else { return Task::Backtrack };
        let field = &fields[index];
        if !matches!(key, Value::Text(_)) {
            let message = format!("Cannot index {} with {}", value.kind(), key.kind());
            return Task::Raise(Error::Value(Value::text(message)));
        }
        let value = match access::get(&value, &key) {
            Ok(value) => value,
            Err(error) => return Task::Raise(Error::Value(error)),
        };
        if field.is_bound {
            unbound.env = unbound.env.with(Binding::Value(value.clone()));
        }
        if let Some(pattern) = field.pattern {
            unbound.todo.push(Part::Pattern(pattern, value));
        }
        self.bind_parts(unbound, next)
    }

    fn bound_all(&mut self, unbound: Unbound, next: Next) -> Task {
        let Unbound { node, alternative, mut env, input, then, .. } = unbound;
        let Some(patterns) = self.patterns(node) else { return Task::Backtrack };
        if let Some(order) = &patterns.alternatives[alternative].order {
            let values: Vec<Value> = order
                .iter()
                .map(|ago| ago.map(|ago| Self::bound(env.ago(ago).map(|(binding, _)| binding))).unwrap_or_default())
                .collect();
            env = values.into_iter().fold(env, |env, value| env.with(Binding::Value(value)));
        }
        match (self.program.expr(node), then) {
            (Expr::Bind(_, _, body), _) => Task::Eval(*body, env, input, next),
            (Expr::Reduce(fold) | Expr::Foreach(fold), BindTarget::Fold(cell)) => {
                let value = std::mem::take(&mut *cell.borrow_mut());
                let frame = Frame::FoldUpdate { node, env: env.clone(), cell };
                Task::Eval(fold.update, env, State { value, cursor: input.cursor }, next.with(frame))
            }
            _ => Task::Backtrack,
        }
    }

    fn patterns(&self, node: Node) -> Option<&Patterns> {
        match self.program.expr(node) {
            Expr::Bind(_, patterns, _) => Some(patterns),
            Expr::Reduce(fold) | Expr::Foreach(fold) => Some(&fold.patterns),
            _ => None,
        }
    }
}
