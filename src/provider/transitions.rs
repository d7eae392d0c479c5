//! Takes a sandbox from one state to the next.
//!
//! A transition marks the sandbox as busy in the table, works on the host's files without the table's lock, and then
//! sets the new state. A [`Transition`] holds the busy entry. If the work fails or is cancelled, dropping it removes
//! the entry: the sandbox is then stored, with its files on disk.

use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::lease::Lease;
use super::record::{Metadata, Owner, Record};
use super::root::{LeaseAttempt, Root};
use super::sandbox_dir::SandboxDir;
use super::table::{LeasedSandbox, Table, WarmSandbox};
use super::{Clock, Config, ProviderError, Result, SandboxId};
use crate::backend::Isopod;
use crate::limits::server::provider::{LEASE_RETRY_PAUSE, RELEASE_TIMEOUT};
use crate::runtime::Runtime;
use crate::sandbox::{MountAccess, Sandbox, SandboxBuilder};
use crate::sync::lock;
use crate::vfs::ChargePolicy;

/// The directory of the sandbox that its files are mounted at.
pub(super) const WORKSPACE: &str = "/workspace";

/// The state that all handles of a provider share.
pub(super) struct ProviderState {
    pub(super) config: Config,
    pub(super) root: Root,
    pub(super) clock: Clock,
    runtime: Option<Runtime>,
    /// Guards the states of the sandboxes. Never held while a file is touched.
    table: Mutex<Table>,
    /// Notified when a transition ends.
    transition_ended: Notify,
}

/// The sandbox to lease.
pub(super) enum LeaseTarget {
    /// The sandbox of a thread. It is created if it is missing.
    Thread(Owner, Metadata),
    /// A sandbox that exists.
    Existing,
    /// A sandbox that does not exist.
    New(Metadata),
}

/// The exclusive right to change the state of a sandbox. The sandbox is marked as busy in the table as long as it
/// exists.
struct Transition {
    shared: Arc<ProviderState>,
    id: SandboxId,
    is_over: bool,
}

impl Transition {
    /// Sets the sandbox's next state. The end and the new state are one step under the table's lock: a moment later
    /// another transition may have begun.
    fn end<T>(mut self, next: impl FnOnce(&mut Table) -> T) -> T {
        self.is_over = true;
        let mut table = self.shared.table();
        next(&mut table)
    }
}

impl Drop for Transition {
    fn drop(&mut self) {
        if !self.is_over {
            self.shared.table().forget(self.id);
        }
        self.shared.transition_ended.notify_waiters();
    }
}

/// A lease that its caller has not received yet. Dropping it ends the lease.
pub(super) struct PendingLease {
    shared: Option<Arc<ProviderState>>,
    id: SandboxId,
}

impl PendingLease {
    /// Hands the lease to the caller.
    pub(super) fn confirm(mut self) -> SandboxId {
        self.shared = None;
        self.id
    }
}

impl Drop for PendingLease {
    fn drop(&mut self) {
        // It may have been released already, by a caller that knew the id.
        if let Some(shared) = &self.shared
            && let Ok((_transition, leased)) = shared.begin_release(self.id)
        {
            leased.lease.end();
        }
    }
}

/// Runs work that touches files on a thread that may block.
pub(super) async fn blocking<T: Send + 'static>(
    shared: &Arc<ProviderState>,
    work: impl FnOnce(&Arc<ProviderState>) -> Result<T> + Send + 'static,
) -> Result<T> {
    let shared = shared.clone();
    let task = tokio::task::spawn_blocking(move || work(&shared));
    task.await.map_err(|error| ProviderError::host("work", io::Error::other(error.to_string())))?
}

impl ProviderState {
    pub(super) fn new(config: Config, clock: Clock, runtime: Option<Runtime>) -> Result<ProviderState> {
        let root = Root::open(&config.root)?;
        Ok(ProviderState { config, root, clock, runtime, table: Mutex::default(), transition_ended: Notify::new() })
    }

