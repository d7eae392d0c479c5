//! Execution.
//!
//! A tree is compiled to flat code, and a machine with a stack of its own runs it: how deep functions call each
//! other is a matter of memory, not of the native stack, which a sandbox keeps small. Only substitutions and
//! traps that run in place nest natively, and they are bounded.
//!
//! - `compile`: tree to code; `machine`: the loop, and how commands are left early;
//! - `simple`, `function`, `script`: simple commands, and what they may call;
//! - `pipeline`, `spawn`, `subshell`, `substitute`, `capture`, `wait`: processes;
//! - `redirect`, `assignment`, `condition`, `trap`, `trace`: the rest.

mod assignment;
mod capture;
mod compile;
mod condition;
mod function;
mod inplace;
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
pub use function::Return;
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
    /// Redirections of a compound command, and where it goes on if they fail.
    Redirect(Rc<[Redirect]>, usize, u32),
    EndRedirect,
    Jump(usize),
    JumpIfOk(usize),
    JumpIfFailed(usize),
    /// A condition begins: failure is no error until it ends.
    Guard,
    Unguard,
    Negate,
    Succeed,
    /// A loop begins.
    Loop {
        next: usize,
        end: usize,
    },
    /// The words of a `for` are expanded and the loop begins.
    For {
        node: Rc<For>,
        next: usize,
        end: usize,
    },
    /// The variable gets the next word, or the loop ends.
    ForNext(Rc<For>, usize),
    /// The menu is shown and an answer read, or the loop ends.
    SelectNext(Rc<For>, usize),
    ForInitial(Rc<ForArith>, usize),
    ForTest(Rc<ForArith>, usize),
    ForStep(Rc<ForArith>),
    /// The body is done: its status is kept, and the loop goes on there.
    Again(usize),
    EndLoop,
    /// The word is expanded; the positions are the bodies of the branches.
    Case {
        node: Rc<Case>,
        bodies: Rc<[usize]>,
        end: usize,
    },
    /// After `;;&`: the patterns from this branch on are tried.
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

/// What the commands that are running have to undo or return to.
pub enum Control {
    /// A loop.
    Loop(Loop),
    /// Redirections of a compound command.
    Redirect(Undo),
    /// The word of a `case`.
    Case(String),
    /// A function, and where its caller goes on.
    Call(Box<Return>),
    /// A text that is run, and where its caller goes on.
    Script(Box<Script>),
    /// When `time` began.
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
