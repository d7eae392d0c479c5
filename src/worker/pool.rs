//! The worker processes of a server, each kept under a key.
//!
//! `isopod serve` has a worker for each sandbox and `isopod mcp` has one for each session over HTTP. Both servers start
//! their workers through the spawner, bound their number, pass them connections, and end the idle ones here.
//!
//! ```text
//!                 acquire(key)                      end(key), idle timeout, eviction
//!   (no worker) ───────────────► worker in table ────────────────────────────────────► removed, process killed
//!        │                          │       ▲
//!        │ add_unnamed()    process │       │ next request
//!        ▼                    died  ▼       │
//!   worker without a key ─────────► process is started again (acquire) or reported as lost (get)
//!           insert(key)
//! ```
//!
//! # Locks
//! The table's lock is held for a look-up only, and never across an await. A worker's own lock is held while its
//! process starts, so two requests for one key start one process. No other lock is taken while either is held, except
//! that
//! `last_used` is read under the table's lock.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Spawner;
use super::process::{Lost, Process};
use crate::limits::server::workers::SWEEP_PERIOD;
use crate::sync::lock;

/// Returns true if a worker that no request uses may be ended. Called before an eviction and after the idle timeout.
pub(crate) type EvictionCheck = fn(Arc<PooledWorker>) -> BoxFuture<'static, bool>;

/// The workers of a server.
pub(crate) struct WorkerPool<K> {
    spawner: Spawner,
    max_workers: usize,
    /// One permit for each worker that may still be added.
    slots: Arc<Semaphore>,
    idle_timeout: Option<Duration>,
    may_evict: EvictionCheck,
    table: Mutex<HashMap<K, Arc<PooledWorker>>>,
}

/// A worker in a pool. It exists before its process does, so that concurrent requests start one process.
pub(crate) struct PooledWorker {
    process: tokio::sync::Mutex<Option<Arc<Process>>>,
    /// Requests that use the worker now.
    users: AtomicUsize,
    /// Guards the time of the last use.
    last_used: Mutex<Instant>,
    /// Guards the worker's share of the bound. It is given back when the worker leaves the table, or is dropped.
    slot: Mutex<Option<OwnedSemaphorePermit>>,
}

/// A worker in use. The pool neither evicts it nor lets it time out before this is dropped.
pub(crate) struct ActiveWorker(Arc<PooledWorker>);

impl PooledWorker {
    fn new(slot: OwnedSemaphorePermit) -> Arc<PooledWorker> {
        Arc::new(PooledWorker {
            process: tokio::sync::Mutex::default(),
            users: AtomicUsize::new(0),
            last_used: Mutex::new(Instant::now()),
            slot: Mutex::new(Some(slot)),
        })
    }

    /// Returns the worker's process, dead or alive, if it was ever started.
    pub(crate) async fn process(&self) -> Option<Arc<Process>> {
        self.process.lock().await.clone()
    }

    /// Returns the worker's process if it is alive.
    pub(crate) async fn live_process(&self) -> Option<Arc<Process>> {
        self.process().await.filter(|process| process.is_alive())
    }

    fn is_used(&self) -> bool {
        self.users.load(Ordering::Acquire) > 0
    }

    /// Kills the process and waits until everything it held is free.
    async fn end(&self) {
        let process = self.process.lock().await.take();
        if let Some(process) = process {
            process.end().await;
        }
    }
}

impl ActiveWorker {
    /// Marks a worker as used. The caller holds the table's lock, unless the worker is not in the table yet: without
    /// the lock an eviction could end the worker before it is marked.
    fn new(worker: &Arc<PooledWorker>) -> ActiveWorker {
        worker.users.fetch_add(1, Ordering::AcqRel);
        ActiveWorker(worker.clone())
    }

    /// The worker itself, which does not count as used.
    pub(crate) fn worker(&self) -> &Arc<PooledWorker> {
        &self.0
    }
}

impl Drop for ActiveWorker {
    fn drop(&mut self) {
        *lock(&self.0.last_used) = Instant::now();
        self.0.users.fetch_sub(1, Ordering::AcqRel);
    }
}

impl<K: Clone + Eq + Hash + Ord> WorkerPool<K> {
    pub(crate) fn new(
        spawner: Spawner,
        max_workers: usize,
        idle_timeout: Option<Duration>,
        may_evict: EvictionCheck,
    ) -> WorkerPool<K> {
        let slots = Arc::new(Semaphore::new(max_workers));
        WorkerPool { spawner, max_workers, slots, idle_timeout, may_evict, table: Mutex::default() }
    }

    /// The most workers that the pool holds.
    pub(crate) fn max_workers(&self) -> usize {
        self.max_workers
    }

    /// Returns whether no worker can be added without an eviction.
    pub(crate) fn is_full(&self) -> bool {
        self.slots.available_permits() == 0
    }

    /// Returns whether there is a worker under this key.
    pub(crate) fn contains(&self, key: &K) -> bool {
        self.table().contains_key(key)
    }

    /// Returns whether there is a worker under this key whose process has not died. One whose process died is removed.
    pub(crate) fn contains_live(&self, key: &K) -> bool {
        let mut table = self.table();
        let Some(worker) = table.get(key) else { return false };
        // A lock that is taken belongs to a request that starts the process or looks at it.
        let is_live =
            worker.process.try_lock().map_or(true, |process| process.as_ref().is_some_and(|it| it.is_alive()));
        if !is_live {
            Self::remove(&mut table, key);
        }
        is_live
    }

