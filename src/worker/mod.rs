//! A sandbox in a process of its own.
//!
//! WebAssembly keeps a guest from its host's memory, but a bug in the engine, an abort or a visit of the OOM killer would
//! end the host process with all its sandboxes. A [`Worker`] is a backend whose sandbox lives in a child process, behind a
//! [wall](crate::wall): what goes wrong there takes down one sandbox. What was running answers `worker died: signal 6`,
//! and the neighbours live on.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use isopod::backend::SandboxBackend;
//! use isopod::provider::Config;
//! use isopod::worker::Worker;
//!
//! // A program that calls `isopod::worker::serve` when it is told to: the command line does, and yours may.
//! let worker = Worker::start("/usr/local/bin/isopod", ["worker"], &Config::new("/none")).await?;
//! assert_eq!(worker.execute("echo hello".into()).await?.stdout(), b"hello\n");
//! # Ok(())
//! # }
//! ```
//!
//! # Layout
//! - `wire`: messages, framed by their length, over a socket pair. A frame is bounded, and so is what is on its way.
//! - `link`: the host's end: who waits for which answer, and what they hear when the worker dies.
//! - `serve`: the worker's end; `outset` is how any worker begins.
//!
//! The workers of `isopod serve` and `isopod mcp` are servers themselves, each for one sandbox or one session, so that all
//! that a server can do works in them, too: the wall between processes is at the protocol, not at the [`Backend`].
//! - `spawner`: a process that starts them, for a server that may start nothing behind its own wall.
//! - `process`: such a worker from the server's side, `connections` from its own: each connection is a socket pair, one end of
//!   which goes over the worker's socket (`pass`).
//! - `relay`: a request of HTTP on such a connection. `pool`: the workers of a server, by key.
//!
//! # What holds
//! - **A worker is not trusted.** A frame that is too long or makes no sense, an answer to nothing, more output than it was
//!   given room for: it is killed.
//! - **A worker does not outlive its host**, however that ends: a thread of it does nothing but wait for the socket's end.
//!   (The parent's death signal was rejected: it comes when the *thread* ends that started the worker.)
//! - Cancel is drop here too: a dropped future or stream is cancelled in the worker.
//! - Nothing of the host's environment and none of its open files go along.

#[cfg(any(feature = "http", feature = "mcp"))]
pub(crate) mod connections;
mod link;
mod outset;
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
use std::time::Duration;

use async_trait::async_trait;

use self::link::{Link, Output};
use self::wire::{Answer, Request};
use crate::backend::{
    Backend, BackendError, Content, EditRequest, Edited, Ending, ExecuteRequest, Executed, GlobRequest, Globbed,
    GrepRequest, Grepped, Listed, OutputStream, ReadRequest, Result, SandboxBackend, Transcript, Upload, WriteRequest,
    Written,
};
use crate::provider::Config;
use crate::sandbox::Chunk;
use crate::wall::Report;

pub use serve::serve;
#[cfg(any(feature = "http", feature = "mcp"))]
pub use spawner::{Spawner, spawner};

/// The exit code of a command whose worker died: 128 and SIGKILL.
pub(crate) const DIED: u8 = 137;

/// How long a worker may take to be ready: it loads a shell and opens directories.
const START: Duration = Duration::from_secs(30);

/// How long a worker may live when its socket is closed: a core may have to be dumped.
const LAST_MOMENTS: Duration = Duration::from_secs(1);

/// A sandbox in a process of its own. Clones are handles to the same one; when the last is dropped, it ends.
#[derive(Clone)]
pub struct Worker {
    link: Arc<Link>,
    report: Report,
    largest_file: u64,
    output: u64,
}

/// How it is started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Walls {
    /// Behind as much of a wall as the machine's kernel has.
    #[default]
    BestEffort,
    /// Behind a whole wall, or not at all.
    Strict,
    /// Without one.
    None,
}

impl Worker {
    /// Starts a program that calls [`serve`], with a sandbox as `config` has it: limits, mounts, variables, programs. The
    /// root of it means nothing here.
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

    /// As [`start`](Worker::start), with a choice of walls.
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

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.link.pid()
    }

    /// What its wall holds.
    pub fn report(&self) -> &Report {
        &self.report
    }

    async fn open(&self, request: ExecuteRequest) -> Result<Output> {
        self.link.stream(request).await
    }
}

/// An answer of another kind than the question was of: not a thing that a worker of ours does.
fn astray(link: &Link) -> BackendError {
    link.condemn("it broke the protocol")
}

/// Asks, and takes the answer of the right kind.
macro_rules! ask {
    ($self:ident, $request:expr, $kind:ident) => {
        match $self.link.ask($request).await? {
            Answer::$kind(answer) => Ok(answer),
            _ => Err(astray(&$self.link)),
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
        // What is far too large need not be sent to hear so.
        let (size, limit) = (request.content.len() as u64, self.largest_file);
        if size > limit.saturating_add(wire::SLACK / 2) {
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

    async fn stream(&self, request: ExecuteRequest) -> Result<Box<dyn OutputStream>> {
        Ok(Box::new(self.open(request).await?))
    }

    /// Unlike that of a stream, whose reader has its output already, a worker's death is an error here.
    async fn execute(&self, request: ExecuteRequest) -> Result<Executed> {
        let mut transcript = Transcript::new(request.output.unwrap_or(self.output));
        let mut output = self.open(request).await?;
        while let Some(chunk) = output.piece().await {
            transcript.push(chunk.channel, &chunk.bytes);
        }
        Ok(Executed { transcript, ending: output.ending()? })
    }
}

#[async_trait]
impl OutputStream for Output {
    async fn next(&mut self) -> Option<Chunk> {
        match self.piece().await {
            Some(chunk) => Some(chunk),
            None => self.notice(),
        }
    }

    async fn finish(mut self: Box<Self>) -> Ending {
        while self.piece().await.is_some() {}
        let wall = self.began.elapsed();
        // As if the command had been killed by the kernel of the machine, which it was.
        self.ending().unwrap_or(Ending { exit_code: DIED, timed_out: false, limits: Vec::new(), wall })
    }
}
