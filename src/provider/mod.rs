//! Sandboxes that last: one for each thread of conversation, found again after a restart and from every process.
//!
//! A [`Provider`] keeps the sandboxes of an agent framework under one directory, its *root*. A thread of conversation
//! gets its own sandbox within a run, after a restart, and in whichever of several processes it is handled.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let root = directory.path();
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! use isopod::backend::{Backend, SandboxBackend, WriteRequest};
//! use isopod::provider::{Config, Provider};
//!
//! let provider = Provider::open(Config::new(root))?;
//! let id = provider.acquire("thread-1", Some("user-1")).await?;
//! let sandbox = provider.get(id)?;
//! sandbox.write(WriteRequest::new("notes.txt", "first\n")).await?;
//! provider.release(id).await?;
//!
//! assert_eq!(provider.acquire("thread-1", Some("user-1")).await?, id);
//! let output = provider.get(id)?.execute("cat /workspace/notes.txt".into()).await?;
//! assert_eq!(output.stdout, b"first\n");
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! # States of a sandbox
//! ```text
//!                    acquire, create
//!    (none) ─────────────────────────────────┐
//!      ▲                                     ▼         release, lease_timeout
//!      │ delete, ttl                      LEASED ◄─────────────────────────────► WARM
//!      │                                     ▲        acquire (memory is kept)    │
//!      ├──── STORED ─────────────────────────┘                                    │
//!      │        ▲         acquire (files are kept)                                │
//!      │        └─────────────────────────────────────────────────────────────────┤
//!      │            idle_timeout, eviction, restart, leased by another process    │
//!      └──────────────────────────────────────────────────────────────────────────┘
//! ```
//! - **Leased**: a caller works with it. A lease is exclusive among all processes that have the root open.
//! - **Warm**: released, and still in memory. Its `/tmp`, its home and its environment are unchanged when its thread
//!   acquires it again. It is never given to another thread.
//! - **Stored**: on disk only. The next acquire finds `/workspace` unchanged and everything else as in a new sandbox.
//!
//! A warm sandbox becomes stored after [`idle_timeout`](Config::idle_timeout). It is also evicted when there are
//! [`max_count`](Config::max_count) sandboxes in this process and another one is acquired: the least recently used goes
//! first. A stored or warm sandbox that was unused for [`ttl`](Config::ttl) is deleted with its files. A lease that was
//! unused for [`lease_timeout`](Config::lease_timeout) is released. None of this runs behind a timer: acquire and
//! release drop idle sandboxes, opening the root deletes expired ones, and [`sweep`](Provider::sweep) does both. A
//! server spawns [`tend`](Provider::tend).
//!
//! There is no pool of sandboxes made in advance. A new sandbox takes microseconds in memory; the time goes into its
//! record on disk, which holds the owner's name and so cannot be written before there is an owner.
//!
//! # Failures
//! | case | answer |
//! |---|---|
//! | acquire of a sandbox that is leased, by any process | [`InUse`](ProviderError::InUse), without a wait |
//! | release or get of a sandbox that is not leased here | [`NotLeased`](ProviderError::NotLeased) |
//! | use of a sandbox after its lease ended | each operation is refused; running commands were ended |
//! | deletion of a sandbox that does not exist | `false`: deletion is idempotent |
//! | deletion of a sandbox that another process has leased | [`InUse`](ProviderError::InUse) |
//! | two threads whose ids are the same eight digits | [`OtherOwner`](ProviderError::OtherOwner), by the record |
//! | a text that is not an id in form | [`InvalidId`](ProviderError::InvalidId), before any file is touched |
//! | `max_count` sandboxes are leased | [`AllLeased`](ProviderError::AllLeased) |
//! | a process dies | its leases end: the host's kernel drops its locks |
//! | a process dies while it creates or deletes a sandbox | it exists whole or not at all; `open` removes the rest |
//! | a damaged record | [`Damaged`](ProviderError::Damaged); the sandbox is listed, and can be deleted |
//!
//! # On disk
//! ```text
//! ROOT/.lock              the root's lock: shared for a creation, exclusive for a removal or an inspection
//! ROOT/1a2b3c4d/lease     its lock is the lease, its time is that of the last use, its content counts the leases
//!              /record    owner, time of creation and metadata: JSON, replaced by a rename
//!              /files     mounted at /workspace; everything in it counts against the disk limit
//! ROOT/.new-…             sandboxes and records before the rename that publishes them
//! ROOT/.gone-…            sandboxes after the rename that removes them
//! ```
//! A warm sandbox holds no lock, so another process can take the next lease. The count of leases shows this process
//! whether that happened. Then its memory is outdated, and the sandbox is built from the files again.
//!
//! # Layout
//! - `id`, `record`, `error`, `clock` and `config` have the types that the others use.
//! - `root` is the root directory, `sandbox_dir` the directory of one sandbox, `remove` removes a tree. No other file
//!   here touches the host's files.
//! - `table` has the states of the sandboxes in this process, `transitions` changes them.
//! - `lease` is the backend that a caller gets. `catalogue` lists and describes, `copy` forks and saves.
//!
//! # Locks
//! ```text
//!   root's lock (flock, waits)  ──►  lease (flock, never waits)  ──►  table (mutex, no file is touched under it)
//!   a lease's own mutexes (backend, streams, sessions): leaves, held for a look-up
//! ```
//! A lock is only taken after the ones to its left. Only the root's lock is waited for, and its holder waits for
//! nothing, so there is no cycle.

