//! Access to the interpreter from threads of Rust.
//!
//! When the interpreter shuts down, Python ends a thread that waits for it, wherever that thread is; through frames of
//! Rust that aborts the process. So all threads of this crate attach through this module, which refuses new ones once
//! the shutdown has begun.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;

/// Maximum wait of the shutdown for attached threads. A longer call is a function of the caller that does not return.
const PATIENCE: Duration = Duration::from_secs(2);

/// Guards the number of attached threads.
static STATE: Mutex<State> = Mutex::new(State { within: 0, has_ended: false });
static LEFT: Condvar = Condvar::new();

struct State {
    within: usize,
    has_ended: bool,
}

/// Runs work with the interpreter. Returns `None` if the interpreter shuts down.
pub(crate) fn attached<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    let _within = Within::enter()?;
    Python::try_attach(work)
}

/// Refuses new threads and waits for the attached ones. Python calls this before it shuts down.
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
