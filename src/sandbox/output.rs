//! The result of a command.

use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::kernel::{Channel, Elision, Job, Signal, Status, StopReason, Transcript, Usage};
use crate::limits::{Exceeded, Limit};

/// The exit code of a command whose time is over, as `timeout` has it.
const TIMED_OUT: u8 = 124;

/// The result of a command. Every interface answers with this: sandboxes, sessions, backends, providers and workers.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Output {
    /// 0 to 255; 128 and the signal's number if the command was killed, 124 if its time was over.
    pub exit_code: u8,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error, with a line at its end for each limit that ended the command or a process of it.
    pub stderr: Vec<u8>,
    /// Standard output and standard error in the order of writing.
    pub output: Vec<u8>,
    /// The output limit was hit: head and tail are there, with a marker where bytes were left out.
    pub truncated: bool,
    /// The command's time was over.
    pub timed_out: bool,
    /// The limits that were hit, the output limit among them.
    pub limits: Vec<Exceeded>,
    /// The resources that the command used.
    pub usage: Usage,
    /// The gap in `output`.
    elision: Option<Elision>,
}

/// The end of a command whose output was streamed: an [`Output`] without the bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Completion {
    /// 0 to 255; 128 and the signal's number if the command was killed, 124 if its time was over.
    pub exit_code: u8,
    /// The command's time was over.
    pub timed_out: bool,
    /// The limits that were hit.
    pub limits: Vec<Exceeded>,
    /// The resources that the command used.
    pub usage: Usage,
}

impl Output {
    /// Joins the output of a command with its end.
    pub fn new(transcript: Transcript, completion: Completion) -> Output {
        let Completion { exit_code, timed_out, mut limits, usage } = completion;
        let (stdout, stderr) = (transcript.of(Channel::Stdout), transcript.of(Channel::Stderr));
        let limit = Exceeded { kind: Limit::Output, value: transcript.limit() };
        let (output, elision) = transcript.into_output();
        let mut truncated = limits.iter().any(|exceeded| exceeded.kind == Limit::Output);
        if elision.is_some() && !truncated {
            truncated = true;
            limits.push(limit);
        }
        Output { exit_code, stdout, stderr, output, truncated, timed_out, limits, usage, elision }
    }

    /// The number of bytes that the command wrote, with those left out.
    pub fn written(&self) -> u64 {
        match self.elision {
            Some(elision) => (self.head().len() + self.tail().len()) as u64 + elision.bytes,
            None => self.output.len() as u64,
        }
    }

    /// Both outputs up to the gap; all of them if there is none.
    pub fn head(&self) -> &[u8] {
        self.elision.map_or(&self.output, |elision| &self.output[..elision.at])
    }

    /// Both outputs behind the gap; nothing if there is none.
    pub fn tail(&self) -> &[u8] {
        self.elision.map_or(&[], |elision| &self.output[elision.at + elision.marker().len()..])
    }
}

impl Completion {
    /// The end of a command that hit no limit and whose usage is not known.
    pub fn new(exit_code: u8) -> Completion {
        Completion { exit_code, ..Completion::default() }
    }

    /// The same with the time that the command took.
    pub fn took(mut self, wall: Duration) -> Completion {
        self.usage.wall = wall;
        self
    }
}

/// The end of a command, with lines of the host's own for its standard error.
pub(super) struct Ended {
    pub(super) completion: Completion,
    pub(super) notices: Vec<Bytes>,
}

impl Ended {
    /// Reads the end of a command from its job.
    pub(super) fn of(
        job: &Job,
        stop_reason: Option<StopReason>,
        status: u8,
        timeout: Duration,
        began: Instant,
        usage: Usage,
    ) -> Ended {
        let timed_out = stop_reason == Some(StopReason::TimedOut);
        let exit_code = match stop_reason {
            Some(StopReason::TimedOut) => TIMED_OUT,
            Some(StopReason::OutOfFuel) => Status::Signalled(Signal::XCPU).code(),
            None => status,
        };
        let mut notices: Vec<Bytes> = job.take_faults().iter().map(|line| notice(line)).collect();
        let mut limits = job.take_exceeded();
        if timed_out {
            limits.push(Exceeded { kind: Limit::WallClock, value: super::execution::millis(timeout) });
        }
        notices.extend(limits.iter().map(|exceeded| notice(exceeded)));
        let usage = Usage { wall: began.elapsed(), ..usage };
        Ended { completion: Completion { exit_code, timed_out, limits, usage }, notices }
    }

    /// Joins the end of a command with its output.
    pub(super) fn with(self, mut transcript: Transcript) -> Output {
        self.notices.iter().for_each(|line| transcript.push_notice(line));
        Output::new(transcript, self.completion)
    }
}

/// A line of the host's own for standard error.
fn notice(text: &dyn std::fmt::Display) -> Bytes {
    Bytes::from(format!("isopod: {text}\n"))
}
