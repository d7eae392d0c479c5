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

/// The variables that a command has unless told otherwise.
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

/// Where a command starts, and where the caller's directory goes.
pub(super) const WORKSPACE: &str = "/workspace";

/// A sandbox to be.
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
    /// The directory itself, where the caller has a handle of it: then the path is only for messages.
    pub(super) dir: Option<Dir>,
    pub(super) guest: String,
    pub(super) access: MountAccess,
}

/// What a sandbox may do with a directory of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MountAccess {
    ReadOnly,
    /// To read and write; the quota counts these files.
    ReadWrite(ChargePolicy),
    /// To read, with changes kept in memory.
    Overlay,
    /// None of the host's: a directory in memory, empty at first.
    Tracked,
}

impl SandboxBuilder {
    /// The runtime to run on, instead of the shared one.
    pub fn runtime(mut self, runtime: Runtime) -> SandboxBuilder {
        self.runtime = Some(runtime);
        self
    }

    /// What the sandbox may use.
    pub fn limits(mut self, limits: Limits) -> SandboxBuilder {
        self.limits = limits;
        self
    }

    /// Mounts a directory of the host, to read and write. What the sandbox adds to it is charged to the disk limit;
    /// some paths in it are protected: see [`protect`](SandboxBuilder::protect).
    pub fn mount(self, host: impl AsRef<Path>, guest: impl Into<String>) -> SandboxBuilder {
        self.host_mount(host.as_ref(), guest.into(), MountAccess::ReadWrite(ChargePolicy::Growth))
    }

    /// As `mount`, for a directory that is the sandbox's own: everything in it is charged, also what was there before,
    /// so that a sandbox that comes back does not get the whole disk limit again.
    pub fn mount_own(self, host: impl AsRef<Path>, guest: impl Into<String>) -> SandboxBuilder {
        self.host_mount(host.as_ref(), guest.into(), MountAccess::ReadWrite(ChargePolicy::Whole))
    }

    /// Mounts a directory of the host, only to read.
    pub fn mount_read_only(self, host: impl AsRef<Path>, guest: impl Into<String>) -> SandboxBuilder {
        self.host_mount(host.as_ref(), guest.into(), MountAccess::ReadOnly)
    }

    /// Mounts a directory of the host copy-on-write: changes stay in memory, charged to the disk limit, until
    /// [`Overlay::commit`](crate::vfs::Overlay::commit) writes them. [`Sandbox::overlays`] has what changed.
    pub fn mount_overlay(self, host: impl AsRef<Path>, guest: impl Into<String>) -> SandboxBuilder {
        self.host_mount(host.as_ref(), guest.into(), MountAccess::Overlay)
    }

    /// Mounts a directory in memory that is empty at first, as an overlay over nothing: [`Sandbox::overlays`] has what was
    /// made in it.
    pub fn mount_tracked(self, guest: impl Into<String>) -> SandboxBuilder {
        let guest = guest.into();
        self.host_mount(Path::new(&guest), guest.clone(), MountAccess::Tracked)
    }

    fn host_mount(mut self, host: &Path, guest: String, access: MountAccess) -> SandboxBuilder {
        self.mounts.push(HostMount { host: host.to_owned(), dir: None, guest, access });
        self
    }

    /// Mounts a directory of the host that is open already. Errors call it by its place in the sandbox.
    pub(crate) fn mount_dir(mut self, dir: Dir, guest: &str, access: MountAccess) -> SandboxBuilder {
        self.mounts.push(HostMount { host: guest.into(), dir: Some(dir), guest: guest.to_owned(), access });
        self
    }

    /// What cannot be changed in directories of the host, instead of [`Rules::standard`]: git's hooks and
    /// configuration, what shells load, settings of editors and agents, and the like, which programs of the host
    /// would obey. `Rules::standard().allow(".vscode")` allows one, `Rules::none()` all of them.
    pub fn protect(mut self, rules: Rules) -> SandboxBuilder {
        self.rules = Some(rules);
        self
    }

    /// The only programs that may be started, by their names in /bin, beside a shell. This is decided where the kernel
    /// starts a process, so that `eval`, `xargs`, `sh -c`, a copy or another name are no way round it. What is built into
    /// the shell (`echo`, `test`, `kill`, …) is no program.
    pub fn allow_programs(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> SandboxBuilder {
        let shells = SHELLS.map(str::to_owned);
        self.policy = ProgramPolicy::Only(names.into_iter().map(Into::into).chain(shells).collect());
        self
    }

    /// Programs that may not be started; as for [`allow_programs`](SandboxBuilder::allow_programs).
    pub fn deny_programs(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> SandboxBuilder {
        self.policy = ProgramPolicy::Except(names.into_iter().map(Into::into).collect());
        self
    }

    /// Starts with the files of a snapshot in place of the usual ones. What was mounted in the snapshot is not part of
    /// them; [`Snapshot::fork`] keeps that, too.
    pub fn snapshot(mut self, snapshot: &Snapshot) -> SandboxBuilder {
        self.snapshot = Some(snapshot.root().cloned());
        self
    }

    /// A variable in the environment of every command.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> SandboxBuilder {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Where commands start, instead of /workspace.
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

/// Why a sandbox could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A directory of the host that cannot be mounted.
    #[error("cannot mount {}: {error}", host.display())]
    Host {
        /// As the caller gave it.
        host: PathBuf,
        /// What the host says.
        error: std::io::Error,
    },
    /// A place in the sandbox where nothing can be mounted.
    #[error("cannot mount at {0:?}: {1}")]
    Guest(String, Errno),
    /// A snapshot that is larger than the sandbox may be.
    #[error("a snapshot of {0} bytes in {1} files is more than the sandbox may hold")]
    Room(u64, u64),
    /// The working directory is not there.
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
