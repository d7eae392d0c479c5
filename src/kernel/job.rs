//! A job: one command of the sandbox's caller, or a live shell, with all processes that it starts.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::memory::ProcessMemory;
use super::orders::Orders;
use super::signal::Signal;
use super::state::Kernel;
use super::table::JobId;
use crate::error::{Errno, Result};
use crate::limits::{Exceeded, JOB_FAULTS, ORDER_GRACE};
use crate::sync::lock;

/// A deadline that is never reached: a century.
const FAR: Duration = Duration::from_secs(100 * 365 * 86400);

/// A command or a live shell, with all its processes.
pub struct Job {
    id: JobId,
    kernel: Arc<Kernel>,
    /// The orders of a live shell. `None` for a command.
    orders: Option<Orders>,
    /// Guards the deadline. It is held between two orders, so that a signal for one order never reaches the next.
    /// Taken before the locks of the table and of the orders.
    time: Mutex<Time>,
    /// A `StopReason` as a number, or 0.
    stop_reason: AtomicU8,
    /// Set under the lock of the process table.
    closed: AtomicBool,
    live: AtomicU32,
    /// Notified when the last process has ended.
    empty: Notify,
    /// Guards the limits that were hit, without duplicates. A leaf.
    exceeded: Mutex<Vec<Exceeded>>,
    /// Guards lines about processes that failed: traps, refused programs, errors of the host. A leaf.
    faults: Mutex<Vec<String>>,
    /// The instructions that are left, if there is a budget.
    fuel: Option<AtomicU64>,
    started: AtomicU32,
    cpu_nanos: AtomicU64,
    peak_memory: Arc<AtomicU64>,
    read: AtomicU64,
    written: AtomicU64,
}

/// The deadline of a command or of an order.
struct Time {
    deadline: Instant,
    /// True if the shell was already told to give up the order. At the next deadline it is killed.
    told: bool,
}

impl Time {
    fn new(timeout: Duration) -> Time {
        let now = Instant::now();
        // A timeout that overflows the clock is no deadline.
        Time { deadline: now.checked_add(timeout).unwrap_or_else(|| now + FAR), told: false }
    }
}

/// The reason for which the kernel stopped a job or an order: a budget is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The wall clock.
    TimedOut = 1,
    /// The instructions.
    OutOfFuel = 2,
}

/// The resources that a command used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// Time from the start of the command to its end.
    pub wall: Duration,
    /// The time that its processes held a thread, added up. On a host with more work than cores this is more than the
    /// time they computed.
    pub cpu: Duration,
    /// The peak of the memory that the sandbox's processes held together, in bytes.
    pub peak_memory: u64,
    /// The number of processes started.
    pub processes: u32,
    /// The bytes read from files and pipes.
    pub bytes_read: u64,
    /// The bytes written to files, pipes and outputs.
    pub bytes_written: u64,
    /// The instructions executed, if there was a budget.
    pub fuel: Option<u64>,
}

impl Usage {
    /// Subtracts an earlier usage of the same job. The peak of memory stays that of the whole job.
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

impl Job {
    /// Makes a job for one command.
    pub fn new(kernel: Arc<Kernel>, timeout: Duration) -> Arc<Job> {
        Job::with(kernel, timeout, None)
    }

    /// Makes a job for a live shell, which gets its commands one by one. Only the commands have a deadline.
    pub fn live(kernel: Arc<Kernel>) -> Arc<Job> {
        Job::with(kernel, FAR, Some(Orders::default()))
    }

