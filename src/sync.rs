//! Locking.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex and ignores poisoning.
///
/// Every mutex that is locked by this function guards plain data that is valid between any two statements of its
/// holder. A panic of one holder therefore leaves nothing half done, and the next holder may go on.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
