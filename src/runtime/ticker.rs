//! The clock that makes a busy process yield.
//!
//! Neither tokio nor a deadline can interrupt guest code: at each tick, code that runs looks up, sees that its
//! epoch is over, and yields. The clock is a thread of its own, since a busy guest may hold every worker. It
//! sleeps while nothing runs, so that an idle host costs nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use wasmtime::{Engine, EngineWeak};

/// How long a process may run before it yields: a kill or a deadline is at most this late. Shorter ticks cost
/// more wake-ups than they win.
const TICK: Duration = Duration::from_millis(2);

/// Ticks without a process before the clock goes to sleep; waking it again costs a system call.
const PATIENCE: u32 = 50;

/// An engine's clock.
pub(super) struct Ticker {
    state: Arc<State>,
    thread: Thread,
}

#[derive(Default)]
struct State {
    running: AtomicUsize,
    asleep: AtomicBool,
}

impl Ticker {
    pub(super) fn start(engine: &Engine) -> std::io::Result<Ticker> {
        let state = Arc::new(State::default());
        let (engine, shared) = (engine.weak(), state.clone());
        let thread = thread::Builder::new().name("isopod-ticker".into()).spawn(move || tick(&engine, &shared))?;
        Ok(Ticker { state, thread: thread.thread().clone() })
    }

    /// Keeps the clock ticking until the guard is dropped.
    pub(super) fn run(&self) -> Running {
        self.state.running.fetch_add(1, Ordering::SeqCst);
        if self.state.asleep.swap(false, Ordering::SeqCst) {
            self.thread.unpark();
        }
        Running(self.state.clone())
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        // The engine goes with it: the thread wakes, finds it gone, and ends.
        self.thread.unpark();
    }
}

/// A process that runs.
pub(super) struct Running(Arc<State>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

#[allow(clippy::disallowed_methods, reason = "the one thread whose work is to sleep")]
fn tick(engine: &EngineWeak, state: &State) {
    let mut idle = 0;
    loop {
        thread::sleep(TICK);
        match engine.upgrade() {
            Some(engine) => engine.increment_epoch(),
            None => return,
        }
        idle = if state.running.load(Ordering::SeqCst) == 0 { idle + 1 } else { 0 };
        if idle < PATIENCE {
            continue;
        }
        state.asleep.store(true, Ordering::SeqCst);
        // A process that started before the flag was up does not wake us: look again.
        if state.running.load(Ordering::SeqCst) == 0 {
            thread::park();
        }
        state.asleep.store(false, Ordering::SeqCst);
        idle = 0;
    }
}
