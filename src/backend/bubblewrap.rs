//! Commands in Linux namespaces, by bubblewrap.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use async_trait::async_trait;

use super::exec_files::{ExecFiles, Executor};
use super::execute::{OutputStream, collect};
use super::host_command::{HostCommand, check};
use super::{Result, bounds};
use crate::sandbox::{Command, Output};

/// The directories of the host that commands see read-only: no home, and of /etc only what programs need to run.
const READ_ONLY: [&str; 6] = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives"];

/// Runs programs of the host in namespaces of their own: the host's programs are read-only, there is no network, and
/// one directory is writable, as /workspace. The boundary is the host's kernel.
#[derive(Debug, Clone)]
pub struct Bubblewrap {
    program: PathBuf,
    directory: PathBuf,
    env: Vec<(String, String)>,
}

impl Bubblewrap {
    /// Runs `bwrap` from the host's path around each command; `directory` of the host is its /workspace.
    pub fn new(directory: impl AsRef<Path>) -> Bubblewrap {
        let env = [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("HOME", "/workspace"), ("LANG", "C.UTF-8")];
        Bubblewrap {
            program: PathBuf::from("bwrap"),
            directory: directory.as_ref().to_owned(),
            env: env.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        }
    }

    /// Makes a backend with all file operations. Only the files in /workspace last from one operation to the next.
    pub fn backend(self) -> ExecFiles {
        ExecFiles::new(std::sync::Arc::new(self))
    }
}

#[async_trait]
impl Executor for Bubblewrap {
    fn id(&self) -> String {
        "bubblewrap".to_owned()
    }

    async fn execute(&self, command: Command) -> Result<Output> {
        let limit = command.output_limit.unwrap_or(bounds::OUTPUT_BYTES);
        collect(self.stream(command).await?, limit).await
    }

    async fn stream(&self, command: Command) -> Result<Box<dyn OutputStream>> {
        let timeout = check(&command)?;
        let mut argv: Vec<OsString> = vec![self.program.clone().into()];
        for path in READ_ONLY {
            argv.extend(["--ro-bind-try", path, path].map(Into::into));
        }
        argv.extend(["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--bind"].map(Into::into));
        argv.extend([self.directory.clone().into(), "/workspace".into()]);
        let cwd = match &command.cwd {
            Some(cwd) if cwd.starts_with('/') => cwd.clone(),
            Some(cwd) => format!("/workspace/{cwd}"),
            None => "/workspace".to_owned(),
        };
        argv.extend(["--unshare-all", "--die-with-parent", "--new-session", "--chdir", &cwd].map(Into::into));
        argv.extend(command.line.to_argv("sh").into_iter().map(OsString::from));
        let env = self.env.iter().cloned().chain(command.env).collect();
        HostCommand { argv, cwd: None, env, stdin: command.stdin, timeout }.start("bubblewrap")
    }
}
