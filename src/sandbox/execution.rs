//! A command that runs.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::Sandbox;
use super::command::{Argv, Command, ExecuteError, Stdin, set_variables};
use crate::error::{Errno, Result as FileResult};
use crate::kernel::{
    Channel, OpenFile, PipeReader, PipeWriter, Request, Session, Signal, Status, Usage, Verdict, pipe,
};
use crate::limits::{Exceeded, Limit, TRANSFER_BYTES};
use crate::vfs::{File, Kind, SetTime, Stat};

/// The exit code of a command whose time is over, as `timeout` has it.
const TIMED_OUT: u8 = 124;

/// What runs a command line: bash, by a name that messages are shorter with. `/bin/sh` leans to POSIX.
const SHELL: &str = "/bin/bash";

/// Tags of the pipe that brings both outputs to the host.
const STDOUT: u8 = 1;
const STDERR: u8 = 2;

/// A piece of output.
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// Adds a limit that was hit, and the line about it.
    pub(super) fn exceed(&mut self, exceeded: Exceeded) {
        self.limits.push(exceeded);
        self.notices.push(notice(&exceeded));
    }
}

/// A line for standard error that is ours.
fn notice(what: &dyn std::fmt::Display) -> Bytes {
    Bytes::from(format!("isopod: {what}\n"))
}

/// A command whose output comes as it is written.
///
/// Someone has to ask for the next piece: the first process of the command, most often the shell, runs only then, and
/// the others until the pipe is full. The clock runs in any case. Dropping it ends the command and everything it started.
pub struct Execution {
    reader: PipeReader,
    run: Pin<Box<dyn Future<Output = Outcome> + Send>>,
    outcome: Option<Outcome>,
    notices: std::vec::IntoIter<Bytes>,
}

impl Execution {
    pub(super) fn start(sandbox: &Sandbox, command: Command) -> Result<Execution, ExecuteError> {
        let (reader, stdout) = pipe(STDOUT, None);
        let stderr = stdout.with_tag(STDERR);
        let outputs = [stdout, stderr].map(|writer| Arc::new(OpenFile::writer(writer)));
        let run = Box::pin(begin(sandbox, command, outputs)?.finish());
        Ok(Execution { reader, run, outcome: None, notices: Vec::new().into_iter() })
    }

    /// The next piece of output, `None` at the end.
    pub async fn next(&mut self) -> Option<Chunk> {
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
                Some(_) if self.outcome.is_some() => {
                    return self.notices.next().map(|bytes| Chunk { channel: Channel::Stderr, bytes });
                }
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

    fn ended(&mut self, outcome: Outcome) {
        self.notices = outcome.notices.clone().into_iter();
        self.outcome = Some(outcome);
    }
}

/// A command that was started and that nobody has polled yet.
pub(super) struct Begun {
    ending: Ending,
    first: Pin<Box<dyn Future<Output = Status> + Send>>,
    feed: Option<(PipeWriter, Box<dyn AsyncRead + Send + Unpin>)>,
    timeout: Duration,
    began: Instant,
}

/// Ends a session with whatever still runs in it, also when the future that waits for it is dropped.
struct Ending(Arc<Session>);

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
    let timeout = command.timeout.unwrap_or(limits.wall);
    if timeout.is_zero() {
        return Err(ExecuteError::ZeroTimeout);
    }
    if command.timeout.is_some() && timeout > limits.wall_max {
        return Err(Exceeded { kind: Limit::WallClock, value: millis(limits.wall_max) }.into());
    }
    let (stdin, feed) = match command.stdin {
        // No input is a device such as /dev/null, not a pipe: a program like `rg` searches a pipe if it is given one.
        Stdin::Empty => (OpenFile::read_only(Arc::new(Text { bytes: Bytes::new(), kind: Kind::Device })), None),
        Stdin::Bytes(bytes) => {
            // A program that asks sees a pipe, as it would if a person had typed `… | command`.
            (OpenFile::read_only(Arc::new(Text { bytes: bytes.into(), kind: Kind::Pipe })), None)
        }
        Stdin::Reader(source) => {
            let (reader, writer) = pipe(0, None);
            (OpenFile::reader(reader), Some((writer, source)))
        }
    };
    let (program, argv) = argv(command.argv, limits.command)?;
    let mut env = sandbox.settings.env.clone();
    set_variables(&mut env, command.env)?;
    let base = &sandbox.settings.cwd;
    let cwd = match command.cwd {
        None => base.clone(),
        Some(text) => sandbox.kernel.directory(base, &text).map_err(|errno| ExecuteError::Cwd(text, errno))?,
    };
    let request = Request { program: program.clone(), argv, env, payload: Vec::new() };
    let session = Session::new(sandbox.kernel.clone(), timeout);
    let first = match session.start(request, cwd, [Arc::new(stdin), stdout, stderr]) {
        Ok(first) => Box::pin(first),
        Err(errno) => {
            let limit = session.exceeded().first().copied();
            return Err(limit.map_or(ExecuteError::Program(program, errno), ExecuteError::Limit));
        }
    };
    Ok(Begun { ending: Ending(session), first, feed, timeout, began })
}

