//! Isopod runs shell commands in a sandbox made of WebAssembly.
//!
//! The host is a kernel. Each command is a process: a component instance with its own memory, deadline and standard
//! streams. The shell and all programs are part of the library. Nothing of the host is in reach unless it is mounted.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let sandbox = isopod::Sandbox::builder().build()?;
//! let output = sandbox.execute_blocking("echo hello | tr a-z A-Z")?;
//! assert_eq!(output.stdout, b"HELLO\n");
//! assert_eq!(output.exit_code, 0);
//! # Ok(())
//! # }
//! ```
//!
//! # Where to start
//! - [`guide::tour`] goes from one command to a sandbox for each conversation; [`guide::recipes`] answers single questions.
//! - [`Sandbox`] and its [builder](SandboxBuilder): [commands](Command) and their [results](Output), [streams](Execution),
//!   [sessions](Session), [files](Files), [snapshots](Snapshot), [overlays](Overlay), [limits](Limits).
//! - [`backend`]: the interface that agent frameworks call, with layers around it.
//! - [`provider`]: sandboxes with names, leased one caller at a time.
//! - [`http`] and [`mcp`]: the same over the wire. [`worker`] and [`wall`]: a process for each sandbox, and a wall of the
//!   machine's kernel around it.
//!
//! # Features
//! | feature | adds |
//! |---|---|
//! | `python` | CPython in the sandbox; building it needs `python3` with pip |
//! | `node` | JavaScript with Node's modules; building it needs `python3` with pip |
//! | `http` | [`http`], `isopod serve` |
//! | `mcp` | [`mcp`], `isopod mcp` |
//! | `wall` | Landlock and seccomp in [`wall`] |
//!
//! All are on by default.
//!
//! # Layout
//! `error`, `limits`, `path`, `sync`, `units` ← `vfs` ← `kernel` ← `runtime` ← `sandbox` ← `backend` ← `provider` ←
//! `wall` ← `worker` ← `mcp`, `http`: a module uses only modules to its left. ARCHITECTURE.md has the reasons.

pub mod backend;
pub mod error;
#[cfg(feature = "http")]
pub mod http;
#[doc(hidden)]
pub mod kernel;
pub mod limits;
#[cfg(feature = "mcp")]
pub mod mcp;
#[doc(hidden)]
pub mod path;
pub mod provider;
#[doc(hidden)]
pub mod runtime;
mod sandbox;
mod sync;
#[doc(hidden)]
pub mod units;
#[doc(hidden)]
pub mod vfs;
pub mod wall;
pub mod worker;

pub use kernel::{Channel, Usage};
pub use limits::{Exceeded, Limit, Limits};
pub use runtime::{DamagedCode, ProgramInfo, Runtime, RuntimeError};
pub use sandbox::{
    BuildError, Chunk, Command, CommandLine, Completion, ExecuteError, Execution, FileError, Files, Output, Sandbox,
    SandboxBuilder, Session, Snapshot, StdinReader,
};
pub use vfs::{
    ArchiveError, Change, ChangeKind, CommitError, Diff, Digest, DirEntry, Kind, MountInfo, MountKind, Overlay, Rules,
    Stat,
};

/// A tour of the library, and recipes.
#[cfg(any(doc, doctest))]
pub mod guide {
    #[doc = include_str!("../docs/tour.md")]
    pub mod tour {}

    #[doc = include_str!("../docs/recipes.md")]
    pub mod recipes {}
}

/// The README's examples are run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
