//! The files of a sandbox at one moment, and sandboxes that start from there.

use std::collections::HashMap;
use std::sync::Arc;

use crate::error::Result;
use crate::path::GuestPath;

use super::{FileSystem, MemFs, MemSnapshot, Quota, Vfs, VfsBuilder};

/// What a snapshot keeps of one file system.
pub trait Frozen: Send + Sync {
    /// A file system of its own that starts as the frozen one was, charged to `quota`.
    fn thaw(&self, quota: &Arc<Quota>) -> Result<Arc<dyn FileSystem>>;

    /// Whether what it holds is the sandbox's own, and not the host's.
    fn is_own(&self) -> bool {
        true
    }

    /// What it is if it is a tree in memory and nothing else.
    fn memory(&self) -> Option<&MemSnapshot> {
        None
    }
}

/// A tree of names as it was when it was taken. Taking it and forking from it cost nothing for the files it holds.
///
/// What belongs to the sandbox (memory, overlays) is frozen. What does not (directories of the host, devices, programs)
/// is not: a fork uses it as it is then. Each file system is frozen at a moment of its own, so a command that runs
/// meanwhile may be seen halfway through what it does in two of them.
pub struct Snapshot {
    mounts: Vec<Kept>,
}

/// A mount in a snapshot.
struct Kept {
    at: GuestPath,
    read_only: bool,
    /// Number of the file system in the table: one that is mounted twice is one in a fork, too.
    device: u64,
    state: State,
}

#[derive(Clone)]
enum State {
    Frozen(Arc<dyn Frozen>),
    /// The snapshot then holds the file system itself, and only then: a sandbox that ends gives its files back.
    Shared(Arc<dyn FileSystem>),
}

impl Vfs {
    /// The tree as it is now.
    pub fn snapshot(&self) -> Snapshot {
        let mut states: HashMap<u64, State> = HashMap::new();
        let keep = self.table.mounts().map(|mount| {
            let state = states.entry(mount.device);
            let state = state.or_insert_with(|| match mount.fs.freeze() {
                Some(frozen) => State::Frozen(frozen),
                None => State::Shared(Arc::clone(&mount.fs)),
            });
            Kept { at: mount.at.clone(), read_only: mount.read_only, device: mount.device, state: state.clone() }
        });
        Snapshot { mounts: keep.collect() }
    }
}

impl Snapshot {
    /// A tree of its own that starts as this snapshot, charged to `quota`, which has to have room for it.
    pub fn fork(&self, quota: &Arc<Quota>) -> Result<Vfs> {
        self.build(Vfs::builder(), quota, |_| true)
    }

    /// What is mounted at the root, if that is a tree in memory.
    pub fn root(&self) -> Option<&MemSnapshot> {
        self.mounts.iter().find(|kept| kept.at.is_root()).and_then(|kept| match &kept.state {
            State::Frozen(frozen) => frozen.memory(),
            State::Shared(_) => None,
        })
    }

    /// As `fork`, with nothing in it but what is the sandbox's own.
    pub(super) fn fork_own(&self, quota: &Arc<Quota>) -> Result<Vfs> {
        let is_own = |kept: &Kept| matches!(&kept.state, State::Frozen(frozen) if frozen.is_own());
        let mut builder = Vfs::builder();
        if !self.mounts.iter().any(|kept| kept.at.is_root() && is_own(kept)) {
            builder = builder.mount(GuestPath::root(), Arc::new(MemFs::new(Arc::clone(quota))), false);
        }
        self.build(builder, quota, is_own)
    }

    fn build(&self, mut builder: VfsBuilder, quota: &Arc<Quota>, wanted: impl Fn(&Kept) -> bool) -> Result<Vfs> {
        let mut thawed: HashMap<u64, Arc<dyn FileSystem>> = HashMap::new();
        for kept in self.mounts.iter().filter(|kept| wanted(kept)) {
            let fs = match (thawed.get(&kept.device), &kept.state) {
                (Some(fs), _) | (None, State::Shared(fs)) => Arc::clone(fs),
                (None, State::Frozen(frozen)) => frozen.thaw(quota)?,
            };
            thawed.insert(kept.device, Arc::clone(&fs));
            builder = builder.mount(kept.at.clone(), fs, kept.read_only);
        }
        builder.build()
    }
}
