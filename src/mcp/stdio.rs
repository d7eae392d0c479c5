//! One client over standard input and output: a message a line.
//!
//! A transport of our own, since the library's says nothing about a line that is too long or no JSON, and whoever sent it
//! would wait for ever. It also gives calls a moment to end when the client closes its input, and no longer.

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

use super::bounds;
use super::lines::{Line, Lines};
use super::seat::{Origin, Seat};
use super::server::{Server, Whose};

/// Serves one client until it closes its input or stops reading the output. What it left running has ended then.
pub async fn serve_stdio(
    origin: Arc<Origin>,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> io::Result<()> {
    let seat = Arc::new(origin.seat().map_err(io::Error::other)?);
    let server = Server { origin, whose: Whose::Only(Arc::clone(&seat)) };
    let served = match rmcp::serve_server(server, Frames::new(input, output, Arc::clone(&seat))).await {
        Ok(running) => running.waiting().await.map(|_| ()).map_err(io::Error::other),
        // It closed its input before it said anything.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(io::Error::other(error)),
    };
    seat.close().await;
    served
}

/// Messages as lines.
struct Frames<R> {
    input: Lines<R>,
    /// Whether there was a request: what comes before the first one means nothing.
    has_begun: bool,
    /// To the task that writes: frames that are handed to it are written whole, whoever is interrupted.
    output: Option<Sender<Vec<u8>>>,
    writer: Option<JoinHandle<()>>,
    seat: Arc<Seat>,
}

impl<R: AsyncRead + Send + Unpin> Frames<R> {
    fn new(input: R, output: impl AsyncWrite + Send + Unpin + 'static, seat: Arc<Seat>) -> Frames<R> {
        let (sender, receiver) = channel(bounds::PENDING_FRAMES);
        let writer = tokio::spawn(write_all(output, receiver, Arc::clone(&seat)));
        Frames {
            input: Lines::new(input, bounds::MESSAGE_BYTES),
            has_begun: false,
            output: Some(sender),
            writer: Some(writer),
            seat,
        }
    }

    /// Says what was wrong with a message. A client that sends such messages and reads no answers gets fewer of them.
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
                    let seat = Arc::clone(&self.seat);
                    tokio::spawn(async move {
                        tokio::time::sleep(bounds::LAST_CALLS).await;
                        seat.closed.cancel();
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
            // A client that reads nothing any more is not waited for.
            if tokio::time::timeout(bounds::LAST_CALLS, &mut writer).await.is_err() {
                writer.abort();
            }
        }
        Ok(())
    }
}

pub(super) fn too_long() -> String {
    format!("a message of more than {} bytes", bounds::MESSAGE_BYTES)
}

fn frame(message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut frame = serde_json::to_vec(message)?;
    frame.push(b'\n');
    Ok(frame)
}

/// A line as a message; nothing if it is blank.
fn parse(line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, (ErrorCode, String, Option<RequestId>)> {
    /// What can be said of a message that makes no sense.
    #[derive(Deserialize)]
    struct Addressed {
        id: Option<RequestId>,
    }
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    serde_json::from_slice(line).map(Some).map_err(|error| match error.classify() {
        Category::Data => {
            let id = serde_json::from_slice::<Addressed>(line).ok().and_then(|message| message.id);
            (ErrorCode::INVALID_REQUEST, "not a message of the protocol".to_owned(), id)
        }
        _ => (ErrorCode::PARSE_ERROR, format!("not JSON: {error}"), None),
    })
}

/// Writes frames until there are no more. A client that reads none any more has gone, and its calls end.
async fn write_all(mut output: impl AsyncWrite + Unpin, mut frames: Receiver<Vec<u8>>, seat: Arc<Seat>) {
    while let Some(frame) = frames.recv().await {
        let written = async { output.write_all(&frame).await.and(output.flush().await) };
        if written.await.is_err() {
            seat.closed.cancel();
            return;
        }
    }
}
