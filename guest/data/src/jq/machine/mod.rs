//! The machine that runs programs.
//!
//! An expression gives any number of values, so running one is a search: the machine follows one value at a time to the
//! end of the program and then goes back to the last place where there was a choice. What is still to be done with a
//! value is a chain of `Cont`, shared between the choices; the choices are a stack. Both are on the heap, so that a
//! program recurses as deep as memory lasts, and a call in the last place costs nothing.
//!
//! # Layout
//! - `state`: values with their paths, bindings, what is to be done, choices
//! - `eval`: one step into an expression
//! - `resume`: what is done with a value that an expression gave
//! - `retreat`: what a choice does when it is come back to, and where errors end up
//! - `simple`: expressions with one value, run directly
//! - `destructure`: `as` and its patterns

mod destructure;
mod eval;
mod resume;
mod retreat;
mod simple;
mod state;

use crate::value::Value;

use super::program::{Node, Program};
use state::{Choice, Env, Next, State, Task};

/// Why a program ends without a value.
pub(crate) enum Stop {
    /// An error that nothing caught.
    Error(Value),
    /// `halt`, with its exit code, and what is to be printed.
    Halt(u8, Option<Value>),
}

/// What a program asks of the world.
pub(crate) trait World {
    /// The next input; none at the end.
    fn next_input(&mut self) -> Result<Option<Value>, String>;
    /// The name of the file that is read.
    fn file_name(&self) -> Option<String>;
    /// How many lines of it have been read.
    fn line(&self) -> usize;
    /// Prints on standard error.
    fn complain(&mut self, text: &str);
}

/// One run of a program.
pub(crate) struct Machine<'p> {
    program: &'p Program,
    choices: Vec<Choice>,
    /// Labels that have been set so far: each has a number of its own.
    labels: u64,
    task: Option<Task>,
}

impl<'p> Machine<'p> {
    /// A run on an input.
    pub(crate) fn new(program: &'p Program, main: Node, input: Value) -> Machine<'p> {
        let task = Task::Eval(main, Env::default(), State::new(input), Next::default());
        Machine { program, choices: Vec::new(), labels: 0, task: Some(task) }
    }

    /// The next value it gives; none at the end.
    pub(crate) fn next(&mut self, world: &mut dyn World) -> Result<Option<Value>, Stop> {
        let mut task = self.task.take().unwrap_or(Task::Backtrack);
        loop {
            task = match task {
                Task::Eval(node, env, state, next) => self.eval(node, env, state, next, world),
                Task::Give(state, next) => match next.take() {
                    Some((frame, next)) => self.resume(frame, state, next, world),
                    None => return Ok(Some(state.value)),
                },
                Task::Backtrack => match self.choices.pop() {
                    Some(choice) => self.retreat(choice),
                    None => return Ok(None),
                },
                Task::Raise(error) => self.unwind(error)?,
            };
        }
    }
}
