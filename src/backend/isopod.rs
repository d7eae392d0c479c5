//! A sandbox of this library as a backend: its commands and its files.

use std::any::Any;
use std::sync::Arc;

use async_trait::async_trait;

use super::execute::OutputStream;
use super::vfs_files::{HasFiles, VfsFiles};
use super::{Backend, BackendError, Result, SandboxBackend};
use crate::path::GuestPath;
use crate::sandbox::{Chunk, Command, Completion, Execution, Output, Sandbox, StdinReader};
use crate::vfs::{MountInfo, MountKind};

/// A sandbox as a backend. Commands run in it; file operations run on its files without a command, under the same mounts,
/// limits and protected paths.
#[derive(Clone)]
pub struct Isopod {
    id: String,
    sandbox: Sandbox,
    files: VfsFiles,
}

impl Isopod {
    /// Makes a backend of a sandbox, with this id.
    pub fn new(id: impl Into<String>, sandbox: Sandbox) -> Result<Isopod> {
        let cwd = sandbox.fs().canonical(".")?;
        let cwd = GuestPath::parse(&GuestPath::root(), &cwd).map_err(|errno| BackendError::file(cwd, errno))?;
        let files = VfsFiles::new(sandbox.kernel().clone(), cwd, sandbox.limits().file);
        Ok(Isopod { id: id.into(), sandbox, files })
    }

    /// Returns the same backend, which keeps `hold` until it and its operations on files have ended.
    pub(crate) fn holding(self, hold: Arc<dyn Any + Send + Sync>) -> Isopod {
        Isopod { files: self.files.keeping_alive(hold), ..self }
    }

    /// Returns the sandbox behind it.
    pub fn handle(&self) -> &Sandbox {
        &self.sandbox
    }
}

impl HasFiles for Isopod {
    fn files(&self) -> &VfsFiles {
        &self.files
    }

    /// Forks the sandbox. A fork shares directories of the host, so a writable one is refused; an overlay in its place is
    /// not.
    fn fork_files(&self) -> Result<Arc<dyn Backend>> {
        let is_shared = |mount: &MountInfo| mount.kind == MountKind::Host && !mount.is_read_only;
        if let Some(mount) = self.sandbox.mounts().into_iter().find(is_shared) {
            let at = mount.path;
            let text =
                format!("a dry run over a directory of the host that can be written to ({at}): mount an overlay");
            return Err(BackendError::Unsupported(text));
        }
        let refused =
            |error: crate::BuildError| BackendError::Transport { backend: "isopod", reason: error.to_string() };
        let sandbox = self.sandbox.snapshot().fork().map_err(refused)?;
        Ok(Arc::new(Isopod::new(self.id.clone(), sandbox)?))
    }

    fn as_sandbox(&self) -> Option<&dyn SandboxBackend> {
        Some(self)
    }
}

#[async_trait]
impl SandboxBackend for Isopod {
    fn id(&self) -> String {
        self.id.clone()
    }

    async fn stream(&self, command: Command) -> Result<Box<dyn OutputStream>> {
        Ok(Box::new(self.sandbox.stream(command)?))
    }

    async fn stream_with_stdin(&self, command: Command, stdin: StdinReader) -> Result<Box<dyn OutputStream>> {
        Ok(Box::new(self.sandbox.stream_with_stdin(command, stdin)?))
    }

    async fn execute(&self, command: Command) -> Result<Output> {
        Ok(self.sandbox.execute(command).await?)
    }

    async fn execute_with_stdin(&self, command: Command, stdin: StdinReader) -> Result<Output> {
        Ok(self.sandbox.execute_with_stdin(command, stdin).await?)
    }
}

#[async_trait]
impl OutputStream for Execution {
    async fn next(&mut self) -> Option<Chunk> {
        Execution::next(self).await
    }

    async fn finish(self: Box<Self>) -> Completion {
        Execution::finish(*self).await
    }
}