    /// Leases a sandbox.
    pub(super) fn acquire(self: &Arc<ProviderState>, id: SandboxId, target: LeaseTarget) -> Result<PendingLease> {
        self.drop_idle();
        let (warm, evicted) = self.table().begin_lease(id, self.config.max_count)?;
        let transition = self.begin_transition(id);
        drop(evicted);
        let dir = self.open_or_create(id, target)?;
        let before = dir.generation()?;
        let sandbox = match warm {
            Some(warm) if warm.generation == before => warm.sandbox,
            // It was not warm, or another process leased it since.
            _ => {
                let access = MountAccess::ReadWrite(ChargePolicy::Whole);
                self.builder(false).mount_dir(dir.files()?, WORKSPACE, access).build()?
            }
        };
        let generation = dir.count_lease()?;
        dir.touch(self.clock.now())?;
        let backend = Isopod::new(id.to_string(), sandbox.clone())?.holding(Arc::new(dir.lock.clone()));
        let lease = Arc::new(Lease::new(id, backend, self));
        transition.end(|table| table.end_leased(id, LeasedSandbox { lease, dir, sandbox, generation }))?;
        Ok(PendingLease { shared: Some(self.clone()), id })
    }

    /// Creates the sandbox if it is missing, and does not keep its lease.
    pub(super) fn establish(&self, id: SandboxId, target: LeaseTarget) -> Result<()> {
        let owner = match &target {
            LeaseTarget::Thread(owner, _) => Some(owner.clone()),
            LeaseTarget::Existing | LeaseTarget::New(_) => None,
        };
        match (self.open_or_create(id, target), owner) {
            // The lease ends here, with the directory.
            (Ok(_dir), _) => Ok(()),
            (Err(ProviderError::InUse(_)), Some(owner)) => match self.root.inspect(&[id])?.pop().flatten() {
                Some(inspection) => match inspection.record?.owner.as_ref() == Some(&owner) {
                    true => Ok(()),
                    false => Err(ProviderError::OtherOwner(id)),
                },
                // It was deleted in between: the caller may try again.
                None => Err(ProviderError::InUse(id)),
            },
            (Err(error), _) => Err(error),
        }
    }

    /// Takes the lease of a sandbox, and creates the sandbox if it is missing.
    fn open_or_create(&self, id: SandboxId, target: LeaseTarget) -> Result<SandboxDir> {
        loop {
            match (self.root.lease(id)?, &target) {
                (LeaseAttempt::InUse, _) | (LeaseAttempt::Taken(_), LeaseTarget::New(_)) => {
                    return Err(ProviderError::InUse(id));
                }
                (LeaseAttempt::Taken(dir), _) if self.is_expired(dir.last_used()?) => self.root.discard(dir)?,
                (LeaseAttempt::Taken(dir), LeaseTarget::Existing) => return Ok(dir),
                (LeaseAttempt::Taken(dir), LeaseTarget::Thread(owner, _)) => {
                    let is_theirs = dir.record()?.owner.as_ref() == Some(owner);
                    return if is_theirs { Ok(dir) } else { Err(ProviderError::OtherOwner(id)) };
                }
                (LeaseAttempt::NotFound, LeaseTarget::Existing) => return Err(ProviderError::NotFound(id)),
                (LeaseAttempt::NotFound, LeaseTarget::Thread(_, metadata) | LeaseTarget::New(metadata)) => {
                    let owner = match &target {
                        LeaseTarget::Thread(owner, _) => Some(owner.clone()),
                        _ => None,
                    };
                    let record = self.record(owner, metadata.clone())?;
                    // None: another process created it first.
                    if let Some(dir) = self.root.begin_sandbox(id)?.publish(&record)? {
                        return Ok(dir);
                    }
                }
            }
        }
    }

    /// Returns the lease of a sandbox that is leased here.
    pub(super) fn get(&self, id: SandboxId) -> Result<Arc<Lease>> {
        let lease = self.table().get(id)?.lease.clone();
        lease.touch();
        Ok(lease)
    }

    /// Returns directory and sandbox of a lease here.
    pub(super) fn borrow(&self, id: SandboxId) -> Result<(SandboxDir, Sandbox)> {
        let table = self.table();
        let leased = table.get(id)?;
        leased.lease.touch();
        Ok((leased.dir.clone(), leased.sandbox.clone()))
    }

    /// Ends a lease, and keeps the sandbox warm.
    pub(super) async fn release(self: &Arc<ProviderState>, id: SandboxId) -> Result<()> {
        let (transition, leased) = self.begin_release(id)?;
        let (dir, warm) = self.stop(leased).await;
        blocking(self, move |shared| {
            dir.touch(shared.clock.now())?;
            // The lock before the table, so that the next acquire finds it free.
            drop(dir);
            if let Some(warm) = warm {
                transition.end(|table| table.end_warm(id, warm));
            }
            shared.drop_idle();
            Ok(())
        })
        .await
    }

