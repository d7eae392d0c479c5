//! The threads of file operations: a fixed number in a tokio runtime, however many operations there are.
//!
//! tokio starts a thread for each blocking task, up to 512, and the embedder has other uses for them. A semaphore in
//! front of tokio was tried and is no bound: a thread that has finished a task wakes the waiting caller and is often
//! descheduled before it is idle, so the next task gets a new thread. Here a thread that has finished takes the next
//! task itself. The bound is exceeded only for a moment, by a thread that found no task and is not idle yet when the
//! next one starts.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{LazyLock, Mutex, MutexGuard};

use tokio::runtime::{Handle, Id};

use crate::limits::{FILE_THREADS, SEARCH_SHARE};
use crate::sync::lock;

/// The kind of work, by its duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// A file operation: bounded by the disk.
    File,
    /// A search: bounded by the number of files.
    Search,
}

type Task = Box<dyn FnOnce() + Send>;

/// The tasks of one runtime.
#[derive(Default)]
struct WorkQueue {
    /// The number of threads that run tasks.
    threads: usize,
    /// The number of these that run a search.
    searches: usize,
    /// The file operations that wait for a thread.
    files: VecDeque<Task>,
    /// The searches that wait for a thread.
    waiting_searches: VecDeque<Task>,
}

/// Guards the queues of all runtimes. Held to add or take a task; no task is run or dropped under it.
static QUEUES: LazyLock<Mutex<HashMap<Id, WorkQueue>>> = LazyLock::new(Mutex::default);

/// The largest number of threads of a runtime.
static MOST: LazyLock<usize> = LazyLock::new(|| {
    let (per_core, least) = FILE_THREADS;
    (per_core * std::thread::available_parallelism().map_or(1, usize::from)).max(least)
});

/// Queues a task for a thread of this runtime that may block.
///
/// # Panics
/// Outside a tokio runtime.
pub(super) fn submit(kind: Work, task: impl FnOnce() + Send + 'static) {
    let runtime = Handle::current();
    let id = runtime.id();
    {
        let mut queues = queues();
        let queue = queues.entry(id).or_default();
        match kind {
            Work::File => queue.files.push_back(Box::new(task)),
            Work::Search => queue.waiting_searches.push_back(Box::new(task)),
        }
        // No new thread is allowed for this task. One of the running threads takes it later.
        if queue.threads >= *MOST || (kind == Work::Search && !queue.may_search()) {
            return;
        }
        queue.threads += 1;
    }
    let worker = Worker { id, doing: None, has_left: false };
    runtime.spawn_blocking(move || worker.work());
}

fn queues() -> MutexGuard<'static, HashMap<Id, WorkQueue>> {
    lock(&QUEUES)
}

impl WorkQueue {
    fn may_search(&self) -> bool {
        self.searches < *MOST / SEARCH_SHARE
    }

    fn next(&mut self) -> Option<(Work, Task)> {
        if let Some(task) = self.files.pop_front() {
            return Some((Work::File, task));
        }
        let task = self.may_search().then(|| self.waiting_searches.pop_front()).flatten()?;
        self.searches += 1;
        Some((Work::Search, task))
    }
}

/// A thread that runs tasks.
struct Worker {
    id: Id,
    doing: Option<Work>,
    /// True if the thread has found no task and is no longer counted.
    has_left: bool,
}

impl Worker {
    fn work(mut self) {
        while let Some(task) = self.next() {
            // The caller of a task that panicked sees its channel closed.
            let _ = catch_unwind(AssertUnwindSafe(task));
        }
    }

    /// Takes the next task. A thread that finds none takes itself off the count before it releases the lock, so that a
    /// task which is added after that gets a new thread.
    fn next(&mut self) -> Option<Task> {
        let mut queues = queues();
        let queue = queues.get_mut(&self.id)?;
        if self.doing.take() == Some(Work::Search) {
            queue.searches -= 1;
        }
        match queue.next() {
            Some((kind, task)) => {
                self.doing = Some(kind);
                Some(task)
            }
            None => {
                drop(self.leave(&mut queues));
                None
            }
        }
    }

    /// Takes the thread off the count. Returns the tasks that wait if it was the last thread.
    fn leave(&mut self, queues: &mut HashMap<Id, WorkQueue>) -> Option<WorkQueue> {
        self.has_left = true;
        let queue = queues.get_mut(&self.id)?;
        queue.threads -= 1;
        if queue.threads == 0 { queues.remove(&self.id) } else { None }
    }
}

/// Takes a thread off the count that never ran, because its runtime was shut down. If it was the last one, the tasks
/// that wait are dropped.
impl Drop for Worker {
    fn drop(&mut self) {
        if !self.has_left {
            let mut queues = queues();
            let left = self.leave(&mut queues);
            drop(queues);
            drop(left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_finds_no_task_is_not_counted() {
        let tokio = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let id = tokio.handle().id();
        queues().insert(id, WorkQueue { threads: 1, ..WorkQueue::default() });
        let mut worker = Worker { id, doing: None, has_left: false };
        assert!(worker.next().is_none());
        assert!(!queues().contains_key(&id));
        // Taken off the count only once.
        queues().insert(id, WorkQueue { threads: 1, ..WorkQueue::default() });
        drop(worker);
        assert_eq!(queues().remove(&id).map(|queue| queue.threads), Some(1));
    }
}
