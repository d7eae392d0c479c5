//! Failures of the host: a kill, a full disk, failing system calls, no free descriptors, a clock that jumps. No data is
//! lost, no file is torn, and every failure is reported.
//!
//! `strace` injects the faults into one system call after another: the first call of a change fails, then the second,
//! until there are no more. So the test does not depend on timing. `ISOPOD_LONG=1` takes every call, the short form a
//! selection.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, missing_docs, unreachable_pub, reason = "tests")]
#![allow(clippy::disallowed_methods, reason = "tests look at the host from outside")]

mod changes;
mod clock;
mod faults;
mod few_files;
mod full_disk;
#[cfg(feature = "python")]
mod packages;

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}
