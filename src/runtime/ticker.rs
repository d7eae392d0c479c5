//! The ticker: makes busy processes yield, and stops jobs at their deadline.
//!
//! Neither tokio nor a deadline can interrupt guest code. At each tick the engine's epoch goes up; running code sees
//! that at its next loop or call, and yields. The ticker is a thread of its own, since busy guests may hold every
//! worker. For the same reason it keeps the deadlines: tokio looks at its timers only between polls, and a stream may
//! have no poller. The thread sleeps while nothing runs, so that an idle host costs nothing.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use wasmtime::{Engine, EngineWeak};

use crate::kernel::{Job, Process};
use crate::sync::lock;

/// The time that a process may run before it yields: a kill or a deadline is at most this late. Shorter ticks cost
/// more in wake-ups than they gain.
const TICK: Duration = Duration::from_millis(2);

/// The ticks without a process after which the thread goes to sleep. Waking it costs a system call.
const IDLE_TICKS: u32 = 50;

/// The ticker of an engine. Dropping it ends the thread.
pub(super) struct Ticker(TickerHandle);

/// A handle to a ticker, for processes.
#[derive(Clone)]
pub(super) struct TickerHandle {
    state: Arc<State>,
    thread: Thread,
}

/// Jobs by their deadline. The number tells apart jobs with the same deadline.
type Deadlines = BTreeMap<(Instant, u64), Arc<Job>>;

#[derive(Default)]
struct State {
    running: AtomicUsize,
    asleep: AtomicBool,
    next: AtomicU64,
    /// Guards the jobs that run. A leaf: nothing else is locked under it.
    deadlines: Mutex<Deadlines>,
}

impl Ticker {
    pub(super) fn start(engine: &Engine) -> std::io::Result<Ticker> {
        let state = Arc::new(State::default());
        let (engine, shared) = (engine.weak(), state.clone());
        let thread = thread::Builder::new().name("isopod-ticker".into()).spawn(move || tick(&engine, &shared))?;
        Ok(Ticker(TickerHandle { state, thread: thread.thread().clone() }))
    }

    /// Returns a handle for a process.
    pub(super) fn handle(&self) -> TickerHandle {
        self.0.clone()
    }
}

impl TickerHandle {
    /// Keeps the ticker awake until the guard is dropped. For the first process of a job it also watches the job's
    /// deadline.
    pub(super) fn start(&self, process: &Process) -> TickGuard {
        let state = self.state.clone();
        state.running.fetch_add(1, Ordering::SeqCst);
        let mut watched = Vec::new();
        if process.is_first() {
            let job = process.job();
            watched.extend(job.deadlines().map(|time| (time, state.next.fetch_add(1, Ordering::Relaxed))));
            state.deadlines().extend(watched.iter().map(|key| (*key, job.clone())));
        }
        if state.asleep.swap(false, Ordering::SeqCst) {
            self.thread.unpark();
        }
        TickGuard { state, watched }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        // The engine is dropped too: the thread wakes, finds it gone, and ends.
        self.0.thread.unpark();
    }
}

/// Keeps the ticker awake for a running process.
pub(super) struct TickGuard {
    state: Arc<State>,
    watched: Vec<(Instant, u64)>,
}

impl Drop for TickGuard {
    fn drop(&mut self) {
        if !self.watched.is_empty() {
            let mut deadlines = self.state.deadlines();
            self.watched.iter().for_each(|key| drop(deadlines.remove(key)));
        }
        self.state.running.fetch_sub(1, Ordering::SeqCst);
    }
}

impl State {
    fn deadlines(&self) -> MutexGuard<'_, Deadlines> {
        lock(&self.deadlines)
    }

    /// Stops the jobs whose deadline has passed.
    fn enforce(&self) {
        let over = (Instant::now(), u64::MAX);
        let overdue: Vec<_> = {
            let mut deadlines = self.deadlines();
            if deadlines.first_key_value().is_none_or(|(first, _)| *first > over) {
                return;
            }
            let later = deadlines.split_off(&over);
            std::mem::replace(&mut *deadlines, later).into_values().collect()
        };
        overdue.iter().for_each(|job| job.check_deadline());
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
        state.enforce();
        idle = if state.running.load(Ordering::SeqCst) == 0 { idle + 1 } else { 0 };
        if idle < IDLE_TICKS {
            continue;
        }
        state.asleep.store(true, Ordering::SeqCst);
        // A process that started before the flag was set does not wake this thread: check again.
        if state.running.load(Ordering::SeqCst) == 0 {
            thread::park();
        }
        state.asleep.store(false, Ordering::SeqCst);
        idle = 0;
    }
}
