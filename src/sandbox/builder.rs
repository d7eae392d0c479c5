//! Making a sandbox.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::Dir;

use super::command::set_variables;
use super::{ExecuteError, Sandbox, Settings, Snapshot, tree};
use crate::error::Errno;
use crate::kernel::{Kernel, ProgramPolicy};
use crate::limits::Limits;
use crate::path::GuestPath;
use crate::runtime::{Runtime, RuntimeError};
use crate::vfs::{ChargePolicy, MemSnapshot, Quota, Rules};

/// The default environment of a command.
const ENV: [(&str, &str); 5] = [
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("HOME", "/home/user"),
    ("USER", "user"),
    ("SHELL", "/bin/bash"),
    ("LANG", "C.UTF-8"),
];

/// The shells. A sandbox with a list of allowed programs may always start one: without it there are no subshells, and a
/// shell can do nothing with programs but start them.
const SHELLS: [&str; 3] = ["bash", "dash", "sh"];

/// The default working directory of commands, and the default mount point of the caller's directory.
pub(super) const WORKSPACE: &str = "/workspace";

/// The description of a sandbox.
#[derive(Default)]
pub struct SandboxBuilder {
    runtime: Option<Runtime>,
    limits: Limits,
    mounts: Vec<HostMount>,
    rules: Option<Rules>,
    policy: ProgramPolicy,
    snapshot: Option<Result<MemSnapshot, Errno>>,
    env: Vec<(String, String)>,
    cwd: Option<String>,
}

/// A directory of the host in the sandbox.
pub(super) struct HostMount {
    pub(super) host: PathBuf,
    /// A handle of the directory, if the caller has one. The path is only for messages then.
    pub(super) dir: Option<Dir>,
    pub(super) guest: String,
    pub(super) access: MountAccess,
}

/// The access of a sandbox to a directory of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MountAccess {
    ReadOnly,
    /// To read and write; the quota counts these files.
    ReadWrite(ChargePolicy),
    /// To read, with changes kept in memory.
    Overlay,
    /// A directory in memory that is empty at first, with nothing of the host.
    Tracked,
}

impl SandboxBuilder {
    /// Sets the runtime, instead of the shared one.
    pub fn runtime(mut self, runtime: Runtime) -> SandboxBuilder {
        self.runtime = Some(runtime);
        self
    }

    /// Sets the limits of the sandbox.
    pub fn limits(mut self, limits: Limits) -> SandboxBuilder {
        self.limits = limits;
        self
    }

    /// Mounts a directory of the host, to read and write. Bytes that the sandbox adds are charged to the disk limit. Some
    /// paths in it are protected: see [`protect`](SandboxBuilder::protect).
    pub fn mount(self, host: impl AsRef<Path>, guest: impl Into<String>) -> SandboxBuilder {
        self.host_mount(host.as_ref(), guest.into(), MountAccess::ReadWrite(ChargePolicy::Growth))
    }

    /// Mounts a directory that belongs to the sandbox. Everything in it is charged, with the files that were there before,
    /// so that a sandbox that comes back does not get the whole disk limit again.
    pub fn mount_own(self, host: impl AsRef<Path>, guest: impl Into<String>) -> SandboxBuilder {
        self.host_mount(host.as_ref(), guest.into(), MountAccess::ReadWrite(ChargePolicy::Whole))
    }

    /// Mounts a directory of the host, only to read.
    pub fn mount_read_only(self, host: impl AsRef<Path>, guest: impl Into<String>) -> SandboxBuilder {
        self.host_mount(host.as_ref(), guest.into(), MountAccess::ReadOnly)
    }

    /// Mounts a directory of the host copy-on-write: changes stay in memory, charged to the disk limit, until
    /// [`Overlay::commit`](crate::vfs::Overlay::commit) writes them. [`Sandbox::overlays`] has the changes.
    pub fn mount_overlay(self, host: impl AsRef<Path>, guest: impl Into<String>) -> SandboxBuilder {
        self.host_mount(host.as_ref(), guest.into(), MountAccess::Overlay)
    }

    /// Mounts a directory in memory that is empty at first, as an overlay over nothing: [`Sandbox::overlays`] has the files
    /// made in it.
    pub fn mount_tracked(self, guest: impl Into<String>) -> SandboxBuilder {
        let guest = guest.into();
        self.host_mount(Path::new(&guest), guest.clone(), MountAccess::Tracked)
    }

    fn host_mount(mut self, host: &Path, guest: String, access: MountAccess) -> SandboxBuilder {
        self.mounts.push(HostMount { host: host.to_owned(), dir: None, guest, access });
        self
    }

