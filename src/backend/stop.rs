//! Blocking work that ends when its caller is dropped or its time is up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::threads::{Work, submit};
use super::{BackendError, Result};

/// The signal that tells work to end.
pub(super) struct Stop {
    dropped: Arc<AtomicBool>,
    deadline: Instant,
}

impl Stop {
    /// Returns true if the work has to end now. The results so far are the answer, unless the caller is gone.
    pub(super) fn is_set(&self) -> bool {
        self.dropped.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }

    /// Returns an error about a file if the work has to end now.
    pub(super) fn check(&self, path: &str) -> Result<()> {
        if self.is_set() { Err(BackendError::TimedOut(path.to_owned())) } else { Ok(()) }
    }
}

/// Sets the flag when the future that waits for the work is dropped. It is also set after the work is done, without
/// effect.
struct OnDrop(Arc<AtomicBool>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Does work on a thread that may block. A directory of the host may be on a slow disk, and a search can take long:
/// neither may hold a tokio worker that commands need. `time` includes the wait for a thread.
pub(super) async fn blocking<T: Send + 'static>(
    kind: Work,
    time: Duration,
    work: impl FnOnce(&Stop) -> T + Send + 'static,
) -> Result<T> {
    let dropped = Arc::new(AtomicBool::new(false));
    let _guard = OnDrop(dropped.clone());
    // A time that overflows the clock becomes a year: never unlimited.
    let now = Instant::now();
    let deadline = now.checked_add(time).unwrap_or(now + Duration::from_secs(365 * 24 * 3600));
    let stop = Stop { dropped, deadline };
    let (answer, done) = oneshot::channel();
    submit(kind, move || {
        // Work without a caller is not begun.
        if !answer.is_closed() {
            let _ = answer.send(work(&stop));
        }
    });
    done.await.map_err(|_| BackendError::Transport { backend: "files", reason: "the work came to nothing".to_owned() })
}
