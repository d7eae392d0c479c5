//! Isopod runs shell commands in a sandbox made of WebAssembly.
//!
//! The host is a kernel; each command is a process, a component instance of its own with its own memory, deadline
//! and standard streams. Shell and programs are part of the library. Nothing of the host is in reach unless it is
//! mounted.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let sandbox = isopod::Sandbox::builder().build()?;
//! let answer = sandbox.execute_blocking("echo hello | tr a-z A-Z")?;
//! assert_eq!(answer.stdout, b"HELLO\n");
//! assert_eq!(answer.exit_code, 0);
//! # Ok(())
//! # }
//! ```
//!
//! # Layout
//! `error`, `limits`, `path`, `units` ← `vfs` ← `kernel` ← `runtime` ← `sandbox` ← `backend` ← `provider` ← `wall` ← `worker`,
//! `mcp`, `http` ← the command line: each knows only what stands to its left. ARCHITECTURE.md says more.

pub mod backend;
pub mod error;
#[cfg(feature = "http")]
pub mod http;
pub mod kernel;
pub mod limits;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod path;
pub mod provider;
pub mod runtime;
pub mod sandbox;
mod sync;
pub mod units;
pub mod vfs;
pub mod wall;
pub mod worker;

pub use limits::{Exceeded, Limit, Limits};
pub use runtime::{DamagedCode, ProgramInfo, Runtime, RuntimeError};
pub use sandbox::{
    BuildError, Chunk, Command, ExecuteError, Execution, FileError, Files, Output, Sandbox, SandboxBuilder, Session,
    Snapshot,
};

/// The README's examples are run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
