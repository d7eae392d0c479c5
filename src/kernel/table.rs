//! The process table of a sandbox: what lives, by number.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use super::process::{Pid, Process};
use super::session::Session;
use super::signal::Signal;
use crate::error::{Errno, Result};
use crate::sync::lock;

/// Numbers are reused only after this many, as Linux has it.
const PIDS: Pid = 1 << 22;

/// The processes that live.
#[derive(Default)]
pub(super) struct Table {
    limit: usize,
    /// Guards the map and the next number. A leaf: nothing else is locked under it.
    live: Mutex<Live>,
}

#[derive(Default)]
struct Live {
    last: Pid,
    processes: HashMap<Pid, Arc<Process>>,
}

impl Live {
    fn members(&self, session: &Session) -> Vec<Arc<Process>> {
        self.processes.values().filter(|p| std::ptr::eq(Arc::as_ptr(&p.session), session)).cloned().collect()
    }
}

impl Table {
    pub(super) fn new(limit: u32) -> Table {
        Table { limit: limit as usize, live: Mutex::default() }
    }

    /// Gives a new process a number and a place, unless there are too many or its session is over.
    pub(super) fn add(&self, session: &Session, make: impl FnOnce(Pid) -> Process) -> Result<Arc<Process>> {
        let mut live = self.live();
        if live.processes.len() >= self.limit {
            return Err(Errno::Again);
        }
        // Looked at under the lock that `end_session` holds: nothing starts behind its back.
        if session.is_closed() {
            return Err(Errno::NoProcess);
        }
        let mut pid = live.last % PIDS + 1;
        while live.processes.contains_key(&pid) {
            pid = pid % PIDS + 1;
        }
        live.last = pid;
        let process = Arc::new(make(pid));
        live.processes.insert(pid, process.clone());
        Ok(process)
    }

    /// The process with this number.
    pub(super) fn get(&self, pid: Pid) -> Option<Arc<Process>> {
        self.live().processes.get(&pid).cloned()
    }

    /// Takes a process out when it has ended.
    pub(super) fn remove(&self, pid: Pid) {
        self.live().processes.remove(&pid);
    }

    /// Lets nothing more start in a session and kills what lives of it.
    pub(super) fn end_session(&self, session: &Session) {
        let live = self.live();
        session.mark_closed();
        let members = live.members(session);
        drop(live);
        for process in members {
            process.signals.end(Signal::KILL);
        }
    }

    /// The processes of a session that live.
    pub(super) fn members(&self, session: &Session) -> Vec<Arc<Process>> {
        self.live().members(session)
    }

    /// Sends a signal to the shell of a live session, and one to all that runs for its order.
    pub(super) fn signal_order(&self, session: &Session, order: u64, shell: Signal, others: Signal) {
        for process in self.members(session) {
            // Both can be sent to anyone, and a process that ended meanwhile needs none.
            let _ = match process.order {
                _ if process.is_first() => process.signals.send(shell),
                Some(number) if number == order => process.signals.send(others),
                _ => Ok(()),
            };
        }
    }

    pub(super) fn len(&self) -> usize {
        self.live().processes.len()
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        lock(&self.live)
    }
}
