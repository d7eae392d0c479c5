//! A session: one command of the sandbox's caller, or a live shell, with all the processes it starts.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::memory::ProcessMemory;
use super::orders::Orders;
use super::process::{Process, Status};
use super::signal::Signal;
use super::spawn::Request;
use super::{Kernel, OpenFile, life, spawn};
use crate::error::{Errno, Result};
use crate::limits::Exceeded;
use crate::path::GuestPath;

/// How many faults a session keeps.
const FAULTS: usize = 8;

/// How long a shell has to give up an order whose time is over, before it is killed with all that it knows.
const GRACE: Duration = Duration::from_secs(1);

/// A century.
const FAR: Duration = Duration::from_secs(100 * 365 * 86400);

/// A command or a live shell: its processes live and die with it.
pub struct Session {
    kernel: Arc<Kernel>,
    /// What a live shell has to do; nothing for a command.
    orders: Option<Orders>,
    /// Guards the time and, by being held where one order ends and another begins, sees to it that a signal for the
    /// one never meets the other. Taken before the locks of the table and of the orders.
    time: Mutex<Time>,
    /// Why it was ended, a `Verdict` as a number; 0 if it was not.
    verdict: AtomicU8,
    closed: AtomicBool,
    live: AtomicU32,
    /// Told when the last process has gone.
    empty: Notify,
    /// Guards the limits that were hit, each once. A leaf.
    exceeded: Mutex<Vec<Exceeded>>,
    /// Guards lines about processes that did not end by themselves. A leaf.
    faults: Mutex<Vec<String>>,
    /// Instructions left, if there is a budget.
    fuel: Option<AtomicU64>,
    started: AtomicU32,
    cpu_nanos: AtomicU64,
    peak_memory: Arc<AtomicU64>,
    read: AtomicU64,
    written: AtomicU64,
}

/// The time of a command, or of an order.
struct Time {
    deadline: Instant,
    /// Whether the shell has been told that the order's time is over: next time it is not asked.
    told: bool,
}

impl Time {
    fn new(timeout: Duration) -> Time {
        let now = Instant::now();
        // A time that no clock can show is no deadline anyone lives to see.
        Time { deadline: now.checked_add(timeout).unwrap_or_else(|| now + FAR), told: false }
    }
}

/// Why a command was ended from outside: a budget of the whole command is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Its wall clock.
    TimeIsOver = 1,
    /// Its instructions.
    FuelIsOver = 2,
}

/// The resources that a command used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// Time from the start of the command to its end.
    pub wall: Duration,
    /// Time that its processes held a thread, all added up. On a host with more work than cores that is more than they
    /// computed.
    pub cpu: Duration,
    /// The most memory that the sandbox's processes held together, in bytes.
    pub peak_memory: u64,
    /// Processes started.
    pub processes: u32,
    /// Bytes read from files and pipes.
    pub bytes_read: u64,
    /// Bytes written to files, pipes and outputs.
    pub bytes_written: u64,
    /// Instructions, if there was a budget.
    pub fuel: Option<u64>,
}

impl Usage {
    /// What was used since then. Of memory, only the most there ever was is known.
    pub fn since(self, before: Usage) -> Usage {
        Usage {
            wall: self.wall.saturating_sub(before.wall),
            cpu: self.cpu.saturating_sub(before.cpu),
            peak_memory: self.peak_memory,
            processes: self.processes - before.processes,
            bytes_read: self.bytes_read - before.bytes_read,
            bytes_written: self.bytes_written - before.bytes_written,
            fuel: self.fuel.zip(before.fuel).map(|(now, then)| now - then),
        }
    }
}

impl Session {
    /// A session for one command.
    pub fn new(kernel: Arc<Kernel>, timeout: Duration) -> Arc<Session> {
        Session::with(kernel, timeout, None)
    }

    /// A session for a shell that gets its commands one by one. Only they have a time.
    pub fn live(kernel: Arc<Kernel>) -> Arc<Session> {
        Session::with(kernel, FAR, Some(Orders::default()))
    }