    fn with(kernel: Arc<Kernel>, timeout: Duration, orders: Option<Orders>) -> Arc<Job> {
        let fuel = kernel.limits().fuel.map(AtomicU64::new);
        Arc::new(Job {
            id: kernel.next_job(),
            kernel,
            orders,
            time: Mutex::new(Time::new(timeout)),
            stop_reason: AtomicU8::new(0),
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

    /// Kills all processes of the job and starts no more.
    pub fn close(&self) {
        self.kernel.table().close_job(self.id, &self.closed);
    }

    /// The deadline of the command, or of the current order.
    pub fn deadline(&self) -> Instant {
        self.time().deadline
    }

    /// The times at which `check_deadline` has to be called. A live shell has a second one, since it may ignore the
    /// first.
    pub fn deadlines(&self) -> impl Iterator<Item = Instant> + use<> {
        let deadline = self.deadline();
        let last = self.orders.is_some().then(|| deadline + ORDER_GRACE);
        std::iter::once(deadline).chain(last)
    }

    /// Stops the job if its deadline has passed. Called at every tick of a process that computes, since a timer may be
    /// late when all threads compute, and by a timer for processes that wait. A live shell gives up its order and lives
    /// on.
    pub fn check_deadline(&self) {
        let mut time = self.time();
        if Instant::now() < time.deadline || self.is_closed() {
            return;
        }
        if self.orders.is_some() && !time.told {
            *time = Time { told: true, ..Time::new(ORDER_GRACE) };
            self.set_stop_reason(StopReason::TimedOut);
            self.signal_order(Signal::XCPU, Signal::KILL);
            return;
        }
        drop(time);
        self.stop(StopReason::TimedOut);
    }

    /// Returns true if this is a live shell.
    pub fn is_live(&self) -> bool {
        self.orders.is_some()
    }

    /// Gives an order to a live shell, which must be idle.
    pub fn order(&self, text: String, timeout: Duration) {
        let mut time = self.time();
        *time = Time::new(timeout);
        self.stop_reason.store(0, Ordering::Release);
        if let Some(orders) = &self.orders {
            orders.give(text);
        }
    }

    /// The status of the last order, if the shell waits for another one.
    pub fn idle(&self) -> Option<u8> {
        self.orders.as_ref().and_then(Orders::idle)
    }

    /// Interrupts the current order, as Ctrl-C at a terminal does.
    pub fn interrupt(&self) {
        let _time = self.time();
        self.signal_order(Signal::INT, Signal::INT);
    }

    /// Makes a live shell give up its order, without a deadline: the caller of the order has gone.
    pub fn abandon(&self) {
        let mut time = self.time();
        *time = Time::new(FAR);
        if self.orders.as_ref().is_some_and(|orders| !orders.withdraw()) {
            self.signal_order(Signal::XCPU, Signal::KILL);
        }
    }

    fn signal_order(&self, shell: Signal, others: Signal) {
        let Some(orders) = self.orders.as_ref().filter(|orders| orders.idle().is_none()) else { return };
        self.kernel.table().signal_order(self.id, orders.current(), shell, others);
    }

    /// Calls `change` between two orders: no signal for the last order arrives after it.
    pub(super) fn between_orders(&self, change: impl FnOnce()) {
        let mut time = self.time();
        *time = Time::new(FAR);
        change();
    }

    pub(super) fn orders(&self) -> Option<&Orders> {
        self.orders.as_ref()
    }

    fn time(&self) -> MutexGuard<'_, Time> {
        lock(&self.time)
    }

    /// Keeps the first reason.
    fn set_stop_reason(&self, reason: StopReason) {
        let _ = self.stop_reason.compare_exchange(0, reason as u8, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Stops the job with all its processes. The first reason is kept.
    pub fn stop(&self, reason: StopReason) {
        self.set_stop_reason(reason);
        self.close();
    }

    /// The reason for which the job or its current order was stopped, if it was.
    pub fn stop_reason(&self) -> Option<StopReason> {
        let reason = self.stop_reason.load(Ordering::Acquire);
        [StopReason::TimedOut, StopReason::OutOfFuel].into_iter().find(|known| *known as u8 == reason)
    }

    /// Waits until the last process has ended.
    pub async fn gone(&self) {
        loop {
            let woken = self.empty.notified();
            if self.live.load(Ordering::Acquire) == 0 {
                return;
            }
            woken.await;
        }
    }

    pub(super) fn id(&self) -> JobId {
        self.id
    }

    /// The kernel of the job's sandbox.
    pub fn kernel(&self) -> &Arc<Kernel> {
        &self.kernel
    }

    /// Records a limit that was hit.
    pub fn exceed(&self, exceeded: Exceeded) {
        let mut all = lock(&self.exceeded);
        if !all.contains(&exceeded) {
            all.push(exceeded);
        }
    }

    /// Takes the limits that were hit, in order.
    pub fn take_exceeded(&self) -> Vec<Exceeded> {
        std::mem::take(&mut *lock(&self.exceeded))
    }

    /// Records a line about a process that failed. Only the first few are kept: a guest could go on for ever.
    pub fn fault(&self, line: String) {
        let mut faults = lock(&self.faults);
        if faults.len() < JOB_FAULTS {
            faults.push(line);
        }
    }

    /// Takes the lines about processes that failed.
    pub fn take_faults(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.faults))
    }

    /// The instructions that are left, if there is a budget.
    pub fn fuel(&self) -> Option<u64> {
        self.fuel.as_ref().map(|fuel| fuel.load(Ordering::Acquire))
    }

    /// Takes instructions off the budget and returns the rest.
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

    /// The usage so far.
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

    /// Returns true if the job is closed: no more processes start in it.
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    pub(super) fn closed(&self) -> &AtomicBool {
        &self.closed
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
