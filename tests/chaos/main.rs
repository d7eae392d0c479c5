//! What goes wrong on a host: it is killed, its disk is full, its calls fail, it has no files left, its clock jumps. Nothing
//! is lost, nothing is torn, and what cannot be done is said.
//!
//! Faults are injected by `strace` into one system call after another: the first call of a change fails, then the second,
//! until there are no more. So no moment is left to chance. `ISOPOD_LONG=1` takes every moment, else there are fewer.

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
