//! What a command reads: nothing, bytes that are there from the start, or whatever comes.

use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::command::Stdin;
use crate::error::{Errno, Result};
use crate::kernel::{OpenFile, PipeWriter, pipe};
use crate::limits::TRANSFER_BYTES;
use crate::vfs::{File, Kind, SetTime, Stat};

/// A source and the pipe it is brought to.
pub(super) struct Feed {
    writer: PipeWriter,
    source: Box<dyn AsyncRead + Send + Unpin>,
}

/// Standard input as a file, and what has to be brought there meanwhile.
pub(super) fn open(stdin: Stdin) -> (OpenFile, Option<Feed>) {
    match stdin {
        // No input is a device such as /dev/null, not a pipe: a program like `rg` searches a pipe if it is given one.
        Stdin::Empty => (OpenFile::read_only(Arc::new(Text { bytes: Bytes::new(), kind: Kind::Device })), None),
        Stdin::Bytes(bytes) => {
            // A program that asks sees a pipe, as it would if a person had typed `… | command`.
            (OpenFile::read_only(Arc::new(Text { bytes: bytes.into(), kind: Kind::Pipe })), None)
        }
        Stdin::Reader(source) => {
            let (reader, writer) = pipe(0, None);
            (OpenFile::reader(reader), Some(Feed { writer, source }))
        }
    }
}

/// Runs a command while its input is brought to it. The command's end is the end, whatever is left to feed.
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
    /// Brings a source to its pipe until the source ends or nobody reads; then waits for ever.
    async fn all<T>(mut self) -> T {
        let mut buffer = vec![0; TRANSFER_BYTES];
        // A source that fails is at its end: the command cannot be told why.
        while let Ok(len @ 1..) = self.source.read(&mut buffer).await {
            if self.writer.write(Bytes::copy_from_slice(&buffer[..len])).await.is_err() {
                break;
            }
        }
        drop(self.writer);
        std::future::pending().await
    }
}

/// Standard input that is there from the start: a file that can only be read.
struct Text {
    bytes: Bytes,
    /// What it pretends to be.
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
