//! The ways to use Isopod: a live session, a warm sandbox, a new sandbox. The command line is a process of the host,
//! like the other programs.

use std::path::Path;
use std::time::{Duration, Instant};

use isopod::{Limits, Output, Sandbox, SandboxBuilder, Session};
use tokio::runtime::Runtime;

use crate::measure::Fault;
use crate::shell::{Answer, Shell};

pub const LIVE: &str = "isopod, live session";
pub const WARM: &str = "isopod, execute";
pub const NEW: &str = "isopod, new sandbox";

/// Returns limits that are wide enough for all the work, because the comparison is not about refusals.
pub fn limits() -> Limits {
    let mut limits = Limits::default();
    (limits.wall, limits.disk, limits.file, limits.inodes) = (Duration::from_secs(300), 8 << 30, 1 << 30, 1_000_000);
    (limits.process_memory, limits.sandbox_memory, limits.output) = (1 << 30, 2 << 30, 100 << 20);
    limits
}

pub fn builder(directory: &Path) -> SandboxBuilder {
    Sandbox::builder().limits(limits()).mount_read_only(directory, "/workspace").env("LC_ALL", "C")
}

pub struct Live<'a> {
    pub runtime: &'a Runtime,
    pub session: Session,
}

pub struct Warm<'a> {
    pub runtime: &'a Runtime,
    pub sandbox: Sandbox,
}

pub struct New<'a> {
    pub runtime: &'a Runtime,
}

impl Shell for Live<'_> {
    fn name(&self) -> &str {
        LIVE
    }

    fn run(&self, script: &str) -> Result<Answer, Fault> {
        let begin = Instant::now();
        answer(begin, self.runtime.block_on(self.session.execute(script)))
    }
}

impl Shell for Warm<'_> {
    fn name(&self) -> &str {
        WARM
    }

    fn run(&self, script: &str) -> Result<Answer, Fault> {
        let begin = Instant::now();
        answer(begin, self.runtime.block_on(self.sandbox.execute(script)))
    }
}

impl Shell for New<'_> {
    fn name(&self) -> &str {
        NEW
    }

    fn run(&self, script: &str) -> Result<Answer, Fault> {
        let begin = Instant::now();
        let sandbox = Sandbox::builder().build().map_err(|error| Fault::Wrong(error.to_string()))?;
        let output = self.runtime.block_on(sandbox.execute(script));
        drop(sandbox);
        answer(begin, output)
    }
}

fn answer(begin: Instant, output: Result<Output, isopod::ExecuteError>) -> Result<Answer, Fault> {
    let time = begin.elapsed();
    let output = output.map_err(|error| Fault::Wrong(error.to_string()))?;
    Ok(Answer { stdout: output.stdout, stderr: output.stderr, exit_code: output.exit_code.into(), time })
}
