//! Handles of directories that many names were looked at in, so that the next look need not walk there again.
//!
//! To look at a name deep in a mounted directory takes three calls of the host: it is opened without following a link,
//! looked at, and closed. With a handle of the directory that it stands in, one is enough. But a handle goes with its
//! directory, wherever the host moves it. So one is kept only while [`Watch`] has heard of nothing that happened on the
//! way to it.
//!
//! # Why nothing gets out
//! - The handle is of the directory that an ordinary walk found, after the names on its way were watched.
//! - One name is looked at with it, and no link is followed.
//! - So all that could show is a directory that was there, and was moved, replaced, closed to us or mounted over. That is
//!   asked for after the look; if anything was heard, what was seen is thrown away and the walk is made.
//! - Nothing is opened, read or changed this way.
//!
//! It holds for the process that made the watch, with the user it had: not in a child that was forked and runs on without
//! another program, which no part of this library supports, nor after a change of the user.
//!
//! # When it pays
//! A look gets 1.2 µs cheaper. Watches cost 10 µs each, and the host's kernel can take 20 ms to let go of them at the end
//! of the process; also, a user has only so many. So a process that looks at few names does without: it begins to watch
//! when it has spent on walks what watching may cost.
//!
//! Only where each change of the files passes through this machine's kernel: it does not hear of those that another
//! machine makes.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use cap_std::fs::Dir;

use crate::path::Subpath;

use super::stat::Facts;
use super::walk::Walk;
use super::watch::Watch;

/// Handles that a process keeps, and directories that it counts looks for.
const SLOTS: usize = 64;
/// Looks in all before the first directory is watched: 20 ms of 1.2 µs.
const SAVED: u32 = 16_384;
/// Looks in one directory before it is worth its watches.
const ASKED: u32 = 32;
/// Names on the way to a directory. Each but the last takes a watch.
const DEEPEST: usize = 16;

/// A mounted directory's share of the handles.
pub(super) struct Kept {
    number: u64,
    /// Whether the file system is one that only this machine changes.
    is_local: bool,
    /// Whether mounts in it are heard of, once that was asked.
    is_heard: OnceLock<bool>,
    /// Whether it ever had any handles.
    has_kept: AtomicBool,
    /// Does not wait until it pays.
    is_eager: AtomicBool,
}

/// A directory that was kept, as long as it is where it was.
pub(super) struct Place {
    directory: Arc<Dir>,
    epoch: u64,
}

impl Kept {
    pub(super) fn new(is_local: bool) -> Kept {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Kept {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            is_local,
            is_heard: OnceLock::new(),
            has_kept: AtomicBool::new(false),
            is_eager: AtomicBool::new(false),
        }
    }

    #[cfg(test)]
    pub(super) fn be_eager(&self) {
        self.is_eager.store(true, Ordering::Relaxed);
    }

    #[cfg(test)]
    pub(super) fn has(&self, path: Subpath<'_>) -> bool {
        table().slot(self.number, path).directory.is_some()
    }

    /// The handle of a directory, if it is kept. Counts that it was asked for, and keeps it when that pays.
    pub(super) fn place(&self, walk: &Walk, path: Subpath<'_>) -> Option<Place> {
        let is_eager = self.is_eager.load(Ordering::Relaxed);
        if !self.is_local || !is_eager && !is_saved() {
            return None;
        }
        let mut table = table();
        let epoch = table.table.epoch;
        let slot = table.slot(self.number, path);
        if let Some(directory) = &slot.directory {
            return Some(Place { directory: Arc::clone(directory), epoch });
        }
        if !slot.is_asked_for() && !is_eager {
            return None;
        }
        let watch = table.watch()?;
        // While nothing is kept nobody listens: what was told so far is not about this walk.
        let epoch = table.listen();
        // Not with the table locked: the host may have to wait for its disk.
        drop(table);
        self.keep(walk, path, &watch, epoch)
    }

    /// Walks to a directory, with its way watched, and keeps it if nothing was heard since `epoch`.
    fn keep(&self, walk: &Walk, path: Subpath<'_>, watch: &Watch, epoch: u64) -> Option<Place> {
        if path.names().count() > DEEPEST || !self.is_heard.get_or_init(|| watch.hears_mounts_in(walk.root())) {
            return None;
        }
        let directory = Arc::new(watched_walk(watch, walk, path)?);
        let mut table = table();
        if table.listen() != epoch {
            return None;
        }
        self.has_kept.store(true, Ordering::Relaxed);
        table.slot(self.number, path).keep(Arc::clone(&directory));
        Some(Place { directory, epoch })
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if *self.has_kept.get_mut() {
            table().let_go(|slot| slot.owner == self.number);
        }
    }
}

