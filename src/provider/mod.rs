//! Who has which sandbox, and for how long its files last.
//!
//! An agent framework has threads of conversation, and each is to find its own sandbox again: within a run, after a restart,
//! and whichever of several processes it comes to. A [`Provider`] keeps such sandboxes under one directory, its *root*.
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
//! let executed = provider.get(id)?.execute("cat /workspace/notes.txt".into()).await?;
//! assert_eq!(executed.stdout(), b"first\n");
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! # A sandbox's life
//! - **Leased**: someone works with it. A lease is exclusive, among all processes that have the root open.
//! - **Warm**: released, and still in memory: its `/tmp`, its home and all else are as they were when its thread comes
//!   back. Nobody else ever gets it.
//! - **Stored**: on disk only. What was in `/workspace` is there when it is acquired again; all else is as new.
//!
//! A warm sandbox becomes a stored one after [`idle_timeout`](Config::idle_timeout), or when there are
//! [`max_count`](Config::max_count) in this process and another one is acquired: then the least recently used has to go, and
//! if all are leased the caller is told so. A stored or warm one is deleted with its files when it was not used for
//! [`ttl`](Config::ttl). A lease that nobody used for [`lease_timeout`](Config::lease_timeout) ends as if released. None of
//! this happens behind a timer: acquiring and releasing put idle ones to sleep, opening the root deletes what has
//! expired, and [`sweep`](Provider::sweep) does both; a server spawns [`tend`](Provider::tend).
//!
//! There is no pool of sandboxes made in advance: a new one takes microseconds in memory, and what takes time is to bring
//! its record to the disk, which holds its owner's name and cannot be written before there is one.
//!
//! # What can go wrong
//! | case | answer |
//! |---|---|
//! | acquiring what is leased, here or by another process | [`InUse`](ProviderError::InUse); nothing waits |
//! | releasing or getting what is not leased here: never, no longer, or by someone else | [`NotLeased`](ProviderError::NotLeased) |
//! | using a sandbox after its lease ended | each operation is refused; what ran was stopped, and its command has gone |
//! | deleting what is not there | `false`; deleting is idempotent |
//! | deleting what another process has leased | [`InUse`](ProviderError::InUse) |
//! | two threads whose ids are the same eight digits | [`OtherOwner`](ProviderError::OtherOwner): the record has the whole name |
//! | an id that has not the form of one | [`InvalidId`](ProviderError::InvalidId), before anything is looked for |
//! | as many leased as there may be | [`AllLeased`](ProviderError::AllLeased) |
//! | a process that dies | its leases end with it: the host's kernel drops its locks |
//! | a process that dies while it makes or deletes a sandbox | there is the whole sandbox or none; the next `open` removes the rest |
//! | a record that someone damaged | [`Damaged`](ProviderError::Damaged); it is listed, and can be deleted |
//!
//! # On disk
//! ```text
//! ROOT/.lock              held shared while something is made, alone while something is removed or looked at
//! ROOT/1a2b3c4d/lease     the lock on it is the lease; its time is that of the last use, its content counts leases
//!              /record    who it is for, when it was made, the caller's metadata: JSON, replaced whole
//!              /files     mounted as /workspace; all of it counts against the disk limit
//! ROOT/.new-…, .gone-…    half made and half removed: renamed into place, and out of it
//! ```
//! A warm sandbox holds no lock, so that another process can have the next lease. The number of leases tells the first one
//! whether that happened: then what it has in memory is out of date, and it starts from the files.
//!
//! # Layout
//! `id`, `record`, `error`, `clock` and `config` are what the others speak in. `root` and `home` are the directory and a
//! sandbox's part of it, `remove` takes a tree away; nothing else here touches the host's files. `table` is who has what in
//! this process, `lease` the backend that a caller gets, `transitions` takes a sandbox from one state to the next,
//! `catalogue` lists what is there, and `copy` fills a new one from another or from a snapshot.
//!
//! # Locks
//! The table's mutex is never held while a file is touched. The root's lock is taken before a lease, and a lease is never
//! waited for: so nobody waits in a circle.

mod catalogue;
mod clock;
mod config;
mod copy;
mod error;
mod home;
mod id;
mod lease;
mod record;
mod remove;
mod root;
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
pub use record::{Info, Listing, Metadata, State};

