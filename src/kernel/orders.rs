//! Orders: what the owner of a live session gives its shell to do, one at a time.
//!
//! A shell that lives on between commands asks for the next one, and by asking says how the last one ended. Whoever
//! gave the order runs the shell meanwhile, so there is no task between the two.

use std::sync::{Mutex, MutexGuard};

use tokio::sync::Notify;

use super::process::Process;
use super::signal::Signal;
use crate::sync::lock;

/// The desk between an owner and a shell.
#[derive(Debug, Default)]
pub(super) struct Orders {
    /// Guards what lies there. A leaf.
    desk: Mutex<Desk>,
    /// Told when there is an order.
    given: Notify,
}

#[derive(Debug, Default)]
struct Desk {
    /// How many there were.
    count: u64,
    order: Option<String>,
    /// The status of the last order.
    status: u8,
    /// Whether the shell has come back for the next.
    idle: bool,
}

impl Orders {
    /// Gives an order to a shell that is idle.
    pub(super) fn give(&self, text: String) {
        let mut desk = self.desk();
        desk.count += 1;
        desk.order = Some(text);
        desk.idle = false;
        drop(desk);
        self.given.notify_waiters();
    }

    /// The status of the last order, if the shell waits for another one.
    pub(super) fn idle(&self) -> Option<u8> {
        let desk = self.desk();
        desk.idle.then_some(desk.status)
    }

    /// Takes an order back that the shell has not seen; whether there was one.
    pub(super) fn withdraw(&self) -> bool {
        let mut desk = self.desk();
        let withdrawn = desk.order.take().is_some();
        desk.idle |= withdrawn;
        withdrawn
    }

    /// The number of the last order.
    pub(super) fn current(&self) -> u64 {
        self.desk().count
    }

    async fn next(&self) -> String {
        loop {
            let given = self.given.notified();
            if let Some(text) = self.desk().order.take() {
                return text;
            }
            given.await;
        }
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        lock(&self.desk)
    }
}

impl Process {
    /// Says how the last order ended and waits for the next. There are none but for the first process of a live session.
    pub async fn next_order(&self, status: u8) -> Option<String> {
        let orders = self.session.orders().filter(|_| self.is_first())?;
        self.session.between_orders(|| {
            // An interrupt that came too late is not meant for the order to come.
            self.signals.forget([Signal::INT, Signal::XCPU]);
            let mut desk = orders.desk();
            desk.status = status;
            desk.idle = true;
        });
        Some(orders.next().await)
    }

    /// The order that a child belongs to.
    pub(super) fn order_of_child(&self, background: bool) -> Option<u64> {
        match self.session.orders() {
            Some(orders) if self.is_first() => (!background).then(|| orders.current()),
            _ => self.order,
        }
    }
}
