//! The standard input of a command: nothing, bytes that are there from the start, or a reader.

use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use tokio::io::AsyncReadExt;

use super::command::StdinReader;
use crate::error::{Errno, Result};
use crate::kernel::{OpenFile, PipeWriter, pipe};
use crate::limits::TRANSFER_BYTES;
use crate::vfs::{File, Kind, SetTime, Stat};

/// A reader and the pipe that it is copied to.
pub(super) struct Feed {
    writer: PipeWriter,
    reader: StdinReader,
}

/// Makes a file of a standard input; a reader has to be copied to it while the command runs. With a reader, `bytes` do not
/// count.
pub(super) fn open(bytes: Option<Bytes>, reader: Option<StdinReader>) -> (OpenFile, Option<Feed>) {
    if let Some(reader) = reader {
        let (end, writer) = pipe(0, None);
        return (OpenFile::reader(end), Some(Feed { writer, reader }));
    }
    let text = match bytes {
        // No input is a device such as /dev/null, not a pipe: a program like `rg` searches a pipe if it is given one.
        None => Text { bytes: Bytes::new(), kind: Kind::Device },
        // A program that asks sees a pipe, as it would after `… | command`.
        Some(bytes) => Text { bytes, kind: Kind::Pipe },
    };
    (OpenFile::read_only(Arc::new(text)), None)
}

/// Runs a command while its input is copied to it. The end of the command ends the copying.
pub(super) async fn feeding<T>(feed: Option<Feed>, command: impl Future<Output = T>) -> T {
    match feed {
        None => command.await,
        Some(feed) => tokio::select! {
            biased;
            ended = command => ended,
            never = feed.all() => never,
        },
    }
}

impl Feed {
    /// Copies the reader to the pipe until one of them ends; then waits for ever. The reader is read only when the
    /// command waits for input, so that a command which reads nothing takes nothing away from other readers of the
    /// same source.
    async fn all<T>(mut self) -> T {
        let mut buffer = Vec::new();
        while self.writer.wanted().await.is_ok() {
            buffer.resize(TRANSFER_BYTES, 0);
            // An error of the reader ends the input, since a pipe cannot carry the error to the command.
            let Ok(len @ 1..) = self.reader.read(&mut buffer).await else { break };
            if self.writer.write(Bytes::copy_from_slice(&buffer[..len])).await.is_err() {
                break;
            }
        }
        drop(self.writer);
        std::future::pending().await
    }
}

/// Input that is there from the start, as a file that can only be read.
struct Text {
    bytes: Bytes,
    /// The kind that `stat` shows.
    kind: Kind,
}

impl File for Text {
    fn read_at(&self, offset: u64, max: usize) -> Result<Bytes> {
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(self.bytes.len());
        let to = from.saturating_add(max).min(self.bytes.len());
        Ok(self.bytes.slice(from..to))
    }

    fn write_at(&self, _offset: u64, _bytes: &[u8]) -> Result<usize> {
        Err(Errno::BadDescriptor)
    }

    fn append(&self, _bytes: &[u8]) -> Result<u64> {
        Err(Errno::BadDescriptor)
    }

    fn stat(&self) -> Result<Stat> {
        Ok(Stat { kind: self.kind, size: self.bytes.len() as u64, ..Stat::of_pipe() })
    }

    fn set_len(&self, _len: u64) -> Result<()> {
        Err(Errno::Invalid)
    }

    fn set_times(&self, _accessed: SetTime, _modified: SetTime) -> Result<()> {
        Err(Errno::NotPermitted)
    }

    fn sync(&self) -> Result<()> {
        Err(Errno::Invalid)
    }
}
