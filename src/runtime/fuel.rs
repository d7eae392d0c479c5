//! Fuel: a command's budget of instructions, shared by all its processes.
//!
//! A running process has all the fuel that was left at its last payment. It pays at every tick and at its end. A
//! command of one process stops at exactly the same instruction each time; concurrent processes can overdraw by one
//! tick each.

use wasmtime::{AsContextMut, Result, Store, StoreContextMut};

use super::guest::Guest;
use crate::kernel::Process;
use crate::limits::{Exceeded, Limit};

/// Gives a new process the rest of its command's budget.
pub(super) fn fill(mut context: StoreContextMut<'_, Guest>) -> Result<()> {
    let Some(left) = context.data().process.job().fuel() else { return Ok(()) };
    context.data_mut().fuel = left;
    context.set_fuel(left)
}

/// Takes the fuel that a process has used off the budget, and gives it the rest.
pub(super) fn settle(mut context: StoreContextMut<'_, Guest>) -> Result<()> {
    if context.data().process.job().fuel().is_none() {
        return Ok(());
    }
    let used = context.data().fuel.saturating_sub(context.get_fuel()?);
    let left = context.data().process.job().burn(used);
    context.data_mut().fuel = left;
    context.set_fuel(left)
}

/// A store that pays when it is dropped, so that a killed process pays too.
pub(super) struct MeteredStore(pub(super) Store<Guest>);

impl Drop for MeteredStore {
    fn drop(&mut self) {
        // `settle` cannot fail here: either the engine counts fuel, or the job has no budget.
        let _ = settle(self.0.as_context_mut());
    }
}

/// The limit that a command without fuel has hit.
pub(super) fn exceeded(process: &Process) -> Exceeded {
    Exceeded { kind: Limit::Fuel, value: process.kernel().limits().fuel.unwrap_or_default() }
}
