//! Waiting: for children, and for the next order of a live job.

use std::time::Duration;

use super::process::{Process, Status};
use super::signal::Signal;
use super::table::Pid;
use crate::error::{Errno, Result};

impl Process {
    /// Waits for a child, or for any child if none is named, and reaps it. A timeout of zero only looks.
    pub async fn wait(&self, child: Option<Pid>, timeout: Option<Duration>) -> Result<(Pid, Status)> {
        // Most calls find that the child has ended, or learn of it soon: without a timeout there is no timer.
        match timeout {
            None => self.reaped(child).await,
            Some(Duration::ZERO) => self.reap(child)?.ok_or(Errno::TimedOut),
            Some(timeout) => tokio::time::timeout(timeout, self.reaped(child)).await.unwrap_or(Err(Errno::TimedOut)),
        }
    }

    async fn reaped(&self, child: Option<Pid>) -> Result<(Pid, Status)> {
        loop {
            let woken = self.child_ended.notified();
            if let Some(ended) = self.reap(child)? {
                return Ok(ended);
            }
            tokio::select! {
                // The child's end comes before the signal: the signal may be the CHLD of that same child.
                biased;
                () = woken => {}
                () = self.signals.arrival() => return self.reap(child)?.ok_or(Errno::Interrupted),
            }
        }
    }

    fn reap(&self, child: Option<Pid>) -> Result<Option<(Pid, Status)>> {
        let mut children = self.children();
        let at = match child {
            None => (!children.ended.is_empty()).then_some(0),
            Some(pid) => children.ended.iter().position(|(ended, _)| *ended == pid),
        };
        if let Some(ended) = at.and_then(|at| children.ended.remove(at)) {
            return Ok(Some(ended));
        }
        let lives = child.map_or(!children.live.is_empty(), |pid| children.live.contains(&pid));
        if lives { Ok(None) } else { Err(Errno::Child) }
    }

    /// Reports the status of the last order and waits for the next one. Returns `None` unless this is the first process
    /// of a live job.
    pub async fn next_order(&self, status: u8) -> Option<String> {
        let orders = self.job.orders().filter(|_| self.is_first())?;
        self.job.between_orders(|| {
            // A late interrupt of the last order must not interrupt the next one.
            self.signals.forget([Signal::INT, Signal::XCPU]);
            orders.finish(status);
        });
        Some(orders.next().await)
    }
}
