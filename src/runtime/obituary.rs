//! How a process ended, from the error that stopped its code.

use wasmtime::{Error, Trap};
use wasmtime_wasi::I32Exit;

use super::fuel;
use super::guest::Ended;
use crate::kernel::{Process, Signal, Status, Verdict};

/// The status of a process that did not return, and a line for the command's caller if it was not its own doing.
pub(super) fn obituary(process: &Process, error: &Error) -> Status {
    if let Some(Ended(status)) = error.downcast_ref() {
        return *status;
    }
    if let Some(I32Exit(code)) = error.downcast_ref() {
        // As a Unix has it: the low eight bits.
        return Status::Exited(*code as u8);
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => {
            process.session().exceed(fuel::exceeded(process));
            process.session().end(Verdict::FuelIsOver);
            Status::Signalled(Signal::XCPU)
        }
        Some(trap) => {
            let signal = match trap {
                Trap::StackOverflow | Trap::MemoryOutOfBounds | Trap::TableOutOfBounds => Signal::SEGV,
                Trap::IntegerDivisionByZero | Trap::IntegerOverflow => Signal::FPE,
                // A panic, an abort, a failed allocation.
                _ => Signal::ABRT,
            };
            process.session().fault(format!("{}: {trap}", name(process)));
            Status::Signalled(signal)
        }
        // Not a trap of its code but a refusal of the host: too many handles, no memory to start with.
        None => {
            process.session().fault(format!("{}: {error}", name(process)));
            Status::Signalled(Signal::KILL)
        }
    }
}

fn name(process: &Process) -> String {
    format!("{} (process {})", process.program(), process.pid())
}
