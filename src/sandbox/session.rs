//! A live session: a shell that keeps what it knows from one call to the next.
//!
//! The shell's life is a future that whoever executes polls, so a call costs no hop to another task; between calls
//! nobody does, and the shell costs its memory. Its descriptors 0, 1 and 2 are relays: each call connects them to its
//! own input and output. What background jobs write between two calls is kept for the next.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::command::{Argv, Command, ExecuteError, Stdin};
use super::execution::{self, Chunk, Execution, Outcome, SHELL, notice, outlet};
use super::stdin::{self, Feed, feeding};
use super::{Output, Sandbox};
use crate::kernel::{Capture, CapturedOutput, Channel, Job, OpenFile, Process, Relay, Request, Status, Usage};
use crate::limits::{Exceeded, Limit, Limits};

/// How long a shell has to come back from a call that its caller gave up.
const RECOVERY: Duration = Duration::from_secs(1);

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
    /// What descriptors 0, 1 and 2 are.
    terminal: [Arc<Relay>; 3],
    /// What they are while no call needs them.
    at_rest: [Arc<OpenFile>; 3],
    capture: Arc<Capture>,
    /// Guards the shell: whoever holds it has the turn. Nothing is left of a shell that ended.
    shell: Arc<Mutex<Option<Life>>>,
}

type Life = Pin<Box<dyn Future<Output = Status> + Send>>;

impl Session {
    pub(super) fn start(sandbox: &Sandbox) -> Result<Session, ExecuteError> {
        let capture = Arc::new(Capture::new(sandbox.limits().output));
        let output = |channel| Arc::new(OpenFile::capture(capture.clone(), channel));
        let (nothing, _) = stdin::open(Stdin::Empty);
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

    /// Executes a command in the session's shell, after those that came before, and returns all that was written, up to
    /// the output limit; what background jobs wrote meanwhile is there too.
    ///
    /// Dropping the future interrupts the command: the session goes on.
    ///
    /// # Panics
    /// Outside a tokio runtime, or in one without timers.
    pub async fn execute(&self, command: impl Into<Command>) -> Result<Output, ExecuteError> {
        let outputs = [self.0.at_rest[1].clone(), self.0.at_rest[2].clone()];
        let outcome = self.begin(command.into(), outputs).await?.finish().await;
        Ok(Output::new(outcome, self.0.capture.take(), self.0.limits.output))
    }

    /// Starts a command whose output comes piece by piece, as it is written, after what background jobs wrote meanwhile.
    ///
    /// # Panics
    /// Outside a tokio runtime, or in one without timers.
    pub async fn stream(&self, command: impl Into<Command>) -> Result<Execution, ExecuteError> {
        let (reader, outputs) = outlet();
        let call = self.begin(command.into(), outputs).await?;
        Ok(Execution::of_call(reader, self.0.earlier(), call.finish()))
    }

    /// Interrupts the command that runs, as the keyboard of a terminal would. Without one, nothing happens.
    pub fn interrupt(&self) {
        self.0.job.interrupt();
    }

    /// The shell's working directory, if it lives.
    pub fn cwd(&self) -> Option<String> {
        self.0.process.upgrade().map(|shell| shell.cwd().to_string())
    }

    /// Whether the shell still lives.
    pub fn is_open(&self) -> bool {
        !self.0.job.is_closed()
    }

    /// Ends the session with all that runs in it, and waits until that has gone.
    pub async fn close(&self) {
        self.0.job.close();
        drop(self.0.shell.lock().await.take());
        self.0.job.gone().await;
    }

    /// Ends the session, without waiting for it to be gone. While a call is on its way the shell is that call's; whoever
    /// drops the call may ask again.
    pub(crate) fn end(&self) {
        self.0.job.close();
        if let Ok(mut shell) = self.0.shell.try_lock() {
            drop(shell.take());
        }
    }

    /// Waits for its turn, and gives the shell the command.
    async fn begin(&self, command: Command, [stdout, stderr]: [Arc<OpenFile>; 2]) -> Result<Call, ExecuteError> {
        let timeout = execution::timeout(command.timeout, &self.0.limits)?;
        let text = order(&command, self.0.limits.command)?;
        let inner = self.0.clone();
        let mut turn = inner.shell.clone().lock_owned().await;
        let Some(life) = turn.as_mut() else { return Err(ExecuteError::Ended) };
        if inner.job.idle().is_none() && !inner.recover(life).await {
            *turn = None;
            return Err(ExecuteError::Ended);
        }
        let (stdin, feed) = stdin::open(command.stdin);
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

    /// What background jobs wrote since the last call.
    fn earlier(&self) -> Vec<Chunk> {
        let CapturedOutput { merged, runs, dropped } = self.capture.take();
        let (mut rest, mut chunks) = (Bytes::from(merged), Vec::new());
        for (channel, len) in runs {
            chunks.push(Chunk { channel, bytes: rest.split_to(len) });
        }
        if dropped > 0 {
            let bytes = notice(&Exceeded { kind: Limit::Output, value: self.limits.output });
            chunks.push(Chunk { channel: Channel::Stderr, bytes });
        }
        chunks
    }

    /// Lets a shell begin, or come back from a call that its caller gave up; whether it did.
    async fn recover(&self, life: &mut Life) -> bool {
        let came_back = matches!(tokio::time::timeout(RECOVERY, self.idle(life)).await, Ok(Ok(_)));
        if came_back {
            self.capture.take();
        } else {
            self.job.close();
        }
        came_back
    }

    /// Runs the shell until it waits for an order, and returns the status of the last one; or until its end.
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

/// A command that the shell was given.
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
    async fn finish(mut self) -> Outcome {
        let (inner, feed) = (self.inner.clone(), self.feed.take());
        let ended = match self.turn.as_mut() {
            Some(life) => feeding(feed, inner.idle(life)).await,
            // Not reached: whoever has the turn has a shell.
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
        Outcome::of(job, stop_reason, status, self.timeout, self.began, job.usage().since(self.before))
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if !self.done {
            // The caller gave it up. What runs for it ends now; the shell comes back when it is run again.
            self.inner.job.abandon();
            self.inner.connect(self.inner.at_rest.clone());
        }
    }
}

/// A command as the shell reads it.
fn order(command: &Command, limit: u64) -> Result<String, ExecuteError> {
    if command.cwd.is_some() {
        return Err(ExecuteError::OfSession("working directory: use cd"));
    }
    if !command.env.is_empty() {
        return Err(ExecuteError::OfSession("variables: use export"));
    }
    let (words, text) = match &command.argv {
        Argv::Shell(line) => (std::slice::from_ref(line), line.clone()),
        Argv::Program(argv) => {
            let quoted: Vec<_> = argv.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
            (argv.as_slice(), format!("command -- {}", quoted.join(" ")))
        }
    };
    if words.first().is_none_or(|first| first.trim().is_empty()) {
        return Err(ExecuteError::Empty);
    }
    execution::check(words, limit)?;
    Ok(text)
}
