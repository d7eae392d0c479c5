//! MCP over standard input and output: one message a line.
//!
//! The library's own transport does not answer a line that is too long or no JSON, so its sender would wait for ever.
//! This transport does. It also gives calls a bounded time to finish after the client closed its input.

use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::error::Category;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;

use super::lines::{Line, Lines};
use super::server::{Clients, Server};
use super::session::{ClientSession, SessionTemplate};
use crate::limits::server::mcp as limits;

/// Serves one client until it closes its input or stops reading the output. All its commands have ended when this
/// returns.
pub async fn serve_stdio(
    template: Arc<SessionTemplate>,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> io::Result<()> {
    let session = Arc::new(template.open_session().map_err(io::Error::other)?);
    let server = Server { template, clients: Clients::One(Arc::clone(&session)) };
    let served = match rmcp::serve_server(server, Frames::new(input, output, Arc::clone(&session))).await {
        Ok(running) => running.waiting().await.map(|_| ()).map_err(io::Error::other),
        // The client closed its input without a message.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(io::Error::other(error)),
    };
    session.close().await;
    served
}

/// The transport: messages as lines.
struct Frames<R> {
    input: Lines<R>,
    /// A request has been received. Messages before the first request are ignored.
    has_begun: bool,
    /// Frames for the writer task, which writes each of them whole, also if a caller is cancelled.
    output: Option<Sender<Vec<u8>>>,
    writer: Option<JoinHandle<()>>,
    session: Arc<ClientSession>,
}

impl<R: AsyncRead + Send + Unpin> Frames<R> {
    fn new(input: R, output: impl AsyncWrite + Send + Unpin + 'static, session: Arc<ClientSession>) -> Frames<R> {
        let (sender, receiver) = channel(limits::PENDING_FRAMES);
        let writer = tokio::spawn(write_all(output, receiver, Arc::clone(&session)));
        Frames {
            input: Lines::new(input, limits::MESSAGE_BYTES),
            has_begun: false,
            output: Some(sender),
            writer: Some(writer),
            session,
        }
    }

    /// Answers a message that is not valid. A client that reads no answers gets fewer of them: a full channel drops
    /// them.
    fn refuse(&self, code: ErrorCode, why: String, id: Option<RequestId>) {
        let error = ServerJsonRpcMessage::error(ErrorData::new(code, why, None), id);
        if let (Some(output), Ok(frame)) = (&self.output, frame(&error)) {
            let _ = output.try_send(frame);
        }
    }
}

impl<R: AsyncRead + Send + Unpin> Transport<RoleServer> for Frames<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let output = self.output.clone();
        async move {
            let output = output.ok_or(io::ErrorKind::NotConnected)?;
            output.send(frame(&message)?).await.map_err(|_| io::ErrorKind::BrokenPipe.into())
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let line = match self.input.next().await {
                Line::Whole(line) => line,
                Line::TooLong => {
                    self.refuse(ErrorCode::INVALID_REQUEST, too_long(), None);
                    continue;
                }
                Line::End => {
                    let session = Arc::clone(&self.session);
                    tokio::spawn(async move {
                        tokio::time::sleep(limits::LAST_CALLS_TIME).await;
                        session.closed.cancel();
                    });
                    return None;
                }
            };
            match parse(&line) {
                Ok(None) => {}
                Ok(Some(message)) => {
                    self.has_begun |= matches!(message, JsonRpcMessage::Request(_));
                    if self.has_begun {
                        return Some(message);
                    }
                }
                Err((code, why, id)) => self.refuse(code, why, id),
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.output = None;
        if let Some(mut writer) = self.writer.take() {
            // A client that does not read is not waited for.
            if tokio::time::timeout(limits::LAST_CALLS_TIME, &mut writer).await.is_err() {
                writer.abort();
            }
        }
        Ok(())
    }
}

pub(super) fn too_long() -> String {
    format!("a message of more than {} bytes", limits::MESSAGE_BYTES)
}

fn frame(message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut frame = serde_json::to_vec(message)?;
    frame.push(b'\n');
    Ok(frame)
}

/// Parses a line. `None` if it is blank.
fn parse(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, (ErrorCode, String, Option<RequestId>)> {
    /// The only part of an invalid message that its answer needs.
    #[derive(Deserialize)]
    struct MessageId {
        id: Option<RequestId>,
    }
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    serde_json::from_slice(line).map(Some).map_err(|error| match error.classify() {
        Category::Data => {
            let id = serde_json::from_slice::<MessageId>(line).ok().and_then(|message| message.id);
            (ErrorCode::INVALID_REQUEST, "not a message of the protocol".to_owned(), id)
        }
        _ => (ErrorCode::PARSE_ERROR, format!("not JSON: {error}"), None),
    })
}

/// Writes frames until the channel is closed. A failed write means that the client is gone: its calls end.
async fn write_all(mut output: impl AsyncWrite + Unpin, mut frames: Receiver<Vec<u8>>, session: Arc<ClientSession>) {
    while let Some(frame) = frames.recv().await {
        let written = async { output.write_all(&frame).await.and(output.flush().await) };
        if written.await.is_err() {
            session.closed.cancel();
            return;
        }
    }
}
