//! The tools `upload` and `download`: bytes as base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::change::WriteAnswer;
use super::{Call, Effect, Refusal, Reply, Tool};
use crate::backend::{Backend, Content, ReadAs, ReadRequest, WriteMode, WriteRequest};
use crate::limits::server::mcp as limits;

pub(super) struct Upload;

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct UploadArguments {
    /// The file: an absolute path, or one below /workspace. Missing directories are created.
    path: String,
    /// The bytes, as base64 (RFC 4648, with padding). At most 6 MiB of bytes in one call.
    base64: String,
    /// Append to the file, to send a large one in pieces.
    #[serde(default)]
    append: bool,
}

impl Tool for Upload {
    const NAME: &'static str = "upload";
    const TITLE: &'static str = "Upload bytes";
    const DESCRIPTION: &'static str = "Put bytes into a file of the sandbox, in one step. An existing file is \
        replaced. `write` is simpler for text.";
    const EFFECT: Effect = Effect::Changes;
    type Arguments = UploadArguments;
    type Answer = WriteAnswer;

    async fn call(arguments: UploadArguments, call: Call) -> Result<Reply<WriteAnswer>, Refusal> {
        let UploadArguments { path, base64, append } = arguments;
        let bytes = STANDARD.decode(base64).map_err(|error| Refusal(format!("base64: {error}")))?;
        let mode = if append { WriteMode::Append } else { WriteMode::Replace };
        let written = call.session.workspace().files.write(WriteRequest::new(&path, bytes).mode(mode)).await?;
        let answer = WriteAnswer { bytes: written.bytes };
        Ok(Reply::text(answer, format!("wrote {} bytes to {path}", written.bytes)))
    }
}

pub(super) struct Download;

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
#[serde(deny_unknown_fields)]
pub(super) struct DownloadArguments {
    /// The file: an absolute path, or one below /workspace. At most 6 MiB: `execute` can split a larger one.
    path: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(crate = "rmcp::schemars")]
pub(super) struct DownloadAnswer {
    /// The size of the file in bytes.
    bytes: u64,
    /// All bytes, as base64 (RFC 4648, with padding).
    base64: String,
}

impl Tool for Download {
    const NAME: &'static str = "download";
    const TITLE: &'static str = "Download bytes";
    const DESCRIPTION: &'static str = "All bytes of a file of the sandbox, as base64. `read` is simpler for text.";
    const EFFECT: Effect = Effect::Reads;
    type Arguments = DownloadArguments;
    type Answer = DownloadAnswer;

    async fn call(DownloadArguments { path }: DownloadArguments, call: Call) -> Result<Reply<DownloadAnswer>, Refusal> {
        let request = ReadRequest { path, r#as: ReadAs::Bytes { most: limits::DOWNLOAD_BYTES } };
        let bytes = match call.session.workspace().files.read(request).await? {
            Content::Bytes(bytes) => bytes,
            // An empty file has its own kind of content.
            _ => Vec::new(),
        };
        let base64 = STANDARD.encode(&bytes);
        let answer = DownloadAnswer { bytes: bytes.len() as u64, base64: base64.clone() };
        Ok(Reply::text(answer, base64))
    }
}
