//! What the machine holds.

use std::cell::RefCell;
use std::rc::Rc;

use super::super::natives::Native;
use super::super::program::Node;
use crate::value::Value;

/// A value, and where it stands if paths are asked for.
#[derive(Clone)]
pub(super) struct State {
    pub(super) value: Value,
    pub(super) cursor: Option<Rc<Cursor>>,
}

/// Where in a value an expression stands.
pub(crate) struct Cursor {
    /// What is at that place. An expression that gives something else has left the path.
    pub(super) at: Value,
    pub(super) keys: Keys,
}

/// The keys of a path, the last one first; the begin is shared.
#[derive(Clone, Default)]
pub(super) struct Keys(Option<Rc<Key>>);

struct Key {
    key: Value,
    before: Keys,
}

/// What to do next.
pub(super) enum Task {
    Eval(Node, Env, State, Next),
    Give(State, Next),
    Backtrack,
    Raise(Error),
}

/// What goes up the stack of choices.
pub(super) enum Error {
    Value(Value),
    Break(u64),
    Halt(u8, Option<Value>),
}

/// What is bound, the last first.
#[derive(Clone, Default)]
pub(super) struct Env(Option<Rc<Scope>>);

struct Scope {
    binding: Binding,
    outer: Env,
}

/// What a name is bound to.
#[derive(Clone)]
pub(super) enum Binding {
    Value(Value),
    /// An argument: an expression with the bindings of its caller.
    Closure(Node, Env),
    Function(u32),
    Label(u64),
}

/// What is to be done with a value.
#[derive(Clone, Default)]
pub(super) struct Next(Option<Rc<Cont>>);

struct Cont {
    frame: Frame,
    next: Next,
}

/// One thing that is to be done with a value.
#[derive(Clone)]
pub(super) enum Frame {
    /// The value is the input of an expression.
    Pipe(Node, Env),
    /// The key of an index: now the term.
    IndexKey(Node, Env, State),
    IndexTerm(Value),
    /// Begin and end of a slice.
    SliceFrom {
        node: Node,
        env: Env,
        input: State,
    },
    SliceTo {
        node: Node,
        env: Env,
        input: State,
        from: Value,
    },
    Iterate,
    /// An argument of a native; they are evaluated from the last to the first.
    Argument {
        node: Node,
        env: Env,
        input: State,
        done: Rc<Vec<Value>>,
    },
    /// A part of a string, likewise.
    Part {
        node: Node,
        env: Env,
        input: State,
        done: Rc<Vec<Value>>,
    },
    /// Left side of `and` (`false`) or `or` (`true`).
    Logic {
        right: Node,
        env: Env,
        input: State,
        decided_by: bool,
    },
    Truth(Option<Rc<Cursor>>),
    Condition {
        yes: Node,
        no: Node,
        env: Env,
        input: State,
    },
    /// Left side of `//`.
    Alternative(Rc<RefCell<bool>>),
    /// A value of the body of a `try`, which the choice at this depth guards.
    TryEnd(usize, u64),
    Key {
        node: Node,
        index: usize,
        env: Env,
        input: State,
        object: Value,
    },
    Member {
        node: Node,
        index: usize,
        env: Env,
        input: State,
        object: Value,
        key: Value,
    },
    Collect(Rc<RefCell<Vec<Value>>>),
    /// A value to bind.
    Bind {
        node: Node,
        env: Env,
        input: State,
    },
    /// The key of a field in a pattern.
    PatternKey(Rc<Unbound>),
    FoldInit {
        node: Node,
        env: Env,
        input: State,
    },
    FoldSource {
        node: Node,
        env: Env,
        cell: Rc<RefCell<Value>>,
    },
    FoldUpdate {
        node: Node,
        env: Env,
        cell: Rc<RefCell<Value>>,
    },
    PathEnd(Option<Rc<Cursor>>),
    GetPath(State),
    RangeFrom {
        to: Node,
        env: Env,
        input: State,
    },
    RangeTo {
        from: f64,
        cursor: Option<Rc<Cursor>>,
    },
    /// The value that is assigned.
    AssignValue {
        node: Node,
        env: Env,
        input: State,
    },
    /// A path that is changed.
    Change {
        change: Change,
        cell: Rc<RefCell<Pending>>,
    },
    /// What an update gave for a path.
    Changed {
        keys: Vec<Value>,
        cell: Rc<RefCell<Pending>>,
        depth: usize,
    },
    HaltCode(Value),
}

/// What is done to a path.
#[derive(Clone)]
pub(super) enum Change {
    Set(Value),
    Arithmetic(Native, Value),
    Default(Value),
    Update(Node, Env),
}

/// A value that is changed, path by path.
pub(super) struct Pending {
    pub(super) value: Value,
    /// Paths whose update gave nothing: they go at the end, so that the other paths stay what they are.
    pub(super) gone: Vec<Value>,
}

