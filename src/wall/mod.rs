//! A second wall around the host process, made by the operating system's kernel.
//!
//! The first wall is WebAssembly and this library's own kernel. Should either have a hole, what a guest could do is
//! what the host process can do: so a host that needs little should be able to do little. [`Wall::raise`] leaves it the
//! directories and ports that it names and takes the rest away, for ever and from all that it starts.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // First of all, in `main`: before tokio, before any thread.
//! let report = isopod::wall::Wall::new().read_write("/srv/sandboxes").bind(8080).raise()?;
//! eprintln!("{report}");
//! # Ok(())
//! # }
//! ```
//!
//! # What it is made of
//! - `files`: Landlock. Files are opened below the named directories only; TCP goes to and from the named ports only;
//!   signals and abstract sockets stay inside.
//! - `calls`: a seccomp filter, a list of system calls that a host never needs once it has started: other programs,
//!   other processes' memory, mounts, namespaces, kernel modules, keys, BPF, other users. They answer EPERM.
//!
//! A list of what is allowed would be stricter and was rejected: it breaks with the next libc or tokio, and so it gets
//! switched off. What matters of it (exec, connect, new processes) is on the list of what is not.
//!
//! # Who needs other programs
//! [`LocalShell`](crate::backend::LocalShell) and [`Worker`](crate::worker::Worker) start programs: a host that uses them says
//! [`Wall::exec`], and those programs live behind the same wall. [`Bubblewrap`](crate::backend::Bubblewrap) makes
//! namespaces and mounts, and [`Docker`](crate::backend::Docker) connects to a socket: neither works behind it.
//!
//! # One thread
//! Landlock holds for the calling thread and those it starts. Raised with others alive it would hold for some of the
//! process, which is nothing: so there must be one thread only, or it is an error.

#[cfg(all(target_os = "linux", feature = "wall"))]
mod calls;
#[cfg(all(target_os = "linux", feature = "wall"))]
mod files;

#[cfg(not(all(target_os = "linux", feature = "wall")))]
mod absent;
#[cfg(not(all(target_os = "linux", feature = "wall")))]
use absent::{calls, files};

use std::fmt;
use std::path::{Path, PathBuf};

use crate::provider::{Config, HostAccess};

/// What the host process keeps. All else is taken away.
#[derive(Debug, Clone, Default)]
pub struct Wall {
    read_write: Vec<PathBuf>,
    read_only: Vec<PathBuf>,
    bind: Vec<u16>,
    connect: Vec<u16>,
    exec: bool,
    strict: bool,
}

/// What holds, now that a wall is up.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// Files, TCP ports, signals: Landlock.
    pub landlock: Hold,
    /// The version of Landlock's interface in this machine's kernel; 0 is none.
    pub landlock_abi: u32,
    /// System calls: seccomp.
    pub seccomp: Hold,
}

/// How much of a part of the wall is there.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Hold {
    /// All of it.
    Whole,
    /// Not what this says.
    But(String),
    /// Nothing, for this reason.
    Nothing(String),
}

/// Why a wall is not up. Nothing is taken away then, unless it says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WallError {
    /// There are other threads, for which it would not hold.
    #[error("the wall has to be raised before there are threads, and there are {0}")]
    Threads(usize),
    /// What is to be left cannot be found.
    #[error("{}: {error}", path.display())]
    Path {
        /// As the caller gave it.
        path: PathBuf,
        /// What the host says.
        error: std::io::Error,
    },
    /// A strict wall, and the machine has not all that it takes.
    #[error("the wall does not hold on this machine: {0}")]
    Missing(String),
    /// The operating system refused something else.
    #[error("cannot raise the wall: {0}")]
    Host(String),
}

impl Wall {
    /// Leaves the host nothing but what it has open.
    pub fn new() -> Wall {
        Wall::default()
    }

