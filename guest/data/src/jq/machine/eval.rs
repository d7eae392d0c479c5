//! Evaluation: one step into an expression.

use std::cell::RefCell;
use std::rc::Rc;

use super::super::program::{Expr, Node};
use super::state::{Binding, Choice, Cursor, Env, Error, Frame, Keys, Next, Pending, State, Task};
use super::{Host, Machine};
use crate::value::Value;

impl Machine<'_> {
    pub(super) fn eval(&mut self, node: Node, env: Env, state: State, next: Next, host: &mut dyn Host) -> Task {
        // Paths need the machine. Without a path, an expression with one value is computed directly.
        if state.cursor.is_none() && self.program.is_simple(node) {
            return match self.simple(node, &env, state.value) {
                Ok(value) => Task::Give(State::new(value), next),
                Err(error) => Task::Raise(Error::Value(error)),
            };
        }
        match self.program.expr(node) {
            Expr::Identity => Task::Give(state, next),
            Expr::RecurseAll => {
                self.choices.push(Choice::Recurse { container: state.clone(), index: 0, next: next.clone() });
                Task::Give(state, next)
            }
            Expr::Const(value) => Task::Give(State { value: value.clone(), cursor: state.cursor }, next),
            Expr::Variable(ago) => match env.ago(*ago) {
                Some((Binding::Value(value), _)) => {
                    Task::Give(State { value: value.clone(), cursor: state.cursor }, next)
                }
                _ => Task::Backtrack,
            },
            Expr::Index(term, key) => {
                let beside = state.without_path();
                Task::Eval(*key, env.clone(), beside, next.with(Frame::IndexKey(*term, env, state)))
            }
            Expr::Slice(term, from, to) => self.begin_slice(node, *term, (*from, *to), env, state, next),
            Expr::Iterate(term) => Task::Eval(*term, env, state, next.with(Frame::Iterate)),
            Expr::Pipe(first, second) => Task::Eval(*first, env.clone(), state, next.with(Frame::Pipe(*second, env))),
            Expr::Comma(first, second) => {
                self.choices.push(Choice::Eval(*second, env.clone(), state.clone(), next.clone()));
                Task::Eval(*first, env, state, next)
            }
            Expr::And(left, right) | Expr::Or(left, right) => {
                let decided_by = matches!(self.program.expr(node), Expr::Or(..));
                let beside = state.without_path();
                let frame = Frame::Logic { right: *right, env: env.clone(), input: state, decided_by };
                Task::Eval(*left, env, beside, next.with(frame))
            }
            Expr::Alternative(left, right) => self.begin_alternative(*left, *right, env, state, next),
            Expr::If(condition, yes, no) => {
                let beside = state.without_path();
                let frame = Frame::Condition { yes: *yes, no: *no, env: env.clone(), input: state };
                Task::Eval(*condition, env, beside, next.with(frame))
            }
            Expr::Try(body, handler) => self.begin_try(*body, *handler, env, state, next),
            Expr::Bind(source, _, _) => {
                let beside = state.without_path();
                let frame = Frame::Bind { node, env: env.clone(), input: state };
                Task::Eval(*source, env, beside, next.with(frame))
            }
            Expr::Reduce(fold) | Expr::Foreach(fold) => {
                let frame = Frame::FoldInit { node, env: env.clone(), input: state.clone() };
                Task::Eval(fold.init, env, state, next.with(frame))
            }
            Expr::Define(function, rest) => Task::Eval(*rest, env.with(Binding::Function(*function)), state, next),
            Expr::CallParameter(ago) => match env.ago(*ago) {
                Some((Binding::Closure(body, env), _)) => Task::Eval(*body, env.clone(), state, next),
                _ => Task::Backtrack,
            },
            Expr::CallLocal(ago, args) => match env.ago(*ago) {
                Some((Binding::Function(function), home)) => {
                    self.call(*function, home.clone(), args, &env, state, next)
                }
                _ => Task::Backtrack,
            },
            Expr::CallLibrary(function, args) => self.call(*function, Env::default(), args, &env, state, next),
            Expr::Native(native, args) => match args.last() {
                None => self.native(native, state, Vec::new(), next, host),
                Some(last) => self.begin_arguments(node, *last, env, state, next),
            },
            Expr::Label(body) => {
                self.labels += 1;
                self.choices.push(Choice::Label(self.labels));
                Task::Eval(*body, env.with(Binding::Label(self.labels)), state, next)
            }
            Expr::Break(ago) => match env.ago(*ago) {
                Some((Binding::Label(label), _)) => Task::Raise(Error::Break(*label)),
                _ => Task::Backtrack,
            },
            Expr::Object(entries) => self.begin_object(node, entries[0].0, env, state, next),
            Expr::Array(body) => self.begin_array(*body, env, state, next),
            Expr::Format(_, parts) => {
                let beside = state.without_path();
                let frame = Frame::Part { node, env: env.clone(), input: state, done: Rc::default() };
                Task::Eval(parts[parts.len() - 1], env, beside, next.with(frame))
            }
            Expr::Empty => Task::Backtrack,
            Expr::Raise => Task::Raise(Error::Value(state.value)),
            Expr::Path(body) => {
                let frame = Frame::PathEnd(state.cursor);
                Task::Eval(*body, env, root(state.value), next.with(frame))
            }
            Expr::GetPath(path) => {
                let beside = state.without_path();
                Task::Eval(*path, env, beside, next.with(Frame::GetPath(state)))
            }
            Expr::Range(from, to) => {
                let beside = state.without_path();
                let frame = Frame::RangeFrom { to: *to, env: env.clone(), input: state };
                Task::Eval(*from, env, beside, next.with(frame))
            }
            Expr::Update(paths, update) => {
                let change = super::state::Change::Update(*update, env.clone());
                self.change(*paths, env, state, change, next)
            }
            Expr::UpdateWith(_, _, value) | Expr::Assign(_, value) => {
                let beside = state.without_path();
                let frame = Frame::AssignValue { node, env: env.clone(), input: state };
                Task::Eval(*value, env, beside, next.with(frame))
            }
            Expr::Input => next_input(state, next, host),
            Expr::Halt(None) => Task::Raise(Error::Halt(0, None)),
            Expr::Halt(Some(code)) => {
                let beside = state.without_path();
                Task::Eval(*code, env, beside, next.with(Frame::HaltCode(state.value)))
            }
        }
    }

    fn begin_slice(
        &mut self,
        node: Node,
        term: Node,
        bounds: (Option<Node>, Option<Node>),
        env: Env,
        state: State,
        next: Next,
    ) -> Task {
        let beside = state.without_path();
        match bounds {
            (Some(from), _) => {
                let frame = Frame::SliceFrom { node, env: env.clone(), input: state };
                Task::Eval(from, env, beside, next.with(frame))
            }
            (None, Some(to)) => {
                let frame = Frame::SliceTo { node, env: env.clone(), input: state, from: Value::Null };
                Task::Eval(to, env, beside, next.with(frame))
            }
            (None, None) => Task::Eval(term, env, state, next),
        }
    }

    fn begin_alternative(&mut self, left: Node, right: Node, env: Env, state: State, next: Next) -> Task {
        let found = Rc::new(RefCell::new(false));
        self.choices.push(Choice::Alternative {
            found: found.clone(),
            node: right,
            env: env.clone(),
            input: state.clone(),
            next: next.clone(),
        });
        Task::Eval(left, env, state, next.with(Frame::Alternative(found)))
    }

    fn begin_try(&mut self, body: Node, handler: Option<Node>, env: Env, state: State, next: Next) -> Task {
        self.labels += 1;
        let id = self.labels;
        let frame = Frame::TryEnd(self.choices.len(), id);
        let input = State { value: Value::Null, cursor: state.cursor.clone() };
        self.choices.push(Choice::Try { id, handler, env: env.clone(), input, next: next.clone() });
        Task::Eval(body, env, state, next.with(frame))
    }

    fn begin_arguments(&mut self, node: Node, last: Node, env: Env, state: State, next: Next) -> Task {
        let beside = state.without_path();
        let frame = Frame::Argument { node, env: env.clone(), input: state, done: Rc::default() };
        Task::Eval(last, env, beside, next.with(frame))
    }

    fn begin_object(&mut self, node: Node, key: Node, env: Env, state: State, next: Next) -> Task {
        let beside = state.without_path();
        let object = Value::object(crate::value::Object::default());
        let frame = Frame::Key { node, index: 0, env: env.clone(), input: state, object };
        Task::Eval(key, env, beside, next.with(frame))
    }

    fn begin_array(&mut self, body: Node, env: Env, state: State, next: Next) -> Task {
        let cell = Rc::new(RefCell::new(Vec::new()));
        self.choices.push(Choice::Collected(cell.clone(), state.cursor.clone(), next));
        // The items go into the cell, and the choice goes on with the array: nothing follows the body itself.
        Task::Eval(body, env, State::new(state.value), Next::default().with(Frame::Collect(cell)))
    }

    fn call(&mut self, function: u32, home: Env, args: &[Node], caller: &Env, state: State, next: Next) -> Task {
        let inner = self.bind_arguments(home, args, caller);
        Task::Eval(self.program.functions[function as usize].body, inner, state, next)
    }

    /// Binds the parameters of a function to the arguments, which are expressions in the scope of the caller.
    fn bind_arguments(&self, home: Env, args: &[Node], caller: &Env) -> Env {
        args.iter().fold(home, |inner, arg| {
            // A parameter that is passed on is passed unchanged, or a recursion would make a chain of closures.
            let handed_on = match self.program.expr(*arg) {
                Expr::CallParameter(ago) => caller.ago(*ago).map(|(binding, _)| binding.clone()),
                _ => None,
            };
            inner.with(handed_on.unwrap_or_else(|| Binding::Closure(*arg, caller.clone())))
        })
    }

    /// Changes a value at all paths of an expression.
    pub(super) fn change(
        &mut self,
        paths: Node,
        env: Env,
        state: State,
        change: super::state::Change,
        next: Next,
    ) -> Task {
        let cell = Rc::new(RefCell::new(Pending { value: state.value.clone(), removed: Vec::new() }));
        self.choices.push(Choice::Changed(cell.clone(), state.cursor, next));
        Task::Eval(paths, env, root(state.value), Next::default().with(Frame::Change { change, cell }))
    }
}

fn next_input(state: State, next: Next, host: &mut dyn Host) -> Task {
    match host.next_input() {
        Ok(Some(value)) => Task::Give(State { value, cursor: state.cursor }, next),
        Ok(None) => Task::Raise(Error::Value(Value::text("No more inputs"))),
        Err(message) => Task::Raise(Error::Value(Value::text(message))),
    }
}

/// Returns a value as the begin of a path.
pub(super) fn root(value: Value) -> State {
    let cursor = Rc::new(Cursor { at: value.clone(), keys: Keys::default() });
    State { value, cursor: Some(cursor) }
}