use crate::runtime::Runtime;
use crate::sandbox::Snapshot;
use crate::vfs::Digest;
use record::Owner;
use transitions::{Shared, Want};

/// The most and the least that [`Provider::tend`] waits between two looks.
const TEND: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// Keeps sandboxes for threads of conversation. Clones are handles to the same one; when the last one is dropped its
/// leases end.
///
/// # Panics
/// The async calls, outside a tokio runtime or in one without timers.
#[derive(Clone)]
pub struct Provider {
    shared: Arc<Shared>,
}

/// A provider to be.
pub struct ProviderBuilder {
    config: Config,
    clock: Clock,
    runtime: Option<Runtime>,
}

impl Provider {
    /// Opens a root, and makes it if it is not there. What a process that died has left half made or half removed is
    /// taken away, and what has expired is deleted.
    pub fn open(config: Config) -> Result<Provider> {
        Provider::builder(config).open()
    }

    /// A provider to be, with more to say.
    pub fn builder(config: Config) -> ProviderBuilder {
        ProviderBuilder { config, clock: Clock::default(), runtime: None }
    }

    /// Leases the sandbox of a thread, and makes it if there is none. Its id follows from user and thread, so that the same
    /// thread comes to the same sandbox in every process.
    pub async fn acquire(&self, thread: &str, user: Option<&str>) -> Result<SandboxId> {
        self.acquire_with(thread, user, Metadata::new()).await
    }

    /// As `acquire`, with metadata for a sandbox that has to be made. One that is there keeps its own.
    pub async fn acquire_with(&self, thread: &str, user: Option<&str>, metadata: Metadata) -> Result<SandboxId> {
        let owner = Owner::new(thread, user)?;
        self.lease(owner.id(), Want::Thread(owner, metadata)).await
    }

    /// As `acquire_with`, without the lease: for a process that has its sandboxes leased by others. It may be leased.
    pub async fn establish(&self, thread: &str, user: Option<&str>, metadata: Metadata) -> Result<SandboxId> {
        let owner = Owner::new(thread, user)?;
        let id = owner.id();
        self.blocking(move |shared| shared.establish(id, Want::Thread(owner, metadata))).await?;
        Ok(id)
    }

    /// As `create`, without the lease.
    pub async fn establish_new(&self, metadata: Metadata) -> Result<SandboxId> {
        loop {
            let (id, metadata) = (SandboxId::random()?, metadata.clone());
            match self.blocking(move |shared| shared.establish(id, Want::New(metadata))).await {
                Err(ProviderError::InUse(_)) => {}
                answer => return answer.map(|()| id),
            }
        }
    }

    /// The id of a thread's sandbox, whether there is one or not.
    pub fn id_of(thread: &str, user: Option<&str>) -> Result<SandboxId> {
        Ok(Owner::new(thread, user)?.id())
    }

    /// The sandbox that is leased here under this id.
    pub fn get(&self, id: SandboxId) -> Result<Arc<Lease>> {
        self.shared.get(id)
    }

    /// Leases the sandbox of this id, which has to be there, or makes a new one of nobody's. One that is leased here
    /// already is that lease.
    pub async fn get_or_create(&self, id: Option<SandboxId>) -> Result<Arc<Lease>> {
        let id = match id {
            None => self.create(Metadata::new()).await?,
            Some(id) => match self.get(id) {
                Ok(lease) => return Ok(lease),
                Err(ProviderError::NotLeased(_)) => self.lease(id, Want::Existing).await?,
                Err(error) => return Err(error),
            },
        };
        self.get(id)
    }

    /// Makes and leases a sandbox of nobody's, with an id by chance.
    pub async fn create(&self, metadata: Metadata) -> Result<SandboxId> {
        // Two of the same are as likely as any two of four billion: another one will do.
        loop {
            match self.lease(SandboxId::random()?, Want::New(metadata.clone())).await {
                Err(ProviderError::InUse(_)) => {}
                answer => return answer,
            }
        }
    }

    /// Ends a lease: what runs is stopped, and the sandbox stays warm.
    pub async fn release(&self, id: SandboxId) -> Result<()> {
        self.shared.release(id).await
    }