    /// Leaves what a provider needs: its root, which is made if it is not there, and the directories it mounts.
    pub fn around(config: &Config) -> Result<Wall, WallError> {
        use std::os::unix::fs::DirBuilderExt;
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&config.root);
        made.map_err(|error| WallError::Path { path: config.root.clone(), error })?;
        Ok(Wall::within(config).read_write(&config.root))
    }

    /// Leaves what one sandbox of a configuration needs.
    pub(crate) fn within(config: &Config) -> Wall {
        config.mounts.iter().fold(Wall::new(), |wall, mount| match mount.access {
            HostAccess::ReadWrite => wall.read_write(&mount.host),
            HostAccess::ReadOnly | HostAccess::Overlay => wall.read_only(&mount.host),
        })
    }

    /// A directory or a file to read and write.
    pub fn read_write(mut self, path: impl AsRef<Path>) -> Wall {
        self.read_write.push(path.as_ref().to_owned());
        self
    }

    /// A directory or a file to read.
    pub fn read_only(mut self, path: impl AsRef<Path>) -> Wall {
        self.read_only.push(path.as_ref().to_owned());
        self
    }

    /// A TCP port to listen on. A host that has its listeners already needs none.
    pub fn bind(mut self, port: u16) -> Wall {
        self.bind.push(port);
        self
    }

    /// A TCP port to connect to, on any machine; and UDP to any port, which names are asked for by. For embedders that
    /// speak to a model from the same process: a sandbox never needs it.
    pub fn connect(mut self, port: u16) -> Wall {
        self.connect.push(port);
        self
    }

    /// Other programs: those in the directories that may be read. They live behind the same wall.
    pub fn exec(mut self) -> Wall {
        self.exec = true;
        self
    }

    /// Is raised whole or not at all, instead of as far as the machine's kernel has it.
    pub fn strict(mut self) -> Wall {
        self.strict = true;
        self
    }

    /// Takes everything else away from this process, for as long as it lives.
    ///
    /// # Errors
    /// With [`WallError::Host`] a part of it may be up.
    pub fn raise(&self) -> Result<Report, WallError> {
        match threads()? {
            1 => self.raise_here(),
            many => Err(WallError::Threads(many)),
        }
    }

    /// For this thread.
    fn raise_here(&self) -> Result<Report, WallError> {
        // First, because it reads a file, and so that a strict wall fails before anything is up.
        let filters = calls::check();
        if self.strict {
            filters.clone().map_err(WallError::Missing)?;
        }
        let (landlock, landlock_abi) = files::raise(self)?;
        let seccomp = match filters {
            Ok(()) => calls::raise(self).map(|()| Hold::Whole).map_err(WallError::Host)?,
            Err(why) => Hold::Nothing(why),
        };
        Ok(Report { landlock, landlock_abi, seccomp })
    }
}

/// What a wall would hold on this machine. It is raised in a thread that ends then.
pub fn support() -> Result<Report, WallError> {
    let trial = std::thread::Builder::new().spawn(|| Wall::new().raise_here());
    let trial = trial.map_err(|error| WallError::Host(error.to_string()))?;
    trial.join().unwrap_or_else(|_| Err(WallError::Host("the trial failed".to_owned())))
}

impl Report {
    /// Of a wall that nobody asked for.
    pub(crate) fn none() -> Report {
        let hold = Hold::Nothing("not asked for".to_owned());
        Report { landlock: hold.clone(), landlock_abi: 0, seccomp: hold }
    }

    /// Whether all of it holds.
    pub fn is_whole(&self) -> bool {
        self.landlock == Hold::Whole && self.seccomp == Hold::Whole
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "files and ports: {}; system calls: {}", self.landlock, self.seccomp)
    }
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hold::Whole => f.write_str("walled"),
            Hold::But(what) => write!(f, "walled, but not {what}"),
            Hold::Nothing(why) => write!(f, "no wall ({why})"),
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "counts the host's own threads")]
fn threads() -> Result<usize, WallError> {
    let tasks = std::fs::read_dir("/proc/self/task");
    Ok(tasks.map_err(|error| WallError::Host(format!("cannot count threads: {error}")))?.count())
}