    /// Deletes a sandbox, and ends its lease if it is leased here.
    pub(super) async fn delete(self: &Arc<ProviderState>, id: SandboxId) -> Result<bool> {
        match self.begin_release(id) {
            Ok((transition, leased)) => {
                let (dir, warm) = self.stop(leased).await;
                blocking(self, move |shared| {
                    let _transition = transition;
                    drop(warm);
                    shared.root.discard(dir).map(|()| true)
                })
                .await
            }
            Err(ProviderError::NotLeased(_)) => {
                let warm = self.table().begin_removal(id)?;
                let transition = self.begin_transition(id);
                blocking(self, move |shared| {
                    let _transition = transition;
                    drop(warm);
                    shared.root.delete(id, |_| Ok(true))
                })
                .await
            }
            Err(error) => Err(error),
        }
    }

    /// Ends a lease and waits until nothing works with the sandbox any more. After [`RELEASE_TIMEOUT`] there is no warm
    /// sandbox: a straggler shares the lock and gives it back at its end.
    async fn stop(&self, leased: LeasedSandbox) -> (SandboxDir, Option<WarmSandbox>) {
        let LeasedSandbox { lease, dir, sandbox, generation } = leased;
        lease.end();
        let share_dropped = dir.lock.share_dropped();
        let mut timeout = pin!(tokio::time::sleep(RELEASE_TIMEOUT));
        loop {
            let mut operation_ended = pin!(lease.operation_ended().notified());
            let mut share_dropped = pin!(share_dropped.notified());
            // Both are registered before the check, so that no notification falls between the two.
            operation_ended.as_mut().enable();
            share_dropped.as_mut().enable();
            lease.drop_streams();
            let is_alone = dir.lock.is_only_share();
            if is_alone && sandbox.kernel().processes() == 0 {
                return (dir, Some(WarmSandbox { sandbox, generation, last_used: self.clock.now() }));
            }
            let processes_ended = async {
                match is_alone {
                    true => sandbox.kernel().wait_idle().await,
                    // With other shares left this would return at once, and the loop would spin.
                    false => std::future::pending().await,
                }
            };
            tokio::select! {
                () = operation_ended => {}
                () = share_dropped => {}
                () = processes_ended => {}
                () = &mut timeout => break,
            }
        }
        let share = dir.lock.clone();
        tokio::spawn(async move {
            sandbox.kernel().wait_idle().await;
            drop(share);
        });
        (dir, None)
    }

    /// Leases a sandbox that exists, or returns its lease here. While it changes its state, or another process has it,
    /// the call waits, up to `timeout`.
    pub(super) async fn lease_within(
        self: &Arc<ProviderState>,
        id: SandboxId,
        timeout: Duration,
    ) -> Result<Arc<Lease>> {
        let deadline = Instant::now() + timeout;
        let (mut pause, longest_pause) = LEASE_RETRY_PAUSE;
        loop {
            let leased = match self.get(id) {
                Err(ProviderError::NotLeased(_)) => {
                    let acquired = blocking(self, move |shared| shared.acquire(id, LeaseTarget::Existing)).await;
                    acquired.and_then(|pending| self.get(pending.confirm()))
                }
                answer => answer,
            };
            match leased {
                Err(ProviderError::InUse(_) | ProviderError::NotLeased(_)) => {}
                answer => return answer,
            }
            let settled = async {
                if self.table().is_busy(id) {
                    self.wait_settled(id).await;
                } else {
                    // Another process has the lease. The host's kernel only wakes a thread that blocks on such a lock,
                    // and a blocked thread cannot be cancelled. So this is the one case that polls.
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(longest_pause);
                }
            };
            if tokio::time::timeout_at(deadline, settled).await.is_err() {
                return Err(ProviderError::InUse(id));
            }
        }
    }

    /// Waits until no transition of a sandbox is under way.
    async fn wait_settled(&self, id: SandboxId) {
        loop {
            let mut ended = pin!(self.transition_ended.notified());
            // Registered before the check, so that no notification falls between the two.
            ended.as_mut().enable();
            if !self.table().is_busy(id) {
                return;
            }
            ended.await;
        }
    }

