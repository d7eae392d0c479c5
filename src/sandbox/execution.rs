//! A command that runs.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::Sandbox;
use super::command::{Argv, Command, ExecuteError, set_variables};
use super::stdin::{self, Feed, feeding};
use crate::kernel::{Channel, Job, OpenFile, PipeReader, Request, Signal, Status, StopReason, Usage, pipe};
use crate::limits::{Exceeded, Limit, Limits, TRANSFER_BYTES};

/// The exit code of a command whose time is over, as `timeout` has it.
const TIMED_OUT: u8 = 124;

/// What runs a command line: bash, by a name that messages are shorter with. `/bin/sh` leans to POSIX.
pub(super) const SHELL: &str = "/bin/bash";

/// Tags of the pipe that brings both outputs to the host.
const STDOUT: u8 = 1;
const STDERR: u8 = 2;

/// A piece of output.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Chunk {
    /// Which output it is of.
    pub channel: Channel,
    /// What was written.
    pub bytes: Bytes,
}

/// How a command ended.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Outcome {
    /// 0 to 255; 128 and the signal's number if the command was killed, 124 if its time was over.
    pub exit_code: u8,
    /// Whether its time was over.
    pub timed_out: bool,
    /// The limits that were hit.
    pub limits: Vec<Exceeded>,
    /// From start to end.
    pub wall: Duration,
    /// What it used.
    pub usage: Usage,
    /// Lines for its standard error that are ours, not its own.
    pub(super) notices: Vec<Bytes>,
}

impl Outcome {
    /// The outcome of a job's command that has ended.
    pub(super) fn of(
        job: &Job,
        stop_reason: Option<StopReason>,
        status: u8,
        timeout: Duration,
        began: Instant,
        usage: Usage,
    ) -> Outcome {
        let mut outcome = Outcome {
            exit_code: match stop_reason {
                Some(StopReason::TimedOut) => TIMED_OUT,
                Some(StopReason::OutOfFuel) => Status::Signalled(Signal::XCPU).code(),
                None => status,
            },
            timed_out: stop_reason == Some(StopReason::TimedOut),
            notices: job.take_faults().iter().map(|line| notice(line)).collect(),
            limits: Vec::new(),
            wall: began.elapsed(),
            usage,
        };
        job.take_exceeded().into_iter().for_each(|exceeded| outcome.exceed(exceeded));
        if outcome.timed_out {
            outcome.exceed(Exceeded { kind: Limit::WallClock, value: millis(timeout) });
        }
        outcome
    }

    /// Adds a limit that was hit, and the line about it.
    pub(super) fn exceed(&mut self, exceeded: Exceeded) {
        self.limits.push(exceeded);
        self.notices.push(notice(&exceeded));
    }
}

/// A line for standard error that is ours.
pub(super) fn notice(what: &dyn std::fmt::Display) -> Bytes {
    Bytes::from(format!("isopod: {what}\n"))
}

/// A command whose output comes as it is written.
///
/// Someone has to ask for the next piece: the first process of the command, most often the shell, runs only then, and
/// the others until the pipe is full. The clock runs in any case. Dropping it ends the command and everything it started.
pub struct Execution {
    reader: PipeReader,
    /// Whether the end of the command is the end of its output: a live session writes on.
    live: bool,
    /// What was written before the command began, by what a live session had left running.
    earlier: std::vec::IntoIter<Chunk>,
    run: Pin<Box<dyn Future<Output = Outcome> + Send>>,
    outcome: Option<Outcome>,
    notices: std::vec::IntoIter<Bytes>,
}

impl Execution {
    pub(super) fn start(sandbox: &Sandbox, command: Command) -> Result<Execution, ExecuteError> {
        let (reader, outputs) = outlet();
        let run = Box::pin(begin(sandbox, command, outputs)?.finish());
        Ok(Execution {
            reader,
            live: false,
            earlier: Vec::new().into_iter(),
            run,
            outcome: None,
            notices: Vec::new().into_iter(),
        })
    }

    pub(super) fn of_call(
        reader: PipeReader,
        earlier: Vec<Chunk>,
        run: impl Future<Output = Outcome> + Send + 'static,
    ) -> Execution {
        let (earlier, notices) = (earlier.into_iter(), Vec::new().into_iter());
        Execution { reader, live: true, earlier, run: Box::pin(run), outcome: None, notices }
    }