    fn with(kernel: Arc<Kernel>, timeout: Duration, orders: Option<Orders>) -> Arc<Session> {
        let fuel = kernel.limits().fuel.map(AtomicU64::new);
        Arc::new(Session {
            kernel,
            orders,
            time: Mutex::new(Time::new(timeout)),
            verdict: AtomicU8::new(0),
            closed: AtomicBool::new(false),
            live: AtomicU32::new(0),
            empty: Notify::new(),
            exceeded: Mutex::default(),
            faults: Mutex::default(),
            fuel,
            started: AtomicU32::new(0),
            cpu_nanos: AtomicU64::new(0),
            peak_memory: Arc::default(),
            read: AtomicU64::new(0),
            written: AtomicU64::new(0),
        })
    }

    /// Starts the first process: `stdio` are its descriptors 0, 1 and 2. The future is its life: whoever
    /// polls it runs the process, so that a short command needs no hop to another task.
    pub fn start(
        self: &Arc<Self>,
        request: Request,
        cwd: GuestPath,
        stdio: [Arc<OpenFile>; 3],
    ) -> Result<impl Future<Output = Status> + Send + use<>> {
        Ok(life::life(spawn::first(self, request, cwd, stdio)?))
    }

    /// Kills everything that is left and lets nothing more start.
    pub fn close(&self) {
        self.kernel.table().end_session(self);
    }

    /// When its time is over, or that of its order.
    pub fn deadline(&self) -> Instant {
        self.time().deadline
    }

    /// When to look at the clock: a shell that is told to give up may not listen.
    pub fn deadlines(&self) -> impl Iterator<Item = Instant> + use<> {
        let deadline = self.deadline();
        let last = self.orders.is_some().then(|| deadline + GRACE);
        std::iter::once(deadline).chain(last)
    }

    /// Ends it if its time is over. Asked at every tick of a process that computes, since a timer may be late when all
    /// threads compute, and by a timer for those that wait. A live shell gives up its order, and lives on.
    pub fn check_deadline(&self) {
        let mut time = self.time();
        if Instant::now() < time.deadline || self.is_closed() {
            return;
        }
        if self.orders.is_some() && !time.told {
            *time = Time { told: true, ..Time::new(GRACE) };
            self.judge(Verdict::TimeIsOver);
            self.signal_order(Signal::XCPU, Signal::KILL);
            return;
        }
        drop(time);
        self.end(Verdict::TimeIsOver);
    }

    /// Its first process, if that lives.
    pub fn first(&self) -> Option<Arc<Process>> {
        self.kernel.table().members(self).into_iter().find(|process| process.is_first())
    }

    /// Whether it is a shell that lives on between commands.
    pub fn is_live(&self) -> bool {
        self.orders.is_some()
    }

    /// Gives a live shell something to do. It must be idle.
    pub fn order(&self, text: String, timeout: Duration) {
        let mut time = self.time();
        *time = Time::new(timeout);
        self.verdict.store(0, Ordering::Release);
        if let Some(orders) = &self.orders {
            orders.give(text);
        }
    }

    /// The status of the last order, if the shell waits for another one.
    pub fn idle(&self) -> Option<u8> {
        self.orders.as_ref().and_then(Orders::idle)
    }

    /// Interrupts the order that is worked on, as the keyboard of a terminal would.
    pub fn interrupt(&self) {
        let _time = self.time();
        self.signal_order(Signal::INT, Signal::INT);
    }

    /// Makes a live shell give up its order; nobody waits for it any more. It has the time it needs.
    pub fn abandon(&self) {
        let mut time = self.time();
        *time = Time::new(FAR);
        if self.orders.as_ref().is_some_and(|orders| !orders.withdraw()) {
            self.signal_order(Signal::XCPU, Signal::KILL);
        }
    }

    fn signal_order(&self, shell: Signal, others: Signal) {
        let Some(orders) = self.orders.as_ref().filter(|orders| orders.idle().is_none()) else { return };
        self.kernel.table().signal_order(self, orders.current(), shell, others);
    }

    /// Does something between two orders: no signal for the one before comes after it.
    pub(super) fn between_orders(&self, what: impl FnOnce()) {
        let mut time = self.time();
        *time = Time::new(FAR);
        what();
    }

    pub(super) fn orders(&self) -> Option<&Orders> {
        self.orders.as_ref()
    }

