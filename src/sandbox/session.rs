//! A live session: a shell that keeps its state from one call to the next.
//!
//! The shell is a future that is polled by the call that executes a command, so a call costs no hop to another task.
//! Between calls it is not polled and costs its memory only. Its descriptors 0, 1 and 2 are relays: each call connects
//! them to its own input and output. The output of background jobs between two calls is kept for the next call.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::{Duration, Instant};

use tokio::io::AsyncRead;
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::command::{Command, CommandLine, ExecuteError, StdinReader};
use super::execution::{self, Chunk, Execution, SHELL, output_pipe};
use super::output::Ended;
use super::stdin::{self, Feed, feeding};
use super::{Output, Sandbox};
use crate::kernel::{Capture, Channel, Job, OpenFile, Process, Relay, Request, Status, Transcript, Usage};
use crate::limits::{Exceeded, Limit, Limits, SHELL_RECOVERY_TIME};

/// A live shell. Clones are handles to the same one; calls take turns.
///
/// A call that fails, that is interrupted or that runs out of time leaves the session as it is. `exit` ends it, and so
/// does dropping the last handle, with all that runs in it.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let session = isopod::Sandbox::builder().build()?.session()?;
/// session.execute_blocking("cd /tmp; greet() { echo \"hello from $PWD\"; }")?;
/// assert_eq!(session.execute_blocking("greet")?.stdout, b"hello from /tmp\n");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Session(Arc<Inner>);

struct Inner {
    job: Arc<Job>,
    /// The shell's process, while it lives.
    process: Weak<Process>,
    limits: Limits,
    /// The shell's descriptors 0, 1 and 2.
    terminal: [Arc<Relay>; 3],
    /// The files behind them while no call runs.
    at_rest: [Arc<OpenFile>; 3],
    capture: Arc<Capture>,
    /// The shell, `None` after its end. The call that holds the lock has the turn.
    shell: Arc<Mutex<Option<Life>>>,
}

type Life = Pin<Box<dyn Future<Output = Status> + Send>>;

impl Session {
    pub(super) fn start(sandbox: &Sandbox) -> Result<Session, ExecuteError> {
        let capture = Arc::new(Capture::new(sandbox.limits().output));
        let output = |channel| Arc::new(OpenFile::capture(capture.clone(), channel));
        let (nothing, _) = stdin::open(None, None);
        let at_rest = [Arc::new(nothing), output(Channel::Stdout), output(Channel::Stderr)];
        let terminal = at_rest.clone().map(Relay::to);
        let stdio = terminal.clone().map(|relay| Arc::new(OpenFile::relay(relay)));
        let job = Job::live(sandbox.kernel.clone());
        let argv = ["sh", "--live"].map(str::to_owned).to_vec();
        let env = sandbox.settings.env.clone();
        let request = Request { program: SHELL.to_owned(), argv, env, ..Request::default() };
        let started = job.start(sandbox.settings.machine.clone(), request, sandbox.settings.cwd.clone(), stdio);
        let (process, life) = started.map_err(|errno| ExecuteError::Program(SHELL.to_owned(), errno))?;
        let life: Life = Box::pin(life);
        let limits = sandbox.limits().clone();
        let shell = Arc::new(Mutex::new(Some(life)));
        Ok(Session(Arc::new(Inner { job, process, limits, terminal, at_rest, capture, shell })))
    }

    /// Executes a command in the session's shell, after earlier commands, and returns all that was written, up to the
    /// output limit. The output of background jobs since the last call is part of it.
    ///
    /// Dropping the future interrupts the command: the session goes on.
    ///
    /// # Panics
    /// Outside a tokio runtime, or in one without timers.
    pub async fn execute(&self, command: impl Into<Command>) -> Result<Output, ExecuteError> {
        self.collect(command.into(), None).await
    }

    /// Executes a command whose standard input is `stdin`, which is read as the command reads.
    pub async fn execute_with_stdin(
        &self,
        command: impl Into<Command>,
        stdin: impl AsyncRead + Send + Unpin + 'static,
    ) -> Result<Output, ExecuteError> {
        self.collect(command.into(), Some(Box::new(stdin))).await
    }

    /// Starts a command whose output comes piece by piece, as it is written, after the output of background jobs since the
    /// last call.
    ///
    /// # Panics
    /// Outside a tokio runtime, or in one without timers.
    pub async fn stream(&self, command: impl Into<Command>) -> Result<Execution, ExecuteError> {
        self.start_stream(command.into(), None).await
    }

    /// Starts a command whose output comes piece by piece and whose standard input is `stdin`, which is read as the
    /// command reads.
    pub async fn stream_with_stdin(
        &self,
        command: impl Into<Command>,
        stdin: impl AsyncRead + Send + Unpin + 'static,
    ) -> Result<Execution, ExecuteError> {
        self.start_stream(command.into(), Some(Box::new(stdin))).await
    }

    async fn collect(&self, command: Command, stdin: Option<StdinReader>) -> Result<Output, ExecuteError> {
        if let Some(limit) = command.output_limit {
            // The capture has the session's own limit.
            let (mut transcript, mut execution) = (Transcript::new(limit), self.start_stream(command, stdin).await?);
            while let Some(chunk) = execution.next().await {
                transcript.push(chunk.channel, &chunk.bytes);
            }
            return Ok(Output::new(transcript, execution.finish().await));
        }
        let outputs = [self.0.at_rest[1].clone(), self.0.at_rest[2].clone()];
        let ended = self.begin(command, stdin, outputs).await?.finish().await;
        Ok(ended.with(self.0.capture.take()))
    }

