//! Executing a command: what is asked, what comes back, and where too much output goes.

use std::future::Future;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use super::{Result, Transcript, WriteMode, WriteRequest, Written, bounds};
use crate::kernel::Channel;
use crate::limits::Exceeded;
use crate::sandbox::Chunk;

/// A command line for the backend's shell.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct ExecuteRequest {
    /// The line.
    pub command: String,
    /// Wall clock, instead of the backend's own.
    pub timeout: Option<Duration>,
    /// The directory to start in, instead of the backend's own.
    pub cwd: Option<String>,
    /// Variables beside or instead of the backend's own.
    pub env: Vec<(String, String)>,
    /// What it reads; nothing if this is empty.
    pub stdin: Bytes,
    /// Bytes of output to answer with, instead of the backend's own limit.
    pub output: Option<u64>,
}

impl ExecuteRequest {
    /// A command line, with all else as the backend has it.
    pub fn new(command: impl Into<String>) -> ExecuteRequest {
        ExecuteRequest { command: command.into(), ..ExecuteRequest::default() }
    }

    /// Wall clock of this command.
    pub fn timeout(mut self, timeout: Duration) -> ExecuteRequest {
        self.timeout = Some(timeout);
        self
    }

    /// The directory to start in.
    pub fn cwd(mut self, directory: impl Into<String>) -> ExecuteRequest {
        self.cwd = Some(directory.into());
        self
    }

    /// A variable of its environment.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> ExecuteRequest {
        self.env.push((name.into(), value.into()));
        self
    }

    /// What it reads.
    pub fn stdin(mut self, bytes: impl Into<Bytes>) -> ExecuteRequest {
        self.stdin = bytes.into();
        self
    }

    /// Bytes of output to answer with.
    pub fn output(mut self, bytes: u64) -> ExecuteRequest {
        self.output = Some(bytes);
        self
    }
}

impl From<&str> for ExecuteRequest {
    fn from(command: &str) -> ExecuteRequest {
        ExecuteRequest::new(command)
    }
}

/// A command that runs. Dropping it ends the command.
#[async_trait]
pub trait OutputStream: Send {
    /// The next piece of output, `None` at the end.
    async fn next(&mut self) -> Option<Chunk>;

    /// How the command ended; what is left of its output is dropped.
    async fn finish(self: Box<Self>) -> Ending;
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Ending {
    /// 0 to 255; 128 and the signal's number if the command was killed, 124 if its time was over.
    pub exit_code: u8,
    /// Whether its time was over. Its standard error then ends in a line that says so.
    pub timed_out: bool,
    /// The limits that were hit.
    pub limits: Vec<Exceeded>,
    /// From start to end.
    pub wall: Duration,
}

/// The answer of a command.
#[derive(Debug, Clone)]
pub struct Executed {
    /// What it wrote.
    pub transcript: Transcript,
    /// How it ended.
    pub ending: Ending,
}

impl Executed {
    /// Both outputs in the order of writing.
    pub fn output(&self) -> Vec<u8> {
        self.transcript.output()
    }

    /// Standard output.
    pub fn stdout(&self) -> Vec<u8> {
        self.transcript.of(Channel::Stdout)
    }

    /// Standard error.
    pub fn stderr(&self) -> Vec<u8> {
        self.transcript.of(Channel::Stderr)
    }

    /// The exit code.
    pub fn exit_code(&self) -> u8 {
        self.ending.exit_code
    }

    /// Whether output was left out because there was too much.
    pub fn is_truncated(&self) -> bool {
        self.transcript.dropped() > 0
    }
}

/// Where output goes that is too long to hand back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offload {
    /// The file to put it into; what was there before is replaced.
    pub path: String,
    /// Bytes up to which it is handed back and no file is made.
    pub inline: u64,
    /// Bytes that the file may have; what is over is dropped.
    pub most: u64,
}

impl Offload {
    /// More than `inline` bytes go to a file.
    pub fn new(path: impl Into<String>, inline: u64) -> Offload {
        Offload { path: path.into(), inline, most: bounds::CAPTURE_BYTES }
    }
}

/// The answer of a command whose output may be in a file.
#[derive(Debug, Clone)]
pub struct Offloaded {
    /// The answer; if there is a file, with head and tail of the output only.
    pub executed: Executed,
    /// The file, if there is one.
    pub file: Option<Captured>,
}

/// Output in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// Bytes in the file.
    pub bytes: u64,
    /// Ends of lines in the file.
    pub newlines: u64,
    /// Whether the command wrote more than the file may have, or than there was room for.
    pub is_cut: bool,
}

/// Keeps what a stream brings.
pub(crate) async fn collect(mut stream: Box<dyn OutputStream>, limit: u64) -> Result<Executed> {
    let mut transcript = Transcript::new(limit);
    while let Some(chunk) = stream.next().await {
        transcript.push(chunk.channel, &chunk.bytes);
    }
    Ok(Executed { transcript, ending: stream.finish().await })
}

/// Brings a stream to a file as soon as it is more than may be handed back, piece by piece: output that nobody can hold in
/// memory is no reason to lose it.
pub(super) async fn offload<W, F>(mut stream: Box<dyn OutputStream>, how: &Offload, write: W) -> Result<Offloaded>
where
    W: Fn(WriteRequest) -> F,
    F: Future<Output = Result<Written>>,
{
    let mut transcript = Transcript::new(how.inline.max(bounds::PREVIEW_BYTES));
    let mut capture = Capture { pending: Vec::new(), file: None, most: how.most, path: &how.path };
    while let Some(chunk) = stream.next().await {
        transcript.push(chunk.channel, &chunk.bytes);
        capture.pending.extend_from_slice(&chunk.bytes);
        let is_long = transcript.total() > how.inline;
        if is_long && (capture.file.is_none() || capture.pending.len() >= bounds::CAPTURE_PIECE) {
            capture.flush(&write).await?;
        }
    }
    if capture.file.is_some() {
        capture.flush(&write).await?;
    }
    Ok(Offloaded { executed: Executed { transcript, ending: stream.finish().await }, file: capture.file })
}

/// Output on its way to a file.
struct Capture<'a> {
    pending: Vec<u8>,
    file: Option<Captured>,
    most: u64,
    path: &'a str,
}

impl Capture<'_> {
    async fn flush<F: Future<Output = Result<Written>>>(&mut self, write: &impl Fn(WriteRequest) -> F) -> Result<()> {
        let is_first = self.file.is_none();
        let file = self.file.get_or_insert(Captured { bytes: 0, newlines: 0, is_cut: false });
        let mut piece = std::mem::take(&mut self.pending);
        let room = usize::try_from(self.most - file.bytes).unwrap_or(usize::MAX);
        file.is_cut |= piece.len() > room;
        piece.truncate(room);
        if file.is_cut && piece.is_empty() && !is_first {
            return Ok(());
        }
        let (len, newlines) = (piece.len() as u64, piece.iter().filter(|byte| **byte == b'\n').count() as u64);
        let mode = if is_first { WriteMode::Replace } else { WriteMode::Append };
        match write(WriteRequest::new(self.path, piece).mode(mode)).await {
            Ok(_) => {
                file.bytes += len;
                file.newlines += newlines;
                Ok(())
            }
            Err(error) if is_first => Err(error),
            // The disk is full, say: what is there stays, the command goes on, and the answer says that it is cut.
            Err(_) => {
                (self.most, file.is_cut) = (file.bytes, true);
                Ok(())
            }
        }
    }
}
