//! Gates: layers that check each operation before it is done and see its outcome after.

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
    /// The name of the operation in records.
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

/// An operation that a caller requests.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// The operation.
    pub operation: Operation,
    /// The path. For a command, the file for output that is too long.
    pub path: Option<String>,
    /// The pattern of a search.
    pub pattern: Option<String>,
    /// The command.
    pub command: Option<CommandLine>,
    /// The working directory of the command, if the request has one.
    pub cwd: Option<String>,
    /// The number of bytes to write, if it is known before.
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

    /// Makes the plan of the command from its syntax tree. `None` if this is not a command.
    pub fn plan(&self) -> Option<Plan> {
        self.command.as_ref().map(|line| match line {
            CommandLine::Shell(text) => Plan::of(text),
            CommandLine::Program(argv) => Plan::of_program(argv),
        })
    }

    /// Returns true if the operation itself changes files.
    pub fn writes(&self) -> bool {
        matches!(self.operation, Operation::Write | Operation::Edit | Operation::Delete | Operation::Upload)
    }
}

/// The outcome of an operation.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Outcome<'a> {
    /// The error, if the operation failed.
    pub error: Option<&'a BackendError>,
    /// True if the caller was dropped before the end.
    pub is_cancelled: bool,
    /// The number of bytes that were read, written or output.
    pub bytes: Option<u64>,
    /// The exit code of a command.
    pub exit_code: Option<u8>,
    /// The time from the request to the result.
    pub duration: Duration,
}

/// A value that a gate holds while an operation is done, such as the guard of a lock.
pub type AdmissionGuard = Option<Box<dyn Send + Sync>>;

/// Admits or refuses operations.
#[async_trait]
pub trait Gate: Send + Sync + 'static {
    /// Called before an operation. An error refuses it.
    async fn admit(&self, call: &Call, inner: &dyn Backend) -> Result<AdmissionGuard>;

    /// Called after an operation that was admitted, whatever its outcome.
    fn settle(&self, call: &Call, outcome: &Outcome<'_>) {
        let _ = (call, outcome);
    }

    /// Returns true if results may contain this path.
    fn shows(&self, path: &str) -> bool {
        let _ = path;
        true
    }

    /// The largest size of a file after an edit, in bytes.
    fn edit_room(&self) -> u64 {
        u64::MAX
    }
}

/// A backend whose operations a gate admits.
pub struct GatedBackend<G> {
    inner: Arc<dyn Backend>,
    gate: Arc<G>,
}

impl<G: Gate> GatedBackend<G> {
    /// Wraps a backend with a gate.
    pub fn new(inner: Arc<dyn Backend>, gate: G) -> GatedBackend<G> {
        GatedBackend { inner, gate: Arc::new(gate) }
    }

    /// The gate.
    pub fn gate(&self) -> &G {
        &self.gate
    }

    async fn admit(&self, call: Call) -> Result<AdmittedCall<G>> {
        let guard = self.gate.admit(&call, &*self.inner).await?;
        Ok(AdmittedCall { gate: self.gate.clone(), call: Some(call), began: Instant::now(), _guard: guard })
    }

    fn executing(&self) -> Result<&dyn SandboxBackend> {
        self.inner.sandbox().ok_or(BackendError::ExecutesNothing)
    }
}

/// An operation that was admitted. It is settled exactly once, also when its future is dropped.
struct AdmittedCall<G: Gate> {
    gate: Arc<G>,
    call: Option<Call>,
    began: Instant,
    _guard: AdmissionGuard,
}

impl<G: Gate> AdmittedCall<G> {
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

impl<G: Gate> Drop for AdmittedCall<G> {
    fn drop(&mut self) {
        let (bytes, exit_code) = (None, None);
        self.end(Outcome { error: None, is_cancelled: true, bytes, exit_code, duration: Duration::ZERO });
    }
}

#[async_trait]
impl<G: Gate> Backend for GatedBackend<G> {
    async fn ls(&self, path: &str) -> Result<Listed> {
        let admitted = self.admit(Call::new(Operation::Ls, path)).await?;
        let mut listed = admitted.settle(self.inner.ls(path).await, |_| None)?;
        listed.entries.retain(|entry| self.gate.shows(&entry.path));
        Ok(listed)
    }

    async fn read(&self, request: ReadRequest) -> Result<Content> {
        let admitted = self.admit(Call::new(Operation::Read, &request.path)).await?;
        admitted.settle(self.inner.read(request).await, |content| match content {
            Content::Text(page) => Some(page.text.len() as u64),
            Content::Bytes(bytes) => Some(bytes.len() as u64),
            Content::Empty | Content::NoLines => Some(0),
        })
    }

    async fn write(&self, request: WriteRequest) -> Result<Written> {
        let call = Call::new(Operation::Write, &request.path).with_bytes(request.content.len());
        let admitted = self.admit(call).await?;
        admitted.settle(self.inner.write(request).await, |written| Some(written.bytes))
    }

