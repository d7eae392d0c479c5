//! Takes a sandbox from one state to the next.
//!
//! A sandbox is made busy in the table, the host's files are worked on without it, and then it is what it is to be. Whoever
//! does that has a [`Turn`]; if the work fails, or its caller goes away, the turn ends and the sandbox is in nobody's
//! hands, with its files on disk.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::home::Home;
use super::lease::Lease;
use super::record::{Metadata, Owner, Record};
use super::root::{Found, Root};
use super::table::{Leased, Table, Warm};
use super::{Clock, Config, ProviderError, Result, SandboxId};
use crate::backend::Isopod;
use crate::runtime::Runtime;
use crate::sandbox::{MountAccess, Sandbox, SandboxBuilder};
use crate::vfs::ChargePolicy;

/// How long a release waits for what ran to be gone. A guest goes within a tick of the clock. What takes longer is an
/// operation on a disk that hangs, or a future that its caller holds and does not poll: then the sandbox is not kept warm,
/// and its lock goes when they do.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often it looks meanwhile.
const LOOK: Duration = Duration::from_millis(1);
/// Where the files are in the sandbox.
pub(super) const WORKSPACE: &str = "/workspace";

/// What all handles of a provider share.
pub(super) struct Shared {
    pub(super) config: Config,
    pub(super) root: Root,
    pub(super) clock: Clock,
    runtime: Option<Runtime>,
    /// Who has what. Never held while a file is touched.
    table: Mutex<Table>,
}

/// What a caller wants to lease.
pub(super) enum Want {
    /// The sandbox of a thread, which may have to be made.
    Thread(Owner, Metadata),
    /// One that is there.
    Existing,
    /// One that is not there.
    New(Metadata),
}

/// The right to take a sandbox to its next state.
struct Turn {
    shared: Arc<Shared>,
    id: SandboxId,
    is_over: bool,
}

impl Turn {
    /// Ends with the sandbox in its next state. In one step: a moment later the sandbox may be in another's turn.
    fn end<T>(mut self, next: impl FnOnce(&mut Table) -> T) -> T {
        self.is_over = true;
        let mut table = self.shared.table();
        next(&mut table)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if !self.is_over {
            self.shared.table().forget(self.id);
        }
    }
}

/// A lease that nobody has heard of yet. Dropping it ends the lease.
pub(super) struct Claim {
    shared: Option<Arc<Shared>>,
    id: SandboxId,
}

impl Claim {
    /// The caller has it.
    pub(super) fn keep(mut self) -> SandboxId {
        self.shared = None;
        self.id
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Someone who guessed the id may have released it already.
        if let Some(shared) = &self.shared
            && let Ok((_turn, leased)) = shared.begin_release(self.id)
        {
            leased.lease.end();
        }
    }
}

/// Does work that touches files on a thread that may block.
pub(super) async fn blocking<T: Send + 'static>(
    shared: &Arc<Shared>,
    work: impl FnOnce(&Arc<Shared>) -> Result<T> + Send + 'static,
) -> Result<T> {
    let shared = shared.clone();
    let task = tokio::task::spawn_blocking(move || work(&shared));
    task.await.map_err(|error| ProviderError::host("work", io::Error::other(error.to_string())))?
}

impl Shared {
    pub(super) fn new(config: Config, clock: Clock, runtime: Option<Runtime>) -> Result<Shared> {
        let root = Root::open(&config.root)?;
        Ok(Shared { config, root, clock, runtime, table: Mutex::default() })
    }

    /// Leases a sandbox.
    pub(super) fn acquire(self: &Arc<Shared>, id: SandboxId, want: Want) -> Result<Claim> {
        self.sleep_idle();
        let (warm, evicted) = self.table().begin_lease(id, self.config.max_count)?;
        let turn = self.turn(id);
        drop(evicted);
        let home = self.enter(id, want)?;
        let before = home.stamp()?;
        let sandbox = match warm {
            Some(warm) if warm.stamp == before => warm.sandbox,
            // Another process had it meanwhile.
            _ => {
                let access = MountAccess::ReadWrite(ChargePolicy::Whole);
                self.builder(false).mount_dir(home.files()?, WORKSPACE, access).build()?
            }
        };
        let stamp = home.count_lease()?;
        home.touch(self.clock.now())?;
        let backend = Isopod::new(id.to_string(), sandbox.clone())?.holding(home.lock.clone());
        let lease = Arc::new(Lease::new(id, backend, self));
        turn.end(|table| table.leased(id, Leased { lease, home, sandbox, stamp }))?;
        Ok(Claim { shared: Some(self.clone()), id })
    }

