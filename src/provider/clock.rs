//! The clock of a provider.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A clock: the host's, or one that stands still until it is advanced. Clones are the same clock.
///
/// It is a wall clock, because times of last use have to be valid after a restart. When the host's clock is set back,
/// timeouts take longer, and nothing else happens.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    paused_at: Option<Arc<AtomicU64>>,
}

impl Clock {
    /// Makes a clock that stands at this time since 1970.
    pub fn paused(at: Duration) -> Clock {
        Clock { paused_at: Some(Arc::new(AtomicU64::new(nanos(at)))) }
    }

    /// Moves a paused clock forward. Does nothing to the host's clock.
    pub fn advance(&self, by: Duration) {
        if let Some(time) = &self.paused_at {
            time.fetch_add(nanos(by), Ordering::AcqRel);
        }
    }

    /// Returns the time, in nanoseconds since 1970.
    pub fn now(&self) -> u64 {
        match &self.paused_at {
            Some(time) => time.load(Ordering::Acquire),
            None => nanos(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()),
        }
    }

    /// Returns whether at least `time` has passed since `since`. Never, if there is no `time`.
    pub(super) fn has_passed(&self, time: Option<Duration>, since: u64) -> bool {
        time.is_some_and(|time| self.now().saturating_sub(since) >= nanos(time))
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
