//! Work on a thread that may block, which ends when nobody waits for it or its time is over.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{BackendError, Result};
use crate::limits::{FILE_THREADS, SEARCH_SHARE};

/// How long work takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// As long as a disk does.
    File,
    /// As long as there are files.
    Search,
}

/// The threads that work may hold, over all backends of the process: whoever embeds this has other uses for a runtime's.
struct Threads {
    all: Arc<Semaphore>,
    searches: Arc<Semaphore>,
}

static THREADS: LazyLock<Threads> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (a_core, least) = FILE_THREADS;
    let most = (a_core * cores).max(least);
    Threads { all: Arc::new(Semaphore::new(most)), searches: Arc::new(Semaphore::new(most / SEARCH_SHARE)) }
});

impl Work {
    /// Waits for a thread to be free. A search waits among searches first, so that it has its place among all at once.
    async fn thread(self) -> (Option<OwnedSemaphorePermit>, Option<OwnedSemaphorePermit>) {
        // Neither is ever closed.
        let search = match self {
            Work::Search => THREADS.searches.clone().acquire_owned().await.ok(),
            Work::File => None,
        };
        (search, THREADS.all.clone().acquire_owned().await.ok())
    }
}

/// Tells work that it is to end.
pub(super) struct Stop {
    dropped: Arc<AtomicBool>,
    deadline: Instant,
}

impl Stop {
    /// Whether to end now. What the work has so far is its answer, or nobody is there to hear it.
    pub(super) fn is_set(&self) -> bool {
        self.dropped.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }

    /// As an error about a file.
    pub(super) fn check(&self, path: &str) -> Result<()> {
        if self.is_set() { Err(BackendError::TimedOut(path.to_owned())) } else { Ok(()) }
    }
}

/// Sets the flag when the future that waits for the work is dropped. It is also set when the work is done, when it
/// means nothing.
struct OnDrop(Arc<AtomicBool>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Does work on a thread that may block. A directory of the host may be on a slow disk, and a search takes as long as
/// it takes: neither may hold a worker that other commands need. The time begins before a thread is free.
pub(super) async fn blocking<T: Send + 'static>(
    kind: Work,
    time: Duration,
    work: impl FnOnce(&Stop) -> T + Send + 'static,
) -> Result<T> {
    let dropped = Arc::new(AtomicBool::new(false));
    let _guard = OnDrop(dropped.clone());
    // A time that no clock can hold is a year: never unlimited, and no overflow.
    let now = Instant::now();
    let deadline = now.checked_add(time).unwrap_or(now + Duration::from_secs(365 * 24 * 3600));
    let stop = Stop { dropped, deadline };
    let thread = kind.thread().await;
    let task = tokio::task::spawn_blocking(move || {
        // Held by the work and not by who waits for it: that may go away first.
        let _thread = thread;
        work(&stop)
    });
    task.await.map_err(|error| BackendError::Transport { backend: "files", reason: error.to_string() })
}
