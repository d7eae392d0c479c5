//! The machine that runs programs.
//!
//! An expression gives any number of values, so running one is a search: the machine follows one value at a time to the
//! end of the program and then returns to the last choice. The continuation of a value is a chain of `Cont`, shared
//! between the choices; the choices are a stack. Both are on the heap, so that a program recurses as deep as memory
//! lasts, and a tail call costs nothing.
//!
//! # Layout
//! - `state`: values with their paths, bindings, continuations and choices
//! - `eval`: one step into an expression
//! - `resume`: one step of a continuation with a value
//! - `backtrack`: returning to a choice, and catching errors
//! - `simple`: expressions with one value, computed directly
//! - `destructure`: `as` and its patterns

mod backtrack;
mod destructure;
mod eval;
mod resume;
mod simple;
mod state;

use crate::value::Value;

use super::program::{Node, Program};
use state::{Choice, Env, Next, State, Task};

/// The reason why a program ends without a value.
pub(crate) enum Stop {
    /// An error that was not caught.
    Error(Value),
    /// `halt`, with its exit code and the value to print.
    Halt(u8, Option<Value>),
}

/// The environment of a program.
pub(crate) trait Host {
    /// Returns the next input; none at the end.
    fn next_input(&mut self) -> Result<Option<Value>, String>;
    /// Returns the name of the current file.
    fn file_name(&self) -> Option<String>;
    /// Returns the number of lines read from the current file.
    fn line(&self) -> usize;
    /// Prints on standard error.
    fn complain(&mut self, text: &str);
}

/// One run of a program.
pub(crate) struct Machine<'p> {
    program: &'p Program,
    choices: Vec<Choice>,
    /// The number of labels so far: each has a number of its own.
    labels: u64,
    task: Option<Task>,
}

impl<'p> Machine<'p> {
    /// Starts a run on an input.
    pub(crate) fn new(program: &'p Program, main: Node, input: Value) -> Machine<'p> {
        let task = Task::Eval(main, Env::default(), State::new(input), Next::default());
        Machine { program, choices: Vec::new(), labels: 0, task: Some(task) }
    }

    /// Returns the next value; none at the end.
    pub(crate) fn next(&mut self, host: &mut dyn Host) -> Result<Option<Value>, Stop> {
        let mut task = self.task.take().unwrap_or(Task::Backtrack);
        loop {
            task = match task {
                Task::Eval(node, env, state, next) => self.eval(node, env, state, next, host),
                Task::Give(state, next) => match next.take() {
                    Some((frame, next)) => self.resume(frame, state, next, host),
                    None => return Ok(Some(state.value)),
                },
                Task::Backtrack => match self.choices.pop() {
                    Some(choice) => self.backtrack(choice),
                    None => return Ok(None),
                },
                Task::Raise(error) => self.unwind(error)?,
            };
        }
    }
}
