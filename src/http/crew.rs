//! Which worker has which sandbox, where sandboxes are in processes of their own.
//!
//! The process that answers clients is then a front: it asks for keys, admits, counts, lists and makes sandboxes, and runs
//! nothing of a guest's. All else goes to the worker of the sandbox, which is this same server for one sandbox.
//!
//! The table's lock is held for a look-up. A worker that somebody uses is never ended to make room, and neither is one whose
//! sandbox is leased: that is what keeps live shells.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::Request;
use axum::http::Method;
use axum::response::Response;

use super::error::{ApiError, ErrorBody, Kind, Result};
use crate::provider::{ProviderError, SandboxId};
use crate::worker::Spawner;
use crate::worker::process::{Lost, Process};
use crate::worker::relay::{self, Pieces};

/// How often idle workers are looked for.
const LOOK: Duration = Duration::from_secs(1);
/// How long a worker may take to say what it has.
const CENSUS_TIME: Duration = Duration::from_secs(1);
/// Routes that only a worker has: what it holds, and to lease a sandbox.
pub(super) const CENSUS: &str = "/worker/census";
pub(super) const LEASE: &str = "/worker/lease/";
/// Bytes of what a worker says of itself.
const CENSUS_BYTES: usize = 1024;

/// The workers.
pub(super) struct Crew {
    spawner: Spawner,
    most: usize,
    idle: Option<Duration>,
    table: Mutex<HashMap<SandboxId, Arc<Post>>>,
}

/// A sandbox's place in the table. There is one before there is a process, so that two requests start one process.
struct Post {
    process: tokio::sync::Mutex<Option<Arc<Process>>>,
    users: AtomicUsize,
    /// Guards the time of the last use.
    last_used: Mutex<Instant>,
}

/// A worker in use.
pub(super) struct Use {
    post: Arc<Post>,
}

/// What a worker holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Census {
    pub(super) leased: usize,
    pub(super) warm: usize,
    pub(super) sessions: usize,
}