    /// The next piece of output, `None` at the end.
    pub async fn next(&mut self) -> Option<Chunk> {
        if let Some(chunk) = self.earlier.next() {
            return Some(chunk);
        }
        loop {
            // The command first: a child that floods the pipe must not starve its parent.
            if self.outcome.is_none()
                && let Poll::Ready(outcome) = futures::poll!(&mut self.run)
            {
                self.ended(outcome);
            }
            match self.reader.try_read_tagged(TRANSFER_BYTES) {
                Some((tag, bytes)) if !bytes.is_empty() => {
                    let channel = if tag == STDERR { Channel::Stderr } else { Channel::Stdout };
                    return Some(Chunk { channel, bytes });
                }
                // The end of output, which is not yet the end of the command.
                Some(_) if self.outcome.is_some() => return self.notice(),
                None if self.live && self.outcome.is_some() => return self.notice(),
                Some(_) => {
                    let outcome = (&mut self.run).await;
                    self.ended(outcome);
                }
                None if self.outcome.is_some() => self.reader.readable().await,
                None => tokio::select! {
                    () = self.reader.readable() => {}
                    outcome = &mut self.run => self.ended(outcome),
                },
            }
        }
    }

    /// How the command ended; what is left of its output is dropped.
    pub async fn finish(mut self) -> Outcome {
        while self.next().await.is_some() {}
        match self.outcome {
            Some(outcome) => outcome,
            // Not reached: `next` ends only after the command has.
            None => self.run.await,
        }
    }

    fn notice(&mut self) -> Option<Chunk> {
        self.notices.next().map(|bytes| Chunk { channel: Channel::Stderr, bytes })
    }

    fn ended(&mut self, outcome: Outcome) {
        self.notices = outcome.notices.clone().into_iter();
        self.outcome = Some(outcome);
    }
}

/// A pipe that brings both outputs to the host: its end here, and theirs.
pub(super) fn outlet() -> (PipeReader, [Arc<OpenFile>; 2]) {
    let (reader, stdout) = pipe(STDOUT, None);
    let stderr = stdout.with_tag(STDERR);
    (reader, [stdout, stderr].map(|writer| Arc::new(OpenFile::writer(writer))))
}

/// A command that was started and that nobody has polled yet.
pub(super) struct Begun {
    ending: Ending,
    first: Pin<Box<dyn Future<Output = Status> + Send>>,
    feed: Option<Feed>,
    timeout: Duration,
    began: Instant,
}

/// Closes a job when it is dropped, also with the future that waits for the job.
struct Ending(Arc<Job>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Starts a command.
pub(super) fn begin(
    sandbox: &Sandbox,
    command: Command,
    [stdout, stderr]: [Arc<OpenFile>; 2],
) -> Result<Begun, ExecuteError> {
    let began = Instant::now();
    let limits = sandbox.limits();
    let timeout = timeout(command.timeout, limits)?;
    let (stdin, feed) = stdin::open(command.stdin);
    let (program, argv) = argv(command.argv, limits.command)?;
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
    Ok(Begun { ending: Ending(job), first, feed, timeout, began })
}

impl Begun {
    /// Runs the command to its end, or to the end of its time.
    pub(super) async fn finish(self) -> Outcome {
        let Begun { ending, first, feed, timeout, began } = self;
        let status = feeding(feed, first).await;
        // The first process has gone; what it left behind goes now, and is waited for: when the caller hears of
        // the end, memory, files and slots are free.
        let job = &ending.0;
        let stop_reason = job.stop_reason();
        job.close();
        job.gone().await;

        Outcome::of(job, stop_reason, status.code(), timeout, began, job.usage())
    }
}

/// How long a command may take.
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
fn argv(argv: Argv, limit: u64) -> Result<(String, Vec<String>), ExecuteError> {
    let (program, argv) = match argv {
        Argv::Shell(line) if line.trim().is_empty() => return Err(ExecuteError::Empty),
        // By its path: a caller may set PATH to anything.
        Argv::Shell(line) => (SHELL.to_owned(), vec!["sh".to_owned(), "-c".to_owned(), line]),
        Argv::Program(argv) => match argv.first() {
            Some(program) if !program.is_empty() => (program.clone(), argv),
            _ => return Err(ExecuteError::Empty),
        },
    };
    check(&argv, limit)?;
    Ok((program, argv))
}

/// Whether a command is of a size and made of what arguments can hold.
pub(super) fn check(argv: &[String], limit: u64) -> Result<(), ExecuteError> {
    if argv.iter().map(|word| word.len() as u64).sum::<u64>() > limit {
        return Err(Exceeded { kind: Limit::Command, value: limit }.into());
    }
    if argv.iter().any(|word| word.contains('\0')) {
        return Err(ExecuteError::Nul);
    }
    Ok(())
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
