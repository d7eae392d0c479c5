//! The options that describe a sandbox: mounts, variables, limits.

use std::time::Duration;

use clap::Args;
use isopod::provider::{Config, HostAccess, HostMount};
use isopod::vfs::Rules;
use isopod::wall::Wall;
use isopod::{BuildError, Limits, Runtime, Sandbox, SandboxBuilder};

use super::values::{self, Mount};

/// The options of a sandbox.
#[derive(Args)]
pub(super) struct Settings {
    /// Mount a directory at /workspace, or at GUEST; `:ro` makes it read-only. Repeatable
    #[arg(long, value_name = "HOST[:GUEST][:ro]", value_parser = values::mount)]
    dir: Vec<Mount>,

    /// Mount a directory whose changes stay in memory, unless --commit is given. Repeatable
    #[arg(long, value_name = "HOST[:GUEST]", value_parser = values::overlay)]
    overlay: Vec<Mount>,

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
    /// Returns the limits, with a bound for the output that is kept.
    fn limits(&self, output: Option<u64>) -> Limits {
        let mut limits = if self.hardened { Limits::hardened() } else { Limits::default() };
        self.limit(&mut limits);
        limits.output = output.unwrap_or(limits.output);
        limits
    }

    /// Returns the same as a configuration, without the working directory.
    pub(super) fn config(&self, output: Option<u64>) -> Config {
        let mut config = self.configure(Config::new(""));
        config.limits.output = output.unwrap_or(config.limits.output);
        config.mounts.extend(self.mounts());
        config
    }

    /// Returns the working directory.
    pub(super) fn cwd(&self) -> Option<&str> {
        self.cwd.as_deref()
    }

    /// Makes a sandbox for one command or one shell, with a bound for the output that is kept.
    pub(super) fn sandbox(&self, output: Option<u64>) -> Result<Sandbox, BuildError> {
        // For one command a pool costs more than it saves.
        self.builder(output).runtime(Runtime::on_demand()?).build()
    }

    /// Returns the builder of the sandbox, with a bound for the output that is kept.
    pub(super) fn builder(&self, output: Option<u64>) -> SandboxBuilder {
        let mut builder = Sandbox::builder().limits(self.limits(output));
        for HostMount { host, guest, access } in self.mounts() {
            builder = match access {
                HostAccess::ReadWrite => builder.mount(host, guest),
                HostAccess::ReadOnly => builder.mount_read_only(host, guest),
                HostAccess::Overlay => builder.mount_overlay(host, guest),
            };
        }
        // Only here, because most commands have no directory of the host and the list is long.
        if self.has_mounts() {
            builder = builder.protect(Rules::standard_but(&self.allow));
        }
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
        builder
    }

    /// Returns true if a directory of the host is mounted at this path.
    #[cfg(feature = "mcp")]
    pub(super) fn mounts_at(&self, guest: &str) -> bool {
        self.dir.iter().chain(&self.overlay).any(|mount| mount.guest.trim_end_matches('/') == guest)
    }

    /// Returns a wall that leaves access to the mounted directories. Overlays are read-only, unless their changes are
    /// written back.
    pub(super) fn wall(&self, writes_back: bool) -> Wall {
        self.mounts().fold(Wall::new(), |wall, HostMount { host, access, .. }| match access {
            HostAccess::ReadWrite => wall.read_write(host),
            HostAccess::Overlay if writes_back => wall.read_write(host),
            HostAccess::ReadOnly | HostAccess::Overlay => wall.read_only(host),
        })
    }

    /// Returns the mounts of the host: those of the options, and the packages that every sandbox sees.
    fn mounts(&self) -> impl Iterator<Item = HostMount> {
        self.named().chain(super::python::layer())
    }

    fn named(&self) -> impl Iterator<Item = HostMount> {
        let access = |read_only| if read_only { HostAccess::ReadOnly } else { HostAccess::ReadWrite };
        let dirs = self.dir.iter().map(move |mount| (mount, access(mount.read_only)));
        let overlays = self.overlay.iter().map(|mount| (mount, HostAccess::Overlay));
        dirs.chain(overlays).map(|(mount, access)| HostMount {
            host: mount.host.clone(),
            guest: mount.guest.clone(),
            access,
        })
    }

    /// Returns the same for sandboxes that last. Options override the configuration.
    #[cfg(feature = "http")]
    pub(super) fn over(&self, config: Config) -> Result<Config, String> {
        if self.cwd.is_some() {
            return Err("--cwd is for one command, not for sandboxes that last".to_owned());
        }
        let mut config = self.configure(config);
        for mount in self.named() {
            if mount.guest == "/workspace" {
                let host = mount.host.display();
                return Err(format!("{host}: /workspace is a sandbox's own, say where: HOST:/GUEST"));
            }
            config.mounts.push(mount);
        }
        Ok(config)
    }

    /// Adds limits, environment and permissions to a configuration.
    fn configure(&self, mut config: Config) -> Config {
        if self.hardened {
            config.limits = Limits::hardened();
        }
        self.limit(&mut config.limits);
        config.allow.extend(self.allow.iter().cloned());
        config.env.extend(self.env.iter().cloned());
        config.allow_programs = self.allow_programs.clone().or(config.allow_programs);
        config.deny_programs = self.deny_programs.clone().or(config.deny_programs);
        config
    }

    fn limit(&self, limits: &mut Limits) {
        limits.wall = self.timeout.unwrap_or(limits.wall);
        limits.fuel = self.fuel.or(limits.fuel);
        limits.processes = self.processes.unwrap_or(limits.processes);
        limits.clock_step = self.clock_step.unwrap_or(limits.clock_step);
        if let Some(memory) = self.memory {
            limits.process_memory = memory;
            limits.sandbox_memory = memory.saturating_mul(2);
        }
    }

    /// Returns true if a directory of the host is mounted.
    pub(super) fn has_mounts(&self) -> bool {
        !self.dir.is_empty() || self.has_overlays()
    }

    /// Returns true if there is an overlay.
    pub(super) fn has_overlays(&self) -> bool {
        !self.overlay.is_empty()
    }

    /// Returns the wall clock of the options.
    pub(super) fn timeout(&self) -> Option<Duration> {
        self.timeout
    }
}