/// Patterns that are still to be bound.
#[derive(Clone)]
pub(super) struct Unbound {
    pub(super) node: Node,
    pub(super) alternative: usize,
    pub(super) env: Env,
    pub(super) input: State,
    pub(super) todo: Vec<Part>,
    pub(super) then: Then,
}

/// What the bound variables are for.
#[derive(Clone)]
pub(super) enum Then {
    Body,
    Fold(Rc<RefCell<Value>>),
}

/// A pattern of the program, and its value; or a field of one.
#[derive(Clone)]
pub(super) enum Part {
    Pattern(u32, Value),
    Field(u32, usize, Value),
}

/// A place to come back to.
pub(super) enum Choice {
    Eval(Node, Env, State, Next),
    Each {
        container: State,
        index: usize,
        next: Next,
    },
    Recurse {
        container: State,
        index: usize,
        next: Next,
    },
    Range {
        from: f64,
        to: f64,
        cursor: Option<Rc<Cursor>>,
        next: Next,
    },
    /// Errors end here; the number is that of the `try`.
    Try {
        id: u64,
        handler: Option<Node>,
        env: Env,
        input: State,
        next: Next,
    },
    /// What is above comes after the `try` of this number, whose errors are not its own.
    TryLeft(u64),
    Alternative {
        found: Rc<RefCell<bool>>,
        node: Node,
        env: Env,
        input: State,
        next: Next,
    },
    Label(u64),
    Collected(Rc<RefCell<Vec<Value>>>, Option<Rc<Cursor>>, Next),
    Folded(Rc<RefCell<Value>>, Option<Rc<Cursor>>, Next),
    Pattern {
        id: u64,
        node: Node,
        alternative: usize,
        value: Value,
        env: Env,
        input: State,
        then: Then,
        next: Next,
    },
    Changed(Rc<RefCell<Pending>>, Option<Rc<Cursor>>, Next),
    /// An update that gave nothing.
    Gone(Rc<RefCell<Pending>>, Vec<Value>),
}

impl State {
    pub(super) fn new(value: Value) -> State {
        State { value, cursor: None }
    }

    /// The same place without a path: for what is asked beside it.
    pub(super) fn beside(&self) -> State {
        State::new(self.value.clone())
    }
}

impl Keys {
    pub(super) fn with(&self, key: Value) -> Keys {
        Keys(Some(Rc::new(Key { key, before: self.clone() })))
    }

    pub(super) fn list(&self) -> Vec<Value> {
        let mut list = Vec::new();
        let mut at = &self.0;
        while let Some(key) = at {
            list.push(key.key.clone());
            at = &key.before.0;
        }
        list.reverse();
        list
    }
}

impl Env {
    pub(super) fn with(&self, binding: Binding) -> Env {
        Env(Some(Rc::new(Scope { binding, outer: self.clone() })))
    }

    /// The binding made so many bindings ago, with all that was bound when it was made.
    pub(super) fn ago(&self, ago: u32) -> Option<(&Binding, &Env)> {
        let mut at = self;
        for _ in 0..ago {
            at = &at.0.as_ref()?.outer;
        }
        at.0.as_ref().map(|scope| (&scope.binding, at))
    }
}

impl Next {
    pub(super) fn with(self, frame: Frame) -> Next {
        Next(Some(Rc::new(Cont { frame, next: self })))
    }

    /// The first thing to do, and the rest; taken out if nobody else will do it.
    pub(super) fn take(self) -> Option<(Frame, Next)> {
        let cont = self.0?;
        match Rc::try_unwrap(cont) {
            Ok(mut cont) => {
                let frame = std::mem::replace(&mut cont.frame, Frame::Iterate);
                Some((frame, std::mem::take(&mut cont.next)))
            }
            Err(cont) => Some((cont.frame.clone(), cont.next.clone())),
        }
    }
}

// Chains are as long as programs recurse: each is taken down link by link.

impl Drop for Cont {
    fn drop(&mut self) {
        let mut next = std::mem::take(&mut self.next);
        while let Some(mut cont) = next.0.take().and_then(Rc::into_inner) {
            next = std::mem::take(&mut cont.next);
        }
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        let mut before = std::mem::take(&mut self.before);
        while let Some(mut key) = before.0.take().and_then(Rc::into_inner) {
            before = std::mem::take(&mut key.before);
        }
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        // A closure holds bindings too: both sides of the tree go on one list.
        let mut left = Vec::new();
        detach(self, &mut left);
        while let Some(env) = left.pop() {
            if let Some(mut scope) = env.0.and_then(Rc::into_inner) {
                detach(&mut scope, &mut left);
            }
        }
    }
}

fn detach(scope: &mut Scope, left: &mut Vec<Env>) {
    if scope.outer.0.is_some() {
        left.push(std::mem::take(&mut scope.outer));
    }
    if let Binding::Closure(_, env) = &mut scope.binding {
        left.push(std::mem::take(env));
    }
}
