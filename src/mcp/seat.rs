//! What a client sits at: a sandbox, a live shell in it, and snapshots to go back to.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::bounds;
use super::tools::Refusal;
use crate::backend::Isopod;
use crate::error::Errno;
use crate::sandbox::{BuildError, Command, ExecuteError, Execution, Sandbox, Session, Snapshot};
use crate::vfs::{MountInfo, MountKind};

/// The snapshot that a seat begins with.
pub(super) const START: &str = "start";

/// What all seats begin as.
pub struct Origin {
    snapshot: Arc<Snapshot>,
    /// Where commands start and relative paths begin.
    cwd: String,
    /// Where directories of the host are, in a line each, for whoever works in the sandbox.
    mounts: Vec<String>,
    has_commit: bool,
}

impl Origin {
    /// All seats are forks of this sandbox. With `commit` there is a tool that writes the changes of overlays to the
    /// host.
    pub fn new(sandbox: &Sandbox, commit: bool) -> Origin {
        let mounts = sandbox.mounts().iter().filter_map(describe_mount).collect();
        // It is there: the sandbox could not have been made without it.
        let cwd = sandbox.fs().canonical(".").unwrap_or_default();
        Origin { snapshot: Arc::new(sandbox.snapshot()), cwd, mounts, has_commit: commit }
    }

    pub(super) fn cwd(&self) -> &str {
        &self.cwd
    }

    pub(super) fn mounts(&self) -> &[String] {
        &self.mounts
    }

    pub(super) fn has_commit(&self) -> bool {
        self.has_commit
    }

    pub(super) fn seat(&self) -> Result<Seat, BuildError> {
        let snapshots = BTreeMap::from([(START.to_owned(), Arc::clone(&self.snapshot))]);
        Ok(Seat {
            room: Mutex::new(Room::of(&self.snapshot)?),
            snapshots: Mutex::new(snapshots),
            calls: Semaphore::new(bounds::CALLS),
            closed: CancellationToken::new(),
        })
    }
}

/// A client's place.
pub(super) struct Seat {
    /// Guards which room it is; a fork is another. Held for a copy of the handle.
    room: Mutex<Arc<Room>>,
    /// Guards the snapshots. Held for a look-up.
    snapshots: Mutex<BTreeMap<String, Arc<Snapshot>>>,
    /// One for each call that may run.
    pub(super) calls: Semaphore,
    /// Ends all calls.
    pub(super) closed: CancellationToken,
}

impl Seat {
    /// Where the tools work now.
    pub(super) fn room(&self) -> Arc<Room> {
        Arc::clone(&lock(&self.room))
    }

    /// Keeps the files as they are, and says which names there are.
    pub(super) fn snapshot(&self, name: &str) -> Result<Vec<String>, Refusal> {
        if name.is_empty() || name.len() > bounds::NAME_BYTES || name.chars().any(char::is_control) {
            return Err(Refusal(format!("a snapshot's name has 1 to {} bytes of plain text", bounds::NAME_BYTES)));
        }
        if name == START {
            return Err(Refusal(format!("{START:?} is how the sandbox began: take another name")));
        }
        let snapshot = Arc::new(self.room().sandbox.snapshot());
        let mut snapshots = lock(&self.snapshots);
        if snapshots.len() >= bounds::SNAPSHOTS && !snapshots.contains_key(name) {
            let names = quoted(&snapshots);
            return Err(Refusal(format!(
                "there are {} snapshots: use one of these names again: {names}",
                snapshots.len()
            )));
        }
        snapshots.insert(name.to_owned(), snapshot);
        Ok(snapshots.keys().cloned().collect())
    }

    /// Goes on from a snapshot: with its files, and with a shell that knows nothing yet. What ran ends.
    pub(super) async fn fork(&self, name: &str) -> Result<(), Refusal> {
        let snapshot = {
            let snapshots = lock(&self.snapshots);
            let unknown = || Refusal(format!("no snapshot {name:?}; there are {}", quoted(&snapshots)));
            snapshots.get(name).cloned().ok_or_else(unknown)?
        };
        let room = Room::of(&snapshot)?;
        let left = std::mem::replace(&mut *lock(&self.room), room);
        left.close().await;
        Ok(())
    }

    /// Ends all that runs.
    pub(super) async fn close(&self) {
        self.closed.cancel();
        self.room().close().await;
    }
}

/// A sandbox and its shell.
pub(super) struct Room {
    pub(super) sandbox: Sandbox,
    pub(super) files: Isopod,
    /// Guards which shell it is. Held for a copy of the handle.
    shell: Mutex<Option<Session>>,
}

/// A command in a shell.
pub(super) struct Started {
    pub(super) shell: Session,
    pub(super) execution: Execution,
    /// Whether the shell knew nothing of earlier commands.
    pub(super) is_new: bool,
}

impl Room {
    fn of(snapshot: &Snapshot) -> Result<Arc<Room>, BuildError> {
        let sandbox = snapshot.fork()?;
        let files = Isopod::new("mcp", sandbox.clone());
        let files = files.map_err(|error| BuildError::Tree(error.errno().unwrap_or(Errno::Io)))?;
        Ok(Arc::new(Room { sandbox, files, shell: Mutex::new(None) }))
    }

    /// Starts a command when its turn comes: in the shell that is there, or in a new one if that has ended.
    pub(super) async fn start(&self, command: impl Fn() -> Command) -> Result<Started, ExecuteError> {
        loop {
            let (shell, is_new) = self.shell()?;
            match shell.stream(command()).await {
                Ok(execution) => return Ok(Started { shell, execution, is_new }),
                // Whoever had the turn before ended it.
                Err(ExecuteError::Ended) if !is_new => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Ends the shell and what runs in it.
    pub(super) async fn close(&self) {
        let shell = lock(&self.shell).take();
        if let Some(shell) = shell {
            shell.close().await;
        }
    }

    fn shell(&self) -> Result<(Session, bool), ExecuteError> {
        let mut slot = lock(&self.shell);
        match &*slot {
            Some(shell) if shell.is_open() => Ok((shell.clone(), false)),
            _ => {
                let shell = self.sandbox.session()?;
                *slot = Some(shell.clone());
                Ok((shell, true))
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn quoted(snapshots: &BTreeMap<String, Arc<Snapshot>>) -> String {
    snapshots.keys().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
}

/// Returns the line that tells a client about a mounted directory of the host; none for any other mount.
fn describe_mount(mount: &MountInfo) -> Option<String> {
    let description = match mount.kind {
        MountKind::Overlay => "a directory of the user; changes stay in the sandbox until they are committed",
        MountKind::Host if mount.is_read_only => "a directory of the user, read-only",
        MountKind::Host => "a directory of the user; changes are real, and no part of snapshots",
        _ => return None,
    };
    Some(format!("{}: {description}", mount.path))
}
