//! The host's own shell without a sandbox, for comparison and for trusted commands.

use std::path::{Path, PathBuf};

use async_trait::async_trait;

use super::directory::under_own_name;
use super::execute::OutputStream;
use super::host_command::{HostCommand, check};
use super::vfs_files::{HasFiles, VfsFiles};
use super::{BackendError, Result, SandboxBackend};
use crate::error::Errno;
use crate::limits::Limits;
use crate::sandbox::{Command, ExecuteError};

/// The directories of the host's programs.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// **UNSAFE: no sandbox at all.** Commands run on the host as the user of this process: they read its keys, change its
/// files and use its network. A timeout kills their process group; a process that has left the group lives on. Use
/// [`Isopod`](super::Isopod) for all commands that you did not write.
///
/// Only the file operations are confined, to one directory, and use the paths of the host.
#[derive(Clone)]
pub struct LocalShell {
    id: String,
    directory: PathBuf,
    files: VfsFiles,
    env: Vec<(String, String)>,
}

impl LocalShell {
    /// Makes a backend of the host's shell, which starts in `directory`, an absolute path without links. Nothing
    /// confines the commands.
    pub fn unconfined(directory: impl AsRef<Path>) -> Result<LocalShell> {
        let directory = directory.as_ref().to_owned();
        let files = under_own_name(&directory, &Limits::default())?;
        let mut token = [0; 4];
        getrandom::fill(&mut token).map_err(|_| BackendError::file("/", Errno::Io))?;
        let home = directory.to_string_lossy().into_owned();
        let env = [("PATH", PATH), ("HOME", home.as_str()), ("LANG", "C.UTF-8")];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Ok(LocalShell { id: format!("local-{:08x}", u32::from_le_bytes(token)), directory, files, env })
    }

    /// Sets a variable in the environment of every command. Commands inherit none of this process.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> LocalShell {
        self.env.push((name.into(), value.into()));
        self
    }
}

impl HasFiles for LocalShell {
    fn files(&self) -> &VfsFiles {
        &self.files
    }

    fn as_sandbox(&self) -> Option<&dyn SandboxBackend> {
        Some(self)
    }
}

#[async_trait]
impl SandboxBackend for LocalShell {
    fn id(&self) -> String {
        self.id.clone()
    }

    async fn stream(&self, command: Command) -> Result<Box<dyn OutputStream>> {
        let timeout = check(&command)?;
        let cwd = match &command.cwd {
            None => self.directory.clone(),
            Some(text) => self.directory.join(text),
        };
        if command.cwd.is_some() && !is_directory(&cwd).await {
            return Err(ExecuteError::Cwd(command.cwd.unwrap_or_default(), Errno::NoEntry).into());
        }
        let argv = command.line.to_argv("sh").into_iter().map(Into::into).collect();
        let env = self.env.iter().cloned().chain(command.env).collect();
        HostCommand { argv, cwd: Some(cwd), env, stdin: command.stdin, timeout }.start("local shell")
    }
}

/// Checks a directory for the sake of the error message: the host's kernel decides.
async fn is_directory(path: &Path) -> bool {
    let path = path.to_owned();
    tokio::task::spawn_blocking(move || path.is_dir()).await.unwrap_or(false)
}
