//! The output of a command: as a stream, and in a file if it is too long to be returned.

use std::future::Future;

use async_trait::async_trait;

use super::{Result, WriteMode, WriteRequest, Written, bounds};
use crate::kernel::Transcript;
use crate::sandbox::{Chunk, Completion, Output};

/// The output of a running command. Dropping it ends the command.
#[async_trait]
pub trait OutputStream: Send {
    /// Returns the next piece of output, `None` at the end.
    async fn next(&mut self) -> Option<Chunk>;

    /// Waits for the end of the command. Output that was not read yet is dropped.
    async fn finish(self: Box<Self>) -> Completion;
}

/// The file for output that is too long to be returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offload {
    /// The path of the file. An existing file is replaced.
    pub path: String,
    /// Output of at most this many bytes is returned, and no file is made.
    pub inline: u64,
    /// The largest size of the file in bytes; output beyond it is dropped.
    pub most: u64,
}

impl Offload {
    /// Puts output of more than `inline` bytes into a file.
    pub fn new(path: impl Into<String>, inline: u64) -> Offload {
        Offload { path: path.into(), inline, most: bounds::CAPTURE_BYTES }
    }
}

/// The result of a command whose output may be in a file.
#[derive(Debug, Clone)]
pub struct Offloaded {
    /// The result; if there is a file, with head and tail of the output only.
    pub output: Output,
    /// The file, if there is one.
    pub file: Option<Captured>,
}

/// Output in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// Bytes in the file.
    pub bytes: u64,
    /// The number of line ends in the file.
    pub newlines: u64,
    /// The command wrote more than the file may hold, or more than there was room for.
    pub is_cut: bool,
}

/// Reads a stream to its end and keeps its output, up to a limit.
pub(crate) async fn collect(mut stream: Box<dyn OutputStream>, limit: u64) -> Result<Output> {
    let mut transcript = Transcript::new(limit);
    while let Some(chunk) = stream.next().await {
        transcript.push(chunk.channel, &chunk.bytes);
    }
    Ok(Output::new(transcript, stream.finish().await))
}

/// Reads a stream to its end. Once there is more than `how.inline` bytes, the output is written to the file in pieces,
/// so that it is never in memory as a whole.
pub(super) async fn offload<W, F>(mut stream: Box<dyn OutputStream>, how: &Offload, write: W) -> Result<Offloaded>
where
    W: Fn(WriteRequest) -> F,
    F: Future<Output = Result<Written>>,
{
    let mut transcript = Transcript::new(how.inline.max(bounds::PREVIEW_BYTES));
    let mut total = 0;
    let mut capture = FileCapture { pending: Vec::new(), file: None, most: how.most, path: &how.path };
    while let Some(chunk) = stream.next().await {
        transcript.push(chunk.channel, &chunk.bytes);
        capture.pending.extend_from_slice(&chunk.bytes);
        total += chunk.bytes.len() as u64;
        let is_long = total > how.inline;
        if is_long && (capture.file.is_none() || capture.pending.len() >= bounds::CAPTURE_PIECE) {
            capture.flush(&write).await?;
        }
    }
    if capture.file.is_some() {
        capture.flush(&write).await?;
    }
    Ok(Offloaded { output: Output::new(transcript, stream.finish().await), file: capture.file })
}

/// Output on its way to a file.
struct FileCapture<'a> {
    pending: Vec<u8>,
    file: Option<Captured>,
    most: u64,
    path: &'a str,
}

impl FileCapture<'_> {
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
            // The disk may be full. The file stays as it is, the command goes on, and the result has `is_cut`.
            Err(_) => {
                (self.most, file.is_cut) = (file.bytes, true);
                Ok(())
            }
        }
    }
}