impl Begun {
    /// Runs the command to its end, or to the end of its time.
    pub(super) async fn finish(self) -> Outcome {
        let Begun { ending, first, feed, timeout, began } = self;
        let status = match feed {
            None => first.await,
            // The command's end is the end, whatever is left to feed.
            Some((writer, source)) => tokio::select! {
                biased;
                status = first => status,
                never = feed_all(writer, source) => never,
            },
        };
        // The first process has gone; what it left behind goes now, and is waited for: when the caller hears of
        // the end, memory, files and slots are free.
        let session = &ending.0;
        let verdict = session.verdict();
        session.close();
        session.gone().await;

        let mut outcome = Outcome {
            exit_code: match verdict {
                Some(Verdict::TimeIsOver) => TIMED_OUT,
                Some(Verdict::FuelIsOver) => Status::Signalled(Signal::XCPU).code(),
                None => status.code(),
            },
            timed_out: verdict == Some(Verdict::TimeIsOver),
            notices: session.faults().iter().map(|line| notice(line)).collect(),
            limits: Vec::new(),
            wall: began.elapsed(),
            usage: session.usage(),
        };
        session.exceeded().into_iter().for_each(|exceeded| outcome.exceed(exceeded));
        if outcome.timed_out {
            outcome.exceed(Exceeded { kind: Limit::WallClock, value: millis(timeout) });
        }
        outcome
    }
}

/// Brings a source to a pipe until the source ends or nobody reads; then waits for the command to end.
async fn feed_all(writer: PipeWriter, mut source: Box<dyn AsyncRead + Send + Unpin>) -> Status {
    let mut buffer = vec![0; TRANSFER_BYTES];
    // A source that fails is at its end: the command cannot be told why.
    while let Ok(len @ 1..) = source.read(&mut buffer).await {
        if writer.write(Bytes::copy_from_slice(&buffer[..len])).await.is_err() {
            break;
        }
    }
    drop(writer);
    std::future::pending().await
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
    if argv.iter().map(|word| word.len() as u64).sum::<u64>() > limit {
        return Err(Exceeded { kind: Limit::Command, value: limit }.into());
    }
    if argv.iter().any(|word| word.contains('\0')) {
        return Err(ExecuteError::Nul);
    }
    Ok((program, argv))
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Standard input that is there from the start: a file that can only be read.
struct Text {
    bytes: Bytes,
    /// What it pretends to be.
    kind: Kind,
}

impl File for Text {
    fn read_at(&self, offset: u64, max: usize) -> FileResult<Bytes> {
        let from = usize::try_from(offset).unwrap_or(usize::MAX).min(self.bytes.len());
        let to = from.saturating_add(max).min(self.bytes.len());
        Ok(self.bytes.slice(from..to))
    }

    fn write_at(&self, _offset: u64, _bytes: &[u8]) -> FileResult<usize> {
        Err(Errno::BadDescriptor)
    }

    fn append(&self, _bytes: &[u8]) -> FileResult<u64> {
        Err(Errno::BadDescriptor)
    }

    fn stat(&self) -> FileResult<Stat> {
        Ok(Stat { kind: self.kind, size: self.bytes.len() as u64, ..Stat::of_pipe() })
    }

    fn set_len(&self, _len: u64) -> FileResult<()> {
        Err(Errno::Invalid)
    }

    fn set_times(&self, _accessed: SetTime, _modified: SetTime) -> FileResult<()> {
        Err(Errno::NotPermitted)
    }

    fn sync(&self) -> FileResult<()> {
        Err(Errno::Invalid)
    }
}
