//! A program of the host, for the backends that are not sandboxes of this library. Nothing else in the library starts one.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{self, Child, ChildStderr, ChildStdout};
use tokio::time::Instant;

use super::execute::OutputStream;
use super::{BackendError, Result, bounds};
use crate::kernel::Channel;
use crate::limits::backend::LAST_OUTPUT_TIME;
use crate::limits::{Exceeded, Limit, TRANSFER_BYTES};
use crate::sandbox::{Chunk, Command, Completion, ExecuteError};

/// The exit code of a command whose time is over.
const TIMED_OUT: u8 = 124;

/// A program of the host with its arguments and its whole environment.
pub(super) struct HostCommand {
    pub(super) argv: Vec<OsString>,
    pub(super) cwd: Option<PathBuf>,
    pub(super) env: Vec<(String, String)>,
    pub(super) stdin: Option<Bytes>,
    pub(super) timeout: Duration,
}

/// Checks a command as every backend does, and returns its wall clock.
pub(super) fn check(command: &Command) -> Result<Duration> {
    command.line.check(u64::MAX)?;
    let is_name = |name: &str| !name.is_empty() && !name.contains(['=', '\0']);
    if let Some((name, _)) = command.env.iter().find(|(name, value)| !is_name(name) || value.contains('\0')) {
        return Err(ExecuteError::Variable(name.clone()).into());
    }
    let timeout = command.timeout.unwrap_or(bounds::COMMAND_TIME);
    if timeout.is_zero() {
        return Err(ExecuteError::ZeroTimeout.into());
    }
    if timeout > bounds::COMMAND_TIME_MAX {
        let value = bounds::COMMAND_TIME_MAX.as_millis() as u64;
        return Err(ExecuteError::Limit(Exceeded { kind: Limit::WallClock, value }).into());
    }
    Ok(timeout)
}

impl HostCommand {
    /// Starts it as the leader of a process group of its own, so that its children can be ended with it.
    pub(super) fn start(self, backend: &'static str) -> Result<Box<dyn OutputStream>> {
        let refused = |reason: String| BackendError::Transport { backend, reason };
        let (program, args) = self.argv.split_first().ok_or_else(|| refused("no program".to_owned()))?;
        let mut command = process::Command::new(program);
        command.args(args).env_clear().envs(self.env).process_group(0).kill_on_drop(true);
        let input = self.stdin.filter(|bytes| !bytes.is_empty());
        command.stdin(if input.is_none() { Stdio::null() } else { Stdio::piped() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(cwd) = self.cwd {
            command.current_dir(cwd);
        }
        let began = Instant::now();
        let mut child = command.spawn().map_err(|error| refused(format!("cannot start: {error}")))?;
        let group = child.id().and_then(|id| Pid::from_raw(id as i32));
        if let Some((mut stdin, input)) = child.stdin.take().zip(input) {
            // Ends when all is written, or when the program reads no more.
            tokio::spawn(async move { stdin.write_all(&input).await });
        }
        Ok(Box::new(Running {
            stdout: child.stdout.take(),
            stderr: child.stderr.take(),
            child,
            group,
            began,
            timeout: self.timeout,
            until: began + self.timeout,
            status: None,
            timed_out: false,
            notice_given: false,
        }))
    }
}

struct Running {
    child: Child,
    /// `None` after the group was killed.
    group: Option<Pid>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    began: Instant,
    timeout: Duration,
    /// The deadline of the program, and after its end that of its output.
    until: Instant,
    status: Option<ExitStatus>,
    timed_out: bool,
    notice_given: bool,
}

impl Running {
    /// Kills all processes of the program's group.
    fn kill(&mut self) {
        if let Some(group) = self.group.take() {
            // An error says that the group has gone already.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    fn ended(&mut self, status: ExitStatus) {
        self.status = Some(status);
        self.kill();
        self.until = Instant::now() + LAST_OUTPUT_TIME;
    }

    fn exceeded(&self) -> Exceeded {
        Exceeded { kind: Limit::WallClock, value: self.timeout.as_millis() as u64 }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

#[async_trait]
impl OutputStream for Running {
    /// Returns pieces in the order of their arrival: the host has two pipes, and no order between them.
    async fn next(&mut self) -> Option<Chunk> {
        while self.stdout.is_some() || self.stderr.is_some() || self.status.is_none() {
            let (has_ended, until) = (self.status.is_some(), self.until);
            tokio::select! {
                (channel, bytes) = piece(&mut self.stdout, &mut self.stderr) => match (channel, bytes) {
                    (Channel::Stdout, None) => self.stdout = None,
                    (Channel::Stderr, None) => self.stderr = None,
                    (channel, Some(bytes)) => return Some(Chunk { channel, bytes }),
                },
                status = self.child.wait(), if !has_ended => self.ended(status.unwrap_or_default()),
                () = tokio::time::sleep_until(until) => {
                    if has_ended {
                        (self.stdout, self.stderr) = (None, None);
                    } else {
                        self.timed_out = true;
                        self.kill();
                        // The kill is certain; the wait for it ends the loop.
                        self.until = Instant::now() + bounds::COMMAND_TIME_MAX;
                    }
                }
            }
        }
        if self.timed_out && !self.notice_given {
            self.notice_given = true;
            let bytes = Bytes::from(format!("isopod: {}\n", self.exceeded()));
            return Some(Chunk { channel: Channel::Stderr, bytes });
        }
        None
    }

    async fn finish(mut self: Box<Self>) -> Completion {
        while self.next().await.is_some() {}
        let status = self.status.unwrap_or_default();
        let mut completion = Completion::new(code(status)).took(self.began.elapsed());
        if self.timed_out {
            (completion.exit_code, completion.timed_out) = (TIMED_OUT, true);
            completion.limits.push(self.exceeded());
        }
        completion
    }
}

/// Returns the next piece of either output; `None` is the end of that one. If both have a piece, standard output comes
/// first: a command most often prints its results before its failure.
async fn piece(stdout: &mut Option<ChildStdout>, stderr: &mut Option<ChildStderr>) -> (Channel, Option<Bytes>) {
    tokio::select! {
        biased;
        bytes = read(stdout.as_mut()), if stdout.is_some() => (Channel::Stdout, bytes),
        bytes = read(stderr.as_mut()), if stderr.is_some() => (Channel::Stderr, bytes),
        else => std::future::pending().await,
    }
}

async fn read(from: Option<&mut (impl AsyncRead + Unpin)>) -> Option<Bytes> {
    let mut buffer = BytesMut::with_capacity(TRANSFER_BYTES);
    match from?.read_buf(&mut buffer).await {
        Ok(1..) => Some(buffer.freeze()),
        _ => None,
    }
}

fn code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => code as u8,
        (None, Some(signal)) => (128 + signal) as u8,
        (None, None) => 1,
    }
}
