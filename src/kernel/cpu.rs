//! How long a process has computed.

use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::sync::lock;

/// The account of one process. A leaf among the locks.
#[derive(Debug, Default)]
pub(super) struct CpuTime(Mutex<Account>);

#[derive(Debug, Default)]
struct Account {
    own: Duration,
    /// Of children that have ended, with all of theirs.
    children: Duration,
    /// Set while it runs.
    since: Option<Instant>,
}

impl CpuTime {
    /// It runs from now on.
    pub(super) fn start(&self) {
        self.account().since = Some(Instant::now());
    }

    /// It no longer runs; answers for how long it did.
    pub(super) fn stop(&self) -> Duration {
        let mut account = self.account();
        let ran = account.since.take().map_or(Duration::ZERO, |since| since.elapsed());
        account.own += ran;
        ran
    }

    /// A child has ended that took this much, with its own children.
    pub(super) fn add_child(&self, time: Duration) {
        self.account().children += time;
    }

    /// What it took itself, up to now, and what its children took.
    pub(super) fn read(&self) -> (Duration, Duration) {
        let account = self.account();
        let running = account.since.map_or(Duration::ZERO, |since| since.elapsed());
        (account.own + running, account.children)
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        lock(&self.0)
    }
}
