//! Backends: the operations on files and commands that agent frameworks call.
//!
//! Agent frameworks agree that a backend has nine file operations, and that some backends also execute commands. They
//! disagree on everything else: the size of a page, the name of a missing file's error, the syntax of patterns. So a
//! backend takes typed requests and returns raw facts, and a [`profile`] translates them to the types and strings of
//! one framework.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! use isopod::backend::{Backend, GrepRequest, Isopod, SandboxBackend, WriteRequest};
//!
//! let backend = Isopod::new("agent-1", isopod::Sandbox::builder().build()?)?;
//! backend.write(WriteRequest::new("src/main.rs", "fn main() {}\n")).await?;
//! let found = backend.grep(GrepRequest::literal("main", "src")).await?;
//! assert_eq!(found.matches[0].path, "/workspace/src/main.rs");
//! let output = backend.execute("wc -l < src/main.rs".into()).await?;
//! assert_eq!(output.stdout, b"1\n");
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! # Layout
//! - [`Backend`] and [`SandboxBackend`] are the traits; `request`, `answer`, `execute` and `error` have their types.
//! - `vfs_files` implements the file operations on a tree of the VFS, without guest code or a shell. [`Isopod`],
//!   [`Memory`], [`Directory`] and [`Store`] are such trees, and [`LocalShell`] has one beside the host's shell.
//! - [`ExecFiles`] implements them by shell commands, with nothing but `execute`: a new provider implements one method.
//! - `host_command` runs a program of the host, for [`LocalShell`], [`Docker`] and [`Bubblewrap`].
//! - [`Composite`] joins several backends under path prefixes; [`layer`] has backends that wrap a backend.
//! - [`plan`] lists the programs that a command would run, for a reviewer who approves it.
//! - `pattern`, `pager` and `replace` implement globs, pages and edits for all backends.
//!
//! # Promises of every backend
//! - The result of a file operation is complete or says what is missing: a listing, a page or a search that was cut
//!   short has the reason.
//! - **Cancel is drop**: dropping the future of an operation stops its work.
//! - Writes, edits and uploads replace a file in one step. An edit that finds the file changed since it was read is a
//!   conflict and changes nothing.
//! - Searches follow no link to a directory, and a link to a file only if it stays below the root of the search.

mod answer;
mod bubblewrap;
mod composite;
mod directory;
mod docker;
mod error;
mod exec_files;
pub(crate) mod execute;
mod host_command;
mod isopod;
pub mod layer;
mod local_shell;
mod memory;
mod output_json;
mod pager;
mod pattern;
pub mod plan;
pub mod profile;
mod replace;
mod request;
mod stop;
mod store;
mod threads;
mod vfs_files;

use std::sync::Arc;

use async_trait::async_trait;
use tokio::io::AsyncReadExt;

pub use crate::limits::backend as bounds;
pub use answer::{Content, Cut, Edited, Entry, Found, Globbed, GrepMatch, Grepped, Listed, Page, Written};
pub use bubblewrap::Bubblewrap;
pub use composite::Composite;
pub use directory::Directory;
pub use docker::Docker;
pub use error::{BackendError, PatternFault, Result};
pub use exec_files::{ExecFiles, Executor};
pub use execute::{Captured, Offload, Offloaded, OutputStream};
pub use isopod::Isopod;
pub use local_shell::LocalShell;
pub use memory::Memory;
pub use output_json::{CommandLineJson, CompletionJson, Encoding, LimitJson, OutputJson, UsageJson};
pub use pattern::Pattern;
pub use request::{EditRequest, GlobRequest, GrepRequest, ReadAs, ReadRequest, Upload, WriteMode, WriteRequest};
pub use store::{Store, StoreError};

use crate::sandbox::{Command, Output, StdinReader};

/// A tree of files. A path is absolute, or relative to the directory in which the backend's commands start.
#[async_trait]
pub trait Backend: Send + Sync {
    /// Lists a directory: one level, hidden names too, links not followed.
    async fn ls(&self, path: &str) -> Result<Listed>;

