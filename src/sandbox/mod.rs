//! A sandbox: a kernel with files, limits and an environment, ready to execute commands.

mod blocking;
mod builder;
mod command;
mod execution;
mod files;
mod output;
mod session;
mod snapshot;
mod stdin;
mod tree;

use std::sync::Arc;

pub(crate) use builder::MountAccess;
pub use builder::{BuildError, SandboxBuilder};
pub use command::{Command, CommandLine, ExecuteError, StdinReader};
pub use execution::{Chunk, Execution};
pub use files::{FileError, Files};
pub use output::{Completion, Output};
pub use session::Session;
pub use snapshot::Snapshot;

use tokio::io::AsyncRead;

use crate::kernel::{Capture, Channel, Kernel, Machine, OpenFile};
use crate::limits::Limits;
use crate::path::GuestPath;
use crate::vfs::{MountInfo, Overlay};

/// A sandbox. Clones are handles to the same one.
///
/// Its files last as long as it does; the processes of a command end with the command. Commands may run side by
/// side.
#[derive(Clone)]
pub struct Sandbox {
    kernel: Arc<Kernel>,
    settings: Arc<Settings>,
}

/// The settings that every command of a sandbox starts with.
struct Settings {
    env: Vec<(String, String)>,
    cwd: GuestPath,
    machine: Arc<dyn Machine>,
}

impl Sandbox {
    /// Starts to describe a sandbox.
    pub fn builder() -> SandboxBuilder {
        SandboxBuilder::default()
    }

    /// Executes a command and returns all that it wrote, up to the output limit.
    ///
    /// A command that fails, that is killed or that runs out of time is a result, not an error. Dropping the future
    /// ends the command and everything it started.
    ///
    /// # Panics
    /// Outside a tokio runtime, or in one without timers.
    pub async fn execute(&self, command: impl Into<Command>) -> Result<Output, ExecuteError> {
        self.collect(command.into(), None).await
    }

    /// Executes a command whose standard input is `stdin`, which is read as the command reads. The bytes of
    /// [`Command::stdin`] do not count.
    pub async fn execute_with_stdin(
        &self,
        command: impl Into<Command>,
        stdin: impl AsyncRead + Send + Unpin + 'static,
    ) -> Result<Output, ExecuteError> {
        self.collect(command.into(), Some(Box::new(stdin))).await
    }

    async fn collect(&self, command: Command, stdin: Option<StdinReader>) -> Result<Output, ExecuteError> {
        let capture = Arc::new(Capture::new(command.output_limit.unwrap_or(self.limits().output)));
        let outputs = [Channel::Stdout, Channel::Stderr].map(|c| Arc::new(OpenFile::capture(capture.clone(), c)));
        let ended = execution::begin(self, command, stdin, outputs)?.finish().await;
        Ok(ended.with(capture.take()))
    }

    /// Starts a command whose output comes piece by piece, as it is written. A slow reader slows the command down, but
    /// does not stop its clock.
    ///
    /// # Panics
    /// Outside a tokio runtime, or in one without timers.
    pub fn stream(&self, command: impl Into<Command>) -> Result<Execution, ExecuteError> {
        Execution::start(self, command.into(), None)
    }

    /// Starts a command whose output comes piece by piece and whose standard input is `stdin`, which is read as the
    /// command reads. The bytes of [`Command::stdin`] do not count.
    pub fn stream_with_stdin(
        &self,
        command: impl Into<Command>,
        stdin: impl AsyncRead + Send + Unpin + 'static,
    ) -> Result<Execution, ExecuteError> {
        Execution::start(self, command.into(), Some(Box::new(stdin)))
    }

    /// Starts a live session: a shell that keeps its directory, variables, functions and background jobs from one call
    /// to the next.
    pub fn session(&self) -> Result<Session, ExecuteError> {
        Session::start(self)
    }

    /// Returns its files: the tree that commands see, for the owner and without a command.
    pub fn fs(&self) -> Files {
        Files { kernel: Arc::clone(&self.kernel), cwd: self.settings.cwd.clone() }
    }

    /// Takes a snapshot of its files, to start other sandboxes from or to keep in a file. The cost does not depend on the
    /// files it holds.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::of(self)
    }

    /// Returns its overlays with their mount points. The changes of an overlay can be listed, committed and discarded.
    pub fn overlays(&self) -> Vec<(String, Overlay)> {
        self.kernel.vfs().overlays().map(|(at, overlay)| (at.to_string(), overlay)).collect()
    }

    /// Returns the mounts of the sandbox, in the order in which they were made.
    pub fn mounts(&self) -> Vec<MountInfo> {
        self.kernel.vfs().mounts()
    }

    /// Returns the limits of the sandbox.
    pub fn limits(&self) -> &Limits {
        self.kernel.limits()
    }

    /// Returns the kernel of the sandbox.
    pub fn kernel(&self) -> &Arc<Kernel> {
        &self.kernel
    }
}