    /// Makes what is wanted if need be, and leaves the lease to others.
    pub(super) fn establish(&self, id: SandboxId, want: Want) -> Result<()> {
        let owner = match &want {
            Want::Thread(owner, _) => Some(owner.clone()),
            Want::Existing | Want::New(_) => None,
        };
        match (self.enter(id, want), owner) {
            // The lease ends here.
            (Ok(_home), _) => Ok(()),
            (Err(ProviderError::InUse(_)), Some(owner)) => match self.root.look(&[id])?.pop().flatten() {
                Some(glance) => match glance.record?.owner.as_ref() == Some(&owner) {
                    true => Ok(()),
                    false => Err(ProviderError::OtherOwner(id)),
                },
                // It has just gone: whoever wants it may ask again.
                None => Err(ProviderError::InUse(id)),
            },
            (Err(error), _) => Err(error),
        }
    }

    /// Takes the lease of what is wanted, and makes it if need be.
    fn enter(&self, id: SandboxId, want: Want) -> Result<Home> {
        loop {
            match (self.root.claim(id)?, &want) {
                (Found::InUse, _) | (Found::Home(_), Want::New(_)) => return Err(ProviderError::InUse(id)),
                (Found::Home(home), _) if self.is_expired(home.last_used()?) => self.root.discard(home)?,
                (Found::Home(home), Want::Existing) => return Ok(home),
                (Found::Home(home), Want::Thread(owner, _)) => {
                    let is_theirs = home.record()?.owner.as_ref() == Some(owner);
                    return if is_theirs { Ok(home) } else { Err(ProviderError::OtherOwner(id)) };
                }
                (Found::Nothing, Want::Existing) => return Err(ProviderError::NotFound(id)),
                (Found::Nothing, Want::Thread(_, metadata) | Want::New(metadata)) => {
                    let owner = match &want {
                        Want::Thread(owner, _) => Some(owner.clone()),
                        _ => None,
                    };
                    let record = self.record(owner, metadata.clone())?;
                    // None: another process made it meanwhile.
                    if let Some(home) = self.root.draft(id)?.publish(&record)? {
                        return Ok(home);
                    }
                }
            }
        }
    }

    /// The lease of a sandbox.
    pub(super) fn get(&self, id: SandboxId) -> Result<Arc<Lease>> {
        let lease = self.table().get(id)?.lease.clone();
        lease.touch();
        Ok(lease)
    }

    /// What a lease here is about, without ending it.
    pub(super) fn borrow(&self, id: SandboxId) -> Result<(Home, Sandbox)> {
        let table = self.table();
        let leased = table.get(id)?;
        leased.lease.touch();
        Ok((leased.home.clone(), leased.sandbox.clone()))
    }

    /// Ends a lease, and keeps the sandbox warm.
    pub(super) async fn release(self: &Arc<Shared>, id: SandboxId) -> Result<()> {
        let (turn, leased) = self.begin_release(id)?;
        let (home, warm) = self.quiet(leased).await;
        blocking(self, move |shared| {
            home.touch(shared.clock.now())?;
            // The lock first: whoever acquires it next finds it free.
            drop(home);
            if let Some(warm) = warm {
                turn.end(|table| table.warmed(id, warm));
            }
            shared.sleep_idle();
            Ok(())
        })
        .await
    }

    /// Deletes a sandbox, and ends its lease if it is leased here.
    pub(super) async fn delete(self: &Arc<Shared>, id: SandboxId) -> Result<bool> {
        match self.begin_release(id) {
            Ok((turn, leased)) => {
                let (home, warm) = self.quiet(leased).await;
                blocking(self, move |shared| {
                    let _turn = turn;
                    drop(warm);
                    shared.root.discard(home).map(|()| true)
                })
                .await
            }
            Err(ProviderError::NotLeased(_)) => {
                let warm = self.table().begin_removal(id)?;
                let turn = self.turn(id);
                blocking(self, move |shared| {
                    let _turn = turn;
                    drop(warm);
                    shared.root.delete(id, |_| Ok(true))
                })
                .await
            }
            Err(error) => Err(error),
        }
    }