    fn time(&self) -> MutexGuard<'_, Time> {
        self.time.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn judge(&self, verdict: Verdict) {
        let _ = self.verdict.compare_exchange(0, verdict as u8, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Ends it with everything that runs in it. The first reason stands.
    pub fn end(&self, verdict: Verdict) {
        self.judge(verdict);
        self.close();
    }

    /// Why it was ended, if it did not end by itself.
    pub fn verdict(&self) -> Option<Verdict> {
        let verdict = self.verdict.load(Ordering::Acquire);
        [Verdict::TimeIsOver, Verdict::FuelIsOver].into_iter().find(|v| *v as u8 == verdict)
    }

    /// Waits until the last process has gone.
    pub async fn gone(&self) {
        loop {
            let woken = self.empty.notified();
            if self.live.load(Ordering::Acquire) == 0 {
                return;
            }
            woken.await;
        }
    }

    /// The kernel it runs on.
    pub fn kernel(&self) -> &Arc<Kernel> {
        &self.kernel
    }

    /// Notes a limit that was hit.
    pub fn exceed(&self, exceeded: Exceeded) {
        let mut all = self.exceeded.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.contains(&exceeded) {
            all.push(exceeded);
        }
    }

    /// Takes the limits that were hit, in order.
    pub fn take_exceeded(&self) -> Vec<Exceeded> {
        std::mem::take(&mut *self.exceeded.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Notes a process that did not end by itself. The first few are enough: a guest could go on for ever.
    pub fn fault(&self, line: String) {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        if faults.len() < FAULTS {
            faults.push(line);
        }
    }

    /// Takes the lines about processes that did not end by themselves.
    pub fn take_faults(&self) -> Vec<String> {
        std::mem::take(&mut *self.faults.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Instructions left, if there is a budget.
    pub fn fuel(&self) -> Option<u64> {
        self.fuel.as_ref().map(|fuel| fuel.load(Ordering::Acquire))
    }

    /// Takes instructions off the budget and returns what is left.
    pub fn burn(&self, instructions: u64) -> u64 {
        let Some(fuel) = &self.fuel else { return 0 };
        let less = |left: u64| Some(left.saturating_sub(instructions));
        fuel.fetch_update(Ordering::AcqRel, Ordering::Acquire, less).unwrap_or(0).saturating_sub(instructions)
    }

    /// Counts bytes that a process read.
    pub fn count_read(&self, bytes: usize) {
        self.read.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Counts bytes that a process wrote.
    pub fn count_written(&self, bytes: usize) {
        self.written.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// What it used so far.
    pub fn usage(&self) -> Usage {
        Usage {
            // The sandbox takes the time: a live session has several commands.
            wall: Duration::ZERO,
            cpu: Duration::from_nanos(self.cpu_nanos.load(Ordering::Acquire)),
            peak_memory: self.peak_memory.load(Ordering::Acquire),
            processes: self.started.load(Ordering::Acquire),
            bytes_read: self.read.load(Ordering::Relaxed),
            bytes_written: self.written.load(Ordering::Relaxed),
            fuel: self.kernel.limits().fuel.zip(self.fuel()).map(|(budget, left)| budget - left),
        }
    }

    pub(super) fn memory(&self) -> ProcessMemory {
        let limit = self.kernel.limits().process_memory;
        ProcessMemory::new(limit, self.kernel.memory().clone(), self.peak_memory.clone())
    }

    pub(super) fn charge(&self, bytes: usize) -> Result<ProcessMemory> {
        let mut memory = self.memory();
        match memory.grow(bytes as u64) {
            Ok(()) => Ok(memory),
            Err(exceeded) => {
                self.exceed(exceeded);
                Err(Errno::NoMemory)
            }
        }
    }

    /// Whether it is over: nothing more starts in it.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    pub(super) fn mark_closed(&self) {
        self.closed.store(true, Ordering::Release);
    }

    pub(super) fn process_started(&self) {
        self.started.fetch_add(1, Ordering::AcqRel);
        self.live.fetch_add(1, Ordering::AcqRel);
    }

    pub(super) fn process_ended(&self) {
        if self.live.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.empty.notify_waiters();
        }
    }

    pub(super) fn charge_cpu(&self, time: Duration) {
        self.cpu_nanos.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::AcqRel);
    }
}
