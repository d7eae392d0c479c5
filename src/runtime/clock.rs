//! The clocks that processes see, as fine as the sandbox's limits allow.
//!
//! A fine clock tells a guest how long the host took for something, and by that what it shares with others: caches, disks, cores.
//! A coarse one makes that take longer, and does not make it impossible.

use std::time::Duration;

use wasmtime_wasi::clocks::{MonotonicClock, WallClock};
use wasmtime_wasi::{HostMonotonicClock, HostWallClock};

use crate::vfs::Stat;

/// The step of a clock, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step(u64);

impl Step {
    /// Of this length; of none, the host's own.
    pub(super) fn new(length: Duration) -> Step {
        Step(u64::try_from(length.as_nanos()).unwrap_or(u64::MAX))
    }

    /// The last step at this time.
    pub(super) fn at(self, nanos: u64) -> u64 {
        // Files of another year keep their times, whatever a clock of centuries would make of them.
        nanos - nanos.checked_rem(self.0).unwrap_or(0)
    }

    /// The last step at this time.
    pub(super) fn at_duration(self, time: Duration) -> Duration {
        match (self.0, u64::try_from(time.as_nanos())) {
            (0, _) | (_, Err(_)) => time,
            (_, Ok(nanos)) => Duration::from_nanos(self.at(nanos)),
        }
    }

    /// The attributes of a file with the times that its clock would have given it.
    pub(super) fn of_file(self, mut stat: Stat) -> Stat {
        for time in [&mut stat.accessed, &mut stat.modified, &mut stat.changed] {
            *time = self.at(*time);
        }
        stat
    }
}

/// The time of day.
pub(super) struct Wall(pub(super) Step);

impl HostWallClock for Wall {
    fn resolution(&self) -> Duration {
        WallClock.resolution().max(Duration::from_nanos(self.0.0))
    }

    fn now(&self) -> Duration {
        self.0.at_duration(WallClock.now())
    }
}

/// The time since a process started.
pub(super) struct Monotonic(pub(super) Step, MonotonicClock);

impl Monotonic {
    pub(super) fn new(step: Step) -> Monotonic {
        Monotonic(step, MonotonicClock::new())
    }
}

impl HostMonotonicClock for Monotonic {
    fn resolution(&self) -> u64 {
        self.1.resolution().max(self.0.0)
    }

    fn now(&self) -> u64 {
        self.0.at(self.1.now())
    }
}