mod catalogue;
mod clock;
mod config;
mod copy;
mod error;
mod id;
mod lease;
mod record;
mod remove;
mod root;
mod sandbox_dir;
mod table;
mod transitions;

use std::future::Future;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

pub use clock::Clock;
pub use config::{Config, ConfigError, HostAccess, HostMount, Isolation};
pub use error::{ProviderError, Result};
pub use id::SandboxId;
pub use lease::{Lease, LeasedSession};
pub use record::{Listing, Metadata, SandboxInfo, SandboxState};

use crate::limits::server::provider::SWEEP_PERIOD;
use crate::runtime::Runtime;
use crate::sandbox::Snapshot;
use crate::vfs::Digest;
use record::Owner;
use transitions::{LeaseTarget, ProviderState};

/// Keeps sandboxes for threads of conversation. Clones are handles to the same provider. When the last one is dropped,
/// its leases end.
///
/// # Panics
/// The async methods panic outside a tokio runtime, or in one without timers.
#[derive(Clone)]
pub struct Provider {
    shared: Arc<ProviderState>,
}

/// Builds a [`Provider`].
pub struct ProviderBuilder {
    config: Config,
    clock: Clock,
    runtime: Option<Runtime>,
}

impl Provider {
    /// Opens a root, and creates it if it is missing. Removes the remains of sandboxes that a dead process was creating
    /// or deleting, and deletes expired sandboxes.
    pub fn open(config: Config) -> Result<Provider> {
        Provider::builder(config).open()
    }

    /// Returns a builder, for a clock or a runtime of the caller's.
    pub fn builder(config: Config) -> ProviderBuilder {
        ProviderBuilder { config, clock: Clock::default(), runtime: None }
    }

    /// Leases the sandbox of a thread, and creates it if it is missing. The id is a hash of user and thread, so the
    /// same thread gets the same sandbox in every process.
    pub async fn acquire(&self, thread: &str, user: Option<&str>) -> Result<SandboxId> {
        self.acquire_with(thread, user, Metadata::new()).await
    }

    /// Does the same as [`acquire`](Provider::acquire), with metadata for a new sandbox. An existing one keeps its own.
    pub async fn acquire_with(&self, thread: &str, user: Option<&str>, metadata: Metadata) -> Result<SandboxId> {
        let owner = Owner::new(thread, user)?;
        self.lease(owner.id(), LeaseTarget::Thread(owner, metadata)).await
    }

    /// Creates the sandbox of a thread if it is missing, and does not lease it; it may be leased. For a server whose
    /// workers lease the sandboxes.
    pub async fn establish(&self, thread: &str, user: Option<&str>, metadata: Metadata) -> Result<SandboxId> {
        let owner = Owner::new(thread, user)?;
        let id = owner.id();
        self.blocking(move |shared| shared.establish(id, LeaseTarget::Thread(owner, metadata))).await?;
        Ok(id)
    }

    /// Does the same as [`create`](Provider::create), without a lease.
    pub async fn establish_new(&self, metadata: Metadata) -> Result<SandboxId> {
        loop {
            let (id, metadata) = (SandboxId::random()?, metadata.clone());
            match self.blocking(move |shared| shared.establish(id, LeaseTarget::New(metadata))).await {
                Err(ProviderError::InUse(_)) => {}
                answer => return answer.map(|()| id),
            }
        }
    }

    /// Returns the id of a thread's sandbox, which need not exist.
    pub fn id_of(thread: &str, user: Option<&str>) -> Result<SandboxId> {
        Ok(Owner::new(thread, user)?.id())
    }

    /// Returns the lease of a sandbox that is leased here.
    pub fn get(&self, id: SandboxId) -> Result<Arc<Lease>> {
        self.shared.get(id)
    }

    /// Leases the sandbox of this id, which has to exist, or returns its lease here. Without an id it creates a sandbox
    /// without an owner.
    pub async fn get_or_create(&self, id: Option<SandboxId>) -> Result<Arc<Lease>> {
        let id = match id {
            None => self.create(Metadata::new()).await?,
            Some(id) => match self.get(id) {
                Ok(lease) => return Ok(lease),
                Err(ProviderError::NotLeased(_)) => self.lease(id, LeaseTarget::Existing).await?,
                Err(error) => return Err(error),
            },
        };
        self.get(id)
    }

    /// Leases the sandbox of this id, which has to exist, or returns its lease here. While the sandbox changes its
    /// state, or another process has it, this waits, up to `timeout`; then it is [`InUse`](ProviderError::InUse).
    pub async fn lease_within(&self, id: SandboxId, timeout: Duration) -> Result<Arc<Lease>> {
        self.shared.lease_within(id, timeout).await
    }

