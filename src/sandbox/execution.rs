//! A command that runs.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::Sandbox;
use super::command::{Command, CommandLine, ExecuteError, StdinReader, set_variables};
use super::output::{Completion, Ended};
use super::stdin::{self, Feed, feeding};
use crate::kernel::{Channel, Job, OpenFile, PipeReader, Request, Status, pipe};
use crate::limits::{Exceeded, Limit, Limits, TRANSFER_BYTES};

/// The shell of command lines: bash, under the name that gives the shorter messages. `/bin/sh` leans to POSIX.
pub(super) const SHELL: &str = "/bin/bash";

/// Tags of the pipe that brings both outputs to the host.
const STDOUT: u8 = 1;
const STDERR: u8 = 2;

/// A piece of output.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Chunk {
    /// The output that it is a piece of.
    pub channel: Channel,
    /// The bytes that were written.
    pub bytes: Bytes,
}

/// A command whose output comes as it is written.
///
/// The caller has to ask for the next piece: the first process of the command, most often the shell, runs only while
/// [`next`](Execution::next) is awaited, and the others run until the pipe is full. The clock runs in any case. Dropping an
/// execution ends the command and everything it started.
pub struct Execution {
    reader: PipeReader,
    /// The command belongs to a live session, whose background jobs hold the pipe open after its end.
    live: bool,
    /// The output of a session's background jobs from before the command.
    earlier: std::vec::IntoIter<Chunk>,
    /// The output limit, if such output was lost.
    lost: Option<Exceeded>,
    run: Pin<Box<dyn Future<Output = Ended> + Send>>,
    completion: Option<Completion>,
    notices: std::vec::IntoIter<Bytes>,
}

impl Execution {
    pub(super) fn start(
        sandbox: &Sandbox,
        command: Command,
        stdin: Option<StdinReader>,
    ) -> Result<Execution, ExecuteError> {
        let (reader, outputs) = output_pipe();
        let run = Box::pin(begin(sandbox, command, stdin, outputs)?.finish());
        Ok(Execution {
            reader,
            live: false,
            earlier: Vec::new().into_iter(),
            lost: None,
            run,
            completion: None,
            notices: Vec::new().into_iter(),
        })
    }

    pub(super) fn of_call(
        reader: PipeReader,
        earlier: Vec<Chunk>,
        lost: Option<Exceeded>,
        run: impl Future<Output = Ended> + Send + 'static,
    ) -> Execution {
        let (earlier, notices) = (earlier.into_iter(), Vec::new().into_iter());
        Execution { reader, live: true, earlier, lost, run: Box::pin(run), completion: None, notices }
    }

    /// Returns the next piece of output, `None` at the end.
    pub async fn next(&mut self) -> Option<Chunk> {
        if let Some(chunk) = self.earlier.next() {
            return Some(chunk);
        }
        loop {
            // The command first: a child that floods the pipe must not starve its parent.
            if self.completion.is_none()
                && let Poll::Ready(ended) = futures::poll!(&mut self.run)
            {
                self.ended(ended);
            }
            match self.reader.try_read_tagged(TRANSFER_BYTES) {
                Some((tag, bytes)) if !bytes.is_empty() => {
                    let channel = if tag == STDERR { Channel::Stderr } else { Channel::Stdout };
                    return Some(Chunk { channel, bytes });
                }
                // The end of the output, which is not yet the end of the command.
                Some(_) if self.completion.is_some() => return self.notice(),
                None if self.live && self.completion.is_some() => return self.notice(),
                Some(_) => {
                    let ended = (&mut self.run).await;
                    self.ended(ended);
                }
                None if self.completion.is_some() => self.reader.readable().await,
                None => tokio::select! {
                    () = self.reader.readable() => {}
                    ended = &mut self.run => self.ended(ended),
                },
            }
        }
    }

    /// Waits for the end of the command. Output that was not read yet is dropped.
    pub async fn finish(mut self) -> Completion {
        while self.next().await.is_some() {}
        match self.completion {
            Some(completion) => completion,
            // Not reached: `next` ends only after the command has.
            None => self.run.await.completion,
        }
    }

