//! The session of a client: a sandbox, a live shell in it, and named snapshots.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::tools::Refusal;
use crate::backend::Isopod;
use crate::error::Errno;
use crate::limits::server::mcp as limits;
use crate::sandbox::{BuildError, Command, ExecuteError, Execution, Sandbox, Session, Snapshot};
use crate::sync::lock;
use crate::vfs::{MountInfo, MountKind};

/// The snapshot that a session starts from.
pub(super) const START: &str = "start";

/// The state that every session starts from.
pub struct SessionTemplate {
    snapshot: Arc<Snapshot>,
    /// The directory in which commands start, and to which paths are relative.
    cwd: String,
    /// One line for each directory of the host, for the model.
    mounts: Vec<String>,
    has_commit: bool,
}

impl SessionTemplate {
    /// Makes a template. Every session is a fork of this sandbox. With `commit` there is a tool that writes the changes
    /// of overlays to the host.
    pub fn new(sandbox: &Sandbox, commit: bool) -> SessionTemplate {
        let mounts = sandbox.mounts().iter().filter_map(describe_mount).collect();
        // The builder has checked that the directory exists.
        let cwd = sandbox.fs().canonical(".").unwrap_or_default();
        SessionTemplate { snapshot: Arc::new(sandbox.snapshot()), cwd, mounts, has_commit: commit }
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

    pub(super) fn open_session(&self) -> Result<ClientSession, BuildError> {
        let snapshots = BTreeMap::from([(START.to_owned(), Arc::clone(&self.snapshot))]);
        Ok(ClientSession {
            workspace: Mutex::new(Workspace::of(&self.snapshot)?),
            snapshots: Mutex::new(snapshots),
            calls: Semaphore::new(limits::CALLS),
            closed: CancellationToken::new(),
        })
    }
}

/// The session of one client.
pub(super) struct ClientSession {
    /// Guards the current workspace, which `fork` replaces. Held while the handle is copied.
    workspace: Mutex<Arc<Workspace>>,
    /// Guards the snapshots. Held for a look-up.
    snapshots: Mutex<BTreeMap<String, Arc<Snapshot>>>,
    /// One permit for each call that may run.
    pub(super) calls: Semaphore,
    /// Cancelled when the session ends. It ends all calls.
    pub(super) closed: CancellationToken,
}

impl ClientSession {
    /// Returns the current workspace.
    pub(super) fn workspace(&self) -> Arc<Workspace> {
        Arc::clone(&lock(&self.workspace))
    }

    /// Takes a snapshot under a name, and returns the names of all snapshots.
    pub(super) fn snapshot(&self, name: &str) -> Result<Vec<String>, Refusal> {
        if name.is_empty() || name.len() > limits::SNAPSHOT_NAME_BYTES || name.chars().any(char::is_control) {
            return Err(Refusal(format!(
                "a snapshot's name has 1 to {} bytes of plain text",
                limits::SNAPSHOT_NAME_BYTES
            )));
        }
        if name == START {
            return Err(Refusal(format!("{START:?} is the initial state: take another name")));
        }
        let snapshot = Arc::new(self.workspace().sandbox.snapshot());
        let mut snapshots = lock(&self.snapshots);
        if snapshots.len() >= limits::SNAPSHOTS && !snapshots.contains_key(name) {
            let names = quoted(&snapshots);
            return Err(Refusal(format!(
                "there are {} snapshots: use one of these names again: {names}",
                snapshots.len()
            )));
        }
        snapshots.insert(name.to_owned(), snapshot);
        Ok(snapshots.keys().cloned().collect())
    }

    /// Replaces the workspace by a copy of a snapshot, with a new shell. Everything that runs in the old one ends.
    pub(super) async fn fork(&self, name: &str) -> Result<(), Refusal> {
        let snapshot = {
            let snapshots = lock(&self.snapshots);
            let unknown = || Refusal(format!("no snapshot {name:?}; there are {}", quoted(&snapshots)));
            snapshots.get(name).cloned().ok_or_else(unknown)?
        };
        let workspace = Workspace::of(&snapshot)?;
        let left = std::mem::replace(&mut *lock(&self.workspace), workspace);
        left.close().await;
        Ok(())
    }

    /// Ends all calls and processes.
    pub(super) async fn close(&self) {
        self.closed.cancel();
        self.workspace().close().await;
    }
}

/// A sandbox and its live shell.
pub(super) struct Workspace {
    pub(super) sandbox: Sandbox,
    pub(super) files: Isopod,
    /// Guards the current shell. Held while a shell is started, or its handle is copied.
    shell: Mutex<Option<Session>>,
}

/// A command that has started in a shell.
pub(super) struct RunningCommand {
    pub(super) shell: Session,
    pub(super) execution: Execution,
    /// The shell was started for this command.
    pub(super) is_new: bool,
}

impl Workspace {
    fn of(snapshot: &Snapshot) -> Result<Arc<Workspace>, BuildError> {
        let sandbox = snapshot.fork()?;
        let files = Isopod::new("mcp", sandbox.clone());
        let files = files.map_err(|error| BuildError::Tree(error.errno().unwrap_or(Errno::Io)))?;
        Ok(Arc::new(Workspace { sandbox, files, shell: Mutex::new(None) }))
    }

    /// Starts a command after those before it: in the current shell, or in a new one if that has ended.
    pub(super) async fn start(&self, command: impl Fn() -> Command) -> Result<RunningCommand, ExecuteError> {
        loop {
            let (shell, is_new) = self.shell()?;
            match shell.stream(command()).await {
                Ok(execution) => return Ok(RunningCommand { shell, execution, is_new }),
                // The command before this one has ended the shell.
                Err(ExecuteError::Ended) if !is_new => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Ends the shell and its processes.
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
