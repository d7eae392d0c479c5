//! Commands whose answer comes at their end, or as events while they write.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Duration;

use axum::Json as Answer;
use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::mpsc;
use utoipa::ToSchema;

use super::decode;
use crate::backend::{CommandLineJson, CompletionJson, Encoding, OutputJson, OutputStream, SandboxBackend, profile};
use crate::http::App;
use crate::http::body::{Json, Named};
use crate::http::error::{ApiError, Kind, Result};
use crate::kernel::Channel;
use crate::limits::server::http::{KEEP_ALIVE, OUTPUT_BYTES, PENDING_EVENTS};
use crate::sandbox::Command;

/// A command.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct Execute {
    /// A command line for the shell, or a list of a program and its arguments, which no shell reads.
    command: CommandLineJson,
    /// Milliseconds of wall clock, instead of the sandbox's own limit. At their end the exit code is 124.
    #[schema(minimum = 1)]
    timeout_ms: Option<u64>,
    /// The directory to start in, instead of `/workspace`.
    cwd: Option<String>,
    /// Variables that are added to the sandbox's own, or replace them.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Standard input.
    #[serde(default)]
    stdin: String,
    /// The encoding of `stdin`.
    #[serde(default)]
    stdin_encoding: Encoding,
    /// Bytes of output to answer with, instead of the sandbox's own limit; at most 16 MiB. A stream ignores it and
    /// sends all output.
    #[schema(maximum = 16777216)]
    output_bytes: Option<u64>,
}

/// An event of a stream.
#[derive(ToSchema)]
#[allow(dead_code, reason = "it is described, and written by hand")]
pub(in crate::http) struct Event {
    /// `stdout`, `stderr`, or `exit`, which is the last.
    event: String,
    /// JSON: `{"text": …}` or `{"base64": …}`; the last one is `{"exit_code": …, "timed_out": …, "limits": …,
    /// "wall_ms": …}`.
    data: String,
}

impl Execute {
    /// Converts the body into a request to a backend.
    pub(super) fn command(self) -> Result<Command> {
        if self.output_bytes.is_some_and(|bytes| bytes > OUTPUT_BYTES) {
            return Err(ApiError::new(Kind::Limit, format!("output_bytes: at most {OUTPUT_BYTES}")));
        }
        let mut command = Command::new(self.command.into());
        command.timeout = self.timeout_ms.map(Duration::from_millis);
        command.cwd = self.cwd;
        command.env = self.env.into_iter().collect();
        let stdin = decode(self.stdin_encoding, self.stdin)?;
        command.stdin = (!stdin.is_empty()).then(|| stdin.into());
        command.output_limit = self.output_bytes;
        Ok(command)
    }
}

/// Execute a command, and answer when it has ended.
#[utoipa::path(
    post, path = "/v1/sandboxes/{id}/execute", tag = "commands", params(("id" = String, Path)), request_body = Execute,
    responses((status = 200, body = OutputJson))
)]
pub(in crate::http) async fn execute(
    State(app): State<App>,
    Named(id): Named<String>,
    Json(body, _): Json<Execute>,
) -> Result<Answer<OutputJson>> {
    let command = body.command()?;
    let lease = app.lease(id.parse()?).await?;
    Ok(Answer(lease.execute(command).await?.into()))
}

/// Execute a command, and answer with events while it runs: `stdout`, `stderr`, and `exit` as the last one.
#[utoipa::path(
    post, path = "/v1/sandboxes/{id}/stream", tag = "commands", params(("id" = String, Path)), request_body = Execute,
    responses((status = 200, body = Event, content_type = "text/event-stream"))
)]
pub(in crate::http) async fn stream(
    State(app): State<App>,
    Named(id): Named<String>,
    Json(body, _): Json<Execute>,
) -> Result<Response> {
    let command = body.command()?;
    let lease = app.lease(id.parse()?).await?;
    Ok(events(lease.stream(command).await?, app.request_timeout))
}

/// Returns the events of a command as a response. A task sends them, so that neither the timeout nor a disconnect has
/// to wait for the connection to take more.
pub(super) fn events(stream: Box<dyn OutputStream>, time: Duration) -> Response {
    let (to, from) = mpsc::channel(PENDING_EVENTS);
    tokio::spawn(async move {
        tokio::select! {
            // The client has disconnected or does not read. Dropping the stream ends the command.
            () = to.closed() => {}
            () = tokio::time::sleep(time) => {}
            () = pump(stream, &to) => {}
        }
    });
    let body = futures::stream::unfold(from, |mut from: mpsc::Receiver<Bytes>| async move {
        from.recv().await.map(|event| (Ok::<_, Infallible>(event), from))
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    (headers, Body::from_stream(body)).into_response()
}

async fn pump(mut stream: Box<dyn OutputStream>, to: &mpsc::Sender<Bytes>) {
    let mut outputs = [("stdout", Characters::default()), ("stderr", Characters::default())];
    loop {
        match tokio::time::timeout(KEEP_ALIVE, stream.next()).await {
            Err(_) => drop(to.send(Bytes::from_static(b": nothing yet\n\n")).await),
            Ok(Some(chunk)) => {
                let (name, characters) = &mut outputs[usize::from(chunk.channel == Channel::Stderr)];
                send(to, name, characters.push(&chunk.bytes)).await;
            }
            Ok(None) => break,
        }
    }
    for (name, characters) in outputs {
        send(to, name, characters.rest).await;
    }
    let data = json!(CompletionJson::from(stream.finish().await));
    let _ = to.send(Bytes::from(format!("event: exit\ndata: {data}\n\n"))).await;
}

async fn send(to: &mpsc::Sender<Bytes>, name: &str, bytes: Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    let data = match String::from_utf8(bytes) {
        Ok(text) => json!({ "text": text }),
        Err(error) => json!({ "base64": profile::base64(error.as_bytes()) }),
    };
    // A failed send means that the receiver is gone: then this task is about to be dropped.
    let _ = to.send(Bytes::from(format!("event: {name}\ndata: {data}\n\n"))).await;
}

/// Splits bytes that come in pieces at the ends of characters.
#[derive(Default)]
struct Characters {
    /// The start of a character that continues in the next piece.
    rest: Vec<u8>,
}

impl Characters {
    fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut all = std::mem::take(&mut self.rest);
        all.extend_from_slice(bytes);
        if let Err(error) = std::str::from_utf8(&all)
            && error.error_len().is_none()
        {
            self.rest = all.split_off(error.valid_up_to());
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_in_two_pieces_is_one_character() {
        let text = "é✓𝄞".as_bytes();
        for at in 0..=text.len() {
            let mut characters = Characters::default();
            let pieces = [characters.push(&text[..at]), characters.push(&text[at..]), characters.rest];
            assert!(pieces.iter().all(|piece| std::str::from_utf8(piece).is_ok()), "{at}");
            assert_eq!(pieces.concat(), text);
        }
        let mut characters = Characters::default();
        assert_eq!(characters.push(b"\xff\xc3"), b"\xff\xc3");
        assert_eq!(characters.push(b"a\xc3"), b"a");
        assert_eq!(characters.rest, b"\xc3");
    }
}
