//! Orders: the commands that the owner of a live job gives to its shell, one at a time.
//!
//! A live shell gets its next order by a call that also reports the exit status of the last one. The owner polls
//! the shell's future while it waits, so there is no task between the two.

use std::sync::{Mutex, MutexGuard};

use tokio::sync::Notify;

use crate::sync::lock;

/// The orders of a live job.
#[derive(Debug, Default)]
pub(super) struct Orders {
    /// Guards the current order and the status of the last one. A leaf.
    state: Mutex<OrderState>,
    /// Notified when an order is given.
    given: Notify,
}

#[derive(Debug, Default)]
struct OrderState {
    /// The number of orders so far, which is the number of the current one.
    count: u64,
    /// The order that the shell has not taken yet.
    text: Option<String>,
    /// The status of the last order.
    status: u8,
    /// True if the shell waits for an order.
    idle: bool,
}

impl Orders {
    /// Gives an order to a shell that is idle.
    pub(super) fn give(&self, text: String) {
        let mut state = self.state();
        state.count += 1;
        state.text = Some(text);
        state.idle = false;
        drop(state);
        self.given.notify_waiters();
    }

    /// The status of the last order, if the shell waits for another one.
    pub(super) fn idle(&self) -> Option<u8> {
        let state = self.state();
        state.idle.then_some(state.status)
    }

    /// Takes an order back that the shell has not taken yet. Returns false if there is none.
    pub(super) fn withdraw(&self) -> bool {
        let mut state = self.state();
        let withdrawn = state.text.take().is_some();
        state.idle |= withdrawn;
        withdrawn
    }

    /// The number of the last order.
    pub(super) fn current(&self) -> u64 {
        self.state().count
    }

    /// Records the status of the last order: the shell is idle now.
    pub(super) fn finish(&self, status: u8) {
        let mut state = self.state();
        state.status = status;
        state.idle = true;
    }

    /// Waits for an order and takes it.
    pub(super) async fn next(&self) -> String {
        loop {
            let given = self.given.notified();
            if let Some(text) = self.state().text.take() {
                return text;
            }
            given.await;
        }
    }

    fn state(&self) -> MutexGuard<'_, OrderState> {
        lock(&self.state)
    }
}
