//! Looking at each operation before and after it is done.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde::Serialize;

use super::super::execute::{Offload, Offloaded, OutputStream};
use super::super::plan::Plan;
use super::super::{
    Backend, BackendError, Content, EditRequest, Edited, GlobRequest, Globbed, GrepRequest, Grepped, Listed,
    ReadRequest, Result, SandboxBackend, Upload, WriteRequest, Written,
};
use crate::error::Errno;
use crate::sandbox::{Chunk, Command, CommandLine, Completion, Output};

/// The operations of a backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(into = "&'static str")]
#[allow(missing_docs, reason = "the names of the operations")]
pub enum Operation {
    Ls,
    Read,
    Write,
    Edit,
    Delete,
    Glob,
    Grep,
    Upload,
    Download,
    Resolve,
    Execute,
}

impl Operation {
    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Operation::Ls => "ls",
            Operation::Read => "read",
            Operation::Write => "write",
            Operation::Edit => "edit",
            Operation::Delete => "delete",
            Operation::Glob => "glob",
            Operation::Grep => "grep",
            Operation::Upload => "upload",
            Operation::Download => "download",
            Operation::Resolve => "resolve",
            Operation::Execute => "execute",
        }
    }
}

impl From<Operation> for &'static str {
    fn from(operation: Operation) -> &'static str {
        operation.name()
    }
}

/// An operation that someone asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// Which.
    pub operation: Operation,
    /// On what; of a command, where its output goes if it is too long.
    pub path: Option<String>,
    /// The pattern of a search.
    pub pattern: Option<String>,
    /// The command.
    pub command: Option<CommandLine>,
    /// Where the command starts, if it is said.
    pub cwd: Option<String>,
    /// Bytes to be written, where that is known before.
    pub bytes: Option<u64>,
}

impl Call {
    fn new(operation: Operation, path: &str) -> Call {
        let path = Some(path.to_owned());
        Call { operation, path, pattern: None, command: None, cwd: None, bytes: None }
    }

    fn execute(command: &Command, offload: Option<&Offload>) -> Call {
        Call {
            path: offload.map(|offload| offload.path.clone()),
            command: Some(command.line.clone()),
            cwd: command.cwd.clone(),
            ..Call::new(Operation::Execute, "")
        }
    }

    fn with_bytes(self, bytes: usize) -> Call {
        Call { bytes: Some(bytes as u64), ..self }
    }

    fn with_pattern(self, pattern: &str) -> Call {
        Call { pattern: Some(pattern.to_owned()), ..self }
    }

    /// Returns the programs that the command would run, from its syntax tree or its arguments; `None` if this is no command.
    /// The plan is made by this call.
    pub fn plan(&self) -> Option<Plan> {
        self.command.as_ref().map(|line| match line {
            CommandLine::Shell(text) => Plan::of(text),
            CommandLine::Program(argv) => Plan::of_program(argv),
        })
    }

    /// Whether it changes files by itself.
    pub fn writes(&self) -> bool {
        matches!(self.operation, Operation::Write | Operation::Edit | Operation::Delete | Operation::Upload)
    }
}

/// What became of an operation.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Outcome<'a> {
    /// Why it failed; none if it did not.
    pub error: Option<&'a BackendError>,
    /// Whether nobody waited for its end.
    pub is_cancelled: bool,
    /// Bytes that were read, written or put out.
    pub bytes: Option<u64>,
    /// The exit code of a command.
    pub exit_code: Option<u8>,
    /// From the request to the answer.
    pub duration: Duration,
}

/// What a gate holds while an operation is done.
pub type Permit = Option<Box<dyn Send + Sync>>;

/// Decides about operations.
#[async_trait]
pub trait Gate: Send + Sync + 'static {
    /// Before an operation: an error refuses it.
    async fn admit(&self, call: &Call, inner: &dyn Backend) -> Result<Permit>;

    /// After an operation that was admitted, whatever became of it.
    fn settle(&self, call: &Call, outcome: &Outcome<'_>) {
        let _ = (call, outcome);
    }

    /// Whether answers may show this path.
    fn shows(&self, path: &str) -> bool {
        let _ = path;
        true
    }

    /// Bytes that a file may have after an edit.
    fn edit_room(&self) -> u64 {
        u64::MAX
    }
}

