//! A process: what the kernel knows of it while it lives.

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use tokio::sync::Notify;

use super::Kernel;
use super::cpu::CpuTime;
use super::descriptors::{Descriptors, FileCount, Slot};
use super::life::Life;
use super::memory::ProcessMemory;
use super::session::Session;
use super::signal::{Signal, Signals};
use crate::error::{Errno, Result};
use crate::limits::{Exceeded, Limit};
use crate::path::GuestPath;
use crate::sync::lock;

/// A process's number, unique within its sandbox.
pub type Pid = u32;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// By itself, with this code.
    Exited(u8),
    /// By a signal.
    Signalled(Signal),
}

impl Status {
    /// The exit code as a shell shows it: 128 and the signal's number for a process that was killed.
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
    /// Empty for the first process of a session, and dead once the parent has gone.
    pub(super) parent: Weak<Process>,
    pub(super) session: Arc<Session>,
    pub(super) program: String,
    pub(super) argv: Vec<String>,
    pub(super) env: Vec<(String, String)>,
    pub(super) descriptors: Mutex<Descriptors>,
    pub(super) files: FileCount,
    /// Without links and `..`, so that a relative path costs no more than an absolute one.
    pub(super) cwd: Mutex<GuestPath>,
    pub(super) umask: AtomicU32,
    pub(super) signals: Signals,
    /// The order of a live session that it was started for, by whomever: an interrupt reaches it. It cannot get out of
    /// that by itself, unlike out of a process group.
    pub(super) order: Option<u64>,
    pub(super) payload: Mutex<Vec<u8>>,
    pub(super) cpu: CpuTime,
    pub(super) children: Mutex<Children>,
    /// A child that was started a moment ago and that nobody has polled yet. Empty whenever this process is not polled.
    pub(super) newborn: Mutex<Option<Life>>,
    /// How many processes stand between it and the first of its command.
    pub(super) generation: u32,
    /// Told when a child ends.
    pub(super) child_ended: Notify,
    /// For arguments, environment and payload, which the host holds; given back at its end.
    pub(super) charge: Mutex<Option<ProcessMemory>>,
}

/// A process's children: those that live, and those that ended and wait to be reaped, oldest first.
#[derive(Debug, Default)]
pub(super) struct Children {
    pub(super) live: HashSet<Pid>,
    pub(super) ended: VecDeque<(Pid, Status)>,
}

impl Process {
    /// Its number.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// The number of the process that started it, 0 if there is none any more.
    pub fn parent_pid(&self) -> Pid {
        self.parent.upgrade().map_or(0, |parent| parent.pid)
    }

    /// Whether it is the first process of its command.
    pub fn is_first(&self) -> bool {
        // `Weak::new()` has never pointed anywhere, unlike that of an orphan.
        self.parent.ptr_eq(&Weak::new())
    }

    /// The command it belongs to.
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// The kernel it runs on.
    pub fn kernel(&self) -> &Arc<Kernel> {
        self.session.kernel()
    }

    /// The program's name in the table, whatever its arguments say.
    pub fn program(&self) -> &str {
        &self.program
    }

    /// Its arguments, its own name first.
    pub fn argv(&self) -> &[String] {
        &self.argv
    }

    /// Its environment.
    pub fn env(&self) -> &[(String, String)] {
        &self.env
    }

    /// Takes the bytes that the parent handed over.
    pub fn take_payload(&self) -> Vec<u8> {
        std::mem::take(&mut *lock(&self.payload))
    }

    /// Its signals.
    pub fn signals(&self) -> &Signals {
        &self.signals
    }

    /// How long it has held a thread, and how long its children did that have ended, with all of theirs.
    pub fn cpu_times(&self) -> (Duration, Duration) {
        self.cpu.read()
    }

    /// Its working directory.
    pub fn cwd(&self) -> GuestPath {
        lock(&self.cwd).clone()
    }

    /// Changes the working directory; returns it without links.
    pub fn chdir(&self, path: &str) -> Result<GuestPath> {
        let to = self.kernel().directory(&self.cwd(), path)?;
        lock(&self.cwd).clone_from(&to);
        Ok(to)
    }

    /// A path as this process means it.
    pub fn path(&self, text: &str) -> Result<GuestPath> {
        GuestPath::parse(&lock(&self.cwd), text)
    }

    /// Sets the umask and returns the old one.
    pub fn set_umask(&self, mask: u32) -> u32 {
        self.umask.swap(mask & 0o777, Ordering::Relaxed)
    }

    /// A mode less the umask.
    pub fn masked(&self, mode: u32) -> u32 {
        mode & 0o7777 & !self.umask.load(Ordering::Relaxed)
    }

    /// Sends a signal to a process of the sandbox; `None` only asks whether it is there.
    pub fn kill(&self, pid: Pid, signal: Option<Signal>) -> Result<()> {
        match self.kernel().table().get(pid) {
            Some(target) => signal.map_or(Ok(()), |signal| target.signals.send(signal)),
            // A child that has ended and was not waited for is still there to be asked about.
            None if self.children().ended.iter().any(|(ended, _)| *ended == pid) => Ok(()),
            None => Err(Errno::NoProcess),
        }
    }

    /// Counts one more open file.
    pub fn open_slot(&self) -> Result<Slot> {
        self.files.open().inspect_err(|_| {
            let value = u64::from(self.kernel().limits().open_files);
            self.session.exceed(Exceeded { kind: Limit::OpenFiles, value });
        })
    }

    /// An account for its memory.
    pub fn memory(&self) -> ProcessMemory {
        self.session.memory()
    }

    /// Takes memory of the sandbox for something that the host holds for this process, until it is dropped.
    pub fn charge(&self, bytes: usize) -> Result<ProcessMemory> {
        self.session.charge(bytes)
    }

    /// Notes the limit behind a refusal of the VFS.
    pub fn note_refusal(&self, errno: Errno) {
        if matches!(errno, Errno::NoSpace | Errno::Quota | Errno::FileTooLarge)
            && let Some(exceeded) = self.kernel().quota().take_exceeded()
        {
            self.session.exceed(exceeded);
        }
    }

    pub(super) fn descriptors(&self) -> MutexGuard<'_, Descriptors> {
        lock(&self.descriptors)
    }

    /// Closes its files and gives its memory back.
    pub(super) fn release(&self) {
        self.descriptors().clear();
        drop(lock(&self.charge).take());
    }

    pub(super) fn children(&self) -> MutexGuard<'_, Children> {
        lock(&self.children)
    }
}
