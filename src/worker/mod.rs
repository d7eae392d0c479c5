//! A sandbox in a process of its own.
//!
//! WebAssembly keeps a guest from its host's memory, but a bug in the engine, an abort or the OOM killer would end the host
//! process with all its sandboxes. A [`Worker`] is a backend whose sandbox lives in a child process, behind a
//! [wall](crate::wall), so that a crash there takes down one sandbox. Its running operations fail with
//! `worker died: signal 6`, and other sandboxes are not touched.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use isopod::backend::SandboxBackend;
//! use isopod::provider::Config;
//! use isopod::worker::Worker;
//!
//! // A program that calls `isopod::worker::serve`: `isopod worker` does.
//! let worker = Worker::start("/usr/local/bin/isopod", ["worker"], &Config::new("/none")).await?;
//! assert_eq!(worker.execute("echo hello".into()).await?.stdout, b"hello\n");
//! # Ok(())
//! # }
//! ```
//!
//! # Layout
//! - `wire`: the messages, framed by their length, over a socket pair. Frames and their number are bounded.
//! - `link`: the host's end, with the calls that wait for an answer.
//! - `serve`: the worker's end. `bootstrap`: the start of every worker.
//!
//! The workers of `isopod serve` and `isopod mcp` are servers themselves, each for one sandbox or one session, so that all
//! that a server can do works in them, too: the wall between processes is at the protocol, not at the [`Backend`].
//! - `spawner`: a process that starts them, for a server that may start nothing behind its own wall.
//! - `process`: such a worker from the server's side, `connections` from its own: each connection is a socket pair, one end of
//!   which goes over the worker's socket (`pass`).
//! - `relay`: a request of HTTP on such a connection. `pool`: the workers of a server, by key.
//!
//! # Invariants
//! - **A worker is not trusted.** It is killed after a frame that is too long or makes no sense, an answer without a
//!   request, or more output than it was given room for.
//! - **A worker does not outlive its host**, however that ends: a thread of the worker only waits for the end of the socket.
//!   (The parent's death signal was rejected: it comes when the *thread* ends that started the worker.)
//! - **Cancel is drop**: a dropped future or stream is cancelled in the worker.
//! - A worker inherits neither the host's environment nor its open files.

mod bootstrap;
#[cfg(any(feature = "http", feature = "mcp"))]
pub(crate) mod connections;
mod link;
#[cfg(any(feature = "http", feature = "mcp"))]
mod pass;
#[cfg(any(feature = "http", feature = "mcp"))]
pub(crate) mod pool;
#[cfg(any(feature = "http", feature = "mcp"))]
pub(crate) mod process;
#[cfg(any(feature = "http", feature = "mcp"))]
pub(crate) mod relay;
mod serve;
#[cfg(any(feature = "http", feature = "mcp"))]
mod spawner;
mod wire;

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;

use self::link::{Link, WorkerStream};
use self::wire::{Answer, Request};
use crate::backend::{
    Backend, BackendError, Content, EditRequest, Edited, GlobRequest, Globbed, GrepRequest, Grepped, Listed,
    OutputStream, ReadRequest, Result, SandboxBackend, Upload, WriteRequest, Written,
};
use crate::kernel::Transcript;
use crate::limits::worker::FRAME_SLACK_BYTES;
use crate::provider::Config;
use crate::sandbox::{Chunk, Command, Completion, Output, StdinReader};
use crate::wall::Report;

pub use serve::serve;
#[cfg(any(feature = "http", feature = "mcp"))]
pub use spawner::{Spawner, spawner};

/// The exit code of a command whose worker died: 128 and SIGKILL.
pub(crate) const DIED: u8 = 137;

/// A sandbox in a process of its own. Clones are handles to the same one; the process ends with the last.
#[derive(Clone)]
pub struct Worker {
    link: Arc<Link>,
    report: Report,
    largest_file: u64,
    output: u64,
}

/// The wall around a worker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Walls {
    /// As much of a wall as the machine's kernel has.
    #[default]
    BestEffort,
    /// A whole wall; without one the worker does not start.
    Strict,
    /// No wall.
    None,
}

