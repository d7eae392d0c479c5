//! Memory accounts: of one process, and of all processes of a sandbox together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::limits::{Exceeded, Limit};

/// The memory account of all processes of a sandbox.
#[derive(Debug)]
pub struct MemoryAccount {
    limit: u64,
    held: AtomicU64,
}

impl MemoryAccount {
    /// Makes an account that refuses to go over `limit` bytes.
    pub fn new(limit: u64) -> MemoryAccount {
        MemoryAccount { limit, held: AtomicU64::new(0) }
    }

    /// The bytes held now.
    pub fn held(&self) -> u64 {
        self.held.load(Ordering::Acquire)
    }

    /// Reserves bytes before the memory is allocated. Check and addition are one atomic update, so the sum never goes
    /// over the limit. Returns the new sum.
    fn reserve(&self, bytes: u64) -> Result<u64, Exceeded> {
        let more = |held: u64| held.checked_add(bytes).filter(|total| *total <= self.limit);
        self.held
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, more)
            .map(|before| before + bytes)
            .map_err(|_| Exceeded { kind: Limit::SandboxMemory, value: self.limit })
    }

    fn give_back(&self, bytes: u64) {
        self.held.fetch_sub(bytes, Ordering::AcqRel);
    }
}

/// The memory account of one process. Dropping it releases all its bytes.
#[derive(Debug)]
pub struct ProcessMemory {
    limit: u64,
    held: u64,
    /// The bytes of the last `grow`, for `shrink_back`.
    last: u64,
    account: Arc<MemoryAccount>,
    /// The peak of the sandbox's account, for the usage of the job.
    peak: Arc<AtomicU64>,
}

impl ProcessMemory {
    /// Makes an account that may hold `limit` bytes of the sandbox's account.
    pub fn new(limit: u64, account: Arc<MemoryAccount>, peak: Arc<AtomicU64>) -> ProcessMemory {
        ProcessMemory { limit, held: 0, last: 0, account, peak }
    }

    /// Adds `bytes`.
    pub fn grow(&mut self, bytes: u64) -> Result<(), Exceeded> {
        self.last = 0;
        let held = self.held.checked_add(bytes).filter(|held| *held <= self.limit);
        let held = held.ok_or(Exceeded { kind: Limit::ProcessMemory, value: self.limit })?;
        let total = self.account.reserve(bytes)?;
        self.peak.fetch_max(total, Ordering::AcqRel);
        (self.held, self.last) = (held, bytes);
        Ok(())
    }

    /// Undoes the last `grow`: the machine could not allocate the memory.
    pub fn shrink_back(&mut self) {
        let bytes = std::mem::take(&mut self.last);
        self.held -= bytes;
        self.account.give_back(bytes);
    }
}

impl Drop for ProcessMemory {
    fn drop(&mut self) {
        self.account.give_back(self.held);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sandbox_total_refuses_and_recovers() {
        let account = Arc::new(MemoryAccount::new(100));
        let process = || ProcessMemory::new(80, account.clone(), Arc::default());
        let (mut one, mut two) = (process(), process());
        assert_eq!(one.grow(60), Ok(()));
        assert_eq!(one.grow(30), Err(Exceeded { kind: Limit::ProcessMemory, value: 80 }));
        assert_eq!(two.grow(60), Err(Exceeded { kind: Limit::SandboxMemory, value: 100 }));
        assert_eq!(one.grow(10), Ok(()));
        one.shrink_back();
        assert_eq!(account.held(), 60);
        drop(one);
        assert_eq!(account.held(), 0);
        assert_eq!(two.grow(60), Ok(()));
    }
}
