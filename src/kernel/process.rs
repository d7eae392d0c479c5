//! A process: the kernel's state of a running program, and the machine that runs it.

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::Notify;

use super::cpu::CpuTime;
use super::descriptors::{Descriptors, FileCount, Slot};
use super::job::Job;
use super::memory::ProcessMemory;
use super::signal::{Signal, Signals};
use super::state::Kernel;
use super::table::Pid;
use crate::error::{Errno, Result};
use crate::limits::{Exceeded, Limit};
use crate::path::GuestPath;
use crate::sync::lock;

/// Runs the code of programs. The runtime implements it with wasmtime.
pub trait Machine: Send + Sync {
    /// Returns true if there is a program of this name.
    fn has(&self, program: &str) -> bool;

    /// Loads the program of a process, runs it and returns its exit status. Dropping the future is a kill: it frees all
    /// that the process held at the machine.
    fn run(&self, process: Arc<Process>) -> ProcessTask;
}

/// The run of a process as a boxed future, for a task or for the first poll by its parent.
pub type ProcessTask = BoxFuture<'static, Status>;

/// The exit status of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The process exited with this code.
    Exited(u8),
    /// A signal ended the process.
    Signalled(Signal),
}

impl Status {
    /// The exit code as a shell shows it: 128 plus the signal's number for a process that a signal ended.
    pub fn code(self) -> u8 {
        match self {
            Status::Exited(code) => code,
            Status::Signalled(signal) => 128 + signal.number(),
        }
    }
}

/// A process.
pub struct Process {
    pub(super) pid: Pid,
    /// `Weak::new()` for the first process of a job. Cannot be upgraded once the parent has ended.
    pub(super) parent: Weak<Process>,
    pub(super) job: Arc<Job>,
    pub(super) machine: Arc<dyn Machine>,
    pub(super) program: String,
    pub(super) argv: Vec<String>,
    pub(super) env: Vec<(String, String)>,
    pub(super) descriptors: Mutex<Descriptors>,
    pub(super) files: FileCount,
    /// The working directory, without links and `..`, so that a relative path costs no more than an absolute one.
    pub(super) cwd: Mutex<GuestPath>,
    pub(super) umask: AtomicU32,
    /// Shared with the process table.
    pub(super) signals: Arc<Signals>,
    /// The order of a live job that the process runs for; an interrupt of the order reaches it. It is inherited, and a
    /// process cannot leave it, unlike a process group.
    pub(super) order: Option<u64>,
    pub(super) payload: Mutex<Vec<u8>>,
    pub(super) cpu: CpuTime,
    pub(super) children: Mutex<Children>,
    /// A child that has not been polled yet. Empty whenever this process is not being polled.
    pub(super) pending_child: Mutex<Option<ProcessTask>>,
    /// The number of ancestors up to the first process of the job.
    pub(super) generation: u32,
    /// Notified when a child ends.
    pub(super) child_ended: Notify,
    /// The memory of arguments, environment and payload, which the host holds until the process ends.
    pub(super) charge: Mutex<Option<ProcessMemory>>,
}

/// The children of a process: those that live, and those that ended and wait to be reaped, oldest first.
#[derive(Debug, Default)]
pub(super) struct Children {
    pub(super) live: HashSet<Pid>,
    pub(super) ended: VecDeque<(Pid, Status)>,
}

impl Process {
    /// The process's number.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// The number of the parent, or 0 if the parent has ended.
    pub fn parent_pid(&self) -> Pid {
        self.parent.upgrade().map_or(0, |parent| parent.pid)
    }

    /// Returns true if this is the first process of its job.
    pub fn is_first(&self) -> bool {
        Process::is_root(&self.parent)
    }

    /// Returns true if a process with this parent is the first one of its job. Unlike the parent of an orphan,
    /// `Weak::new()` has never pointed to a process.
    pub(super) fn is_root(parent: &Weak<Process>) -> bool {
        parent.ptr_eq(&Weak::new())
    }

