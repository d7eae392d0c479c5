//! The threads that file operations of backends hold: so many in a runtime, however many operations there are.
//!
//! tokio starts a thread for whatever may block, up to 512, and whoever embeds this has other uses for them. A semaphore before
//! it was tried and is no bound: a thread that has done its work wakes whoever waits for that, is often put aside for it
//! by the machine's kernel before it is idle, and the next work gets a new thread. So a thread that is done takes the next
//! work itself, and only one that found none may be about to be idle when the next one starts.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{LazyLock, Mutex, MutexGuard};

use tokio::runtime::{Handle, Id};

use crate::limits::{FILE_THREADS, SEARCH_SHARE};
use crate::sync::lock;

/// How long work takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// As long as a disk does.
    File,
    /// As long as there are files.
    Search,
}

type Job = Box<dyn FnOnce() + Send>;

/// The work of a runtime.
#[derive(Default)]
struct Desk {
    /// Threads that work, and those of them that search.
    threads: usize,
    searches: usize,
    /// What waits for one.
    files: VecDeque<Job>,
    searching: VecDeque<Job>,
}

/// Guards the work of all runtimes. Held to put something on a list or to take it off; no work is done or dropped meanwhile.
static DESKS: LazyLock<Mutex<HashMap<Id, Desk>>> = LazyLock::new(Mutex::default);

/// Threads of a runtime, at most.
static MOST: LazyLock<usize> = LazyLock::new(|| {
    let (a_core, least) = FILE_THREADS;
    (a_core * std::thread::available_parallelism().map_or(1, usize::from)).max(least)
});

/// Has work done on a thread of this runtime that may block.
///
/// # Panics
/// Outside a tokio runtime.
pub(super) fn submit(kind: Work, job: impl FnOnce() + Send + 'static) {
    let runtime = Handle::current();
    let id = runtime.id();
    {
        let mut desks = desks();
        let desk = desks.entry(id).or_default();
        match kind {
            Work::File => desk.files.push_back(Box::new(job)),
            Work::Search => desk.searching.push_back(Box::new(job)),
        }
        // Else one of those that work takes it: all are busy, or all that may search are.
        if desk.threads >= *MOST || (kind == Work::Search && !desk.may_search()) {
            return;
        }
        desk.threads += 1;
    }
    let worker = Worker { id, doing: None, is_out: false };
    runtime.spawn_blocking(move || worker.work());
}

fn desks() -> MutexGuard<'static, HashMap<Id, Desk>> {
    lock(&DESKS)
}

impl Desk {
    fn may_search(&self) -> bool {
        self.searches < *MOST / SEARCH_SHARE
    }

    fn next(&mut self) -> Option<(Work, Job)> {
        if let Some(job) = self.files.pop_front() {
            return Some((Work::File, job));
        }
        let job = self.may_search().then(|| self.searching.pop_front()).flatten()?;
        self.searches += 1;
        Some((Work::Search, job))
    }
}

/// A thread that works.
struct Worker {
    id: Id,
    doing: Option<Work>,
    /// Whether it has found nothing to do, and is not counted any more.
    is_out: bool,
}

impl Worker {
    fn work(mut self) {
        while let Some(job) = self.next() {
            // Whoever waits for it hears that nothing comes.
            let _ = catch_unwind(AssertUnwindSafe(job));
        }
    }

    /// The next work. Who finds none is out before the lock is given up: whatever comes then must not wait for it.
    fn next(&mut self) -> Option<Job> {
        let mut desks = desks();
        let desk = desks.get_mut(&self.id)?;
        if self.doing.take() == Some(Work::Search) {
            desk.searches -= 1;
        }
        match desk.next() {
            Some((kind, job)) => {
                self.doing = Some(kind);
                Some(job)
            }
            None => {
                drop(self.leave(&mut desks));
                None
            }
        }
    }

    /// Counts it out, and hands over what waits if nobody is left to do it.
    fn leave(&mut self, desks: &mut HashMap<Id, Desk>) -> Option<Desk> {
        self.is_out = true;
        let desk = desks.get_mut(&self.id)?;
        desk.threads -= 1;
        if desk.threads == 0 { desks.remove(&self.id) } else { None }
    }
}

/// Its runtime ended before it began: then nobody does what still waits.
impl Drop for Worker {
    fn drop(&mut self) {
        if !self.is_out {
            let mut desks = desks();
            let left = self.leave(&mut desks);
            drop(desks);
            drop(left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_finds_no_work_is_not_counted_on() {
        let tokio = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let id = tokio.handle().id();
        desks().insert(id, Desk { threads: 1, ..Desk::default() });
        let mut worker = Worker { id, doing: None, is_out: false };
        assert!(worker.next().is_none());
        assert!(!desks().contains_key(&id));
        // Counted out once.
        desks().insert(id, Desk { threads: 1, ..Desk::default() });
        drop(worker);
        assert_eq!(desks().remove(&id).map(|desk| desk.threads), Some(1));
    }
}
