//! What an agent calls: execute a command, and do something to files.
//!
//! Frameworks for agents agree that there is a backend with nine file operations, and that some backends execute
//! commands as well. They disagree on everything else: what a page is, what a missing file is called, whether a
//! pattern is a regular expression. So a backend takes typed requests and answers with raw facts, and a
//! [`profile`] makes the shapes and strings of one framework out of them.
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
//! - [`Backend`] and [`SandboxBackend`] are the traits; `request`, `answer`, `execute` and `error` what they speak in.
//! - `vfs_files` does the file operations on a tree of the VFS: no guest code, no shell. [`Isopod`], [`Memory`],
//!   [`Directory`] and [`Store`] are such trees, and [`LocalShell`] has one beside the host's shell.
//! - [`ExecFiles`] does them with nothing but `execute`, by shell commands: a new provider implements one method.
//! - `host_command` runs a program of the host, for [`LocalShell`], [`Docker`] and [`Bubblewrap`].
//! - [`Composite`] joins several under path prefixes; [`layer`] has backends around a backend.
//! - [`plan`] tells what a command would run, for whoever is asked before it does.
//! - `pattern`, `pager` and `replace` are what globs, pages and edits mean, whoever does them.
//!
//! # What holds for every backend
//! - A file operation answers with the whole truth or says what is missing: a listing, a page or a search that was
//!   cut short says why.
//! - **Cancel is drop**: dropping the future of an operation stops its work.
//! - Writes, edits and uploads replace a file in one step. An edit that finds the file changed since it was read is a
//!   conflict and changes nothing.
//! - Searches follow no link to a directory, and a link to a file only if it stays below the root of the search.

mod answer;
pub mod bounds;
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

/// A place with files. A path is absolute, or starts where the backend's commands would.
#[async_trait]
pub trait Backend: Send + Sync {
    /// What is in a directory: one level, hidden names too, links not followed.
    async fn ls(&self, path: &str) -> Result<Listed>;

    /// A page of a text file, or the bytes of one that is not text.
    async fn read(&self, request: ReadRequest) -> Result<Content>;

    /// Puts content into a file and makes the directories it needs.
    async fn write(&self, request: WriteRequest) -> Result<Written>;

    /// Replaces text in a file.
    async fn edit(&self, request: EditRequest) -> Result<Edited>;

    /// Removes a file, a link, or a directory with all that is in it.
    async fn delete(&self, path: &str) -> Result<()>;

    /// Finds files by name.
    async fn glob(&self, request: GlobRequest) -> Result<Globbed>;

    /// Finds lines in files.
    async fn grep(&self, request: GrepRequest) -> Result<Grepped>;

    /// Writes many files: an answer for each, in their order, whatever became of the others.
    async fn upload(&self, files: Vec<Upload>) -> Vec<Result<Written>>;

    /// Reads many files whole: an answer for each, in their order, whatever became of the others.
    async fn download(&self, paths: Vec<String>) -> Vec<Result<Vec<u8>>>;

    /// The path without links and `..`; the last names of it need not exist.
    async fn resolve(&self, path: &str) -> Result<String>;

    /// Bytes that a file may have: whoever takes an upload from elsewhere can refuse it before it is in memory.
    fn largest_file(&self) -> u64;

    /// A backend of its own that starts as this one is now and whose changes land nowhere, for a dry run.
    fn fork(&self) -> Result<Arc<dyn Backend>> {
        Err(BackendError::Unsupported("a copy of this backend whose changes land nowhere".to_owned()))
    }

    /// The same backend as one that executes commands, if it does.
    fn sandbox(&self) -> Option<&dyn SandboxBackend> {
        None
    }

    /// Whether it executes commands.
    fn executes(&self) -> bool {
        self.sandbox().is_some()
    }
}

/// A backend that executes commands where its files are.
#[async_trait]
pub trait SandboxBackend: Backend {
    /// What tells it from others.
    fn id(&self) -> String;

    /// Starts a command whose output comes piece by piece. Dropping the stream ends the command.
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

    /// Executes a command and keeps its output: all of it, or head and tail if there is too much. A command that fails
    /// or runs out of time is a result, not an error.
    async fn execute(&self, command: Command) -> Result<Output> {
        let limit = command.output_limit.unwrap_or(bounds::OUTPUT_BYTES);
        execute::collect(self.stream(command).await?, limit).await
    }

    /// Executes a command whose standard input is `stdin`, and keeps its output.
    async fn execute_with_stdin(&self, command: Command, stdin: StdinReader) -> Result<Output> {
        let limit = command.output_limit.unwrap_or(bounds::OUTPUT_BYTES);
        execute::collect(self.stream_with_stdin(command, stdin).await?, limit).await
    }

    /// Executes a command; output that is too long to hand back goes whole to a file of the backend, where it can be
    /// read page by page.
    async fn execute_with_offload(&self, command: Command, offload: Offload) -> Result<Offloaded> {
        let stream = self.stream(command).await?;
        execute::offload(stream, &offload, |request| self.write(request)).await
    }
}
