//! The process table of a sandbox: the live processes by number.
//!
//! An entry holds what others need of a process: its signals and the job it belongs to. It does not hold the process,
//! so the table stands below processes and jobs in the order of modules.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::Notify;

use super::signal::{Signal, Signals};
use crate::error::{Errno, Result};
use crate::limits::PIDS;
use crate::sync::lock;

/// The number of a process, unique within its sandbox.
pub type Pid = u32;

/// The number of a job, unique within its sandbox.
pub(super) type JobId = u64;

/// The live processes of a sandbox.
#[derive(Default)]
pub(super) struct Table {
    limit: usize,
    /// Guards the map and the last number, and a job's flag `closed` while it is set. A leaf: nothing else is locked
    /// under it.
    live: Mutex<LiveProcesses>,
    /// Notified when the last process has ended.
    emptied: Notify,
}

#[derive(Default)]
struct LiveProcesses {
    last: Pid,
    entries: HashMap<Pid, Entry>,
}

/// A live process.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) signals: Arc<Signals>,
    pub(super) job: JobId,
    /// The order of a live job that the process was started for.
    pub(super) order: Option<u64>,
    /// True if it is the first process of its job: the shell of a live one.
    pub(super) is_first: bool,
}

impl LiveProcesses {
    fn of_job(&self, job: JobId) -> Vec<Entry> {
        self.entries.values().filter(|entry| entry.job == job).cloned().collect()
    }
}

impl Table {
    pub(super) fn new(limit: u32) -> Table {
        Table { limit: limit as usize, live: Mutex::default(), emptied: Notify::new() }
    }

    /// Enters a new process and returns its number. Fails if there are too many, or if its job is `closed`.
    pub(super) fn add(&self, entry: Entry, closed: &AtomicBool) -> Result<Pid> {
        let mut live = self.live();
        if live.entries.len() >= self.limit {
            return Err(Errno::Again);
        }
        // Read under the lock that `close_job` holds: no process starts after the job was closed.
        if closed.load(Ordering::Acquire) {
            return Err(Errno::NoProcess);
        }
        let mut pid = live.last % PIDS + 1;
        while live.entries.contains_key(&pid) {
            pid = pid % PIDS + 1;
        }
        live.last = pid;
        live.entries.insert(pid, entry);
        Ok(pid)
    }

    /// The signals of the process with this number.
    pub(super) fn signals(&self, pid: Pid) -> Option<Arc<Signals>> {
        self.live().entries.get(&pid).map(|entry| entry.signals.clone())
    }

    /// Removes a process that has ended.
    pub(super) fn remove(&self, pid: Pid) {
        let is_empty = {
            let mut live = self.live();
            live.entries.remove(&pid);
            live.entries.is_empty()
        };
        if is_empty {
            self.emptied.notify_waiters();
        }
    }

    /// Waits until no process lives.
    pub(super) async fn wait_empty(&self) {
        loop {
            let mut emptied = std::pin::pin!(self.emptied.notified());
            // Registered before the check, so that no notification falls between the two.
            emptied.as_mut().enable();
            if self.len() == 0 {
                return;
            }
            emptied.await;
        }
    }

    /// Marks a job as closed, so that no more processes start in it, and kills its processes.
    pub(super) fn close_job(&self, job: JobId, closed: &AtomicBool) {
        let live = self.live();
        closed.store(true, Ordering::Release);
        let members = live.of_job(job);
        drop(live);
        for process in members {
            process.signals.end(Signal::KILL);
        }
    }

    /// Sends one signal to the shell of a live job, and another to all other processes that run for the order.
    pub(super) fn signal_order(&self, job: JobId, order: u64, shell: Signal, others: Signal) {
        let members = self.live().of_job(job);
        for process in members {
            // Both signals can be sent to any process, and a process that has already ended needs none.
            let _ = match process.order {
                _ if process.is_first => process.signals.send(shell),
                Some(number) if number == order => process.signals.send(others),
                _ => Ok(()),
            };
        }
    }

    pub(super) fn len(&self) -> usize {
        self.live().entries.len()
    }

    fn live(&self) -> MutexGuard<'_, LiveProcesses> {
        lock(&self.live)
    }
}
