//! The CPU time of a process.

use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::sync::lock;

/// The CPU time of a process and of its ended children. The lock is a leaf.
#[derive(Debug, Default)]
pub(super) struct CpuTime(Mutex<Account>);

#[derive(Debug, Default)]
struct Account {
    own: Duration,
    /// The time of ended children with all of their descendants.
    children: Duration,
    /// Set while the process runs.
    since: Option<Instant>,
}

impl CpuTime {
    /// Starts the clock: the process runs.
    pub(super) fn start(&self) {
        self.account().since = Some(Instant::now());
    }

    /// Stops the clock and returns the time since `start`.
    pub(super) fn stop(&self) -> Duration {
        let mut account = self.account();
        let ran = account.since.take().map_or(Duration::ZERO, |since| since.elapsed());
        account.own += ran;
        ran
    }

    /// Adds the time of an ended child with all of its descendants.
    pub(super) fn add_child(&self, time: Duration) {
        self.account().children += time;
    }

    /// The time of the process up to now, and that of its ended children.
    pub(super) fn read(&self) -> (Duration, Duration) {
        let account = self.account();
        let running = account.since.map_or(Duration::ZERO, |since| since.elapsed());
        (account.own + running, account.children)
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        lock(&self.0)
    }
}
