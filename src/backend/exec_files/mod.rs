//! File operations by shell commands, with nothing but `execute`. The commands run in any POSIX shell with coreutils,
//! find and grep. So a new provider of sandboxes implements one method.
//!
//! Content travels as base64 and names end in NUL, so that no file can imitate a result. A script reports a fault by
//! its exit code. Pages, patterns and edits are implemented in Rust by the code that all backends share; the commands
//! only transfer bytes.
//!
//! It is weaker than a backend with its own files in three ways. An edit checks for a change just before it replaces
//! the file, not atomically. Regular expressions are those of `grep -E`, and an expression that it does not support is
//! refused. A lone CR does not end a line when lines are counted.

mod change;
mod read;
mod script;
mod search;

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::OnceCell;

use super::execute::OutputStream;
use super::{
    Backend, BackendError, Content, EditRequest, Edited, GlobRequest, Globbed, GrepRequest, Grepped, Listed,
    ReadRequest, Result, SandboxBackend, Upload, WriteRequest, Written, bounds,
};
use crate::kernel::Channel;
use crate::path::GuestPath;
use crate::sandbox::{Chunk, Command, Completion, Output};
use script::Script;
pub(super) use script::{decode, encode};

/// Executes commands: the one trait that a provider has to implement.
#[async_trait]
pub trait Executor: Send + Sync {
    /// Executes a command line in a shell and returns its output, up to `request.output` bytes.
    async fn execute(&self, command: Command) -> Result<Output>;

    /// The identifier of the executor.
    fn id(&self) -> String {
        "exec".to_owned()
    }

    /// Starts a command and streams its output. The default implementation returns all output when the command has
    /// ended.
    async fn stream(&self, command: Command) -> Result<Box<dyn OutputStream>> {
        Ok(Box::new(Replay::of(self.execute(command).await?)))
    }
}

#[async_trait]
impl<B: SandboxBackend> Executor for B {
    async fn execute(&self, command: Command) -> Result<Output> {
        SandboxBackend::execute(self, command).await
    }

    fn id(&self) -> String {
        SandboxBackend::id(self)
    }

    async fn stream(&self, command: Command) -> Result<Box<dyn OutputStream>> {
        SandboxBackend::stream(self, command).await
    }
}

/// A backend over an [`Executor`].
#[derive(Clone)]
pub struct ExecFiles {
    executor: Arc<dyn Executor>,
    /// The directory in which commands start, found at its first use.
    cwd: Arc<OnceCell<GuestPath>>,
}

impl ExecFiles {
    /// Makes a backend over an executor.
    pub fn new(executor: Arc<dyn Executor>) -> ExecFiles {
        ExecFiles { executor, cwd: Arc::default() }
    }

    /// Runs a script about `path` and returns its output if it succeeded.
    async fn run(&self, path: &str, script: Script) -> Result<script::ScriptOutput> {
        let request = script.request();
        script::ScriptOutput::new(path, self.executor.execute(request).await?)
    }

    /// Parses a path and makes it absolute.
    async fn parse(&self, text: &str) -> Result<GuestPath> {
        let cwd = match text.starts_with('/') {
            true => GuestPath::root(),
            false => self.cwd.get_or_try_init(|| self.find_cwd()).await?.clone(),
        };
        GuestPath::parse(&cwd, text).map_err(|errno| BackendError::file(text, errno))
    }

    async fn find_cwd(&self) -> Result<GuestPath> {
        let answer = self.run(".", Script::new("pwd")).await?;
        let text = answer.text();
        GuestPath::parse(&GuestPath::root(), text.trim_end_matches('\n'))
            .map_err(|errno| BackendError::file(".", errno))
    }
}

#[async_trait]
impl Backend for ExecFiles {
    async fn ls(&self, path: &str) -> Result<Listed> {
        self.list(path).await
    }

    async fn read(&self, request: ReadRequest) -> Result<Content> {
        self.read_page(&request).await
    }

    async fn write(&self, request: WriteRequest) -> Result<Written> {
        self.write_file(&request).await
    }

    async fn edit(&self, request: EditRequest) -> Result<Edited> {
        self.edit_file(&request).await
    }

    async fn delete(&self, path: &str) -> Result<()> {
        self.remove(path).await
    }

    async fn glob(&self, request: GlobRequest) -> Result<Globbed> {
        self.find(&request).await
    }

    async fn grep(&self, request: GrepRequest) -> Result<Grepped> {
        self.search(&request).await
    }

    async fn upload(&self, files: Vec<Upload>) -> Vec<Result<Written>> {
        let mut answers = Vec::with_capacity(files.len());
        for Upload { path, content } in files {
            answers.push(self.write_file(&WriteRequest::new(path, content)).await);
        }
        answers
    }

    async fn download(&self, paths: Vec<String>) -> Vec<Result<Vec<u8>>> {
        let mut answers = Vec::with_capacity(paths.len());
        for path in paths {
            answers.push(self.fetch(&path, bounds::FILE_BYTES).await.map(|fetched| fetched.content));
        }
        answers
    }

    async fn resolve(&self, path: &str) -> Result<String> {
        let at = self.parse(path).await?;
        let answer = self.run(path, Script::new("readlink -m -- \"$p\"").path(&at)).await?;
        Ok(answer.text().trim_end_matches('\n').to_owned())
    }

    fn largest_file(&self) -> u64 {
        bounds::FILE_BYTES
    }

    fn sandbox(&self) -> Option<&dyn SandboxBackend> {
        Some(self)
    }
}

#[async_trait]
impl SandboxBackend for ExecFiles {
    fn id(&self) -> String {
        self.executor.id()
    }

    async fn stream(&self, command: Command) -> Result<Box<dyn OutputStream>> {
        self.executor.stream(command).await
    }

    async fn execute(&self, command: Command) -> Result<Output> {
        self.executor.execute(command).await
    }
}

/// A stream of output that is complete.
struct Replay {
    chunks: std::vec::IntoIter<Chunk>,
    completion: Completion,
}

impl Replay {
    fn of(output: Output) -> Replay {
        let mut completion = Completion::new(output.exit_code);
        (completion.timed_out, completion.limits, completion.usage) = (output.timed_out, output.limits, output.usage);
        let chunks = [(Channel::Stdout, output.stdout), (Channel::Stderr, output.stderr)];
        let chunks = chunks.map(|(channel, bytes)| Chunk { channel, bytes: bytes.into() });
        Replay { chunks: Vec::from(chunks).into_iter(), completion }
    }
}

#[async_trait]
impl OutputStream for Replay {
    async fn next(&mut self) -> Option<Chunk> {
        self.chunks.find(|chunk| !chunk.bytes.is_empty())
    }

    async fn finish(self: Box<Self>) -> Completion {
        self.completion
    }
}