    /// The job that the process belongs to.
    pub fn job(&self) -> &Arc<Job> {
        &self.job
    }

    /// The kernel of the process's sandbox.
    pub fn kernel(&self) -> &Arc<Kernel> {
        self.job.kernel()
    }

    /// The name of the program that runs, whatever `argv` says.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// The arguments, the program's own name first.
    pub fn argv(&self) -> &[String] {
        &self.argv
    }

    /// The environment.
    pub fn env(&self) -> &[(String, String)] {
        &self.env
    }

    /// Takes the payload that the parent gave.
    pub fn take_payload(&self) -> Vec<u8> {
        std::mem::take(&mut *lock(&self.payload))
    }

    /// The process's signals.
    pub fn signals(&self) -> &Signals {
        &self.signals
    }

    /// The CPU time of the process, and that of its ended children with all of their descendants. CPU time is the time
    /// that a process holds a thread.
    pub fn cpu_times(&self) -> (Duration, Duration) {
        self.cpu.read()
    }

    /// The working directory.
    pub fn cwd(&self) -> GuestPath {
        lock(&self.cwd).clone()
    }

    /// Changes the working directory and returns it without links.
    pub fn chdir(&self, path: &str) -> Result<GuestPath> {
        let to = self.kernel().directory(&self.cwd(), path)?;
        lock(&self.cwd).clone_from(&to);
        Ok(to)
    }

    /// Parses a path relative to the working directory.
    pub fn path(&self, text: &str) -> Result<GuestPath> {
        GuestPath::parse(&lock(&self.cwd), text)
    }

    /// Sets the umask and returns the old one.
    pub fn set_umask(&self, mask: u32) -> u32 {
        self.umask.swap(mask & 0o777, Ordering::Relaxed)
    }

    /// Returns a mode without the bits of the umask.
    pub fn masked(&self, mode: u32) -> u32 {
        mode & 0o7777 & !self.umask.load(Ordering::Relaxed)
    }

    /// Sends a signal to a process of the sandbox. `None` only checks that the process exists.
    pub fn kill(&self, pid: Pid, signal: Option<Signal>) -> Result<()> {
        match self.kernel().table().signals(pid) {
            Some(target) => signal.map_or(Ok(()), |signal| target.send(signal)),
            // A child that has ended and was not reaped still exists.
            None if self.children().ended.iter().any(|(ended, _)| *ended == pid) => Ok(()),
            None => Err(Errno::NoProcess),
        }
    }

    /// Counts one more open file, until the slot is dropped.
    pub fn open_slot(&self) -> Result<Slot> {
        self.files.open().inspect_err(|_| {
            let value = u64::from(self.kernel().limits().open_files);
            self.job.exceed(Exceeded { kind: Limit::OpenFiles, value });
        })
    }

    /// Makes an account for memory of the process.
    pub fn memory(&self) -> ProcessMemory {
        self.job.memory()
    }

    /// Charges the sandbox for memory that the host holds for this process, until the account is dropped.
    pub fn charge(&self, bytes: usize) -> Result<ProcessMemory> {
        self.job.charge(bytes)
    }

    /// Records the limit behind an error of the VFS.
    pub fn note_refusal(&self, errno: Errno) {
        if matches!(errno, Errno::NoSpace | Errno::Quota | Errno::FileTooLarge)
            && let Some(exceeded) = self.kernel().quota().take_exceeded()
        {
            self.job.exceed(exceeded);
        }
    }

    pub(super) fn descriptors(&self) -> MutexGuard<'_, Descriptors> {
        lock(&self.descriptors)
    }

    /// Closes all files and releases the memory charge.
    pub(super) fn release(&self) {
        self.descriptors().clear();
        drop(lock(&self.charge).take());
    }

    pub(super) fn children(&self) -> MutexGuard<'_, Children> {
        lock(&self.children)
    }
}
