//! A session: one command of the sandbox's caller, with all the processes it starts.

use std::future::Future;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::memory::ProcessMemory;
use super::process::Status;
use super::spawn::Request;
use super::{Kernel, OpenFile, life, spawn};
use crate::error::{Errno, Result};
use crate::limits::Exceeded;
use crate::path::GuestPath;

/// How many faults a session keeps.
const FAULTS: usize = 8;

/// A century.
const FAR: Duration = Duration::from_secs(100 * 365 * 86400);

/// A command: its processes live and die with it.
pub struct Session {
    kernel: Arc<Kernel>,
    deadline: Instant,
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

/// Why a command was ended from outside: a budget of the whole command is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Its wall clock.
    TimeIsOver = 1,
    /// Its instructions.
    FuelIsOver = 2,
}

/// What a command used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
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

impl Session {
    /// A session in which nothing runs yet.
    pub fn new(kernel: Arc<Kernel>, timeout: Duration) -> Arc<Session> {
        let fuel = kernel.limits().fuel.map(AtomicU64::new);
        Arc::new(Session {
            kernel,
            // A time that no clock can show is no deadline anyone lives to see.
            deadline: Instant::now().checked_add(timeout).unwrap_or_else(|| Instant::now() + FAR),
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

    /// When its time is over.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Ends it if its time is over. Asked at every tick of a process that computes, since a timer may be late when all
    /// threads compute, and by a timer for those that wait.
    pub fn check_deadline(&self) {
        if Instant::now() >= self.deadline && !self.is_closed() {
            self.end(Verdict::TimeIsOver);
        }
    }

    /// Ends it with everything that runs in it. The first reason stands.
    pub fn end(&self, verdict: Verdict) {
        let _ = self.verdict.compare_exchange(0, verdict as u8, Ordering::AcqRel, Ordering::Acquire);
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

    /// The limits that were hit, in order.
    pub fn exceeded(&self) -> Vec<Exceeded> {
        self.exceeded.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Notes a process that did not end by itself. The first few are enough: a guest could go on for ever.
    pub fn fault(&self, line: String) {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        if faults.len() < FAULTS {
            faults.push(line);
        }
    }

    /// The lines about processes that did not end by themselves.
    pub fn faults(&self) -> Vec<String> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).clone()
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

    pub(super) fn is_closed(&self) -> bool {
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
