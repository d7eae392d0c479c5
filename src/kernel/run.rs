//! Running a process: from its first instruction until its parent learns of its end.
//!
//! A process is a task of its own, so that the stages of a pipeline run on different cores. But most children are
//! short, and their parents wait for them. Handing such a child to another thread and being woken by it costs more than
//! the child itself. So **a child's first poll is its parent's**, made when the parent has nothing else to do. A child
//! that is not done after that poll gets a task.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::process::{Process, ProcessTask, Status};
use super::signal::Signal;
use crate::limits::ZOMBIES;
use crate::sync::lock;

/// Gives a process a task of its own.
pub(super) fn spawn_task(process: ProcessTask) {
    // The handle is not needed: a job ends its processes by signal.
    drop(tokio::spawn(process));
}

/// Runs a process to its end. Dropping the future kills the process.
pub(super) fn run(process: Arc<Process>) -> impl Future<Output = Status> + Send {
    // Made before the first poll: a process that is dropped before it ran must leave the table too.
    let mut exit = ExitGuard { process, status: Status::Signalled(Signal::KILL) };
    async move {
        let code = exit.process.machine.run(exit.process.clone());
        // Awaiting consumes the future: the machine has freed memory and handles before anyone learns of the end.
        exit.status = ProcessFuture { code, process: &exit.process }.await;
        exit.status
    }
}

/// The code of a process. It is ready when the code returns, or when a signal ends the process.
struct ProcessFuture<'a> {
    code: ProcessTask,
    process: &'a Process,
}

impl Future for ProcessFuture<'_> {
    type Output = Status;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Status> {
        loop {
            // Registered before the flag is read, or a signal in between would not wake this task.
            self.process.signals.register(cx.waker());
            if let Some(signal) = self.process.signals.fatal() {
                return Poll::Ready(Status::Signalled(signal));
            }
            self.process.cpu.start();
            let poll = self.code.as_mut().poll(cx);
            self.process.job.charge_cpu(self.process.cpu.stop());
            let Some(mut child) = self.process.take_pending_child() else { return poll };
            // A child whose parent has ended gets a task at once.
            if poll.is_ready() || child.as_mut().poll(cx).is_pending() {
                spawn_task(child);
                return poll;
            }
            // The child is done. The parent may have waited for just that, so it is polled again.
        }
    }
}

impl Process {
    /// Starts a child: it is kept for its first poll by this process. A child that was kept before gets a task.
    pub(super) fn start_child(&self, child: ProcessTask) {
        let before = lock(&self.pending_child).replace(child);
        // Of several children, as in a pipeline, the parent waits for the last one at most.
        if let Some(before) = before {
            spawn_task(before);
        }
    }

    fn take_pending_child(&self) -> Option<ProcessTask> {
        lock(&self.pending_child).take()
    }
}

/// Reports the end of a process to the table, its parent and its job when it is dropped, whatever the end was.
struct ExitGuard {
    process: Arc<Process>,
    status: Status,
}

impl Drop for ExitGuard {
    fn drop(&mut self) {
        let process = &self.process;
        // Files first, as on a Unix: a pipe's reader sees its end no later than the parent sees the exit.
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
            // Ignored by default.
            let _ = parent.signals.send(Signal::CHLD);
        }
        process.job.process_ended();
    }
}
