//! The time that a provider goes by.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A clock: the host's, or one that stands still until it is told otherwise. Clones are the same clock.
///
/// It is the clock on the wall and not a monotonic one: what was last used when has to mean something after a restart.
/// When the host's clock is set back, things last longer, and nothing else happens.
#[derive(Debug, Clone, Default)]
pub struct Clock {
    by_hand: Option<Arc<AtomicU64>>,
}

impl Clock {
    /// A clock that stands at this time since 1970.
    pub fn paused(at: Duration) -> Clock {
        Clock { by_hand: Some(Arc::new(AtomicU64::new(nanos(at)))) }
    }

    /// Moves a paused clock forward; the host's goes by itself.
    pub fn advance(&self, by: Duration) {
        if let Some(time) = &self.by_hand {
            time.fetch_add(nanos(by), Ordering::AcqRel);
        }
    }

    /// Nanoseconds since 1970.
    pub fn now(&self) -> u64 {
        match &self.by_hand {
            Some(time) => time.load(Ordering::Acquire),
            None => nanos(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()),
        }
    }

    /// Whether at least `time` has passed since `since`.
    pub(super) fn has_passed(&self, time: Option<Duration>, since: u64) -> bool {
        time.is_some_and(|time| self.now().saturating_sub(since) >= nanos(time))
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
