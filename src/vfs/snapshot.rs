//! The files of a sandbox at one moment, and forks that start from them.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::Result;
use crate::path::GuestPath;

use super::{FileSystem, MemFs, MemSnapshot, Quota, Vfs, VfsBuilder};

/// The stored state of one file system in a snapshot.
pub trait FrozenFs: Send + Sync {
    /// Creates a new file system with this state, charged to `quota`.
    fn thaw(&self, quota: &Arc<Quota>) -> Result<Arc<dyn FileSystem>>;

    /// Returns true if the files belong to the sandbox, and not to the host.
    fn is_own(&self) -> bool {
        true
    }

    /// Returns the tree, if the state is a plain tree in memory.
    fn memory(&self) -> Option<&MemSnapshot> {
        None
    }
}

/// A tree of names at one moment. Taking it and forking from it cost nothing for the files it holds.
///
/// File systems of the sandbox (memory, overlays) are frozen. Others (directories of the host, devices, programs) are
/// not: a fork uses them as they are then. Each file system is frozen at its own moment, so the
/// changes of a command that runs at that time may be in one of them and not in another.
pub struct Snapshot {
    mounts: Vec<SnapshotMount>,
}

/// A mount in a snapshot.
struct SnapshotMount {
    at: GuestPath,
    read_only: bool,
    /// Number of the file system in the table. A file system that is mounted twice stays one file system in a fork.
    device: u64,
    state: MountState,
}

#[derive(Clone)]
enum MountState {
    Frozen(Arc<dyn FrozenFs>),
    /// The file system itself. Only this variant keeps it alive: otherwise a sandbox that ends frees its files.
    Shared(Arc<dyn FileSystem>),
}

impl Vfs {
    /// Returns a snapshot of the tree.
    pub fn snapshot(&self) -> Snapshot {
        let mut states: HashMap<u64, MountState> = HashMap::new();
        // In this order, so that a fork reports its mounts as the original does.
        let mounts = self.table.in_mount_order().into_iter().map(|mount| {
            let state = states.entry(mount.device);
            let state = state.or_insert_with(|| match mount.fs.freeze() {
                Some(frozen) => MountState::Frozen(frozen),
                None => MountState::Shared(Arc::clone(&mount.fs)),
            });
            SnapshotMount {
                at: mount.at.clone(),
                read_only: mount.read_only,
                device: mount.device,
                state: state.clone(),
            }
        });
        Snapshot { mounts: mounts.collect() }
    }
}

impl Snapshot {
    /// Creates a new tree from this snapshot, charged to `quota`, which must have room for it.
    pub fn fork(&self, quota: &Arc<Quota>) -> Result<Vfs> {
        self.build(Vfs::builder(), quota, |_| true)
    }

    /// Returns the tree that is mounted at the root, if it is a plain tree in memory.
    pub fn root(&self) -> Option<&MemSnapshot> {
        self.mounts.iter().find(|mount| mount.at.is_root()).and_then(|mount| match &mount.state {
            MountState::Frozen(frozen) => frozen.memory(),
            MountState::Shared(_) => None,
        })
    }

    /// Creates a new tree like `fork`, but only with the files of the sandbox.
    pub(super) fn fork_own(&self, quota: &Arc<Quota>) -> Result<Vfs> {
        let is_own = |mount: &SnapshotMount| matches!(&mount.state, MountState::Frozen(frozen) if frozen.is_own());
        let mut builder = Vfs::builder();
        if !self.mounts.iter().any(|mount| mount.at.is_root() && is_own(mount)) {
            builder = builder.mount(GuestPath::root(), Arc::new(MemFs::new(Arc::clone(quota))), false);
        }
        self.build(builder, quota, is_own)
    }

    fn build(
        &self,
        mut builder: VfsBuilder,
        quota: &Arc<Quota>,
        wanted: impl Fn(&SnapshotMount) -> bool,
    ) -> Result<Vfs> {
        let mut thawed: HashMap<u64, Arc<dyn FileSystem>> = HashMap::new();
        for mount in self.mounts.iter().filter(|mount| wanted(mount)) {
            let fs = match (thawed.get(&mount.device), &mount.state) {
                (Some(fs), _) | (None, MountState::Shared(fs)) => Arc::clone(fs),
                (None, MountState::Frozen(frozen)) => frozen.thaw(quota)?,
            };
            thawed.insert(mount.device, Arc::clone(&fs));
            builder = builder.mount(mount.at.clone(), fs, mount.read_only);
        }
        builder.build()
    }
}
