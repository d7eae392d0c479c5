//! What host and worker say to each other: messages in frames, a frame its length and as many bytes.

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::backend::{
    BackendError, Content, EditRequest, Edited, Ending, ExecuteRequest, GlobRequest, Globbed, GrepRequest, Grepped,
    Listed, ReadRequest, WriteRequest, Written,
};
use crate::limits::{self, Limits};
use crate::sandbox::Chunk;
use crate::wall::Report;

/// What both ends must agree on. They come from the same source, but perhaps not from the same build.
pub(super) const VERSION: &str = concat!("isopod ", env!("CARGO_PKG_VERSION"), " worker 2");
/// Bytes that a frame may have besides the largest file: a command, its arguments, names, matches of a search.
pub(super) const SLACK: u64 = 48 << 20;
/// Bytes of the first frame.
pub(super) const HELLO_BYTES: u64 = 4 << 20;
/// Pieces of output of one command that are on their way.
pub(super) const WINDOW: usize = 32;

/// The answer to the first frame.
#[derive(Serialize, Deserialize)]
pub(super) enum Welcome {
    /// With what its wall holds.
    Ready(Report),
    Refused(String),
}

/// From the host.
#[derive(Serialize, Deserialize)]
pub(super) enum Order {
    /// To be answered under this number.
    Call(u64, Request),
    /// Nobody waits for the answer any more.
    Cancel(u64),
    /// There is room for another piece of output.
    More(u64),
}

/// What is asked.
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
    Execute(ExecuteRequest),
}

/// From the worker: all with the number of the call.
#[derive(Serialize, Deserialize)]
pub(super) enum News {
    Answer(u64, Result<Answer, BackendError>),
    /// A piece of a command's output.
    Piece(u64, Chunk),
    /// The command has ended.
    Ended(u64, Ending),
}

/// What is answered.
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

/// Why a frame could not be sent or understood.
#[derive(Debug, thiserror::Error)]
pub(super) enum WireError {
    #[error("a message of {0} bytes, {1} are allowed")]
    TooLong(u64, u64),
    #[error("a message that makes no sense")]
    Nonsense,
    #[error(transparent)]
    Closed(#[from] std::io::Error),
}

/// Bytes of a frame between ends with these limits.
pub(super) fn longest(limits: &Limits) -> u64 {
    let most = limits.file.saturating_add(SLACK);
    // A length has four bytes.
    most.max(limits::TRANSFER_BYTES as u64).min(u64::from(u32::MAX))
}

/// A message as a frame.
pub(super) fn frame(message: &impl Serialize, longest: u64) -> Result<Vec<u8>, WireError> {
    let bytes = postcard::to_extend(message, vec![0; 4]).map_err(|_| WireError::Nonsense)?;
    let mut bytes: Vec<u8> = bytes;
    let length = (bytes.len() - 4) as u64;
    let field = u32::try_from(length).ok().filter(|_| length <= longest).ok_or(WireError::TooLong(length, longest))?;
    bytes[..4].copy_from_slice(&field.to_le_bytes());
    Ok(bytes)
}

/// The next message; `None` at the end.
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
    // Grows as the bytes come: a length alone costs nothing.
    let mut bytes = Vec::new();
    let mut rest = from.take(length);
    rest.read_to_end(&mut bytes).await?;
    if (bytes.len() as u64) < length {
        return Ok(None);
    }
    postcard::from_bytes(&bytes).map(Some).map_err(|_| WireError::Nonsense)
}