/// A gate around a backend.
pub struct Guarded<G> {
    inner: Arc<dyn Backend>,
    gate: Arc<G>,
}

impl<G: Gate> Guarded<G> {
    /// Puts a gate around a backend.
    pub fn new(inner: Arc<dyn Backend>, gate: G) -> Guarded<G> {
        Guarded { inner, gate: Arc::new(gate) }
    }

    /// The gate.
    pub fn gate(&self) -> &G {
        &self.gate
    }

    async fn admit(&self, call: Call) -> Result<Pass<G>> {
        let permit = self.gate.admit(&call, &*self.inner).await?;
        Ok(Pass { gate: self.gate.clone(), call: Some(call), began: Instant::now(), _permit: permit })
    }

    fn executing(&self) -> Result<&dyn SandboxBackend> {
        self.inner.sandbox().ok_or(BackendError::ExecutesNothing)
    }
}

/// An operation that was admitted. It is settled once, also when its future is dropped.
struct Pass<G: Gate> {
    gate: Arc<G>,
    call: Option<Call>,
    began: Instant,
    _permit: Permit,
}

impl<G: Gate> Pass<G> {
    fn settle<T>(self, answer: Result<T>, bytes: impl FnOnce(&T) -> Option<u64>) -> Result<T> {
        self.settle_with(answer, |answer| (bytes(answer), None))
    }

    fn settle_with<T>(mut self, answer: Result<T>, facts: impl FnOnce(&T) -> (Option<u64>, Option<u8>)) -> Result<T> {
        let (bytes, exit_code) = answer.as_ref().map(facts).unwrap_or_default();
        self.end(Outcome {
            error: answer.as_ref().err(),
            is_cancelled: false,
            bytes,
            exit_code,
            duration: Duration::ZERO,
        });
        answer
    }

    fn end(&mut self, outcome: Outcome<'_>) {
        if let Some(call) = self.call.take() {
            self.gate.settle(&call, &Outcome { duration: self.began.elapsed(), ..outcome });
        }
    }
}

impl<G: Gate> Drop for Pass<G> {
    fn drop(&mut self) {
        let (bytes, exit_code) = (None, None);
        self.end(Outcome { error: None, is_cancelled: true, bytes, exit_code, duration: Duration::ZERO });
    }
}

#[async_trait]
impl<G: Gate> Backend for Guarded<G> {
    async fn ls(&self, path: &str) -> Result<Listed> {
        let pass = self.admit(Call::new(Operation::Ls, path)).await?;
        let mut listed = pass.settle(self.inner.ls(path).await, |_| None)?;
        listed.entries.retain(|entry| self.gate.shows(&entry.path));
        Ok(listed)
    }

    async fn read(&self, request: ReadRequest) -> Result<Content> {
        let pass = self.admit(Call::new(Operation::Read, &request.path)).await?;
        pass.settle(self.inner.read(request).await, |content| match content {
            Content::Text(page) => Some(page.text.len() as u64),
            Content::Bytes(bytes) => Some(bytes.len() as u64),
            Content::Empty | Content::NoLines => Some(0),
        })
    }

    async fn write(&self, request: WriteRequest) -> Result<Written> {
        let call = Call::new(Operation::Write, &request.path).with_bytes(request.content.len());
        let pass = self.admit(call).await?;
        pass.settle(self.inner.write(request).await, |written| Some(written.bytes))
    }

    async fn edit(&self, mut request: EditRequest) -> Result<Edited> {
        let pass = self.admit(Call::new(Operation::Edit, &request.path)).await?;
        request.most = request.most.min(self.gate.edit_room());
        pass.settle(self.inner.edit(request).await, |edited| Some(edited.bytes))
    }

    async fn delete(&self, path: &str) -> Result<()> {
        let pass = self.admit(Call::new(Operation::Delete, path)).await?;
        pass.settle(self.inner.delete(path).await, |()| None)
    }

    async fn glob(&self, request: GlobRequest) -> Result<Globbed> {
        let call = Call::new(Operation::Glob, &request.path).with_pattern(&request.pattern);
        let pass = self.admit(call).await?;
        let mut globbed = pass.settle(self.inner.glob(request).await, |_| None)?;
        globbed.matches.retain(|found| self.gate.shows(&found.path));
        Ok(globbed)
    }

