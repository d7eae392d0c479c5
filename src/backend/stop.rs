//! Work on a thread that may block, which ends when nobody waits for it or its time is over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::threads::{Work, submit};
use super::{BackendError, Result};

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
    let (answer, done) = oneshot::channel();
    submit(kind, move || {
        // What nobody waits for any more need not begin.
        if !answer.is_closed() {
            let _ = answer.send(work(&stop));
        }
    });
    done.await.map_err(|_| BackendError::Transport { backend: "files", reason: "the work came to nothing".to_owned() })
}
