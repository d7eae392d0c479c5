//! Continuation: one step with a value of an expression.

use std::cell::RefCell;
use std::rc::Rc;

use super::super::natives::{Call, Native};
use super::super::program::{Expr, Node};
use super::super::{access, arithmetic, formats};
use super::state::{Change, Choice, Cursor, Env, Error, Frame, Next, Pending, State, Task};
use super::{Host, Machine};
use crate::json;
use crate::value::{Object, Value};

impl Machine<'_> {
    /// Continues with a value of the expression that the frame was waiting for.
    pub(super) fn resume(&mut self, frame: Frame, state: State, next: Next, host: &mut dyn Host) -> Task {
        match frame {
            Frame::Pipe(node, env) => Task::Eval(node, env, state, next),
            Frame::IndexKey(term, env, input) => Task::Eval(term, env, input, next.with(Frame::IndexTerm(state.value))),
            Frame::IndexTerm(key) => self.step(state, key, next),
            Frame::SliceFrom { node, env, input } => self.slice_from(node, env, input, state.value, next),
            Frame::SliceTo { node, env, input, from } => self.slice(node, env, input, from, state.value, next),
            Frame::Iterate => self.iterate(state, next),
            Frame::Argument { node, env, input, done } => {
                let mut done = crate::value::own(done);
                done.push(state.value);
                self.argument(node, env, input, done, next, host)
            }
            Frame::Part { node, env, input, done } => {
                let mut done = crate::value::own(done);
                done.push(state.value);
                self.part(node, env, input, done, next)
            }
            Frame::Logic { right, env, input, decided_by } => {
                if state.value.is_true() == decided_by {
                    return Task::Give(State { value: Value::Bool(decided_by), cursor: input.cursor }, next);
                }
                let beside = input.without_path();
                Task::Eval(right, env, beside, next.with(Frame::Truth(input.cursor)))
            }
            Frame::Truth(cursor) => Task::Give(State { value: Value::Bool(state.value.is_true()), cursor }, next),
            Frame::Condition { yes, no, env, input } => {
                Task::Eval(if state.value.is_true() { yes } else { no }, env, input, next)
            }
            Frame::Alternative(found) => {
                if !state.value.is_true() {
                    return Task::Backtrack;
                }
                *found.borrow_mut() = true;
                Task::Give(state, next)
            }
            Frame::TryEnd(depth, id) => {
                if self.choices.len() == depth + 1 {
                    // The body has no other value: there is nothing left to guard.
                    self.choices.pop();
                } else {
                    self.choices.push(Choice::TryLeft(id));
                }
                Task::Give(state, next)
            }
            Frame::Key { node, index, env, input, object } => {
                let Expr::Object(entries) = self.program.expr(node) else { return Task::Backtrack };
                let beside = input.without_path();
                let key = state.value;
                let frame = Frame::Member { node, index, env: env.clone(), input, object, key };
                Task::Eval(entries[index].1, env, beside, next.with(frame))
            }
            Frame::Member { node, index, env, input, object, key } => {
                let (Value::Object(mut object), Value::Text(key)) = (object, &key) else {
                    return Task::Raise(Error::Value(access::bad_object_key(&key)));
                };
                Rc::make_mut(&mut object).insert(key.clone(), state.value);
                self.next_member(node, index + 1, env, input, Value::Object(object), next)
            }
            Frame::Collect(cell) => {
                cell.borrow_mut().push(state.value);
                Task::Backtrack
            }
            Frame::Bind { node, env, input } => self.bind(node, env, input, state.value, next),
            Frame::PatternKey(unbound) => self.bind_field(crate::value::own(unbound), state.value, next),
            Frame::FoldInit { node, env, input } => self.fold(node, env, input, state.value, next),
            Frame::FoldSource { node, env, cell } => self.bind_item(node, env, state, cell, next),
            Frame::FoldUpdate { node, env, cell } => {
                let Expr::Foreach(fold) = self.program.expr(node) else {
                    *cell.borrow_mut() = state.value;
                    return Task::Backtrack;
                };
                *cell.borrow_mut() = state.value.clone();
                match fold.extract {
                    Some(extract) => Task::Eval(extract, env, state, next),
                    None => Task::Give(state, next),
                }
            }
            Frame::PathEnd(cursor) => match &state.cursor {
                Some(inner) if inner.at.is_same(&state.value) => {
                    let value = Value::array(inner.keys.list());
                    Task::Give(State { value, cursor }, next)
                }
                _ => Task::Raise(Error::Value(left_path(&state.value))),
            },
            Frame::GetPath(input) => self.get_path(input, &state.value, next),
            Frame::RangeFrom { to, env, input } => match state.value.as_number() {
                Some(from) => {
                    let beside = input.without_path();
                    Task::Eval(to, env, beside, next.with(Frame::RangeTo { from, cursor: input.cursor }))
                }
                None => Task::Raise(Error::Value(Value::text("Range bounds must be numeric"))),
            },
            Frame::RangeTo { from, cursor } => match state.value.as_number() {
                Some(to) => {
                    self.choices.push(Choice::Range { from, to, cursor, next });
                    Task::Backtrack
                }
                None => Task::Raise(Error::Value(Value::text("Range bounds must be numeric"))),
            },
            Frame::AssignValue { node, env, input } => self.assign(node, env, input, state.value, next),
            Frame::Change { change, cell } => self.change_path(change, cell, state),
            Frame::Changed { keys, cell, depth } => self.changed(&keys, &cell, depth, state.value),
            Frame::HaltCode(value) => match state.value.as_number() {
                Some(code) => Task::Raise(Error::Halt(code as i64 as u8, Some(value))),
                None => Task::Raise(Error::Value(Value::text("halt_error/1: number required"))),
            },
        }
    }

    /// Evaluates the end of a slice whose begin is known.
    fn slice_from(&mut self, node: Node, env: Env, input: State, from: Value, next: Next) -> Task {
        let Expr::Slice(_, _, to) = self.program.expr(node) else { return Task::Backtrack };
        match to {
            Some(to) => {
                let beside = input.without_path();
                let frame = Frame::SliceTo { node, env: env.clone(), input, from };
                Task::Eval(*to, env, beside, next.with(frame))
            }
            None => self.slice(node, env, input, from, Value::Null, next),
        }
    }

    /// Evaluates the argument before those that are done, or calls the native if it was the first.
    fn argument(
        &mut self,
        node: Node,
        env: Env,
        input: State,
        mut done: Vec<Value>,
        next: Next,
        host: &mut dyn Host,
    ) -> Task {
        let Expr::Native(native, args) = self.program.expr(node) else { return Task::Backtrack };
        match args.len() - done.len() {
            0 => {
                done.reverse();
                self.native(native, input, done, next, host)
            }
            left => {
                // The argument that is evaluated last gets the only reference to the input, unless the native needs it
                // too.
                let beside = input.without_path();
                let input = if left == 1 && native.ignores_input() {
                    State { value: Value::Null, cursor: input.cursor }
                } else {
                    input
                };
                let frame = Frame::Argument { node, env: env.clone(), input, done: Rc::new(done) };
                Task::Eval(args[left - 1], env, beside, next.with(frame))
            }
        }
    }

    /// Evaluates the part of a string before those that are done, or joins all parts if it was the first.
    fn part(&mut self, node: Node, env: Env, input: State, mut done: Vec<Value>, next: Next) -> Task {
        let Expr::Format(formatting, parts) = self.program.expr(node) else { return Task::Backtrack };
        match parts.len() - done.len() {
            0 => {
                done.reverse();
                match formats::join(*formatting, done) {
                    Ok(value) => Task::Give(State { value, cursor: input.cursor }, next),
                    Err(error) => Task::Raise(Error::Value(error)),
                }
            }
            left => {
                let beside = input.without_path();
                let frame = Frame::Part { node, env: env.clone(), input, done: Rc::new(done) };
                Task::Eval(parts[left - 1], env, beside, next.with(frame))
            }
        }
    }

    /// Evaluates the key of the next member of an object, or gives the object if it has them all.
    fn next_member(&mut self, node: Node, index: usize, env: Env, input: State, object: Value, next: Next) -> Task {
        let Expr::Object(entries) = self.program.expr(node) else { return Task::Backtrack };
        match entries.get(index) {
            None => Task::Give(State { value: object, cursor: input.cursor }, next),
            Some((key, _)) => {
                let beside = input.without_path();
                let frame = Frame::Key { node, index, env: env.clone(), input, object };
                Task::Eval(*key, env, beside, next.with(frame))
            }
        }
    }

    /// Starts the loop of a `reduce` or a `foreach` with its first state.
    fn fold(&mut self, node: Node, env: Env, input: State, first: Value, next: Next) -> Task {
        let expr = self.program.expr(node);
        let (Expr::Reduce(fold) | Expr::Foreach(fold)) = expr else { return Task::Backtrack };
        let cell = Rc::new(RefCell::new(first));
        let frame = Frame::FoldSource { node, env: env.clone(), cell: cell.clone() };
        let next = if let Expr::Reduce(_) = expr {
            self.choices.push(Choice::Folded(cell, input.cursor.clone(), next));
            Next::default()
        } else {
            next
        };
        Task::Eval(fold.source, env, input, next.with(frame))
    }

    /// Assigns a value to the paths of an assignment.
    fn assign(&mut self, node: Node, env: Env, input: State, value: Value, next: Next) -> Task {
        match self.program.expr(node) {
            Expr::Assign(paths, _) => self.change(*paths, env, input, Change::Set(value), next),
            Expr::UpdateWith(Some(native), paths, _) => {
                self.change(*paths, env, input, Change::Arithmetic(native, value), next)
            }
            Expr::UpdateWith(None, paths, _) => self.change(*paths, env, input, Change::Default(value), next),
            _ => Task::Backtrack,
        }
    }

    /// Puts the first value of an update at its path. The other values of the update are never computed.
    fn changed(&mut self, keys: &[Value], cell: &RefCell<Pending>, depth: usize, value: Value) -> Task {
        self.choices.truncate(depth);
        let mut pending = cell.borrow_mut();
        let root = std::mem::take(&mut pending.value);
        match access::set_path(root, keys, value) {
            Ok(value) => {
                pending.value = value;
                Task::Backtrack
            }
            Err(error) => Task::Raise(Error::Value(error)),
        }
    }

    /// Follows one key of a path.
    fn step(&mut self, state: State, key: Value, next: Next) -> Task {
        match access::get(&state.value, &key) {
            Ok(value) => self.stepped(state, key, value, next),
            Err(error) => match off_path(&state) {
                Some(error) => Task::Raise(Error::Value(error)),
                None => Task::Raise(Error::Value(error)),
            },
        }
    }

    fn stepped(&mut self, state: State, key: Value, value: Value, next: Next) -> Task {
        if let Some(error) = off_path(&state) {
            return Task::Raise(Error::Value(error));
        }
        let cursor = state.cursor.map(|cursor| advance(&cursor, key, &value));
        Task::Give(State { value, cursor }, next)
    }

    fn slice(&mut self, node: u32, env: Env, input: State, from: Value, to: Value, next: Next) -> Task {
        let Expr::Slice(term, _, _) = self.program.expr(node) else { return Task::Backtrack };
        let mut bounds = Object::default();
        bounds.insert(Rc::new("start".into()), from);
        bounds.insert(Rc::new("end".into()), to);
        Task::Eval(*term, env, input, next.with(Frame::IndexTerm(Value::object(bounds))))
    }

    fn iterate(&mut self, state: State, next: Next) -> Task {
        if let Some(error) = off_path(&state) {
            return Task::Raise(Error::Value(error));
        }
        match &state.value {
            Value::Array(_) | Value::Object(_) => {
                self.choices.push(Choice::Each { container: state, index: 0, next });
                Task::Backtrack
            }
            other => Task::Raise(Error::Value(Value::text(access::not_iterable(other)))),
        }
    }

    fn get_path(&mut self, input: State, path: &Value, next: Next) -> Task {
        let Value::Array(keys) = path else {
            return Task::Raise(Error::Value(Value::text("Path must be specified as an array")));
        };
        if let Some(error) = off_path(&input) {
            return Task::Raise(Error::Value(error));
        }
        match access::get_path(&input.value, keys) {
            Ok(value) => {
                let cursor = input.cursor.map(|cursor| {
                    let keys = keys.iter().fold(cursor.keys.clone(), |list, key| list.with(key.clone()));
                    Rc::new(Cursor { at: value.clone(), keys })
                });
                Task::Give(State { value, cursor }, next)
            }
            Err(error) => Task::Raise(Error::Value(error)),
        }
    }

    /// Calls a native.
    pub(super) fn native(
        &mut self,
        native: Native,
        input: State,
        args: Vec<Value>,
        next: Next,
        host: &mut dyn Host,
    ) -> Task {
        let result = match native.call {
            Call::Plain(call) => call(input.value, args),
            Call::WithHost(call) => call(host, input.value, args),
        };
        match result {
            Ok(value) => Task::Give(State { value, cursor: input.cursor }, next),
            Err(error) => Task::Raise(Error::Value(error)),
        }
    }

    /// Changes the value at one path of an assignment or an update.
    fn change_path(&mut self, change: Change, cell: Rc<RefCell<Pending>>, state: State) -> Task {
        if let Some(error) = off_path(&state) {
            return Task::Raise(Error::Value(error));
        }
        let Some(cursor) = state.cursor else { return Task::Backtrack };
        let keys = cursor.keys.list();
        // References to the value at the path are dropped first: a value with a single reference is changed in place.
        drop((cursor, state.value));
        let root = std::mem::take(&mut cell.borrow_mut().value);
        let done = match change {
            Change::Set(value) => access::set_path(root, &keys, value),
            Change::Arithmetic(native, value) => access::change_path(root, &keys, |old| match native.call {
                Call::Plain(call) => call(Value::Null, vec![old, value]),
                Call::WithHost(_) => Ok(old),
            }),
            Change::Default(value) => {
                access::change_path(root, &keys, |old| Ok(if old.is_true() { old } else { value }))
            }
            Change::Update(update, env) => {
                let mut root = root;
                let old = match access::take_path(&mut root, &keys) {
                    Ok(old) => old,
                    Err(error) => return Task::Raise(Error::Value(error)),
                };
                cell.borrow_mut().value = root;
                let depth = self.choices.len();
                self.choices.push(Choice::EmptyUpdate(cell.clone(), keys.clone()));
                let frame = Frame::Changed { keys, cell, depth };
                return Task::Eval(update, env, State::new(old), Next::default().with(frame));
            }
        };
        match done {
            Ok(value) => {
                cell.borrow_mut().value = value;
                Task::Backtrack
            }
            Err(error) => Task::Raise(Error::Value(error)),
        }
    }
}

/// Returns the cursor extended by a key.
pub(super) fn advance(cursor: &Cursor, key: Value, value: &Value) -> Rc<Cursor> {
    Rc::new(Cursor { at: value.clone(), keys: cursor.keys.with(key) })
}

/// Returns the error of an expression that follows a key after it has left its path.
fn off_path(state: &State) -> Option<Value> {
    let cursor = state.cursor.as_ref()?;
    if cursor.at.is_same(&state.value) {
        return None;
    }
    let shown = arithmetic::shorten(&json::compact(&state.value), 29);
    Some(Value::text(format!("Invalid path expression with result {shown}")))
}

fn left_path(value: &Value) -> Value {
    Value::text(format!("Invalid path expression with result {}", arithmetic::shorten(&json::compact(value), 29)))
}