    /// Ends the leases that were unused for too long.
    pub(super) async fn end_unused_leases(self: &Arc<ProviderState>) {
        let leases = self.table().leases();
        for lease in leases.iter().filter(|lease| lease.is_unused(self.config.lease_timeout)) {
            // It may have been released in between.
            let _ = self.release(lease.sandbox_id()).await;
        }
    }

    /// Drops warm sandboxes that were idle for too long, and deletes expired ones.
    pub(super) fn sweep(self: &Arc<ProviderState>) -> Result<()> {
        self.drop_idle();
        if self.config.ttl.is_none() {
            return Ok(());
        }
        // Written down in case this process dies: a lease of many days was used until now, not only when it began.
        let leased = self.table().leased_dirs();
        for (dir, last_used) in leased {
            dir.touch(last_used)?;
        }
        // A sandbox that cannot be removed does not keep the others.
        let mut first = Ok(());
        for id in self.root.ids()? {
            if let Err(error) = self.expire(id) {
                first = first.and(Err(error));
            }
        }
        first
    }

    /// Deletes a sandbox if it has expired and is not leased.
    fn expire(self: &Arc<ProviderState>, id: SandboxId) -> Result<()> {
        if !self.root.last_used(id)?.is_some_and(|time| self.is_expired(time)) {
            return Ok(());
        }
        let Ok(warm) = self.table().begin_removal(id) else {
            return Ok(());
        };
        let _transition = self.begin_transition(id);
        drop(warm);
        match self.root.delete(id, |dir| Ok(self.is_expired(dir.last_used()?))) {
            // Another process has leased it.
            Ok(_) | Err(ProviderError::InUse(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Ends all leases and drops the warm sandboxes.
    pub(super) async fn shutdown(self: &Arc<ProviderState>) {
        let warm = self.table().shut();
        drop(warm);
        let leases = self.table().leases();
        for lease in leases {
            // It may be in the middle of a release.
            let _ = self.release(lease.sandbox_id()).await;
        }
    }

    /// Returns the numbers of leased and of warm sandboxes.
    pub(super) fn count(&self) -> (usize, usize) {
        self.table().count()
    }

    /// Returns a copy of a leased sandbox whose changes are discarded.
    pub(super) fn dry_copy(&self, id: SandboxId) -> Result<Isopod> {
        let (dir, sandbox) = self.borrow(id)?;
        let builder = self.builder(true).snapshot(&sandbox.snapshot());
        let copy = builder.mount_dir(dir.files()?, WORKSPACE, MountAccess::Overlay).build()?;
        Ok(Isopod::new(id.to_string(), copy)?)
    }

    /// Returns the builder of a sandbox of this configuration, without the sandbox's own files.
    fn builder(&self, is_dry: bool) -> SandboxBuilder {
        let builder = self.config.builder(is_dry);
        match &self.runtime {
            Some(runtime) => builder.runtime(runtime.clone()),
            None => builder,
        }
    }

    /// Returns the record of a sandbox that is created now.
    pub(super) fn record(&self, owner: Option<Owner>, metadata: Metadata) -> Result<Record> {
        Record::new(owner, self.clock.now(), metadata)
    }

    fn begin_release(self: &Arc<ProviderState>, id: SandboxId) -> Result<(Transition, LeasedSandbox)> {
        let leased = self.table().begin_release(id)?;
        Ok((self.begin_transition(id), leased))
    }

    fn drop_idle(&self) {
        let is_over = |last_used| self.clock.has_passed(self.config.idle_timeout, last_used);
        // Dropped after the table's lock: dropping closes files.
        let idle = self.table().take_idle(is_over);
        drop(idle);
    }

    fn is_expired(&self, last_used: u64) -> bool {
        self.clock.has_passed(self.config.ttl, last_used)
    }

    fn begin_transition(self: &Arc<ProviderState>, id: SandboxId) -> Transition {
        Transition { shared: self.clone(), id, is_over: false }
    }

    pub(super) fn table(&self) -> MutexGuard<'_, Table> {
        lock(&self.table)
    }
}

impl Drop for ProviderState {
    fn drop(&mut self) {
        let leases = self.table().leases();
        leases.iter().for_each(|lease| lease.end());
    }
}
