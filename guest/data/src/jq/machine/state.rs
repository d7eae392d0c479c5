//! The data of the machine.

use std::cell::RefCell;
use std::rc::Rc;

use super::super::natives::Native;
use super::super::program::Node;
use crate::value::Value;

/// A value, and its position if paths are computed.
#[derive(Clone)]
pub(super) struct State {
    pub(super) value: Value,
    pub(super) cursor: Option<Rc<Cursor>>,
}

/// A position in the input of a path expression.
pub(crate) struct Cursor {
    /// The value at that position. An expression that gives another value has left the path.
    pub(super) at: Value,
    pub(super) keys: Keys,
}

/// The keys of a path, the last one first. Paths share their beginnings.
#[derive(Clone, Default)]
pub(super) struct Keys(Option<Rc<Key>>);

struct Key {
    key: Value,
    before: Keys,
}

/// The next step of the machine.
pub(super) enum Task {
    Eval(Node, Env, State, Next),
    Give(State, Next),
    Backtrack,
    Raise(Error),
}

/// An error or a jump that unwinds the stack of choices.
pub(super) enum Error {
    Value(Value),
    Break(u64),
    Halt(u8, Option<Value>),
}

/// The bindings in scope, the last one first.
#[derive(Clone, Default)]
pub(super) struct Env(Option<Rc<Scope>>);

struct Scope {
    binding: Binding,
    outer: Env,
}

/// The meaning of a name.
#[derive(Clone)]
pub(super) enum Binding {
    Value(Value),
    /// An argument: an expression with the bindings of its caller.
    Closure(Node, Env),
    Function(u32),
    Label(u64),
}

/// The continuation of a value.
#[derive(Clone, Default)]
pub(super) struct Next(Option<Rc<Cont>>);

struct Cont {
    frame: Frame,
    next: Next,
}

/// One step of a continuation.
#[derive(Clone)]
pub(super) enum Frame {
    /// The value is the input of an expression.
    Pipe(Node, Env),
    /// The value is the key of an index; the term is next.
    IndexKey(Node, Env, State),
    IndexTerm(Value),
    /// The value is the begin of a slice.
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
    /// The value is an argument of a native. Arguments are evaluated from the last to the first.
    Argument {
        node: Node,
        env: Env,
        input: State,
        done: Rc<Vec<Value>>,
    },
    /// The value is a part of a string. Parts are evaluated from the last to the first.
    Part {
        node: Node,
        env: Env,
        input: State,
        done: Rc<Vec<Value>>,
    },
    /// The value is the left side of `and` (decided by `false`) or `or` (decided by `true`).
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
    /// The value is one of the left side of `//`.
    Alternative(Rc<RefCell<bool>>),
    /// The value is one of the body of a `try`, which the choice at this depth guards.
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
    /// The value is bound.
    Bind {
        node: Node,
        env: Env,
        input: State,
    },
    /// The value is the key of a field in a pattern.
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
    /// The value is assigned.
    AssignValue {
        node: Node,
        env: Env,
        input: State,
    },
    /// The path of the value is changed.
    Change {
        change: Change,
        cell: Rc<RefCell<Pending>>,
    },
    /// The value is the result of an update for a path.
    Changed {
        keys: Vec<Value>,
        cell: Rc<RefCell<Pending>>,
        depth: usize,
    },
    HaltCode(Value),
}

/// A change of the value at a path.
#[derive(Clone)]
pub(super) enum Change {
    Set(Value),
    Arithmetic(Native, Value),
    Default(Value),
    Update(Node, Env),
}

/// A value that is changed path by path.
pub(super) struct Pending {
    pub(super) value: Value,
    /// Paths whose update gave nothing. They are deleted in the end, so that the other paths stay valid.
    pub(super) removed: Vec<Value>,
}

/// Patterns that are not yet bound.
#[derive(Clone)]
pub(super) struct Unbound {
    pub(super) node: Node,
    pub(super) alternative: usize,
    pub(super) env: Env,
    pub(super) input: State,
    pub(super) todo: Vec<Part>,
    pub(super) then: BindTarget,
}

/// The use of the bound variables.
#[derive(Clone)]
pub(super) enum BindTarget {
    Body,
    Fold(Rc<RefCell<Value>>),
}

/// A pattern of the program with its value, or a field of one.
#[derive(Clone)]
pub(super) enum Part {
    Pattern(u32, Value),
    Field(u32, usize, Value),
}

/// A choice: a state that the machine returns to for the next value.
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
    /// Catches errors. The number identifies the `try`.
    Try {
        id: u64,
        handler: Option<Node>,
        env: Env,
        input: State,
        next: Next,
    },
    /// The choices above come after the `try` of this number, which does not catch their errors.
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
        then: BindTarget,
        next: Next,
    },
    Changed(Rc<RefCell<Pending>>, Option<Rc<Cursor>>, Next),
    /// An update that gave nothing.
    EmptyUpdate(Rc<RefCell<Pending>>, Vec<Value>),
}

impl State {
    pub(super) fn new(value: Value) -> State {
        State { value, cursor: None }
    }

    /// Returns the value without its path, for a computation that is not part of the path.
    pub(super) fn without_path(&self) -> State {
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

    /// Returns the binding that was made so many bindings ago, and the bindings before it.
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

    /// Returns the first step and the rest. They are moved if this is the only reference.
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

// Chains are as long as programs recurse, so each is dropped link by link.

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
