//! A quota of the bytes that are written through a backend.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use tokio::sync::RwLock;

use super::super::{Backend, BackendError, Result};
use super::gate::{AdmissionGuard, Call, Gate, GatedBackend, Operation, Outcome};

/// A limit on the bytes that are written through this layer, over all operations. Bytes are returned only if a write
/// fails. Writes of commands are not counted here: the sandbox's disk limit counts them.
pub struct WriteQuota {
    limit: u64,
    used: AtomicU64,
    /// An edit holds it exclusively, all other writes share it: the size of an edit is known only at its end, and no
    /// other write may use up the quota before that.
    turn: Arc<RwLock<()>>,
}

impl WriteQuota {
    /// Wraps a backend.
    pub fn around(inner: Arc<dyn Backend>, limit: u64) -> GatedBackend<WriteQuota> {
        GatedBackend::new(inner, WriteQuota { limit, used: AtomicU64::new(0), turn: Arc::default() })
    }

    /// The number of bytes written so far.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Acquire)
    }

    fn reserve(&self, bytes: u64) -> Result<()> {
        let take = |used: u64| used.checked_add(bytes).filter(|sum| *sum <= self.limit);
        match self.used.fetch_update(Ordering::AcqRel, Ordering::Acquire, take) {
            Ok(_) => Ok(()),
            Err(used) => Err(BackendError::Refused {
                layer: "write quota",
                reason: format!("{used} of {} bytes are written, {bytes} more are too many", self.limit),
            }),
        }
    }
}

#[async_trait]
impl Gate for WriteQuota {
    async fn admit(&self, call: &Call, _inner: &dyn Backend) -> Result<AdmissionGuard> {
        match call.operation {
            Operation::Edit => {
                let turn = self.turn.clone().write_owned().await;
                // Without any room left the edit is refused at once.
                self.reserve(1)?;
                self.used.fetch_sub(1, Ordering::AcqRel);
                Ok(Some(Box::new(turn)))
            }
            Operation::Write | Operation::Upload => {
                let turn = self.turn.clone().read_owned().await;
                self.reserve(call.bytes.unwrap_or(0))?;
                Ok(Some(Box::new(turn)))
            }
            _ => Ok(None),
        }
    }

    fn settle(&self, call: &Call, outcome: &Outcome<'_>) {
        match call.operation {
            Operation::Edit => {
                self.used.fetch_add(outcome.bytes.unwrap_or(0), Ordering::AcqRel);
            }
            // A cancelled write may have been done, so it stays charged.
            Operation::Write | Operation::Upload if outcome.error.is_some() => {
                self.used.fetch_sub(call.bytes.unwrap_or(0), Ordering::AcqRel);
            }
            _ => {}
        }
    }

    fn edit_room(&self) -> u64 {
        self.limit.saturating_sub(self.used())
    }
}