    fn notice(&mut self) -> Option<Chunk> {
        self.notices.next().map(|bytes| Chunk { channel: Channel::Stderr, bytes })
    }

    fn ended(&mut self, Ended { mut completion, notices }: Ended) {
        completion.limits.extend(self.lost.take());
        self.notices = notices.into_iter();
        self.completion = Some(completion);
    }
}

/// Makes a pipe that brings both outputs to the host: the reading end, and the two files to write to.
pub(super) fn output_pipe() -> (PipeReader, [Arc<OpenFile>; 2]) {
    let (reader, stdout) = pipe(STDOUT, None);
    let stderr = stdout.with_tag(STDERR);
    (reader, [stdout, stderr].map(|writer| Arc::new(OpenFile::writer(writer))))
}

/// A command that was started and that has not been polled yet.
pub(super) struct Started {
    job: ClosedOnDrop,
    first: Pin<Box<dyn Future<Output = Status> + Send>>,
    feed: Option<Feed>,
    timeout: Duration,
    began: Instant,
}

/// Closes a job when it is dropped, also with the future that waits for the job.
struct ClosedOnDrop(Arc<Job>);

impl Drop for ClosedOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Starts a command.
pub(super) fn begin(
    sandbox: &Sandbox,
    command: Command,
    stdin: Option<StdinReader>,
    [stdout, stderr]: [Arc<OpenFile>; 2],
) -> Result<Started, ExecuteError> {
    let began = Instant::now();
    let limits = sandbox.limits();
    let timeout = timeout(command.timeout, limits)?;
    command.line.check(limits.command)?;
    let (stdin, feed) = stdin::open(command.stdin, stdin);
    let (program, argv) = argv(command.line);
    let mut env = sandbox.settings.env.clone();
    set_variables(&mut env, command.env)?;
    let base = &sandbox.settings.cwd;
    let cwd = match command.cwd {
        None => base.clone(),
        Some(text) => sandbox.kernel.directory(base, &text).map_err(|errno| ExecuteError::Cwd(text, errno))?,
    };
    let request = Request { program: program.clone(), argv, env, ..Request::default() };
    let job = Job::new(sandbox.kernel.clone(), timeout);
    let first = match job.start(sandbox.settings.machine.clone(), request, cwd, [Arc::new(stdin), stdout, stderr]) {
        Ok((_, first)) => Box::pin(first),
        Err(errno) => {
            let limit = job.take_exceeded().first().copied();
            return Err(limit.map_or(ExecuteError::Program(program, errno), ExecuteError::Limit));
        }
    };
    Ok(Started { job: ClosedOnDrop(job), first, feed, timeout, began })
}

impl Started {
    /// Runs the command to its end, or to the end of its time.
    pub(super) async fn finish(self) -> Ended {
        let Started { job, first, feed, timeout, began } = self;
        let status = feeding(feed, first).await;
        // The first process has ended. Its remaining children end now and are waited for, so that memory, files and
        // slots are free when the caller gets the result.
        let job = &job.0;
        let stop_reason = job.stop_reason();
        job.close();
        job.gone().await;

        Ended::of(job, stop_reason, status.code(), timeout, began, job.usage())
    }
}

/// The wall clock of a command.
pub(super) fn timeout(asked: Option<Duration>, limits: &Limits) -> Result<Duration, ExecuteError> {
    match asked {
        Some(Duration::ZERO) => Err(ExecuteError::ZeroTimeout),
        Some(time) if time > limits.wall_max => {
            Err(Exceeded { kind: Limit::WallClock, value: millis(limits.wall_max) }.into())
        }
        Some(time) => Ok(time),
        None if limits.wall.is_zero() => Err(ExecuteError::ZeroTimeout),
        None => Ok(limits.wall),
    }
}

/// The program of a command, and its arguments.
fn argv(line: CommandLine) -> (String, Vec<String>) {
    match line {
        // By its path: a caller may set PATH to anything.
        CommandLine::Shell(line) => (SHELL.to_owned(), vec!["sh".to_owned(), "-c".to_owned(), line]),
        CommandLine::Program(argv) => (argv.first().cloned().unwrap_or_default(), argv),
    }
}

pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
