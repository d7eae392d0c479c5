//! The backend this library is about: a sandbox, its commands and its files.

use std::any::Any;
use std::sync::Arc;

use async_trait::async_trait;

use super::execute::{Ending, ExecuteRequest, OutputStream};
use super::vfs_files::{HasFiles, VfsFiles};
use super::{Backend, BackendError, Executed, Result, SandboxBackend, execute};
use crate::path::GuestPath;
use crate::sandbox::{Chunk, Command, Execution, Sandbox};
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
    /// A backend over a sandbox, known as `id`.
    pub fn new(id: impl Into<String>, sandbox: Sandbox) -> Result<Isopod> {
        let cwd = sandbox.fs().canonical(".")?;
        let cwd = GuestPath::parse(&GuestPath::root(), &cwd).map_err(|errno| BackendError::file(cwd, errno))?;
        let files = VfsFiles::new(sandbox.kernel().clone(), cwd, sandbox.limits().file);
        Ok(Isopod { id: id.into(), sandbox, files })
    }

    /// The same backend; `hold` stays for as long as it does, or an operation of it on files.
    pub(crate) fn holding(self, hold: Arc<dyn Any + Send + Sync>) -> Isopod {
        Isopod { files: self.files.keeping_alive(hold), ..self }
    }

    /// The sandbox behind it.
    pub fn handle(&self) -> &Sandbox {
        &self.sandbox
    }
}

impl HasFiles for Isopod {
    fn files(&self) -> &VfsFiles {
        &self.files
    }

    /// A fork of the sandbox. It shares directories of the host, so one that can be written to stands in the way: an
    /// overlay in its place does not.
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

    async fn stream(&self, request: ExecuteRequest) -> Result<Box<dyn OutputStream>> {
        Ok(Box::new(self.sandbox.stream(request)?))
    }

    async fn execute(&self, request: ExecuteRequest) -> Result<Executed> {
        let limit = request.output.unwrap_or(self.sandbox.limits().output);
        execute::collect(self.stream(request).await?, limit).await
    }
}

impl From<ExecuteRequest> for Command {
    fn from(request: ExecuteRequest) -> Command {
        let ExecuteRequest { command, timeout, cwd, env, stdin, output: _ } = request;
        let mut command = Command::shell(command);
        if !stdin.is_empty() {
            command = command.stdin(stdin);
        }
        if let Some(timeout) = timeout {
            command = command.timeout(timeout);
        }
        if let Some(cwd) = cwd {
            command = command.cwd(cwd);
        }
        env.into_iter().fold(command, |command, (name, value)| command.env(name, value))
    }
}

#[async_trait]
impl OutputStream for Execution {
    async fn next(&mut self) -> Option<Chunk> {
        Execution::next(self).await
    }

    async fn finish(self: Box<Self>) -> Ending {
        let outcome = Execution::finish(*self).await;
        Ending {
            exit_code: outcome.exit_code,
            timed_out: outcome.timed_out,
            limits: outcome.limits,
            wall: outcome.wall,
        }
    }
}