    async fn start_stream(&self, command: Command, stdin: Option<StdinReader>) -> Result<Execution, ExecuteError> {
        let (reader, outputs) = output_pipe();
        let call = self.begin(command, stdin, outputs).await?;
        let (earlier, lost) = self.0.earlier();
        Ok(Execution::of_call(reader, earlier, lost, call.finish()))
    }

    /// Interrupts the running command, as Ctrl-C in a terminal does. Without a command, nothing happens.
    pub fn interrupt(&self) {
        self.0.job.interrupt();
    }

    /// Returns the shell's working directory, `None` after its end.
    pub fn cwd(&self) -> Option<String> {
        self.0.process.upgrade().map(|shell| shell.cwd().to_string())
    }

    /// Returns false after the end of the shell.
    pub fn is_open(&self) -> bool {
        !self.0.job.is_closed()
    }

    /// Ends the session with all its processes, and waits for their end.
    pub async fn close(&self) {
        self.0.job.close();
        drop(self.0.shell.lock().await.take());
        self.0.job.gone().await;
    }

    /// Ends the session without waiting for the end of its processes. While a call runs, the call owns the shell; after
    /// dropping the call, this can be called again.
    pub(crate) fn end(&self) {
        self.0.job.close();
        if let Ok(mut shell) = self.0.shell.try_lock() {
            drop(shell.take());
        }
    }

    /// Waits for its turn, and gives the shell the command.
    async fn begin(
        &self,
        command: Command,
        stdin: Option<StdinReader>,
        [stdout, stderr]: [Arc<OpenFile>; 2],
    ) -> Result<Call, ExecuteError> {
        let timeout = execution::timeout(command.timeout, &self.0.limits)?;
        let text = order(&command, self.0.limits.command)?;
        let inner = self.0.clone();
        let mut turn = inner.shell.clone().lock_owned().await;
        let Some(life) = turn.as_mut() else { return Err(ExecuteError::Ended) };
        if inner.job.idle().is_none() && !inner.recover(life).await {
            *turn = None;
            return Err(ExecuteError::Ended);
        }
        let (stdin, feed) = stdin::open(command.stdin, stdin);
        inner.connect([Arc::new(stdin), stdout, stderr]);
        let (began, before) = (Instant::now(), inner.job.usage());
        inner.job.order(text, timeout);
        Ok(Call { inner, turn, feed, timeout, began, before, done: false })
    }
}

impl Inner {
    fn connect(&self, files: [Arc<OpenFile>; 3]) {
        self.terminal.iter().zip(files).for_each(|(relay, file)| relay.connect(file));
    }

    /// Takes the output of background jobs since the last call.
    fn earlier(&self) -> (Vec<Chunk>, Option<Exceeded>) {
        let transcript = self.capture.take();
        let limit = Exceeded { kind: Limit::Output, value: self.limits.output };
        let lost = (transcript.dropped() > 0).then_some(limit);
        let chunk = |(channel, bytes)| Chunk { channel, bytes };
        (transcript.into_pieces().into_iter().map(chunk).collect(), lost)
    }

    /// Lets a shell start, or come back from a call that was dropped. Returns false for one that does not come back.
    async fn recover(&self, life: &mut Life) -> bool {
        let came_back = matches!(tokio::time::timeout(SHELL_RECOVERY_TIME, self.idle(life)).await, Ok(Ok(_)));
        if came_back {
            self.capture.take();
        } else {
            self.job.close();
        }
        came_back
    }

    /// Runs the shell until it waits for a command, and returns the status of the last one; or until its end.
    async fn idle(&self, life: &mut Life) -> Result<u8, Status> {
        poll_fn(|cx| match life.as_mut().poll(cx) {
            Poll::Ready(status) => Poll::Ready(Err(status)),
            Poll::Pending => self.job.idle().map_or(Poll::Pending, |status| Poll::Ready(Ok(status))),
        })
        .await
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.job.close();
    }
}

/// A command in the shell.
struct Call {
    inner: Arc<Inner>,
    turn: OwnedMutexGuard<Option<Life>>,
    feed: Option<Feed>,
    timeout: Duration,
    began: Instant,
    before: Usage,
    done: bool,
}

impl Call {
    /// Runs the shell until it is done with the command, or to its own end.
    async fn finish(mut self) -> Ended {
        let (inner, feed) = (self.inner.clone(), self.feed.take());
        let ended = match self.turn.as_mut() {
            Some(life) => feeding(feed, inner.idle(life)).await,
            // Not reached: `begin` checked that there is a shell.
            None => Err(Status::Exited(0)),
        };
        self.done = true;
        let job = &inner.job;
        let stop_reason = job.stop_reason();
        let status = match ended {
            Ok(status) => status,
            Err(status) => {
                *self.turn = None;
                job.close();
                job.gone().await;
                status.code()
            }
        };
        inner.connect(inner.at_rest.clone());
        Ended::of(job, stop_reason, status, self.timeout, self.began, job.usage().since(self.before))
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.done {
            // The caller dropped the call. Its processes end now; the shell comes back when it is polled again.
            self.inner.job.abandon();
            self.inner.connect(self.inner.at_rest.clone());
        }
    }
}

/// The text of a command for the shell.
fn order(command: &Command, limit: u64) -> Result<String, ExecuteError> {
    if command.cwd.is_some() {
        return Err(ExecuteError::OfSession("working directory: use cd"));
    }
    if !command.env.is_empty() {
        return Err(ExecuteError::OfSession("variables: use export"));
    }
    command.line.check(limit)?;
    Ok(match &command.line {
        CommandLine::Shell(line) => line.clone(),
        // `command` passes over functions and aliases, so that the program runs and nothing else.
        CommandLine::Program(_) => format!("command -- {}", command.line.to_shell()),
    })
}