    /// Creates and leases a sandbox without an owner, under a random id.
    pub async fn create(&self, metadata: Metadata) -> Result<SandboxId> {
        // A collision is as unlikely as one in four billion for each sandbox. Then another id is tried.
        loop {
            match self.lease(SandboxId::random()?, LeaseTarget::New(metadata.clone())).await {
                Err(ProviderError::InUse(_)) => {}
                answer => return answer,
            }
        }
    }

    /// Ends a lease: running commands are ended, and the sandbox stays warm.
    pub async fn release(&self, id: SandboxId) -> Result<()> {
        self.shared.release(id).await
    }

    /// Deletes a sandbox with its files, and ends its lease if it is leased here. Returns whether it existed.
    pub async fn delete(&self, id: SandboxId) -> Result<bool> {
        self.shared.delete(id).await
    }

    /// Returns a page of the sandboxes of the root, in the order of their ids, starting after `cursor`.
    pub async fn list(&self, cursor: Option<SandboxId>) -> Result<Listing> {
        self.blocking(move |shared| shared.list(cursor)).await
    }

    /// Returns the description of one sandbox.
    pub async fn info(&self, id: SandboxId) -> Result<SandboxInfo> {
        self.blocking(move |shared| shared.info(id)).await
    }

    /// Replaces the metadata of a sandbox that is leased here.
    pub async fn set_metadata(&self, id: SandboxId, metadata: Metadata) -> Result<()> {
        self.blocking(move |shared| shared.set_metadata(id, metadata)).await
    }

    /// Creates a sandbox without owner or lease, with a copy of the `/workspace` of another. That one is leased for the
    /// copy, unless it is leased here already.
    pub async fn fork(&self, id: SandboxId, metadata: Metadata) -> Result<SandboxId> {
        self.shared.fork(id, metadata).await
    }

    /// Creates a sandbox without owner or lease, with the `/workspace` of a snapshot.
    pub async fn create_from(&self, snapshot: &Snapshot, metadata: Metadata) -> Result<SandboxId> {
        self.shared.create_from(snapshot, metadata).await
    }

    /// Saves all files of a sandbox, `/workspace` included, as [`Snapshot::save`] does. The sandbox is leased
    /// for that time, unless this provider leases it already.
    pub async fn snapshot(&self, id: SandboxId, to: impl Write + Send + 'static) -> Result<Digest> {
        self.shared.snapshot(id, to).await
    }

    /// Drops warm sandboxes that were idle for too long, ends unused leases, and deletes expired sandboxes.
    pub async fn sweep(&self) -> Result<()> {
        self.shared.end_unused_leases().await;
        self.blocking(|shared| shared.sweep()).await
    }

    /// Sweeps periodically until the provider is dropped. For a task of its own.
    pub fn tend(&self) -> impl Future<Output = ()> + Send + use<> {
        let config = &self.shared.config;
        let times = [config.idle_timeout, config.ttl, config.lease_timeout];
        let (shortest, longest) = SWEEP_PERIOD;
        let period = times.into_iter().flatten().min().map_or(longest, |time| (time / 2).clamp(shortest, longest));
        let shared = Arc::downgrade(&self.shared);
        async move {
            loop {
                tokio::time::sleep(period).await;
                let Some(shared) = shared.upgrade() else { return };
                // A root that cannot be read now may be readable next time, and `acquire` reports the error.
                let _ = Provider { shared }.sweep().await;
            }
        }
    }

    /// Returns the numbers of leased and of warm sandboxes of this process.
    pub fn count(&self) -> (usize, usize) {
        self.shared.count()
    }

    /// Ends all leases, drops the warm sandboxes, and refuses every later lease. Sandboxes on disk can still be listed.
    pub async fn shutdown(&self) {
        self.shared.shutdown().await;
    }

    async fn lease(&self, id: SandboxId, target: LeaseTarget) -> Result<SandboxId> {
        // Nothing is awaited between the lease and its id, so a caller whose future is dropped holds no lease.
        let pending = self.blocking(move |shared| shared.acquire(id, target)).await?;
        Ok(pending.confirm())
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Arc<ProviderState>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        transitions::blocking(&self.shared, work).await
    }
}

impl ProviderBuilder {
    /// Sets the clock, for tests.
    pub fn clock(mut self, clock: Clock) -> ProviderBuilder {
        self.clock = clock;
        self
    }

    /// Sets the runtime of the sandboxes, instead of the shared one.
    pub fn runtime(mut self, runtime: Runtime) -> ProviderBuilder {
        self.runtime = Some(runtime);
        self
    }

    /// Opens the root; see [`Provider::open`].
    pub fn open(self) -> Result<Provider> {
        let shared = Arc::new(ProviderState::new(self.config, self.clock, self.runtime)?);
        // A sandbox that cannot be removed is no reason to refuse the others. `sweep` reports it.
        let _ = shared.sweep();
        Ok(Provider { shared })
    }
}
