//! Sessions over HTTP, each in a process of its own. This process asks for the key, counts sessions and sends requests on
//! by the session that they name; what a session is, its worker knows.

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Frame};
use hyper::header::{CONTENT_TYPE, RETRY_AFTER};
use hyper::{Method, Request, Response, StatusCode};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::bounds;
use super::http::{Answer, plain, with};
use super::sessions::SESSION_ID;
use crate::worker::Spawner;
use crate::worker::process::{Lost, Process};
use crate::worker::relay::{self, Pieces};

/// How often sessions that nobody uses are looked for.
const LOOK: Duration = Duration::from_secs(1);

/// The sessions and their workers.
pub(super) struct Workers {
    spawner: Spawner,
    /// A permit for each worker.
    room: Arc<Semaphore>,
    idle: Duration,
    /// Guards who has which worker. Held for a look-up.
    table: Mutex<HashMap<String, Arc<Post>>>,
}

/// A worker and its one session.
struct Post {
    process: Arc<Process>,
    /// Messages that are not answered yet.
    calls: AtomicUsize,
    /// Guards the time of the last message.
    last_used: Mutex<Instant>,
    _room: OwnedSemaphorePermit,
}

/// A message that is being answered.
struct Call(Arc<Post>);

impl Call {
    fn of(post: &Arc<Post>) -> Call {
        post.calls.fetch_add(1, Ordering::AcqRel);
        Call(Arc::clone(post))
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        *lock(&self.0.last_used) = Instant::now();
        self.0.calls.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Workers {
    pub(super) fn new(spawner: Spawner, most: usize, idle: Duration) -> Workers {
        Workers { spawner, room: Arc::new(Semaphore::new(most)), idle, table: Mutex::default() }
    }

    pub(super) fn is_full(&self) -> bool {
        self.room.available_permits() == 0
    }

    /// Whether there is such a session. One whose worker died is none any more.
    pub(super) fn knows(&self, id: &str) -> bool {
        let mut table = self.table();
        let lives = table.get(id).is_some_and(|post| post.process.is_alive());
        if !lives {
            table.remove(id);
        }
        lives
    }

    /// Sends a request to the worker of its session, or to a new one.
    pub(super) async fn answer(&self, request: Request<Full<Bytes>>) -> Answer {
        let id = request.headers().get(SESSION_ID).and_then(|id| id.to_str().ok()).map(str::to_owned);
        let method = request.method().clone();
        let message = if method == Method::POST { id_of(&request) } else { None };
        let post = match &id {
            Some(id) => self.table().get(id).cloned(),
            None => match self.start().await {
                Ok(post) => Some(post),
                Err(answer) => return answer,
            },
        };
        let Some(post) = post else { return plain(StatusCode::NOT_FOUND, "there is no such session") };
        // Whoever only listens does not keep a session.
        let call = (method == Method::POST).then(|| Call::of(&post));
        let answer = match relay::ask(&post.process, request).await {
            Ok(answer) => answer,
            Err(lost) => return lost_answer(message.as_ref(), &lost),
        };
        let given = answer.headers().get(SESSION_ID).and_then(|id| id.to_str().ok()).map(str::to_owned);
        if let (None, Some(given)) = (&id, given) {
            self.table().insert(given, Arc::clone(&post));
        }
        if let (Some(id), &Method::DELETE, true) = (&id, &method, answer.status().is_success()) {
            self.table().remove(id);
            post.process.end().await;
        }
        streamed(answer, Kept { _call: call, _post: post }, message)
    }

    /// A worker for a client that has no session yet. If it gets none, the worker ends with its answer.
    async fn start(&self) -> Result<Arc<Post>, Answer> {
        let full = || with(plain(StatusCode::SERVICE_UNAVAILABLE, "there are too many sessions"), RETRY_AFTER, "10");
        let room = Arc::clone(&self.room).try_acquire_owned().map_err(|_| full())?;
        let process = Process::start(&self.spawner).await;
        let process = process.map_err(|lost| plain(StatusCode::INTERNAL_SERVER_ERROR, lost.to_string()))?;
        Ok(Arc::new(Post {
            process: Arc::new(process),
            calls: AtomicUsize::new(0),
            last_used: Mutex::new(Instant::now()),
            _room: room,
        }))
    }

    /// Ends sessions that no message came for in their time, or whose workers died, for ever.
    pub(super) async fn tend(&self) {
        loop {
            tokio::time::sleep(LOOK).await;
            let is_over = |post: &Post| {
                let is_idle = post.calls.load(Ordering::Acquire) == 0 && lock(&post.last_used).elapsed() > self.idle;
                is_idle || !post.process.is_alive()
            };
            let over: Vec<Arc<Post>> = self.table().extract_if(|_, post| is_over(post)).map(|(_, post)| post).collect();
            for post in over {
                post.process.end().await;
            }
        }
    }

    /// Ends them all.
    pub(super) async fn close(&self) {
        let all = std::mem::take(&mut *self.table());
        for post in all.into_values() {
            post.process.end().await;
        }
    }

    fn table(&self) -> MutexGuard<'_, HashMap<String, Arc<Post>>> {
        lock(&self.table)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The id that a message waits for an answer by.
fn id_of(request: &Request<Full<Bytes>>) -> Option<Value> {
    #[derive(Deserialize)]
    struct Addressed {
        id: Option<Value>,
        method: Option<String>,
    }
    let body = request.body().clone();
    let bytes = futures::executor::block_on(body.collect()).ok()?.to_bytes();
    let message: Addressed = serde_json::from_slice(&bytes).ok()?;
    message.id.filter(|_| message.method.is_some())
}

/// The answer to a message whose worker is gone.
fn lost_answer(message: Option<&Value>, lost: &Lost) -> Answer {
    match message {
        Some(id) => with(plain(StatusCode::OK, error(id, lost)), CONTENT_TYPE, "application/json"),
        None => plain(StatusCode::BAD_GATEWAY, lost.to_string()),
    }
}

/// A message that says that a call came to nothing.
pub(super) fn error(id: &Value, lost: &Lost) -> String {
    let error = serde_json::json!({ "code": INTERNAL_ERROR, "message": lost.to_string() });
    serde_json::json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string()
}

/// JSON-RPC's own number for it.
const INTERNAL_ERROR: i32 = -32603;

/// What lasts until an answer is sent.
struct Kept {
    _call: Option<Call>,
    _post: Arc<Post>,
}

/// A worker's answer as ours. A task brings it over: a body that nobody reads would not notice the worker's end.
fn streamed(answer: Response<Pieces>, kept: Kept, message: Option<Value>) -> Answer {
    let is_events = answer.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
    answer.map(|mut pieces| {
        let (to, from) = mpsc::channel(bounds::PENDING_FRAMES);
        tokio::spawn(async move {
            let _kept = kept;
            let bring = async {
                while let Some(piece) = pieces.next().await {
                    let piece = match (piece, &message) {
                        (Ok(piece), _) => piece,
                        // Whatever event was cut off by it.
                        (Err(lost), Some(id)) if is_events => {
                            Bytes::from(format!("\n\ndata: {}\n\n", error(id, &lost)))
                        }
                        (Err(_), _) => return,
                    };
                    if to.send(piece).await.is_err() {
                        return;
                    }
                }
            };
            tokio::select! {
                () = bring => {}
                // The client has gone.
                () = to.closed() => {}
            }
        });
        Brought(from).boxed()
    })
}

/// A body that comes over a channel.
struct Brought(mpsc::Receiver<Bytes>);

impl Body for Brought {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(cx).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}