    /// Reads a page of a text file, or the bytes of a file that is not text.
    async fn read(&self, request: ReadRequest) -> Result<Content>;

    /// Writes a file and creates the directories that it needs.
    async fn write(&self, request: WriteRequest) -> Result<Written>;

    /// Replaces text in a file.
    async fn edit(&self, request: EditRequest) -> Result<Edited>;

    /// Removes a file, a link, or a directory with all its contents.
    async fn delete(&self, path: &str) -> Result<()>;

    /// Finds files by name.
    async fn glob(&self, request: GlobRequest) -> Result<Globbed>;

    /// Finds lines in files.
    async fn grep(&self, request: GrepRequest) -> Result<Grepped>;

    /// Writes several files. Returns a result for each, in their order; one failure does not affect the others.
    async fn upload(&self, files: Vec<Upload>) -> Vec<Result<Written>>;

    /// Reads several files whole. Returns a result for each, in their order; one failure does not affect the others.
    async fn download(&self, paths: Vec<String>) -> Vec<Result<Vec<u8>>>;

    /// Returns the path without links and `..`. Its last names need not exist.
    async fn resolve(&self, path: &str) -> Result<String>;

    /// The largest size of a file, in bytes. A server can refuse a larger upload before it is in memory.
    fn largest_file(&self) -> u64;

    /// Returns an independent backend with a copy of the current files, for a dry run. Its changes are discarded.
    fn fork(&self) -> Result<Arc<dyn Backend>> {
        Err(BackendError::Unsupported("a copy of this backend whose changes land nowhere".to_owned()))
    }

    /// This backend as one that executes commands, if it does.
    fn sandbox(&self) -> Option<&dyn SandboxBackend> {
        None
    }

    /// Returns true if it executes commands.
    fn executes(&self) -> bool {
        self.sandbox().is_some()
    }
}

/// A backend that executes commands on its files.
#[async_trait]
pub trait SandboxBackend: Backend {
    /// The identifier of the backend.
    fn id(&self) -> String;

    /// Starts a command and streams its output. Dropping the stream ends the command.
    async fn stream(&self, command: Command) -> Result<Box<dyn OutputStream>>;

    /// Starts a command whose standard input is `stdin`. A backend that cannot read it as the command does reads it to its
    /// end first.
    async fn stream_with_stdin(&self, command: Command, mut stdin: StdinReader) -> Result<Box<dyn OutputStream>> {
        let (mut bytes, limit) = (Vec::new(), self.largest_file());
        let read = (&mut stdin).take(limit.saturating_add(1)).read_to_end(&mut bytes).await;
        read.map_err(|error| BackendError::Transport { backend: "standard input", reason: error.to_string() })?;
        if bytes.len() as u64 > limit {
            return Err(BackendError::TooLarge { path: "/dev/stdin".to_owned(), size: bytes.len() as u64, limit });
        }
        self.stream(command.stdin(bytes)).await
    }

    /// Executes a command and returns its output: all of it, or head and tail if there is too much. A command that
    /// fails or times out is a result, not an error.
    async fn execute(&self, command: Command) -> Result<Output> {
        let limit = command.output_limit.unwrap_or(bounds::OUTPUT_BYTES);
        execute::collect(self.stream(command).await?, limit).await
    }

    /// Executes a command whose standard input is `stdin`, and returns its output.
    async fn execute_with_stdin(&self, command: Command, stdin: StdinReader) -> Result<Output> {
        let limit = command.output_limit.unwrap_or(bounds::OUTPUT_BYTES);
        execute::collect(self.stream_with_stdin(command, stdin).await?, limit).await
    }

    /// Executes a command. Output that is too long to return goes whole to a file of the backend, where it can be read
    /// page by page.
    async fn execute_with_offload(&self, command: Command, offload: Offload) -> Result<Offloaded> {
        let stream = self.stream(command).await?;
        execute::offload(stream, &offload, |request| self.write(request)).await
    }
}