impl Worker {
    /// Starts a program that calls [`serve`], with a sandbox as `config` has it: limits, mounts, variables, programs. The
    /// root directory in `config` is not used.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn start<A: AsRef<OsStr>>(
        program: impl AsRef<Path>,
        arguments: impl IntoIterator<Item = A>,
        config: &Config,
    ) -> Result<Worker> {
        Worker::start_behind(Walls::default(), program, arguments, config).await
    }

    /// Does the same as [`start`](Worker::start), with a choice of walls.
    pub async fn start_behind<A: AsRef<OsStr>>(
        walls: Walls,
        program: impl AsRef<Path>,
        arguments: impl IntoIterator<Item = A>,
        config: &Config,
    ) -> Result<Worker> {
        let arguments = arguments.into_iter().map(|argument| argument.as_ref().to_owned()).collect();
        let (link, report) = Link::open(program.as_ref(), arguments, walls, config).await?;
        Ok(Worker { link, report, largest_file: config.limits.file, output: config.limits.output })
    }

    /// Returns the id of its process.
    pub fn pid(&self) -> u32 {
        self.link.pid()
    }

    /// Returns the state of its wall.
    pub fn report(&self) -> &Report {
        &self.report
    }

    async fn collect(&self, command: Command, stdin: Option<StdinReader>) -> Result<Output> {
        let mut transcript = Transcript::new(command.output_limit.unwrap_or(self.output));
        let mut stream = self.link.stream(command, stdin).await?;
        while let Some(chunk) = stream.piece().await {
            transcript.push(chunk.channel, &chunk.bytes);
        }
        Ok(Output::new(transcript, stream.completion()?))
    }
}

/// Condemns a worker whose answer is of another kind than the request.
fn unexpected(link: &Link) -> BackendError {
    link.condemn("it broke the protocol")
}

/// Sends a request and takes the answer of the right kind.
macro_rules! ask {
    ($self:ident, $request:expr, $kind:ident) => {
        match $self.link.ask($request).await? {
            Answer::$kind(answer) => Ok(answer),
            _ => Err(unexpected(&$self.link)),
        }
    };
}

#[async_trait]
impl Backend for Worker {
    async fn ls(&self, path: &str) -> Result<Listed> {
        ask!(self, Request::Ls(path.to_owned()), Listed)
    }

    async fn read(&self, request: ReadRequest) -> Result<Content> {
        ask!(self, Request::Read(request), Content)
    }

    async fn write(&self, request: WriteRequest) -> Result<Written> {
        // Content that is far too large is refused without sending it.
        let (size, limit) = (request.content.len() as u64, self.largest_file);
        if size > limit.saturating_add(FRAME_SLACK_BYTES / 2) {
            return Err(BackendError::TooLarge { path: request.path, size, limit });
        }
        ask!(self, Request::Write(request), Written)
    }

    async fn edit(&self, request: EditRequest) -> Result<Edited> {
        ask!(self, Request::Edit(request), Edited)
    }

    async fn delete(&self, path: &str) -> Result<()> {
        ask!(self, Request::Delete(path.to_owned()), Done)
    }

    async fn glob(&self, request: GlobRequest) -> Result<Globbed> {
        ask!(self, Request::Glob(request), Globbed)
    }

    async fn grep(&self, request: GrepRequest) -> Result<Grepped> {
        ask!(self, Request::Grep(request), Grepped)
    }

    async fn upload(&self, files: Vec<Upload>) -> Vec<Result<Written>> {
        let mut answers = Vec::with_capacity(files.len());
        for Upload { path, content } in files {
            answers.push(self.write(WriteRequest::new(path, content)).await);
        }
        answers
    }

    async fn download(&self, paths: Vec<String>) -> Vec<Result<Vec<u8>>> {
        let mut answers = Vec::with_capacity(paths.len());
        for path in paths {
            let answer: Result<bytes::Bytes> = async { ask!(self, Request::Download(path), Bytes) }.await;
            answers.push(answer.map(Vec::from));
        }
        answers
    }

    async fn resolve(&self, path: &str) -> Result<String> {
        ask!(self, Request::Resolve(path.to_owned()), Path)
    }

    fn largest_file(&self) -> u64 {
        self.largest_file
    }

    fn sandbox(&self) -> Option<&dyn SandboxBackend> {
        Some(self)
    }
}

#[async_trait]
impl SandboxBackend for Worker {
    fn id(&self) -> String {
        format!("worker-{}", self.pid())
    }

    async fn stream(&self, command: Command) -> Result<Box<dyn OutputStream>> {
        Ok(Box::new(self.link.stream(command, None).await?))
    }

    async fn stream_with_stdin(&self, command: Command, stdin: StdinReader) -> Result<Box<dyn OutputStream>> {
        Ok(Box::new(self.link.stream(command, Some(stdin)).await?))
    }

    /// Executes a command. The death of the worker is an error here; a stream ends with a notice instead, because its
    /// reader has the output already.
    async fn execute(&self, command: Command) -> Result<Output> {
        self.collect(command, None).await
    }

    async fn execute_with_stdin(&self, command: Command, stdin: StdinReader) -> Result<Output> {
        self.collect(command, Some(stdin)).await
    }
}

#[async_trait]
impl OutputStream for WorkerStream {
    async fn next(&mut self) -> Option<Chunk> {
        match self.piece().await {
            Some(chunk) => Some(chunk),
            None => self.notice(),
        }
    }

    async fn finish(mut self: Box<Self>) -> Completion {
        while self.piece().await.is_some() {}
        let wall = self.began.elapsed();
        // The worker's death killed the command.
        self.completion().unwrap_or_else(|_| Completion::new(DIED).took(wall))
    }
}
