//! MCP over standard input and output with the session in a worker process.
//!
//! The relay copies lines in both directions. If the worker dies, every pending call gets an error, and the next
//! message starts a new worker and replays `initialize`.
//!
//! ```text
//!  client ── lines ──► StdioRelay::forward ──► worker ──► forward_answers ──► writer task ── lines ──► client
//!                         │  remembers `initialize`          │  removes answered calls
//!                         └────────── PendingCalls ◄─────────┘
//! ```

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::lines::{Line, Lines};
use super::session_workers::error;
use super::stdio::too_long;
use crate::limits::server::mcp as limits;
use crate::sync::lock;
use crate::worker::Spawner;
use crate::worker::process::{Lost, Process};

/// Serves one client until it closes its input or stops reading the output, with its session in a worker process.
pub async fn serve_stdio_isolated(
    spawner: Spawner,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> io::Result<()> {
    let (out, frames) = mpsc::channel(limits::PENDING_FRAMES);
    let writer = tokio::spawn(write_all(output, frames));
    let mut relay = StdioRelay { spawner, pending: PendingCalls::default(), handshake: Vec::new(), worker: None, out };
    // Started before the first message, so that a worker that cannot start is an error of this call.
    relay.worker = Some(relay.start_worker().await.map_err(io::Error::other)?);
    let mut lines = Lines::new(input, limits::MESSAGE_BYTES);
    loop {
        let line = tokio::select! {
            line = lines.next() => line,
            // The client reads no more answers.
            () = relay.out.closed() => break,
        };
        match line {
            Line::Whole(line) => relay.forward(line).await,
            Line::TooLong => {
                let refusal = serde_json::json!({ "code": -32600, "message": too_long() });
                let refusal = serde_json::json!({ "jsonrpc": "2.0", "id": null, "error": refusal });
                relay.send_to_client(refusal.to_string().into_bytes()).await;
            }
            Line::End => break,
        }
    }
    relay.close().await;
    // All answers are in the channel. A client that does not read is not waited for.
    let _ = tokio::time::timeout(limits::LAST_CALLS_TIME, writer).await;
    Ok(())
}

/// Calls without an answer, by their ids as text. The lock is held for a look-up.
#[derive(Clone, Default)]
struct PendingCalls {
    calls: Arc<Mutex<HashMap<String, Value>>>,
    /// The client has closed its input, so the worker's end is no failure.
    is_closing: Arc<AtomicBool>,
}

impl PendingCalls {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Value>> {
        lock(&self.calls)
    }
}

struct StdioRelay {
    spawner: Spawner,
    pending: PendingCalls,
    /// The client's first messages, for the next worker.
    handshake: Vec<Vec<u8>>,
    worker: Option<WorkerConnection>,
    /// Lines for the client.
    out: mpsc::Sender<Vec<u8>>,
}

/// A worker, its input, and the task that reads its output.
struct WorkerConnection {
    process: Arc<Process>,
    to: OwnedWriteHalf,
    reader: JoinHandle<()>,
}

/// The fields of a message that the relay needs.
#[derive(Deserialize)]
struct Message {
    id: Option<Value>,
    method: Option<String>,
    params: Option<Cancelled>,
}

#[derive(Deserialize)]
struct Cancelled {
    #[serde(rename = "requestId")]
    request_id: Option<Value>,
}

impl StdioRelay {
    /// Sends a message of the client to the worker.
    async fn forward(&mut self, mut line: Vec<u8>) {
        let message = serde_json::from_slice::<Message>(&line).ok();
        let method = message.as_ref().and_then(|message| message.method.as_deref());
        let call = message.as_ref().and_then(|message| message.id.as_ref()).filter(|_| method.is_some()).cloned();
        let begins = method == Some("initialize");
        line.push(b'\n');
        if begins {
            self.handshake.clear();
        }
        if self.worker.as_ref().is_none_or(|worker| worker.reader.is_finished() || !worker.process.is_alive()) {
            match self.start_worker().await {
                Ok(worker) => self.worker = Some(worker),
                Err(lost) => {
                    self.worker = None;
                    if let Some(id) = call {
                        self.send_to_client(error(&id, &lost).into_bytes()).await;
                    }
                    return;
                }
            }
        }
        if begins || method == Some("notifications/initialized") {
            self.handshake.push(line.clone());
        }
        if let Some(id) = call {
            self.pending.lock().insert(id.to_string(), id);
        }
        // A cancelled call gets no answer.
        if method == Some("notifications/cancelled")
            && let Some(id) = message.as_ref().and_then(|message| message.params.as_ref()?.request_id.as_ref())
        {
            self.pending.lock().remove(&id.to_string());
        }
        let Some(worker) = &mut self.worker else { return };
        if let Err(error) = worker.to.write_all(&line).await {
            // The worker may have died before this call was recorded, and after the pending calls had failed.
            let lost = worker.process.lost(&error.to_string()).await;
            fail_pending(&self.pending, &lost, &self.out).await;
        }
    }

    /// Starts a worker and replays the client's first messages.
    async fn start_worker(&self) -> Result<WorkerConnection, Lost> {
        let process = Arc::new(Process::start(&self.spawner).await?);
        let (from, mut to) = process.connect().await?.into_split();
        let known = self.handshake.first().and_then(|line| serde_json::from_slice::<Message>(line).ok()?.id);
        for line in &self.handshake {
            if let Err(error) = to.write_all(line).await {
                return Err(process.lost(&error.to_string()).await);
            }
        }
        let reader =
            tokio::spawn(forward_answers(process.clone(), from, known, self.pending.clone(), self.out.clone()));
        Ok(WorkerConnection { process, to, reader })
    }

    async fn send_to_client(&self, mut line: Vec<u8>) {
        line.push(b'\n');
        // A failed send means that the client does not read: then the relay is about to end.
        let _ = self.out.send(line).await;
    }

    /// Closes the worker's input and waits for its last answers.
    async fn close(self) {
        self.pending.is_closing.store(true, Ordering::Release);
        let Some(WorkerConnection { process, mut to, mut reader }) = self.worker else { return };
        // The worker may have ended already.
        let _ = to.shutdown().await;
        let _ = tokio::time::timeout(limits::WORKER_CLOSE_TIME, &mut reader).await;
        reader.abort();
        process.end().await;
    }
}

/// Copies a worker's answers to the client. At the worker's end it fails the pending calls.
async fn forward_answers(
    process: Arc<Process>,
    from: OwnedReadHalf,
    mut known: Option<Value>,
    pending: PendingCalls,
    out: mpsc::Sender<Vec<u8>>,
) {
    // A worker is not trusted to end its lines.
    let mut lines = Lines::new(from, limits::ANSWER_BYTES);
    loop {
        let mut line = match lines.next().await {
            Line::Whole(line) => line,
            Line::TooLong => {
                process.end().await;
                break;
            }
            Line::End => break,
        };
        let message = serde_json::from_slice::<Message>(&line).ok();
        if let Some(Message { id: Some(id), method: None, .. }) = message {
            if known.as_ref() == Some(&id) {
                // The client has the answer to `initialize` from the first worker.
                known = None;
                continue;
            }
            pending.lock().remove(&id.to_string());
        }
        line.push(b'\n');
        if out.send(line).await.is_err() {
            return;
        }
    }
    if pending.is_closing.load(Ordering::Acquire) {
        return;
    }
    let lost = process.lost("it closed the connection").await;
    fail_pending(&pending, &lost, &out).await;
}

/// Answers all pending calls with an error.
async fn fail_pending(pending: &PendingCalls, lost: &Lost, out: &mpsc::Sender<Vec<u8>>) {
    let all = std::mem::take(&mut *pending.lock());
    for id in all.into_values() {
        let mut line = error(&id, lost).into_bytes();
        line.push(b'\n');
        // A failed send means that the client does not read.
        let _ = out.send(line).await;
    }
}

async fn write_all(mut output: impl AsyncWrite + Unpin, mut frames: mpsc::Receiver<Vec<u8>>) {
    while let Some(frame) = frames.recv().await {
        let written = async { output.write_all(&frame).await.and(output.flush().await) };
        if written.await.is_err() {
            return;
        }
    }
}
