//! The clock: it makes a busy process yield, and ends a command whose time is over.
//!
//! Neither tokio nor a deadline can interrupt guest code: at each tick, code that runs looks up, sees that its epoch is
//! over, and yields. The clock is a thread of its own, since a busy guest may hold every worker. For the same reason it
//! keeps the deadlines: tokio looks at its timers only between polls, and nobody may be polling a stream. It sleeps
//! while nothing runs, so that an idle host costs nothing.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use wasmtime::{Engine, EngineWeak};

use crate::kernel::{Process, Session};
use crate::sync::lock;

/// How long a process may run before it yields: a kill or a deadline is at most this late. Shorter ticks cost
/// more wake-ups than they win.
const TICK: Duration = Duration::from_millis(2);

/// Ticks without a process before the clock goes to sleep; waking it again costs a system call.
const PATIENCE: u32 = 50;

/// An engine's clock: its owner, who ends it.
pub(super) struct Ticker(Clock);

/// What processes need of the clock.
#[derive(Clone)]
pub(super) struct Clock {
    state: Arc<State>,
    thread: Thread,
}

/// Commands by the end of their time; the number tells apart those that end at the same moment.
type Deadlines = BTreeMap<(Instant, u64), Arc<Session>>;

#[derive(Default)]
struct State {
    running: AtomicUsize,
    asleep: AtomicBool,
    next: AtomicU64,
    /// Guards the commands that run. A leaf: nothing else is locked under it.
    deadlines: Mutex<Deadlines>,
}

impl Ticker {
    pub(super) fn start(engine: &Engine) -> std::io::Result<Ticker> {
        let state = Arc::new(State::default());
        let (engine, shared) = (engine.weak(), state.clone());
        let thread = thread::Builder::new().name("isopod-ticker".into()).spawn(move || tick(&engine, &shared))?;
        Ok(Ticker(Clock { state, thread: thread.thread().clone() }))
    }

    /// The clock, for a process.
    pub(super) fn clock(&self) -> Clock {
        self.0.clone()
    }
}

impl Clock {
    /// Keeps the clock ticking until the guard is dropped. With the first process of a command it watches the command.
    pub(super) fn run(&self, process: &Process) -> Running {
        let state = self.state.clone();
        state.running.fetch_add(1, Ordering::SeqCst);
        let mut watched = Vec::new();
        if process.is_first() {
            let session = process.session();
            watched.extend(session.deadlines().map(|time| (time, state.next.fetch_add(1, Ordering::Relaxed))));
            state.deadlines().extend(watched.iter().map(|key| (*key, session.clone())));
        }
        if state.asleep.swap(false, Ordering::SeqCst) {
            self.thread.unpark();
        }
        Running { state, watched }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        // The engine goes with it: the thread wakes, finds it gone, and ends.
        self.0.thread.unpark();
    }
}

/// A process that runs.
pub(super) struct Running {
    state: Arc<State>,
    watched: Vec<(Instant, u64)>,
}

impl Drop for Running {
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

    /// Ends the commands whose time is over.
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
        overdue.iter().for_each(|session| session.check_deadline());
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