impl Use {
    /// The post is used from here on. With the table's lock held, or it may go meanwhile.
    fn of(post: &Arc<Post>) -> Use {
        post.users.fetch_add(1, Ordering::AcqRel);
        Use { post: post.clone() }
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        *lock(&self.post.last_used) = Instant::now();
        self.post.users.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Post {
    fn new() -> Arc<Post> {
        Arc::new(Post {
            process: tokio::sync::Mutex::default(),
            users: AtomicUsize::new(0),
            last_used: Mutex::new(Instant::now()),
        })
    }

    fn is_used(&self) -> bool {
        self.users.load(Ordering::Acquire) > 0
    }

    /// Its process, if it lives.
    async fn living(&self) -> Option<Arc<Process>> {
        self.process.lock().await.clone().filter(|process| process.is_alive())
    }

    /// Ends its process, and waits until its lease is free.
    async fn end(&self) {
        let process = self.process.lock().await.take();
        if let Some(process) = process {
            process.end().await;
        }
    }
}

impl Crew {
    pub(super) fn new(spawner: Spawner, most: usize, idle: Option<Duration>) -> Crew {
        Crew { spawner, most, idle, table: Mutex::default() }
    }

    /// Whether a sandbox has a worker.
    pub(super) fn has(&self, id: SandboxId) -> bool {
        self.table().contains_key(&id)
    }

    /// Sends a request to the worker of a sandbox, which is started if need be.
    pub(super) async fn ask(&self, id: SandboxId, request: Request) -> Result<Response<Answer>> {
        let used = self.post(id).await?;
        let process = {
            let mut slot = used.post.process.lock().await;
            match slot.as_ref().filter(|process| process.is_alive()) {
                Some(process) => process.clone(),
                None => slot.insert(Arc::new(Process::start(&self.spawner).await?)).clone(),
            }
        };
        relay(process, request, Some(used)).await
    }

    /// Sends a request to the worker of a sandbox, if there is one that lives. Else it is the caller's again.
    pub(super) async fn ask_living(
        &self,
        id: SandboxId,
        request: Request,
    ) -> std::result::Result<Result<Response<Answer>>, Request> {
        let used = self.table().get(&id).map(Use::of);
        let Some(used) = used else { return Err(request) };
        let Some(process) = used.post.living().await else { return Err(request) };
        Ok(relay(process, request, Some(used)).await)
    }

    /// Sends a request that is about no sandbox yet to a worker that is there for nothing else.
    pub(super) async fn errand(&self, request: Request) -> Result<Response<Answer>> {
        let process = Arc::new(Process::start(&self.spawner).await?);
        relay(process, request, None).await
    }

    /// Has a sandbox leased by its worker.
    pub(super) async fn lease(&self, id: SandboxId) -> Result<()> {
        let mut answer = self.ask(id, internal(Method::POST, &format!("{LEASE}{id}"))?).await?;
        if answer.status().is_success() {
            return Ok(());
        }
        let refusal = read(&mut answer.body_mut().pieces).await;
        let refusal = refusal.and_then(|bytes| serde_json::from_slice::<ErrorBody>(&bytes).ok());
        Err(refusal.map_or_else(|| ApiError::new(Kind::Internal, "worker: no lease, and no reason"), ApiError::from))
    }

    /// Ends the worker of a sandbox, whatever it does. Its lease is free then.
    pub(super) async fn dismiss(&self, id: SandboxId) {
        let post = self.table().remove(&id);
        if let Some(post) = post {
            post.end().await;
        }
    }

    /// Ends all workers.
    pub(super) async fn dismiss_all(&self) {
        let ids: Vec<SandboxId> = self.table().keys().copied().collect();
        for id in ids {
            self.dismiss(id).await;
        }
    }

    /// What all workers hold together, and how many there are.
    pub(super) async fn census(&self) -> (usize, Census) {
        let posts: Vec<Arc<Post>> = self.table().values().cloned().collect();
        let all = futures::future::join_all(posts.iter().map(|post| census(post))).await;
        let living = all.iter().flatten();
        let sum = living.clone().fold(Census::default(), |sum, one| Census {
            leased: sum.leased + one.leased,
            warm: sum.warm + one.warm,
            sessions: sum.sessions + one.sessions,
        });
        (living.count(), sum)
    }

    /// Ends workers that nobody has used for too long, or that have died, for ever.
    pub(super) async fn tend(&self) {
        loop {
            tokio::time::sleep(LOOK).await;
            for (last_used, id, post) in self.unused() {
                let is_idle = self.idle.is_some_and(|idle| last_used.elapsed() > idle);
                let is_over = match post.living().await {
                    None => true,
                    Some(_) => is_idle && census(&post).await.is_none_or(|census| census.leased == 0),
                };
                if is_over && self.take_out(id, &post) {
                    post.end().await;
                }
            }
        }
    }

    /// The place of a sandbox, with room for it.
    async fn post(&self, id: SandboxId) -> Result<Use> {
        loop {
            {
                let mut table = self.table();
                if let Some(post) = table.get(&id) {
                    return Ok(Use::of(post));
                }
                if table.len() < self.most {
                    let post = table.entry(id).or_insert_with(Post::new);
                    return Ok(Use::of(post));
                }
            }
            self.make_room().await?;
        }
    }

    /// Ends the worker that was not used for the longest time and whose sandbox is not leased.
    async fn make_room(&self) -> Result<()> {
        let mut posts = self.unused();
        posts.sort_by_key(|(last_used, id, _)| (*last_used, *id));
        for (_, id, post) in posts {
            if census(&post).await.is_none_or(|census| census.leased == 0) && self.take_out(id, &post) {
                post.end().await;
                return Ok(());
            }
        }
        Err(ProviderError::AllLeased(self.most).into())
    }

    /// The posts that nobody uses, and since when.
    fn unused(&self) -> Vec<(Instant, SandboxId, Arc<Post>)> {
        let table = self.table();
        let unused = table.iter().filter(|(_, post)| !post.is_used());
        unused.map(|(id, post)| (*lock(&post.last_used), *id, post.clone())).collect()
    }

    /// Takes a post out of the table, unless somebody uses it or it is another one by now.
    fn take_out(&self, id: SandboxId, post: &Arc<Post>) -> bool {
        let mut table = self.table();
        let is_it = table.get(&id).is_some_and(|there| Arc::ptr_eq(there, post)) && !post.is_used();
        is_it && table.remove(&id).is_some()
    }

    fn table(&self) -> MutexGuard<'_, HashMap<SandboxId, Arc<Post>>> {
        lock(&self.table)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A worker's answer, and who uses the worker until all of it is there.
pub(super) struct Answer {
    pub(super) pieces: Pieces,
    _used: Option<Use>,
}

async fn relay(process: Arc<Process>, request: Request, used: Option<Use>) -> Result<Response<Answer>> {
    let answer = relay::ask(&process, request).await?;
    Ok(answer.map(|pieces| Answer { pieces, _used: used }))
}

/// What a worker holds; nothing if it does not live.
async fn census(post: &Post) -> Option<Census> {
    let process = post.living().await?;
    let ask = async {
        let mut answer = relay::ask(&process, internal(Method::GET, CENSUS).ok()?).await.ok()?;
        let bytes = read(answer.body_mut()).await?;
        serde_json::from_slice(&bytes).ok()
    };
    match tokio::time::timeout(CENSUS_TIME, ask).await {
        Ok(census) => census,
        // It is too busy to say: then it has something to do.
        Err(_) => Some(Census { leased: 1, warm: 0, sessions: 0 }),
    }
}

/// A short body; nothing if it breaks off or is longer than any of ours.
async fn read(pieces: &mut Pieces) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some(piece) = pieces.next().await {
        bytes.extend_from_slice(&piece.ok()?);
        if bytes.len() > CENSUS_BYTES {
            return None;
        }
    }
    Some(bytes)
}

fn internal(method: Method, path: &str) -> Result<Request> {
    let request = Request::builder().method(method).uri(path).header("host", "worker").body(Body::empty());
    request.map_err(|error| ApiError::new(Kind::Internal, error.to_string()))
}

impl From<Lost> for ApiError {
    fn from(lost: Lost) -> ApiError {
        let kind = match &lost {
            Lost::Died(_) => Kind::WorkerDied,
            Lost::Request(_) => Kind::BadRequest,
            Lost::Broken(_) => Kind::Internal,
        };
        ApiError::new(kind, lost.to_string())
    }
}
