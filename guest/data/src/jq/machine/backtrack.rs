//! Returning to a choice, and catching errors.

use super::super::access;
use super::state::{Binding, Choice, Error, State, Task};
use super::{Machine, Stop, resume};
use crate::value::Value;

impl Machine<'_> {
    pub(super) fn backtrack(&mut self, choice: Choice) -> Task {
        match choice {
            Choice::Eval(node, env, state, next) => Task::Eval(node, env, state, next),
            Choice::Each { container, index, next } => {
                let Some((key, value, after)) = child(&container, index) else { return Task::Backtrack };
                let cursor = container.cursor.as_ref().map(|cursor| resume::advance(cursor, key, &value));
                self.choices.push(Choice::Each { container, index: after, next: next.clone() });
                Task::Give(State { value, cursor }, next)
            }
            Choice::Recurse { container, index, next } => {
                let Some((key, value, after)) = child(&container, index) else { return Task::Backtrack };
                let cursor = container.cursor.as_ref().map(|cursor| resume::advance(cursor, key, &value));
                self.choices.push(Choice::Recurse { container, index: after, next: next.clone() });
                let state = State { value, cursor };
                if matches!(state.value, Value::Array(_) | Value::Object(_)) {
                    self.choices.push(Choice::Recurse { container: state.clone(), index: 0, next: next.clone() });
                }
                Task::Give(state, next)
            }
            Choice::Range { from, to, cursor, next } => {
                if from >= to || from.is_nan() || to.is_nan() {
                    return Task::Backtrack;
                }
                if from + 1.0 < to {
                    let (cursor, next) = (cursor.clone(), next.clone());
                    self.choices.push(Choice::Range { from: from + 1.0, to, cursor, next });
                }
                Task::Give(State { value: Value::number(from), cursor }, next)
            }
            Choice::Try { .. } | Choice::TryLeft(_) | Choice::Label(_) | Choice::Pattern { .. } => Task::Backtrack,
            Choice::Alternative { found, node, env, input, next } => {
                if *found.borrow() {
                    Task::Backtrack
                } else {
                    Task::Eval(node, env, input, next)
                }
            }
            Choice::Collected(cell, cursor, next) => {
                Task::Give(State { value: Value::array(cell.take()), cursor }, next)
            }
            Choice::Folded(cell, cursor, next) => Task::Give(State { value: cell.take(), cursor }, next),
            Choice::Changed(cell, cursor, next) => {
                let mut pending = cell.borrow_mut();
                let (value, removed) = (std::mem::take(&mut pending.value), std::mem::take(&mut pending.removed));
                if removed.is_empty() {
                    return Task::Give(State { value, cursor }, next);
                }
                match access::delete_paths(value, removed) {
                    Ok(value) => Task::Give(State { value, cursor }, next),
                    Err(error) => Task::Raise(Error::Value(error)),
                }
            }
            Choice::EmptyUpdate(cell, keys) => {
                cell.borrow_mut().removed.push(Value::array(keys));
                Task::Backtrack
            }
        }
    }

    /// Returns to the choice that catches an error: a `try` around it, or the label of a `break`.
    pub(super) fn unwind(&mut self, error: Error) -> Result<Task, Stop> {
        // The numbers of `try` expressions that had ended before the error.
        let mut left: Vec<u64> = Vec::new();
        while let Some(choice) = self.choices.pop() {
            match (&error, choice) {
                (Error::Break(label), Choice::Label(other)) if *label == other => return Ok(Task::Backtrack),
                (Error::Value(_), Choice::TryLeft(id)) => left.push(id),
                (Error::Value(_), Choice::Try { id, .. } | Choice::Pattern { id, .. }) if left.contains(&id) => {}
                (Error::Value(value), Choice::Try { handler, env, input, next, .. }) => {
                    return Ok(match handler {
                        None => Task::Backtrack,
                        Some(handler) => {
                            Task::Eval(handler, env, State { value: value.clone(), cursor: input.cursor }, next)
                        }
                    });
                }
                (Error::Value(_), Choice::Pattern { node, alternative, value, env, input, then, next, .. }) => {
                    return Ok(self.bind_alternative(node, alternative + 1, env, input, value, then, next));
                }
                _ => {}
            }
        }
        Err(match error {
            Error::Value(value) => Stop::Error(value),
            Error::Break(_) => Stop::Error(Value::text("break")),
            Error::Halt(code, value) => Stop::Halt(code, value),
        })
    }

    /// Returns the value of a binding.
    pub(super) fn bound(binding: Option<&Binding>) -> Value {
        match binding {
            Some(Binding::Value(value)) => value.clone(),
            _ => Value::Null,
        }
    }
}

/// Returns the key and the value at a position of a container, and the next position.
fn child(container: &State, index: usize) -> Option<(Value, Value, usize)> {
    let wants_key = container.cursor.is_some();
    match &container.value {
        Value::Array(items) => {
            let key = if wants_key { Value::number(index as f64) } else { Value::Null };
            items.get(index).map(|item| (key, item.clone(), index + 1))
        }
        Value::Object(object) => {
            let (after, key, value) = object.next(index)?;
            let key = if wants_key { Value::Text(key.clone()) } else { Value::Null };
            Some((key, value.clone(), after))
        }
        _ => None,
    }
}
