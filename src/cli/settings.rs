//! What sandbox a command runs in: mounts, variables, limits.

use std::time::Duration;

use clap::Args;
use isopod::vfs::Rules;
use isopod::{BuildError, Limits, Runtime, Sandbox};

use super::overlay::Ending;
use super::values::{self, Mount};

/// A sandbox to be.
#[derive(Args)]
pub(super) struct Settings {
    /// Mount a directory at /workspace, or at GUEST; `:ro` makes it read-only. Repeatable
    #[arg(long, value_name = "HOST[:GUEST][:ro]", value_parser = values::mount)]
    dir: Vec<Mount>,

    /// Mount a directory whose changes stay in memory, unless --commit is given. Repeatable
    #[arg(long, value_name = "HOST[:GUEST]", value_parser = values::overlay)]
    overlay: Vec<Mount>,

    /// At the end, print the changes in --overlay directories: a list, and a patch
    #[arg(long, requires = "overlay")]
    diff: bool,

    /// At the end, write the changes to --overlay directories, if the command succeeded
    #[arg(long, requires = "overlay", conflicts_with = "diff")]
    commit: bool,

    /// Allow changes of a protected path, such as .git/hooks, or of `all`. Repeatable
    #[arg(long, value_name = "PATH", value_parser = values::unprotected)]
    allow: Vec<String>,

    /// Set a variable. Repeatable
    #[arg(long, value_name = "NAME=VALUE", value_parser = values::variable)]
    env: Vec<(String, String)>,

    /// Start in this directory of the sandbox [default: /workspace]
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,

    /// Wall clock: seconds, or with ms, s, m, h. Exit code 124 when it is over [default: 30]
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    timeout: Option<Duration>,

    /// Memory of a process, such as 64M; all processes together get twice that [default: 256M]
    #[arg(long, value_name = "SIZE", value_parser = values::bytes)]
    memory: Option<u64>,

    /// Instructions, over all processes; the same command stops at the same place each time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    fuel: Option<u64>,

    /// Live processes [default: 64]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    processes: Option<u32>,

    /// The only programs that may be started, beside a shell: names with commas between them
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', conflicts_with = "deny_programs")]
    allow_programs: Option<Vec<String>>,

    /// Programs that may not be started: names with commas between them
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    deny_programs: Option<Vec<String>>,

    /// The step of the clocks that programs see, such as 10ms: a coarse clock tells less
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    clock_step: Option<Duration>,

    /// Start from limits of about a quarter of the defaults
    #[arg(long)]
    hardened: bool,
}

impl Settings {
    /// Makes it, with a bound for the output that is kept.
    pub(super) fn sandbox(&self, output: Option<u64>) -> Result<Sandbox, BuildError> {
        let mut limits = if self.hardened { Limits::hardened() } else { Limits::default() };
        limits.wall = self.timeout.unwrap_or(limits.wall);
        limits.fuel = self.fuel;
        limits.processes = self.processes.unwrap_or(limits.processes);
        limits.output = output.unwrap_or(limits.output);
        limits.clock_step = self.clock_step.unwrap_or(limits.clock_step);
        if let Some(memory) = self.memory {
            limits.process_memory = memory;
            limits.sandbox_memory = memory.saturating_mul(2);
        }
        // One command: a pool would cost more than it gives.
        let mut builder = Sandbox::builder().runtime(Runtime::on_demand()?).limits(limits);
        for Mount { host, guest, read_only } in &self.dir {
            builder = match read_only {
                true => builder.mount_read_only(host, guest),
                false => builder.mount(host, guest),
            };
        }
        for Mount { host, guest, .. } in &self.overlay {
            builder = builder.mount_overlay(host, guest);
        }
        builder = builder.protect(Rules::standard_but(&self.allow));
        if let Some(names) = &self.allow_programs {
            builder = builder.allow_programs(names);
        }
        if let Some(names) = &self.deny_programs {
            builder = builder.deny_programs(names);
        }
        for (name, value) in &self.env {
            builder = builder.env(name, value);
        }
        if let Some(cwd) = &self.cwd {
            builder = builder.cwd(cwd);
        }
        builder.build()
    }

    /// What to do with the changes of overlays.
    pub(super) fn ending(&self) -> Ending {
        match (self.diff, self.commit) {
            (true, _) => Ending::Diff,
            (_, true) => Ending::Commit,
            _ => Ending::Discard,
        }
    }

    /// Whether anything of the host is in it.
    pub(super) fn has_mounts(&self) -> bool {
        !self.dir.is_empty() || self.has_overlays()
    }

    /// Whether there are changes to look at.
    pub(super) fn has_overlays(&self) -> bool {
        !self.overlay.is_empty()
    }

    /// The time that was asked for.
    pub(super) fn timeout(&self) -> Option<Duration> {
        self.timeout
    }
}
