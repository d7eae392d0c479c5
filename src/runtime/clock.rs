//! The clocks that processes see, with the resolution that the sandbox's limits allow.
//!
//! A fine clock lets a guest measure the host, and so observe other users of the same caches, disks and cores. A coarse
//! clock makes that slower; it does not make it impossible.

use std::time::Duration;

use wasmtime_wasi::clocks::{MonotonicClock, WallClock};
use wasmtime_wasi::{HostMonotonicClock, HostWallClock};

use crate::vfs::Stat;

/// The step of a clock, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step(u64);

impl Step {
    /// Makes a step of this length. Zero keeps the resolution of the host.
    pub(super) fn new(length: Duration) -> Step {
        Step(u64::try_from(length.as_nanos()).unwrap_or(u64::MAX))
    }

    /// Rounds a time in nanoseconds down to a step.
    pub(super) fn at(self, nanos: u64) -> u64 {
        nanos - nanos.checked_rem(self.0).unwrap_or(0)
    }

    /// Rounds a time down to a step. A time beyond 64 bits of nanoseconds stays as it is.
    pub(super) fn at_duration(self, time: Duration) -> Duration {
        match (self.0, u64::try_from(time.as_nanos())) {
            (0, _) | (_, Err(_)) => time,
            (_, Ok(nanos)) => Duration::from_nanos(self.at(nanos)),
        }
    }

    /// Rounds the times in the attributes of a file.
    pub(super) fn of_file(self, mut stat: Stat) -> Stat {
        for time in [&mut stat.accessed, &mut stat.modified, &mut stat.changed] {
            *time = self.at(*time);
        }
        stat
    }
}

/// The wall clock of a process.
pub(super) struct Wall(pub(super) Step);

impl HostWallClock for Wall {
    fn resolution(&self) -> Duration {
        WallClock.resolution().max(Duration::from_nanos(self.0.0))
    }

    fn now(&self) -> Duration {
        self.0.at_duration(WallClock.now())
    }
}

/// The monotonic clock of a process, which starts with it.
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