/// The names in a directory are watched before the next is opened: if that is not the one under its name any more, it is
/// heard.
fn watched_walk(watch: &Watch, walk: &Walk, path: Subpath<'_>) -> Option<Dir> {
    watch.add(walk.root()).ok()?;
    let text = path.as_str();
    for (end, _) in text.match_indices('/') {
        let directory = walk.directory_at_once(Subpath::trusted(&text[..end]))?.ok()?;
        watch.add(&directory).ok()?;
    }
    let directory = walk.directory_at_once(path)?.ok()?;
    // Some kernels (5.3 to 5.16) tell of a removal shortly before its name is gone.
    let is_there = Facts::of(&directory).is_ok_and(|facts| facts.links() > 0);
    is_there.then_some(directory)
}

impl Place {
    pub(super) fn directory(&self) -> &Dir {
        &self.directory
    }

    /// Whether the directory is where it was. To be asked after it was looked at.
    pub(super) fn is_still_there(&self) -> bool {
        table().listen() == self.epoch
    }
}

/// Whether the process has spent on walks what watching may cost. Counts a walk if not.
fn is_saved() -> bool {
    WALKS.load(Ordering::Relaxed) >= SAVED || WALKS.fetch_add(1, Ordering::Relaxed) >= SAVED
}

/// Looks that took a walk, up to [`SAVED`].
static WALKS: AtomicU32 = AtomicU32::new(0);

/// Guards the handles and whoever listens, so that nobody reads an event and has not forgotten yet what it is about. It
/// is taken after any other lock but that of `Watch`, and held for no call of the host that waits.
static TABLE: Mutex<Table> = Mutex::new(Table { slots: [const { Slot::new() }; SLOTS], watch: None, epoch: 0 });

fn table() -> Locked {
    Locked { table: TABLE.lock().unwrap_or_else(PoisonError::into_inner), gone: Vec::new() }
}

/// The table, and handles that it let go of. They are closed when it is unlocked, which the order of the fields sees to:
/// one may be the last of a file system that was unmounted, whose end takes as long as its disk does.
struct Locked {
    table: MutexGuard<'static, Table>,
    gone: Vec<Arc<Dir>>,
}

/// The process's handles. A directory has one place where it can be, as in a processor's cache: the last to ask is in it.
struct Table {
    slots: [Slot; SLOTS],
    /// One for the process: a user has few.
    watch: Option<Arc<Watch>>,
    /// Counts how often all was forgotten.
    epoch: u64,
}

impl Locked {
    /// The slot of a directory, which begins anew if it was another's.
    fn slot(&mut self, owner: u64, path: Subpath<'_>) -> &mut Slot {
        let mut hasher = DefaultHasher::new();
        (owner, path.as_str()).hash(&mut hasher);
        let slot = &mut self.table.slots[hasher.finish() as usize % SLOTS];
        if slot.owner != owner || slot.path != path.as_str() {
            self.gone.extend(slot.directory.take());
            let mut text = std::mem::take(&mut slot.path);
            text.clear();
            text.push_str(path.as_str());
            *slot = Slot { owner, path: text, ..Slot::new() };
        }
        slot
    }

    /// Who listens. Where the host does not let anyone, it is asked again when as much was spent again.
    fn watch(&mut self) -> Option<Arc<Watch>> {
        if self.table.watch.is_none() {
            self.table.watch = Watch::new().ok().map(Arc::new);
            if self.table.watch.is_none() {
                WALKS.store(0, Ordering::Relaxed);
            }
        }
        self.table.watch.clone()
    }

    /// Forgets all handles if anything was heard. Answers the epoch then.
    fn listen(&mut self) -> u64 {
        if self.table.watch.as_ref().is_some_and(|watch| !watch.is_quiet()) {
            self.table.epoch += 1;
            self.let_go(|_| true);
        }
        self.table.epoch
    }

    fn let_go(&mut self, which: impl Fn(&Slot) -> bool) {
        for slot in self.table.slots.iter_mut().filter(|slot| which(slot)) {
            self.gone.extend(slot.directory.take());
        }
    }
}

struct Slot {
    owner: u64,
    path: String,
    /// Looks since it was last tried to keep the directory, and how many it takes for that to be tried.
    asked: u32,
    needed: u32,
    directory: Option<Arc<Dir>>,
}

impl Slot {
    const fn new() -> Slot {
        Slot { owner: 0, path: String::new(), asked: 0, needed: ASKED, directory: None }
    }

    /// Whether it pays now to keep the directory. Each time that it comes to nothing takes twice as much.
    fn is_asked_for(&mut self) -> bool {
        self.asked = self.asked.saturating_add(1);
        let is_asked_for = self.asked >= self.needed;
        if is_asked_for {
            (self.asked, self.needed) = (0, (self.needed * 2).min(SAVED));
        }
        is_asked_for
    }

    fn keep(&mut self, directory: Arc<Dir>) {
        (self.directory, self.needed) = (Some(directory), ASKED);
    }
}
