//! Holding the interpreter on threads that are not its own.
//!
//! Python ends a thread that waits for the interpreter while the interpreter ends, wherever that thread is; through frames
//! of Rust that is an abort of the process. So threads of ours ask here, and nobody is let in once the end has begun.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;

/// How long the end waits for those who are in. What takes longer is a function of the caller's that does not return.
const PATIENCE: Duration = Duration::from_secs(2);

/// Guards who is in.
static STATE: Mutex<State> = Mutex::new(State { within: 0, has_ended: false });
static LEFT: Condvar = Condvar::new();

struct State {
    within: usize,
    has_ended: bool,
}

/// Does something with the interpreter; none if it ends, and then there is nobody to do it for.
pub(crate) fn attached<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    let _within = Within::enter()?;
    Python::try_attach(work)
}

/// Waits until nobody is in, and lets nobody in from now on. Python calls it before it ends.
#[pyfunction]
pub(crate) fn farewell(py: Python<'_>) {
    py.detach(|| {
        let mut state = state();
        state.has_ended = true;
        drop(LEFT.wait_timeout_while(state, PATIENCE, |state| state.within > 0));
    });
}

struct Within;

impl Within {
    fn enter() -> Option<Within> {
        let mut state = state();
        if state.has_ended {
            return None;
        }
        state.within += 1;
        Some(Within)
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        state().within -= 1;
        LEFT.notify_all();
    }
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}