    /// Deletes a sandbox with its files, and ends its lease if it is leased here. Answers whether it was there.
    pub async fn delete(&self, id: SandboxId) -> Result<bool> {
        self.shared.delete(id).await
    }

    /// The sandboxes of the root, in the order of their ids: a page of them, from behind `cursor`.
    pub async fn list(&self, cursor: Option<SandboxId>) -> Result<Listing> {
        self.blocking(move |shared| shared.list(cursor)).await
    }

    /// What is known of one sandbox.
    pub async fn info(&self, id: SandboxId) -> Result<Info> {
        self.blocking(move |shared| shared.info(id)).await
    }

    /// Replaces the metadata of a sandbox that is leased here.
    pub async fn set_metadata(&self, id: SandboxId, metadata: Metadata) -> Result<()> {
        self.blocking(move |shared| shared.set_metadata(id, metadata)).await
    }

    /// A sandbox of nobody's, not leased, with a copy of the files in another one's `/workspace`. That one is leased for
    /// it, unless it is leased here already.
    pub async fn fork(&self, id: SandboxId, metadata: Metadata) -> Result<SandboxId> {
        self.shared.fork(id, metadata).await
    }

    /// A sandbox of nobody's, not leased, with the files that a snapshot has in `/workspace`.
    pub async fn create_from(&self, snapshot: &Snapshot, metadata: Metadata) -> Result<SandboxId> {
        self.shared.create_from(snapshot, metadata).await
    }

    /// Writes all files of a sandbox, `/workspace` among them, as [`Snapshot::save`] does. It is leased for that, unless it
    /// is leased here already.
    pub async fn snapshot(&self, id: SandboxId, to: impl Write + Send + 'static) -> Result<Digest> {
        self.shared.snapshot(id, to).await
    }

    /// Puts to sleep what was idle for too long, ends leases that nobody uses, deletes what has expired.
    pub async fn sweep(&self) -> Result<()> {
        self.shared.end_unused_leases().await;
        self.blocking(|shared| shared.sweep()).await
    }

    /// Sweeps for as long as there is a provider: for a task of its own.
    pub fn tend(&self) -> impl Future<Output = ()> + Send + use<> {
        let config = &self.shared.config;
        let times = [config.idle_timeout, config.ttl, config.lease_timeout];
        let shortest = times.into_iter().flatten().min().unwrap_or(TEND.1);
        let period = (shortest / 2).clamp(TEND.0, TEND.1);
        let shared = Arc::downgrade(&self.shared);
        async move {
            loop {
                tokio::time::sleep(period).await;
                let Some(shared) = shared.upgrade() else { return };
                // A root that cannot be read now may be there next time, and whoever acquires is told.
                let _ = Provider { shared }.sweep().await;
            }
        }
    }

    /// How many sandboxes of this process are leased, and how many are warm.
    pub fn count(&self) -> (usize, usize) {
        self.shared.count()
    }

    /// Ends all leases, lets go of what is warm, and refuses every lease from now on. What is on disk can still be listed.
    pub async fn shutdown(&self) {
        self.shared.shutdown().await;
    }

    async fn lease(&self, id: SandboxId, want: Want) -> Result<SandboxId> {
        // Nothing is awaited between the lease and its id: a caller who went away has no lease.
        let claim = self.blocking(move |shared| shared.acquire(id, want)).await?;
        Ok(claim.keep())
    }

    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Arc<Shared>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        transitions::blocking(&self.shared, work).await
    }
}

impl ProviderBuilder {
    /// The time, for tests.
    pub fn clock(mut self, clock: Clock) -> ProviderBuilder {
        self.clock = clock;
        self
    }

    /// What the sandboxes run on, instead of the shared runtime.
    pub fn runtime(mut self, runtime: Runtime) -> ProviderBuilder {
        self.runtime = Some(runtime);
        self
    }

    /// Opens the root; see [`Provider::open`].
    pub fn open(self) -> Result<Provider> {
        let shared = Arc::new(Shared::new(self.config, self.clock, self.runtime)?);
        // What cannot be removed is no reason to do without the rest; whoever sweeps is told of it.
        let _ = shared.sweep();
        Ok(Provider { shared })
    }
}
