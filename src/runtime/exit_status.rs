//! The exit status of a process from the error that stopped its code.

use wasmtime::{Error, Trap};
use wasmtime_wasi::I32Exit;

use super::fuel;
use super::guest::ProcessExit;
use crate::kernel::{Process, Signal, Status, StopReason};

/// Returns the status of a process whose code did not return. Records a fault for the command's caller, unless the
/// process ended itself.
pub(super) fn exit_status(process: &Process, error: &Error) -> Status {
    if let Some(ProcessExit(status)) = error.downcast_ref() {
        return *status;
    }
    if let Some(I32Exit(code)) = error.downcast_ref() {
        // The low eight bits, as on a Unix.
        return Status::Exited(*code as u8);
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => {
            process.job().exceed(fuel::exceeded(process));
            process.job().stop(StopReason::OutOfFuel);
            Status::Signalled(Signal::XCPU)
        }
        Some(trap) => {
            let signal = match trap {
                Trap::StackOverflow | Trap::MemoryOutOfBounds | Trap::TableOutOfBounds => Signal::SEGV,
                Trap::IntegerDivisionByZero | Trap::IntegerOverflow => Signal::FPE,
                // A panic, an abort, a failed allocation.
                _ => Signal::ABRT,
            };
            process.job().fault(format!("{}: {trap}", name(process)));
            Status::Signalled(signal)
        }
        // Not a trap but an error of the host: too many handles, or not enough memory to start.
        None => {
            process.job().fault(format!("{}: {error}", name(process)));
            Status::Signalled(Signal::KILL)
        }
    }
}

fn name(process: &Process) -> String {
    format!("{} (process {})", process.program(), process.pid())
}
