//! One client over standard input and output, whose seat is in another process. If that dies, whoever waits for an answer is
//! told so, and the next message finds a new one that has been told what the first was told: `initialize`.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::bounds;
use super::lines::{Line, Lines};
use super::stdio::too_long;
use super::workers::error;
use crate::worker::Spawner;
use crate::worker::process::{Lost, Process};

/// How long a worker has for its last words when the client has closed its input: calls have half a second, writing has
/// another, and a busy machine the rest.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// Serves one client until it closes its input or stops reading the output, with its seat in a process of its own.
pub async fn serve_stdio_isolated(
    spawner: Spawner,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> io::Result<()> {
    let (out, frames) = mpsc::channel(bounds::PENDING_FRAMES);
    let writer = tokio::spawn(write_all(output, frames));
    let mut stage = Stage { spawner, waiting: Waiting::default(), greeting: Vec::new(), actor: None, out };
    // Before anyone asks: a worker that cannot be is an error of the start.
    stage.actor = Some(stage.enter().await.map_err(io::Error::other)?);
    let mut lines = Lines::new(input, bounds::MESSAGE_BYTES);
    loop {
        let line = tokio::select! {
            line = lines.next() => line,
            // Nobody reads any more.
            () = stage.out.closed() => break,
        };
        match line {
            Line::Whole(line) => stage.take(line).await,
            Line::TooLong => {
                let refusal = serde_json::json!({ "code": -32600, "message": too_long() });
                let refusal = serde_json::json!({ "jsonrpc": "2.0", "id": null, "error": refusal });
                stage.say(refusal.to_string().into_bytes()).await;
            }
            Line::End => break,
        }
    }
    stage.close().await;
    // All that is to be said has been handed over, and whoever does not read is not waited for.
    let _ = tokio::time::timeout(bounds::LAST_CALLS, writer).await;
    Ok(())
}

/// Calls that wait for an answer, by their ids as text. Its lock is held for a look-up.
#[derive(Clone, Default)]
struct Waiting {
    calls: Arc<Mutex<HashMap<String, Value>>>,
    /// Whether the client has closed its input: a worker that ends then does what it should.
    is_closing: Arc<AtomicBool>,
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Value>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Stage {
    spawner: Spawner,
    waiting: Waiting,
    /// What a client says first, to be said again to the next worker.
    greeting: Vec<Vec<u8>>,
    actor: Option<Actor>,
    /// Lines for the client.
    out: mpsc::Sender<Vec<u8>>,
}

/// A worker, and what it hears and says.
struct Actor {
    process: Arc<Process>,
    to: OwnedWriteHalf,
    says: JoinHandle<()>,
}

/// What is read of a message.
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

impl Stage {
    /// Takes a message of the client's to the worker.
    async fn take(&mut self, mut line: Vec<u8>) {
        let message = serde_json::from_slice::<Message>(&line).ok();
        let method = message.as_ref().and_then(|message| message.method.as_deref());
        let call = message.as_ref().and_then(|message| message.id.as_ref()).filter(|_| method.is_some()).cloned();
        let begins = method == Some("initialize");
        line.push(b'\n');
        if begins {
            self.greeting.clear();
        }
        if self.actor.as_ref().is_none_or(|actor| actor.says.is_finished() || !actor.process.is_alive()) {
            match self.enter().await {
                Ok(actor) => self.actor = Some(actor),
                Err(lost) => {
                    self.actor = None;
                    if let Some(id) = call {
                        self.say(error(&id, &lost).into_bytes()).await;
                    }
                    return;
                }
            }
        }
        if begins || method == Some("notifications/initialized") {
            self.greeting.push(line.clone());
        }
        if let Some(id) = call {
            self.waiting.lock().insert(id.to_string(), id);
        }
        // Nobody answers what was cancelled.
        if method == Some("notifications/cancelled")
            && let Some(id) = message.as_ref().and_then(|message| message.params.as_ref()?.request_id.as_ref())
        {
            self.waiting.lock().remove(&id.to_string());
        }
        let Some(actor) = &mut self.actor else { return };
        if let Err(error) = actor.to.write_all(&line).await {
            // It may have died before this was noted down, and after the others had been told.
            let lost = actor.process.lost(&error.to_string()).await;
            bury(&self.waiting, &lost, &self.out).await;
        }
    }

    /// Starts a worker, and says to it what the client said first.
    async fn enter(&self) -> Result<Actor, Lost> {
        let process = Arc::new(Process::start(&self.spawner).await?);
        let (from, mut to) = process.connect().await?.into_split();
        let known = self.greeting.first().and_then(|line| serde_json::from_slice::<Message>(line).ok()?.id);
        for line in &self.greeting {
            if let Err(error) = to.write_all(line).await {
                return Err(process.lost(&error.to_string()).await);
            }
        }
        let says = tokio::spawn(bring(process.clone(), from, known, self.waiting.clone(), self.out.clone()));
        Ok(Actor { process, to, says })
    }

    async fn say(&self, mut line: Vec<u8>) {
        line.push(b'\n');
        // Without a reader this is about to end.
        let _ = self.out.send(line).await;
    }

    /// Closes the worker's input, and waits for what it has left to say.
    async fn close(self) {
        self.waiting.is_closing.store(true, Ordering::Release);
        let Some(Actor { process, mut to, mut says }) = self.actor else { return };
        // What is not answered then is not waited for, either.
        let _ = to.shutdown().await;
        let _ = tokio::time::timeout(LAST_WORDS, &mut says).await;
        says.abort();
        process.end().await;
    }
}

/// Brings what a worker says to the client, and what became of it.
async fn bring(
    process: Arc<Process>,
    from: OwnedReadHalf,
    mut known: Option<Value>,
    waiting: Waiting,
    out: mpsc::Sender<Vec<u8>>,
) {
    // A worker is not believed to end its lines.
    let mut lines = Lines::new(from, bounds::ANSWER_BYTES);
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
                // The answer to what was said for the second time.
                known = None;
                continue;
            }
            waiting.lock().remove(&id.to_string());
        }
        line.push(b'\n');
        if out.send(line).await.is_err() {
            return;
        }
    }
    if waiting.is_closing.load(Ordering::Acquire) {
        return;
    }
    let lost = process.lost("it says nothing any more").await;
    bury(&waiting, &lost, &out).await;
}

/// Tells all that wait that nothing comes.
async fn bury(waiting: &Waiting, lost: &Lost, out: &mpsc::Sender<Vec<u8>>) {
    let all = std::mem::take(&mut *waiting.lock());
    for id in all.into_values() {
        let mut line = error(&id, lost).into_bytes();
        line.push(b'\n');
        // Without a reader there is nobody to tell.
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