    /// Mounts a directory of the host that is open already. Error messages name its mount point.
    pub(crate) fn mount_dir(mut self, dir: Dir, guest: &str, access: MountAccess) -> SandboxBuilder {
        self.mounts.push(HostMount { host: guest.into(), dir: Some(dir), guest: guest.to_owned(), access });
        self
    }

    /// Sets the protected paths in directories of the host, instead of [`Rules::standard`]: git's hooks and configuration,
    /// start-up files of shells, settings of editors and agents, and other files that programs of the host obey.
    /// `Rules::standard().allow(".vscode")` allows one, `Rules::none()` all of them.
    pub fn protect(mut self, rules: Rules) -> SandboxBuilder {
        self.rules = Some(rules);
        self
    }

    /// Allows only these programs beside a shell, by their names in /bin. The kernel checks it when it starts a process, so
    /// that `eval`, `xargs`, `sh -c`, a copy or another name do not get around it. Builtins of the shell (`echo`, `test`,
    /// `kill`, …) are not programs.
    pub fn allow_programs(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> SandboxBuilder {
        let shells = SHELLS.map(str::to_owned);
        self.policy = ProgramPolicy::Only(names.into_iter().map(Into::into).chain(shells).collect());
        self
    }

    /// Forbids these programs. The rules of [`allow_programs`](SandboxBuilder::allow_programs) hold here too.
    pub fn deny_programs(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> SandboxBuilder {
        self.policy = ProgramPolicy::Except(names.into_iter().map(Into::into).collect());
        self
    }

    /// Starts with the files of a snapshot in place of the usual ones. Mounts are not part of a snapshot;
    /// [`Snapshot::fork`] keeps them.
    pub fn snapshot(mut self, snapshot: &Snapshot) -> SandboxBuilder {
        self.snapshot = Some(snapshot.root().cloned());
        self
    }

    /// Adds a variable to the environment of every command.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> SandboxBuilder {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Sets the working directory of commands, instead of /workspace.
    pub fn cwd(mut self, directory: impl Into<String>) -> SandboxBuilder {
        self.cwd = Some(directory.into());
        self
    }

    /// Makes the sandbox.
    pub fn build(self) -> Result<Sandbox, BuildError> {
        let mut env: Vec<(String, String)> = ENV.map(|(name, value)| (name.into(), value.into())).into();
        set_variables(&mut env, self.env).map_err(BuildError::Variable)?;
        let runtime = match self.runtime {
            Some(runtime) => runtime,
            None => Runtime::shared()?,
        };
        let quota = Arc::new(Quota::new(&self.limits));
        let root = match self.snapshot {
            Some(snapshot) => snapshot?,
            None => tree::base()?.clone(),
        };
        let root = root.fork(Arc::clone(&quota)).map_err(|_| BuildError::Room(root.bytes(), root.inodes()))?;
        let vfs = tree::tree(&runtime, &quota, &root, &self.mounts, self.rules.as_ref(), &self.limits)?;
        let text = self.cwd.unwrap_or_else(|| WORKSPACE.to_owned());
        let kernel = Arc::new(Kernel::new(vfs, quota, self.limits).with_policy(self.policy));
        let cwd = kernel.directory(&GuestPath::root(), &text).map_err(|errno| BuildError::Cwd(text, errno))?;
        Ok(Sandbox { kernel, settings: Arc::new(Settings { env, cwd, machine: Arc::new(runtime) }) })
    }
}

/// The reason for which a sandbox could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A directory of the host that cannot be mounted.
    #[error("cannot mount {}: {error}", host.display())]
    Host {
        /// The path, as the caller gave it.
        host: PathBuf,
        /// The error of the host.
        error: std::io::Error,
    },
    /// A path in the sandbox that cannot be a mount point.
    #[error("cannot mount at {0:?}: {1}")]
    Guest(String, Errno),
    /// A snapshot that is larger than the sandbox may be.
    #[error("a snapshot of {0} bytes in {1} files is more than the sandbox may hold")]
    Room(u64, u64),
    /// The working directory does not exist.
    #[error("cannot start in {0:?}: {1}")]
    Cwd(String, Errno),
    /// A variable that no process can have.
    #[error(transparent)]
    Variable(ExecuteError),
    /// The runtime could not start.
    #[error(transparent)]
    Runtime(#[from] Arc<RuntimeError>),
    /// The sandbox's own files could not be made.
    #[error("cannot make the sandbox's files: {0}")]
    Tree(#[from] Errno),
}
