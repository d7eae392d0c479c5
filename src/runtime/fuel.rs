//! Fuel: a command's budget of instructions, drawn on by all its processes.
//!
//! A process that runs has all that was left when it last paid, and pays at every tick and at its end. A command
//! of one process stops at exactly the same instruction each time; several at once can overdraw by one tick each.

use wasmtime::{AsContextMut, Result, Store, StoreContextMut};

use super::guest::Guest;
use crate::kernel::Process;
use crate::limits::{Exceeded, Limit};

/// Gives a new process what is left of its command's budget.
pub(super) fn fill(mut context: StoreContextMut<'_, Guest>) -> Result<()> {
    let Some(left) = context.data().process.session().fuel() else { return Ok(()) };
    context.data_mut().fuel = left;
    context.set_fuel(left)
}

/// Pays for what a process has used, and gives it what is left.
pub(super) fn settle(mut context: StoreContextMut<'_, Guest>) -> Result<()> {
    if context.data().process.session().fuel().is_none() {
        return Ok(());
    }
    let used = context.data().fuel.saturating_sub(context.get_fuel()?);
    let left = context.data().process.session().burn(used);
    context.data_mut().fuel = left;
    context.set_fuel(left)
}

/// A store that pays when it is dropped, so that a process that is killed has used what it has used.
pub(super) struct Metered(pub(super) Store<Guest>);

impl Drop for Metered {
    fn drop(&mut self) {
        // Nobody is left to hear of an error, and there is none: the engine has fuel or the session has no budget.
        let _ = settle(self.0.as_context_mut());
    }
}

/// What to say of a command that has no fuel left.
pub(super) fn exceeded(process: &Process) -> Exceeded {
    Exceeded { kind: Limit::Fuel, value: process.kernel().limits().fuel.unwrap_or_default() }
}