    /// Ends a lease and waits until nothing works with the sandbox any more. It is not to be kept warm if that takes too
    /// long: then whatever still does has the lock as well, and gives it back at its end.
    async fn quiet(&self, leased: Leased) -> (Home, Option<Warm>) {
        let Leased { lease, home, sandbox, stamp } = leased;
        lease.end();
        for _ in 0..PATIENCE.as_millis() / LOOK.as_millis() {
            lease.drop_streams();
            if sandbox.kernel().processes() == 0 && Arc::strong_count(&home.lock) == 1 {
                return (home, Some(Warm { sandbox, stamp, last_used: self.clock.now() }));
            }
            tokio::time::sleep(LOOK).await;
        }
        let lock = home.lock.clone();
        tokio::spawn(async move {
            while sandbox.kernel().processes() > 0 {
                tokio::time::sleep(PATIENCE).await;
            }
            drop(lock);
        });
        (home, None)
    }

    /// Ends the leases that nobody has used for too long.
    pub(super) async fn end_unused_leases(self: &Arc<Shared>) {
        let leases = self.table().leases();
        for lease in leases.iter().filter(|lease| lease.is_unused(self.config.lease_timeout)) {
            // Someone else may have ended it meanwhile.
            let _ = self.release(lease.sandbox_id()).await;
        }
    }

    /// Puts to sleep what was idle for too long, and deletes what has expired.
    pub(super) fn sweep(self: &Arc<Shared>) -> Result<()> {
        self.sleep_idle();
        if self.config.ttl.is_none() {
            return Ok(());
        }
        // If this process dies, a lease of many days was used until now, and not when it began.
        let leased = self.table().homes();
        for (home, last_used) in leased {
            home.touch(last_used)?;
        }
        // One that cannot be removed keeps none of the others.
        let mut first = Ok(());
        for id in self.root.ids()? {
            if let Err(error) = self.expire(id) {
                first = first.and(Err(error));
            }
        }
        first
    }

    /// Deletes a sandbox if it has expired and nobody has it.
    fn expire(self: &Arc<Shared>, id: SandboxId) -> Result<()> {
        if !self.root.last_used(id)?.is_some_and(|time| self.is_expired(time)) {
            return Ok(());
        }
        let Ok(warm) = self.table().begin_removal(id) else {
            return Ok(());
        };
        let _turn = self.turn(id);
        drop(warm);
        match self.root.delete(id, |home| Ok(self.is_expired(home.last_used()?))) {
            // Another process has it.
            Ok(_) | Err(ProviderError::InUse(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Ends all leases and lets go of what is warm.
    pub(super) async fn shutdown(self: &Arc<Shared>) {
        let warm = self.table().shut();
        drop(warm);
        let leases = self.table().leases();
        for lease in leases {
            // Someone else may be about to end it.
            let _ = self.release(lease.sandbox_id()).await;
        }
    }

    /// How many are leased, and how many are warm.
    pub(super) fn count(&self) -> (usize, usize) {
        self.table().count()
    }

    /// A sandbox of its own that starts as a leased one is now, and whose changes land nowhere.
    pub(super) fn dry_copy(&self, id: SandboxId) -> Result<Isopod> {
        let (home, sandbox) = self.borrow(id)?;
        let builder = self.builder(true).snapshot(&sandbox.snapshot());
        let copy = builder.mount_dir(home.files()?, WORKSPACE, MountAccess::Overlay).build()?;
        Ok(Isopod::new(id.to_string(), copy)?)
    }

    /// A sandbox as the configuration has it, without its own files.
    fn builder(&self, is_dry: bool) -> SandboxBuilder {
        let builder = self.config.builder(is_dry);
        match &self.runtime {
            Some(runtime) => builder.runtime(runtime.clone()),
            None => builder,
        }
    }

    /// The record of a sandbox that is made now.
    pub(super) fn record(&self, owner: Option<Owner>, metadata: Metadata) -> Result<Record> {
        Record::new(owner, self.clock.now(), metadata)
    }

    fn begin_release(self: &Arc<Shared>, id: SandboxId) -> Result<(Turn, Leased)> {
        let leased = self.table().begin_release(id)?;
        Ok((self.turn(id), leased))
    }

    fn sleep_idle(&self) {
        let is_over = |last_used| self.clock.has_passed(self.config.idle_timeout, last_used);
        // Dropped without the table in hand.
        let idle = self.table().take_idle(is_over);
        drop(idle);
    }

    fn is_expired(&self, last_used: u64) -> bool {
        self.clock.has_passed(self.config.ttl, last_used)
    }

    fn turn(self: &Arc<Shared>, id: SandboxId) -> Turn {
        Turn { shared: self.clone(), id, is_over: false }
    }

    pub(super) fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let leases = self.table().leases();
        leases.iter().for_each(|lease| lease.end());
    }
}
