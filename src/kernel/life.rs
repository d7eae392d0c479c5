//! A process's life, from the first instruction to the moment its parent hears of its end.
//!
//! A process is a task of its own, so that the stages of a pipeline run on different cores. But most children are short,
//! and their parents wait for them: to hand such a child to another thread, and to be woken by it, costs more than all
//! that it does. So **a child's first poll is its parent's**, when that has nothing else to do; a child that is not done
//! then gets its task.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, MutexGuard};
use std::task::{Context, Poll};

use futures::future::BoxFuture;

use super::process::{Process, Status};
use super::signal::Signal;
use crate::limits::ZOMBIES;
use crate::sync::lock;

/// A life that is not yet, or no longer, polled by anyone.
pub(super) type Life = BoxFuture<'static, Status>;

/// Gives a process a task of its own.
pub(super) fn run_beside(life: Life) {
    // The handle is not needed: the session ends its processes by signal.
    drop(tokio::spawn(life));
}

/// Runs a process to its end. Dropping the future is a kill.
pub(super) fn life(process: Arc<Process>) -> impl Future<Output = Status> + Send {
    // Made before the first poll: a process that is dropped unrun must leave the table too.
    let mut end = End { process, status: Status::Signalled(Signal::KILL) };
    async move {
        let machine = end.process.kernel().machine.clone();
        let code = machine.run(end.process.clone());
        // Awaiting consumes the run: the machine's memory and handles are free before anyone hears of the end.
        end.status = Mortal { code, process: &end.process }.await;
        end.status
    }
}

/// A process's code, until it ends or a signal ends it.
struct Mortal<'a> {
    code: BoxFuture<'static, Status>,
    process: &'a Process,
}

impl Future for Mortal<'_> {
    type Output = Status;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Status> {
        loop {
            // Registered before the look, or a signal in between would wake nobody.
            self.process.signals.register(cx.waker());
            if let Some(signal) = self.process.signals.fatal() {
                return Poll::Ready(Status::Signalled(signal));
            }
            self.process.cpu.start();
            let poll = self.code.as_mut().poll(cx);
            self.process.session.charge_cpu(self.process.cpu.stop());
            let Some(mut newborn) = self.process.take_newborn() else { return poll };
            // A child of a parent that has ended is on its own from the beginning.
            if poll.is_ready() || newborn.as_mut().poll(cx).is_pending() {
                run_beside(newborn);
                return poll;
            }
            // The child is done, and its parent may have waited for nothing else.
        }
    }
}

impl Process {
    /// Keeps a child for its first poll, and hands out the one that was kept before.
    pub(super) fn deliver(&self, child: Life) -> Option<Life> {
        self.newborn().replace(child)
    }

    fn take_newborn(&self) -> Option<Life> {
        self.newborn().take()
    }

    fn newborn(&self) -> MutexGuard<'_, Option<Life>> {
        lock(&self.newborn)
    }
}

/// Tells the world that a process has ended, however it did.
struct End {
    process: Arc<Process>,
    status: Status,
}

impl Drop for End {
    fn drop(&mut self) {
        let process = &self.process;
        // In the order of a Unix: files first, so that a pipe's reader sees the end no later than the parent.
        process.release();
        process.kernel().table().remove(process.pid);
        if let Some(parent) = process.parent.upgrade() {
            let (own, children) = process.cpu.read();
            parent.cpu.add_child(own + children);
            let mut children = parent.children();
            if children.live.remove(&process.pid) && children.ended.len() < ZOMBIES {
                children.ended.push_back((process.pid, self.status));
            }
            drop(children);
            parent.child_ended.notify_waiters();
            // Harmless unless it is caught.
            let _ = parent.signals.send(Signal::CHLD);
        }
        process.session.process_ended();
    }
}