    async fn edit(&self, mut request: EditRequest) -> Result<Edited> {
        let admitted = self.admit(Call::new(Operation::Edit, &request.path)).await?;
        request.most = request.most.min(self.gate.edit_room());
        admitted.settle(self.inner.edit(request).await, |edited| Some(edited.bytes))
    }

    async fn delete(&self, path: &str) -> Result<()> {
        let admitted = self.admit(Call::new(Operation::Delete, path)).await?;
        admitted.settle(self.inner.delete(path).await, |()| None)
    }

    async fn glob(&self, request: GlobRequest) -> Result<Globbed> {
        let call = Call::new(Operation::Glob, &request.path).with_pattern(&request.pattern);
        let admitted = self.admit(call).await?;
        let mut globbed = admitted.settle(self.inner.glob(request).await, |_| None)?;
        globbed.matches.retain(|found| self.gate.shows(&found.path));
        Ok(globbed)
    }

    async fn grep(&self, request: GrepRequest) -> Result<Grepped> {
        let call = Call::new(Operation::Grep, &request.path).with_pattern(&request.pattern);
        let admitted = self.admit(call).await?;
        let mut grepped = admitted.settle(self.inner.grep(request).await, |_| None)?;
        grepped.matches.retain(|found| self.gate.shows(&found.path));
        Ok(grepped)
    }

    async fn upload(&self, files: Vec<Upload>) -> Vec<Result<Written>> {
        let mut answers = Vec::with_capacity(files.len());
        for file in files {
            let call = Call::new(Operation::Upload, &file.path).with_bytes(file.content.len());
            answers.push(match self.admit(call).await {
                Err(error) => Err(error),
                Ok(admitted) => {
                    let missing = Err(BackendError::file(&file.path, Errno::Io));
                    let answer = self.inner.upload(vec![file]).await.pop().unwrap_or(missing);
                    admitted.settle(answer, |written| Some(written.bytes))
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
                Ok(admitted) => {
                    let missing = Err(BackendError::file(&path, Errno::Io));
                    let answer = self.inner.download(vec![path]).await.pop().unwrap_or(missing);
                    admitted.settle(answer, |content| Some(content.len() as u64))
                }
            });
        }
        answers
    }

    async fn resolve(&self, path: &str) -> Result<String> {
        let admitted = self.admit(Call::new(Operation::Resolve, path)).await?;
        admitted.settle(self.inner.resolve(path).await, |_| None)
    }

    fn largest_file(&self) -> u64 {
        self.inner.largest_file()
    }

    fn fork(&self) -> Result<Arc<dyn Backend>> {
        Ok(Arc::new(GatedBackend { inner: self.inner.fork()?, gate: self.gate.clone() }))
    }

    fn sandbox(&self) -> Option<&dyn SandboxBackend> {
        self.inner.sandbox().map(|_| self as &dyn SandboxBackend)
    }
}

#[async_trait]
impl<G: Gate> SandboxBackend for GatedBackend<G> {
    fn id(&self) -> String {
        self.inner.sandbox().map_or_else(String::new, SandboxBackend::id)
    }

    async fn stream(&self, command: Command) -> Result<Box<dyn OutputStream>> {
        let admitted = self.admit(Call::execute(&command, None)).await?;
        match self.executing()?.stream(command).await {
            Ok(stream) => Ok(Box::new(GatedStream { stream, admitted, bytes: 0 })),
            Err(error) => admitted.settle(Err(error), |_| None),
        }
    }

    async fn execute(&self, command: Command) -> Result<Output> {
        let admitted = self.admit(Call::execute(&command, None)).await?;
        admitted.settle_with(self.executing()?.execute(command).await, facts)
    }

    async fn execute_with_offload(&self, command: Command, offload: Offload) -> Result<Offloaded> {
        let admitted = self.admit(Call::execute(&command, Some(&offload))).await?;
        let answer = self.executing()?.execute_with_offload(command, offload).await;
        admitted.settle_with(answer, |offloaded| facts(&offloaded.output))
    }
}

fn facts(output: &Output) -> (Option<u64>, Option<u8>) {
    (Some(output.written()), Some(output.exit_code))
}

/// The output of a running command, which is settled when it ends.
struct GatedStream<G: Gate> {
    stream: Box<dyn OutputStream>,
    admitted: AdmittedCall<G>,
    bytes: u64,
}

#[async_trait]
impl<G: Gate> OutputStream for GatedStream<G> {
    async fn next(&mut self) -> Option<Chunk> {
        let chunk = self.stream.next().await?;
        self.bytes += chunk.bytes.len() as u64;
        Some(chunk)
    }

    async fn finish(mut self: Box<Self>) -> Completion {
        while self.next().await.is_some() {}
        let GatedStream { stream, admitted, bytes } = *self;
        let completion = stream.finish().await;
        let _ = admitted.settle_with(Ok(()), |()| (Some(bytes), Some(completion.exit_code)));
        completion
    }
}