    async fn grep(&self, request: GrepRequest) -> Result<Grepped> {
        let call = Call::new(Operation::Grep, &request.path).with_pattern(&request.pattern);
        let pass = self.admit(call).await?;
        let mut grepped = pass.settle(self.inner.grep(request).await, |_| None)?;
        grepped.matches.retain(|found| self.gate.shows(&found.path));
        Ok(grepped)
    }

    async fn upload(&self, files: Vec<Upload>) -> Vec<Result<Written>> {
        let mut answers = Vec::with_capacity(files.len());
        for file in files {
            let call = Call::new(Operation::Upload, &file.path).with_bytes(file.content.len());
            answers.push(match self.admit(call).await {
                Err(error) => Err(error),
                Ok(pass) => {
                    let missing = Err(BackendError::file(&file.path, Errno::Io));
                    let answer = self.inner.upload(vec![file]).await.pop().unwrap_or(missing);
                    pass.settle(answer, |written| Some(written.bytes))
                }
            });
        }
        answers
    }

    async fn download(&self, paths: Vec<String>) -> Vec<Result<Vec<u8>>> {
        let mut answers = Vec::with_capacity(paths.len());
        for path in paths {
            answers.push(match self.admit(Call::new(Operation::Download, &path)).await {
                Err(error) => Err(error),
                Ok(pass) => {
                    let missing = Err(BackendError::file(&path, Errno::Io));
                    let answer = self.inner.download(vec![path]).await.pop().unwrap_or(missing);
                    pass.settle(answer, |content| Some(content.len() as u64))
                }
            });
        }
        answers
    }

    async fn resolve(&self, path: &str) -> Result<String> {
        let pass = self.admit(Call::new(Operation::Resolve, path)).await?;
        pass.settle(self.inner.resolve(path).await, |_| None)
    }

    fn largest_file(&self) -> u64 {
        self.inner.largest_file()
    }

    fn fork(&self) -> Result<Arc<dyn Backend>> {
        Ok(Arc::new(Guarded { inner: self.inner.fork()?, gate: self.gate.clone() }))
    }

    fn sandbox(&self) -> Option<&dyn SandboxBackend> {
        self.inner.sandbox().map(|_| self as &dyn SandboxBackend)
    }
}

#[async_trait]
impl<G: Gate> SandboxBackend for Guarded<G> {
    fn id(&self) -> String {
        self.inner.sandbox().map_or_else(String::new, SandboxBackend::id)
    }

    async fn stream(&self, command: Command) -> Result<Box<dyn OutputStream>> {
        let pass = self.admit(Call::execute(&command, None)).await?;
        match self.executing()?.stream(command).await {
            Ok(stream) => Ok(Box::new(Watched { stream, pass, bytes: 0 })),
            Err(error) => pass.settle(Err(error), |_| None),
        }
    }

    async fn execute(&self, command: Command) -> Result<Output> {
        let pass = self.admit(Call::execute(&command, None)).await?;
        pass.settle_with(self.executing()?.execute(command).await, facts)
    }

    async fn execute_with_offload(&self, command: Command, offload: Offload) -> Result<Offloaded> {
        let pass = self.admit(Call::execute(&command, Some(&offload))).await?;
        let answer = self.executing()?.execute_with_offload(command, offload).await;
        pass.settle_with(answer, |offloaded| facts(&offloaded.output))
    }
}

fn facts(output: &Output) -> (Option<u64>, Option<u8>) {
    (Some(output.written()), Some(output.exit_code))
}

/// A command that runs, and is settled when it ends.
struct Watched<G: Gate> {
    stream: Box<dyn OutputStream>,
    pass: Pass<G>,
    bytes: u64,
}

#[async_trait]
impl<G: Gate> OutputStream for Watched<G> {
    async fn next(&mut self) -> Option<Chunk> {
        let chunk = self.stream.next().await?;
        self.bytes += chunk.bytes.len() as u64;
        Some(chunk)
    }

    async fn finish(mut self: Box<Self>) -> Completion {
        while self.next().await.is_some() {}
        let Watched { stream, pass, bytes } = *self;
        let completion = stream.finish().await;
        let _ = pass.settle_with(Ok(()), |()| (Some(bytes), Some(completion.exit_code)));
        completion
    }
}
