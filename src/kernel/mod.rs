//! The kernel: processes, pipes, open files, signals and the process table.
//!
//! The kernel knows no shell and no wasmtime. A [`Machine`] runs the code of a program. A sandbox has one [`Kernel`].
//! One command of the sandbox's caller, or one live shell, is a [`Job`]; every process that a job starts ends with it.
//!
//! # Module order
//! A module imports only modules of the lines above its own, so there is no cycle:
//!
//! ```text
//! cpu, exec, memory, orders, policy, signal, transcript
//!   ← output        a transcript that processes write to
//!   ← pipe          bytes between processes, charged to a memory account
//!   ← open_file     a file, a pipe's end, a captured output, a relay to one of these
//!   ← descriptors   the open files of a process by number
//!   ← table         the live processes by number, each as its signals
//!   ← state         the kernel of a sandbox: files, limits, accounts, the table
//!   ← job           a command or a live shell: deadline, orders, usage
//!   ← process       a process of a job, and the machine that runs it
//!   ← files, run, wait
//!   ← spawn         starts the first process of a job, and children
//! ```
//!
//! The process table holds the signals of a process and not the process itself. Otherwise process, job, kernel and
//! table would each need the next one.
//!
//! # Lock order
//! A lock may be taken while a lock to its left is held. A leaf is held for a copy or an update of its own data, and
//! nothing is locked under it. No lock is held across an await.
//!
//! ```text
//! Process.descriptors ─┬─► OpenFile.offset, OpenFile directory ─► the locks of the VFS
//!                      ├─► Relay.target   (leaf)
//!                      └─► Pipe.state     (leaf)
//!
//! Job.time ────────────┬─► Table.live     (leaf)
//!                      └─► Orders.state   (leaf)
//!
//! leaves that are taken alone: Process.{cwd, payload, children, pending_child, charge}, CpuTime,
//!                              Capture.transcript, Job.{exceeded, faults}
//! ```
//!
//! | lock | guards |
//! |---|---|
//! | `Process.descriptors` | the table from descriptor numbers to open files; files are closed under it |
//! | `OpenFile.offset` | the offset, over a whole read or write, so that two of them never overlap |
//! | `OpenFile` directory | the position of a listing, over the reading of a piece |
//! | `Relay.target` | the file that a relay forwards to |
//! | `Pipe.state` | the queue of a pipe and the count of its ends |
//! | `Job.time` | the deadline, and the moment between two orders of a live shell |
//! | `Table.live` | the live processes and the last number; a job is closed under it |
//! | `Orders.state` | the order that waits for the shell, and the status of the last one |
//! | `Process.children` | the children that live, and those that wait to be reaped |
//! | `Process.pending_child` | the child that its parent polls first |
//! | `CpuTime` | the CPU time of a process and of its children |
//! | `Capture.transcript` | the output of a command that was kept for its caller |

mod cpu;
mod descriptors;
mod exec;
mod files;
mod job;
mod memory;
mod open_file;
mod orders;
mod output;
mod pipe;
mod policy;
mod process;
mod run;
mod signal;
mod spawn;
mod state;
mod table;
mod transcript;
mod wait;

pub use descriptors::{FileCount, Slot};
pub use files::Handle;
pub use job::{Job, StopReason, Usage};
pub use memory::{MemoryAccount, ProcessMemory};
pub use open_file::{Access, OpenFile, Relay, Whence};
pub use output::Capture;
pub use pipe::{PipeReader, PipeTag, PipeWriter, pipe};
pub use policy::ProgramPolicy;
pub use process::{Machine, Process, ProcessTask, Status};
pub use signal::{Disposition, Signal, Signals};
pub use spawn::Request;
pub use state::Kernel;
pub use table::Pid;
pub use transcript::{Channel, Elision, Transcript};
