//! Execution.
//!
//! A tree is compiled to flat code, and a machine with its own stack runs it: the depth of function calls is limited by
//! memory, not by the native stack, which a sandbox keeps small. Only substitutions and traps that run in place nest
//! natively, and their depth is bounded.
//!
//! - `compile`: tree to code; `machine`: runs it, and leaves commands early; `loops`, `select`: its loops;
//! - `simple`, `function`, `script`: simple commands, functions and texts;
//! - `pipeline`, `spawn`, `subshell`, `substitute`, `capture`, `wait`: processes;
//! - `redirect`, `assignment`, `condition`, `trap`, `trace`: the rest.

mod assignment;
mod capture;
mod compile;
mod condition;
mod function;
mod inplace;
mod loops;
mod machine;
mod pipeline;
mod redirect;
mod script;
mod select;
mod simple;
mod spawn;
mod stopwatch;
mod subshell;
mod substitute;
mod trace;
mod trap;
mod wait;

use std::rc::Rc;

use crate::syntax::tree::{
    Arith, Case, Chain, Condition, Coproc, For, ForArith, Function, List, Pipeline, Redirect, Simple, TimeFormat,
};

pub use compile::compile;
pub use function::CallFrame;
pub use redirect::Undo;
pub use script::Script;
pub use simple::Arguments;
pub use spawn::{DEFAULT_PATH, find_program};
pub use stopwatch::{Stopwatch, times};
pub use subshell::Work;

/// Compiled commands.
#[derive(Debug, Default)]
pub struct Code {
    pub(crate) ops: Vec<Op>,
}

/// One step of the machine. Positions are indices into the same code.
#[derive(Debug)]
pub(crate) enum Op {
    Simple(Rc<Simple>),
    /// Two stages or more.
    Pipeline(Rc<Pipeline>),
    Background(Rc<Chain>),
    Subshell(Rc<List>, Rc<[Redirect]>, u32),
    Arith(Rc<Arith>, u32),
    Condition(Rc<Condition>, u32),
    Define(Rc<Function>),
    Coproc(Rc<Coproc>, u32),
    /// Redirections of a compound command, and the position to resume at if they fail.
    Redirect(Rc<[Redirect]>, usize, u32),
    EndRedirect,
    Jump(usize),
    JumpIfOk(usize),
    JumpIfFailed(usize),
    /// Begins a condition: failure is not an error until it ends.
    Guard,
    Unguard,
    Negate,
    Succeed,
    /// Begins a loop.
    Loop {
        next: usize,
        end: usize,
    },
    /// Expands the words of a `for` and begins the loop.
    For {
        node: Rc<For>,
        next: usize,
        end: usize,
    },
    /// Assigns the next word to the variable, or ends the loop.
    ForNext(Rc<For>, usize),
    /// Shows the menu and reads an answer, or ends the loop.
    SelectNext(Rc<For>, usize),
    ForInitial(Rc<ForArith>, usize),
    ForTest(Rc<ForArith>, usize),
    ForStep(Rc<ForArith>),
    /// Ends a turn: keeps the status of the body and jumps to the start of the loop.
    Again(usize),
    EndLoop,
    /// Expands the word. The positions are those of the branches' bodies.
    Case {
        node: Rc<Case>,
        bodies: Rc<[usize]>,
        end: usize,
    },
    /// After `;;&`: tries the patterns from this branch on.
    CaseFrom {
        node: Rc<Case>,
        bodies: Rc<[usize]>,
        end: usize,
        arm: usize,
    },
    EndCase,
    Time,
    EndTime(TimeFormat),
}

/// An entry of the control stack: state to undo, or a point to return to.
pub enum Control {
    /// A loop.
    Loop(Loop),
    /// Redirections of a compound command.
    Redirect(Undo),
    /// The word of a `case`.
    Case(String),
    /// A function call, with the point to return to.
    Call(Box<CallFrame>),
    /// A text that is being run, with the point to return to.
    Script(Box<Script>),
    /// The start of `time`.
    Time(Stopwatch),
}

/// A running loop.
pub struct Loop {
    next: usize,
    end: usize,
    status: u8,
    guards: u32,
    items: std::vec::IntoIter<String>,
    /// A `select` has shown its menu.
    begun: bool,
}