    /// Returns the worker under this key without marking it as used.
    pub(crate) fn get(&self, key: &K) -> Option<Arc<PooledWorker>> {
        self.table().get(key).cloned()
    }

    /// Returns the worker under this key, in use.
    pub(crate) fn get_active(&self, key: &K) -> Option<ActiveWorker> {
        self.table().get(key).map(ActiveWorker::new)
    }

    /// Returns all workers.
    pub(crate) fn all(&self) -> Vec<Arc<PooledWorker>> {
        self.table().values().cloned().collect()
    }

    /// Returns the worker under this key, in use. It is added if it is missing; in a full pool another one is evicted
    /// first. `None` if none may be evicted.
    pub(crate) async fn acquire(&self, key: &K) -> Option<ActiveWorker> {
        loop {
            {
                let mut table = self.table();
                if let Some(worker) = table.get(key) {
                    return Some(ActiveWorker::new(worker));
                }
                if let Some(worker) = self.new_worker() {
                    let active = ActiveWorker::new(&worker);
                    table.insert(key.clone(), worker);
                    return Some(active);
                }
            }
            if !self.evict_one().await {
                return None;
            }
        }
    }

    /// Adds a worker whose key is not known yet; see [`insert`](WorkerPool::insert). `None` if the pool is full.
    pub(crate) fn add_unnamed(&self) -> Option<ActiveWorker> {
        self.new_worker().map(|worker| ActiveWorker::new(&worker))
    }

    /// Puts a worker into the table under its key.
    pub(crate) fn insert(&self, key: K, worker: Arc<PooledWorker>) {
        self.table().insert(key, worker);
    }

    /// Returns a live process of a worker, and starts one if there is none.
    pub(crate) async fn start(&self, worker: &ActiveWorker) -> Result<Arc<Process>, Lost> {
        let mut process = worker.0.process.lock().await;
        match process.as_ref().filter(|process| process.is_alive()) {
            Some(process) => Ok(process.clone()),
            None => Ok(process.insert(self.start_unpooled().await?).clone()),
        }
    }

    /// Starts a process that belongs to no worker. It is killed when the last handle is dropped.
    pub(crate) async fn start_unpooled(&self) -> Result<Arc<Process>, Lost> {
        Ok(Arc::new(Process::start(&self.spawner).await?))
    }

    /// Ends the worker under this key, also if requests use it, and waits until everything it held is free.
    pub(crate) async fn end(&self, key: &K) {
        let worker = Self::remove(&mut self.table(), key);
        if let Some(worker) = worker {
            worker.end().await;
        }
    }

    /// Ends all workers.
    pub(crate) async fn end_all(&self) {
        let keys: Vec<K> = self.table().keys().cloned().collect();
        for key in keys {
            self.end(&key).await;
        }
    }

    /// Ends workers that died and workers that were idle for too long. Runs for ever.
    pub(crate) async fn tend(&self) {
        loop {
            tokio::time::sleep(SWEEP_PERIOD).await;
            for (last_used, key, worker) in self.unused() {
                let is_over = match worker.live_process().await {
                    None => true,
                    Some(_) if self.idle_timeout.is_some_and(|timeout| last_used.elapsed() > timeout) => {
                        (self.may_evict)(worker.clone()).await
                    }
                    Some(_) => false,
                };
                if is_over {
                    self.end_unused(&key, &worker).await;
                }
            }
        }
    }

    fn new_worker(&self) -> Option<Arc<PooledWorker>> {
        self.slots.clone().try_acquire_owned().ok().map(PooledWorker::new)
    }

    /// Ends the least recently used worker that may be evicted. Returns whether there was one.
    async fn evict_one(&self) -> bool {
        let mut unused = self.unused();
        unused.sort_by(|(a_time, a_key, _), (b_time, b_key, _)| (a_time, a_key).cmp(&(b_time, b_key)));
        for (_, key, worker) in unused {
            if (self.may_evict)(worker.clone()).await && self.end_unused(&key, &worker).await {
                return true;
            }
        }
        false
    }

    /// The workers that no request uses, each with the time of its last use.
    fn unused(&self) -> Vec<(Instant, K, Arc<PooledWorker>)> {
        let table = self.table();
        let unused = table.iter().filter(|(_, worker)| !worker.is_used());
        unused.map(|(key, worker)| (*lock(&worker.last_used), key.clone(), worker.clone())).collect()
    }

    /// Ends a worker, unless a request uses it or another one has taken its key. Returns whether it was ended.
    async fn end_unused(&self, key: &K, worker: &Arc<PooledWorker>) -> bool {
        {
            let mut table = self.table();
            let is_current = table.get(key).is_some_and(|current| Arc::ptr_eq(current, worker));
            if !is_current || worker.is_used() {
                return false;
            }
            Self::remove(&mut table, key);
        }
        worker.end().await;
        true
    }

    /// Takes a worker out of the table and gives its slot back.
    fn remove(table: &mut HashMap<K, Arc<PooledWorker>>, key: &K) -> Option<Arc<PooledWorker>> {
        let worker = table.remove(key)?;
        drop(lock(&worker.slot).take());
        Some(worker)
    }

    fn table(&self) -> MutexGuard<'_, HashMap<K, Arc<PooledWorker>>> {
        lock(&self.table)
    }
}
