//! The kernel: processes, pipes, open files, signals, and the table of what runs.
//!
//! It knows no shell and no wasmtime: how a program's code runs is the business of a [`Machine`]. A sandbox has
//! one [`Kernel`]; one command of its caller, or a live shell, is a [`Session`], and everything that was started in it
//! ends with it.
//!
//! Lock order: a process's descriptors, then an open file's offset, then whatever the VFS locks; and a session's time,
//! then the table or the session's orders. The process table, orders, relays, a process's children, a pipe's queue and a capture are leaves: no lock is taken while one of them is
//! held. No lock is held across an await.

mod cpu;
mod descriptors;
mod exec;
mod files;
mod life;
mod memory;
mod open_file;
mod orders;
mod output;
mod permit;
mod pipe;
mod process;
mod relay;
mod session;
mod signal;
mod spawn;
mod table;
mod transcript;
mod wait;

use std::sync::Arc;

use futures::future::BoxFuture;

pub use descriptors::{FileCount, Slot};
pub use files::Handle;
pub use memory::{MemoryAccount, ProcessMemory};
pub use open_file::{Access, OpenFile, Whence};
pub use output::{Capture, Channel};
pub use permit::Permit;
pub use pipe::{PipeReader, PipeWriter, Tag, pipe};
pub use process::{Pid, Process, Status};
pub use relay::Relay;
pub use session::{Session, Usage, Verdict};
pub use signal::{Disposition, Signal};
pub use spawn::Request;
pub use transcript::{Elision, Transcript};

use crate::error::{Errno, Result};
use crate::limits::Limits;
use crate::path::GuestPath;
use crate::vfs::{Kind, Quota, Vfs};

/// Runs a program's code as a process. The runtime implements it with wasmtime.
pub trait Machine: Send + Sync {
    /// Whether there is a program of this name.
    fn has(&self, program: &str) -> bool;

    /// The life of a process: load the program, run it, say how it ended. Dropping the future is a kill: it
    /// frees all that the process held at the machine.
    fn run(&self, process: Arc<Process>) -> BoxFuture<'static, Status>;
}

/// A sandbox's kernel.
pub struct Kernel {
    vfs: Vfs,
    limits: Limits,
    machine: Arc<dyn Machine>,
    table: table::Table,
    memory: Arc<MemoryAccount>,
    quota: Arc<Quota>,
    permit: Permit,
}

impl Kernel {
    /// A kernel with nothing running. The quota is that of the files in memory.
    pub fn new(vfs: Vfs, quota: Arc<Quota>, limits: Limits, machine: Arc<dyn Machine>) -> Kernel {
        let memory = Arc::new(MemoryAccount::new(limits.sandbox_memory));
        let table = table::Table::new(limits.processes);
        Kernel { vfs, quota, table, limits, machine, memory, permit: Permit::All }
    }

    /// The same kernel, where only some programs may be started.
    pub fn permitting(self, permit: Permit) -> Kernel {
        Kernel { permit, ..self }
    }

    /// Which programs may be started.
    pub fn permit(&self) -> &Permit {
        &self.permit
    }

    /// The files of the sandbox.
    pub fn vfs(&self) -> &Vfs {
        &self.vfs
    }

    /// What the sandbox may use.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What the sandbox's processes hold.
    pub fn memory(&self) -> &Arc<MemoryAccount> {
        &self.memory
    }

    /// What the sandbox's files in memory use.
    pub fn quota(&self) -> &Quota {
        &self.quota
    }

    /// A directory without links, from a text as someone in `base` means it.
    pub fn directory(&self, base: &GuestPath, text: &str) -> Result<GuestPath> {
        let path = self.vfs.canonical(&GuestPath::parse(base, text)?)?;
        match self.vfs.stat(&path, true)?.kind {
            Kind::Directory => Ok(path),
            _ => Err(Errno::NotDirectory),
        }
    }

    /// Processes that live now.
    pub fn processes(&self) -> usize {
        self.table.len()
    }

    fn table(&self) -> &table::Table {
        &self.table
    }
}
