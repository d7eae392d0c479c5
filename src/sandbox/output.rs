//! What a command leaves behind.

use std::time::Duration;

use super::execution::Outcome;
use crate::kernel::{CapturedOutput, Channel, Usage};
use crate::limits::{Exceeded, Limit};

/// The answer of a command.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Output {
    /// Standard output and standard error in the order of writing.
    pub output: Vec<u8>,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error, and at its end a line for each limit that was hit.
    pub stderr: Vec<u8>,
    /// 0 to 255; 128 and the signal's number if the command was killed, 124 if its time was over.
    pub exit_code: u8,
    /// Whether output was dropped because there was too much.
    pub truncated: bool,
    /// Whether its time was over.
    pub timed_out: bool,
    /// The limits that were hit.
    pub limits: Vec<Exceeded>,
    /// From start to end.
    pub wall: Duration,
    /// What it used.
    pub usage: Usage,
}

impl Output {
    pub(super) fn new(mut outcome: Outcome, mut kept: CapturedOutput, limit: u64) -> Output {
        let truncated = kept.dropped > 0;
        if truncated {
            outcome.exceed(Exceeded { kind: Limit::Output, value: limit });
        }
        // Beyond the limit: a limit that was hit must not go unsaid because there was too much output.
        for notice in &outcome.notices {
            kept.append(Channel::Stderr, notice);
        }
        let (stdout, stderr, limits) = (kept.of(Channel::Stdout), kept.of(Channel::Stderr), outcome.limits);
        Output {
            stdout,
            stderr,
            truncated,
            output: kept.merged,
            exit_code: outcome.exit_code,
            timed_out: outcome.timed_out,
            limits,
            wall: outcome.wall,
            usage: outcome.usage,
        }
    }
}
