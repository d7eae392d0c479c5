//! The clock of file times.

use std::time::{SystemTime, UNIX_EPOCH};

use super::SetTime;

/// Returns the current time in nanoseconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

impl SetTime {
    /// Returns the new value of a time that was `old`.
    pub(super) fn applied_to(self, old: u64) -> u64 {
        match self {
            SetTime::Keep => old,
            SetTime::Now => now(),
            SetTime::At(time) => time,
        }
    }
}
