//! Commands in a running container, by the command line of docker or podman.

use async_trait::async_trait;

use super::exec_files::{ExecFiles, Executor};
use super::execute::{OutputStream, collect};
use super::host_command::{HostCommand, check};
use super::{Result, bounds};
use crate::sandbox::{Command, Output};

/// The script that runs in the container. It ends the command at the timeout, since ending the client does not.
const WITHIN_TIME: &str = "seconds=$1; shift; if command -v timeout >/dev/null 2>&1; \
                           then exec timeout -s KILL \"$seconds\" \"$@\"; else exec \"$@\"; fi";

/// A running container. [`Docker::backend`] adds file operations by shell commands.
#[derive(Debug, Clone)]
pub struct Docker {
    /// The client: `docker` or `podman`.
    client: String,
    container: String,
    env: Vec<(String, String)>,
}

impl Docker {
    /// Names a container, by its name or id, and the client that runs it: `docker` or `podman`.
    pub fn new(client: impl Into<String>, container: impl Into<String>) -> Docker {
        let path = ("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned());
        Docker { client: client.into(), container: container.into(), env: vec![path] }
    }

    /// Sets a variable in the environment of the client, such as `DOCKER_HOST`. The client inherits none of this
    /// process.
    pub fn client_env(mut self, name: impl Into<String>, value: impl Into<String>) -> Docker {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Makes a backend with all file operations.
    pub fn backend(self) -> ExecFiles {
        ExecFiles::new(std::sync::Arc::new(self))
    }
}

#[async_trait]
impl Executor for Docker {
    fn id(&self) -> String {
        format!("{}-{}", self.client, self.container)
    }

    async fn execute(&self, command: Command) -> Result<Output> {
        let limit = command.output_limit.unwrap_or(bounds::OUTPUT_BYTES);
        collect(self.stream(command).await?, limit).await
    }

    async fn stream(&self, command: Command) -> Result<Box<dyn OutputStream>> {
        let timeout = check(&command)?;
        let mut argv: Vec<String> = vec![self.client.clone(), "exec".to_owned()];
        if command.stdin.is_some() {
            argv.push("-i".to_owned());
        }
        if let Some(cwd) = command.cwd {
            argv.extend(["-w".to_owned(), cwd]);
        }
        for (name, value) in command.env {
            argv.extend(["-e".to_owned(), format!("{name}={value}")]);
        }
        let seconds = timeout.as_secs().saturating_add(1).to_string();
        argv.push(self.container.clone());
        argv.extend(["sh", "-c", WITHIN_TIME, "sh", &seconds].map(str::to_owned));
        argv.extend(command.line.to_argv("sh"));
        let argv = argv.into_iter().map(Into::into).collect();
        HostCommand { argv, cwd: None, env: self.env.clone(), stdin: command.stdin, timeout }.start("docker")
    }
}
