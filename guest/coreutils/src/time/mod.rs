//! Moments, and how people write them.
//!
//! - `civil`: days and dates
//! - `zone`: where clocks are ahead or behind, from `TZ`
//! - `format`: `date +FORMAT`
//! - `read`, `token`: the texts that `date -d` and `touch -d` take

mod civil;
mod format;
mod read;
mod token;
mod zone;

use std::time::{SystemTime, UNIX_EPOCH};

pub(crate) use civil::{Civil, days};
pub(crate) use format::format;
pub(crate) use read::read;
pub(crate) use zone::Zone;

/// A point in time: seconds since 1970, and nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) seconds: i64,
    pub(crate) nanos: u32,
}

impl Moment {
    /// What the clock says.
    pub(crate) fn now() -> Moment {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Moment { seconds: since.as_secs() as i64, nanos: since.subsec_nanos() }
    }

    /// From nanoseconds since 1970, as files have them.
    pub(crate) fn from_nanos(nanos: u64) -> Moment {
        Moment { seconds: (nanos / 1_000_000_000) as i64, nanos: (nanos % 1_000_000_000) as u32 }
    }

    /// As nanoseconds since 1970; what lies before that is 1970.
    pub(crate) fn to_nanos(self) -> u64 {
        u64::try_from(self.seconds).unwrap_or(0).saturating_mul(1_000_000_000).saturating_add(self.nanos.into())
    }
}
