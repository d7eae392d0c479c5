//! The protocol between host and worker: messages in frames. A frame is the length of the message and the message.

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::backend::{
    BackendError, Content, EditRequest, Edited, GlobRequest, Globbed, GrepRequest, Grepped, Listed, ReadRequest,
    WriteRequest, Written,
};
use crate::limits::worker::FRAME_SLACK_BYTES;
use crate::limits::{self, Limits};
use crate::sandbox::{Chunk, Command, Completion};
use crate::wall::Report;

/// The version of the protocol. Both ends come from the same source, but perhaps not from the same build.
pub(super) const VERSION: &str = concat!("isopod ", env!("CARGO_PKG_VERSION"), " worker 3");

/// The answer to the first frame.
#[derive(Serialize, Deserialize)]
pub(super) enum Welcome {
    /// With the state of the worker's wall.
    Ready(Report),
    Refused(String),
}

/// A message from the host. Each has the number of its call.
#[derive(Serialize, Deserialize)]
pub(super) enum HostMessage {
    /// A request, to be answered under this number.
    Call(u64, Request),
    /// The caller does not wait for the answer any more.
    Cancel(u64),
    /// There is room for another piece of output.
    More(u64),
    /// A piece of standard input; an empty one is its end. Answers [`WorkerMessage::StdinWanted`].
    Stdin(u64, Bytes),
}

/// An operation of the sandbox.
#[derive(Serialize, Deserialize)]
pub(super) enum Request {
    Ls(String),
    Read(ReadRequest),
    Write(WriteRequest),
    Edit(EditRequest),
    Delete(String),
    Glob(GlobRequest),
    Grep(GrepRequest),
    Download(String),
    Resolve(String),
    Execute(Command),
    /// The standard input comes in messages.
    ExecuteWithStdin(Command),
}

/// A message from the worker. Each has the number of its call.
#[derive(Serialize, Deserialize)]
pub(super) enum WorkerMessage {
    Answer(u64, Result<Answer, BackendError>),
    /// A piece of a command's output.
    Output(u64, Chunk),
    /// The command waits for input. The next message of this kind comes after a [`HostMessage::Stdin`].
    StdinWanted(u64),
    /// The command has ended.
    Completed(u64, Completion),
}

/// The answer to a request.
#[derive(Serialize, Deserialize)]
pub(super) enum Answer {
    Listed(Listed),
    Content(Content),
    Written(Written),
    Edited(Edited),
    Done(()),
    Globbed(Globbed),
    Grepped(Grepped),
    Bytes(Bytes),
    Path(String),
    /// The command has started: its output follows.
    Started,
}

/// The reason for which a frame was not sent or not understood.
#[derive(Debug, thiserror::Error)]
pub(super) enum WireError {
    #[error("a message of {0} bytes, {1} are allowed")]
    TooLong(u64, u64),
    #[error("a message that makes no sense")]
    Nonsense,
    #[error(transparent)]
    Closed(#[from] std::io::Error),
}

/// The largest frame for a sandbox with these limits, in bytes.
pub(super) fn longest(limits: &Limits) -> u64 {
    let most = limits.file.saturating_add(FRAME_SLACK_BYTES);
    // A length has four bytes.
    most.max(limits::TRANSFER_BYTES as u64).min(u64::from(u32::MAX))
}

/// Makes a frame of a message.
pub(super) fn frame(message: &impl Serialize, longest: u64) -> Result<Vec<u8>, WireError> {
    let bytes = postcard::to_extend(message, vec![0; 4]).map_err(|_| WireError::Nonsense)?;
    let mut bytes: Vec<u8> = bytes;
    let length = (bytes.len() - 4) as u64;
    let field = u32::try_from(length).ok().filter(|_| length <= longest).ok_or(WireError::TooLong(length, longest))?;
    bytes[..4].copy_from_slice(&field.to_le_bytes());
    Ok(bytes)
}

/// Reads the next message; `None` at the end.
pub(super) async fn read<T: DeserializeOwned>(
    from: &mut (impl AsyncRead + Unpin),
    longest: u64,
) -> Result<Option<T>, WireError> {
    let mut field = [0; 4];
    match from.read_exact(&mut field).await {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    };
    let length = u64::from(u32::from_le_bytes(field));
    if length > longest {
        return Err(WireError::TooLong(length, longest));
    }
    // The buffer grows with the bytes that come, so that a false length allocates nothing.
    let mut bytes = Vec::new();
    let mut rest = from.take(length);
    rest.read_to_end(&mut bytes).await?;
    if (bytes.len() as u64) < length {
        return Ok(None);
    }
    postcard::from_bytes(&bytes).map(Some).map_err(|_| WireError::Nonsense)
}
