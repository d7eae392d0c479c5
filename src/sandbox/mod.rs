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
pub use command::{Command, ExecuteError, Stdin};
pub use execution::{Chunk, Execution, Outcome};
pub use files::{FileError, Files};
pub use output::Output;
pub use session::Session;
pub use snapshot::Snapshot;

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

/// What every command of a sandbox starts with.
struct Settings {
    env: Vec<(String, String)>,
    cwd: GuestPath,
    machine: Arc<dyn Machine>,
}

impl Sandbox {
    /// A sandbox to be.
    pub fn builder() -> SandboxBuilder {
        SandboxBuilder::default()
    }

    /// Executes a command and returns all that it wrote, up to the output limit.
    ///
    /// A command that fails, that is killed or that runs out of time is an answer, not an error. Dropping the future
    /// ends the command and everything it started.
    ///
    /// # Panics
    /// Outside a tokio runtime, or in one without timers.
    pub async fn execute(&self, command: impl Into<Command>) -> Result<Output, ExecuteError> {
        let command = command.into();
        let capture = Arc::new(Capture::new(self.limits().output));
        let outputs = [Channel::Stdout, Channel::Stderr].map(|c| Arc::new(OpenFile::capture(capture.clone(), c)));
        let outcome = execution::begin(self, command, outputs)?.finish().await;
        Ok(Output::new(outcome, capture.take(), self.limits().output))
    }

    /// Starts a command whose output comes piece by piece, as it is written. A slow reader slows the command down, but
    /// does not stop its clock.
    ///
    /// # Panics
    /// Outside a tokio runtime, or in one without timers.
    pub fn stream(&self, command: impl Into<Command>) -> Result<Execution, ExecuteError> {
        Execution::start(self, command.into())
    }

    /// Starts a live session: a shell that keeps its directory, variables, functions and background jobs from one call
    /// to the next.
    pub fn session(&self) -> Result<Session, ExecuteError> {
        Session::start(self)
    }

    /// Its files, for its owner: what commands see, without a command.
    pub fn fs(&self) -> Files {
        Files { kernel: Arc::clone(&self.kernel), cwd: self.settings.cwd.clone() }
    }

    /// Its files as they are now, to start other sandboxes from or to keep in a file. It costs nothing for the files it
    /// holds.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::of(self)
    }

    /// The overlays in it and where they are mounted: what they changed can be looked at, committed and discarded.
    pub fn overlays(&self) -> Vec<(String, Overlay)> {
        self.kernel.vfs().overlays().map(|(at, overlay)| (at.to_string(), overlay)).collect()
    }

    /// Returns the mounts of the sandbox, in the order in which they were made.
    pub fn mounts(&self) -> Vec<MountInfo> {
        self.kernel.vfs().mounts()
    }

    /// What the sandbox may use.
    pub fn limits(&self) -> &Limits {
        self.kernel.limits()
    }

    /// The kernel behind it.
    pub fn kernel(&self) -> &Arc<Kernel> {
        &self.kernel
    }
}
