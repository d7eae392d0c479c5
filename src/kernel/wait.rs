//! Waiting for children.

use std::time::Duration;

use super::process::{Pid, Process, Status};
use crate::error::{Errno, Result};

impl Process {
    /// Waits for a child, or any if none is named, and reaps it. A timeout of 0 only looks.
    pub async fn wait(&self, child: Option<Pid>, timeout: Option<Duration>) -> Result<(Pid, Status)> {
        // Most waits find their child gone, or hear of it soon: no timer for those that have no timeout.
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
                // A child that ended is the better news: CHLD itself may be what was caught.
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
}
