//! A second wall around the host process, made by the operating system's kernel.
//!
//! The first wall is WebAssembly and this library's own kernel. If either has a hole, a guest can do all that the host
//! process can do. So a host that needs little should be able to do little. [`Wall::raise`] leaves the host process the
//! directories and ports that are named and takes the rest away, for ever and from all threads and processes it starts.
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
//! # Parts
//! - `files`: Landlock. Files are opened below the named directories only; TCP goes to and from the named ports only;
//!   signals and abstract sockets stay inside.
//! - `calls`: a seccomp filter, a list of system calls that a host never needs once it has started: other programs,
//!   other processes' memory, mounts, namespaces, kernel modules, keys, BPF, other users. They fail with EPERM.
//!
//! A list of allowed calls would be stricter and was rejected: it breaks with the next libc or tokio, and then it gets
//! switched off. The calls that matter most (exec, connect, new processes) are on the list of refused calls.
//!
//! # Hosts that start programs
//! [`LocalShell`](crate::backend::LocalShell) and [`Worker`](crate::worker::Worker) start programs. A host that uses
//! them calls [`Wall::exec`]; those programs run behind the same wall. [`Bubblewrap`](crate::backend::Bubblewrap) makes
//! namespaces and mounts, and [`Docker`](crate::backend::Docker) connects to a socket: neither works behind the wall.
//!
//! # One thread
//! Landlock restricts the calling thread and those it starts. With other threads alive it would restrict only a part of
//! the process, which protects nothing. So it is an error to raise the wall in a process with more than one thread.

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

/// The rights that the host process keeps. All others are taken away.
#[derive(Debug, Clone, Default)]
pub struct Wall {
    read_write: Vec<PathBuf>,
    read_only: Vec<PathBuf>,
    bind: Vec<u16>,
    connect: Vec<u16>,
    exec: bool,
    strict: bool,
}

/// The coverage of a wall that was raised.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// Landlock: files, TCP ports, signals.
    pub landlock: Coverage,
    /// The version of Landlock's interface in this machine's kernel. 0 is none.
    pub landlock_abi: u32,
    /// Seccomp: system calls.
    pub seccomp: Coverage,
}

/// The coverage of one part of the wall.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Coverage {
    /// All of it holds.
    Whole,
    /// All but this holds.
    But(String),
    /// Nothing holds, for this reason.
    Nothing(String),
}

/// The error of a wall that was not raised. Nothing was taken away, unless the variant says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WallError {
    /// The process has more than one thread.
    #[error("the wall has to be raised before there are threads, and there are {0}")]
    Threads(usize),
    /// A path to keep cannot be opened.
    #[error("{}: {error}", path.display())]
    Path {
        /// The path as the caller gave it.
        path: PathBuf,
        /// The error of the host.
        error: std::io::Error,
    },
    /// The wall is strict, and the machine's kernel lacks something.
    #[error("the wall does not hold on this machine: {0}")]
    Missing(String),
    /// The operating system refused. A part of the wall may be up.
    #[error("cannot raise the wall: {0}")]
    Host(String),
}

impl Wall {
    /// Makes a wall that leaves the host nothing but its open files.
    pub fn new() -> Wall {
        Wall::default()
    }

    /// Makes a wall that leaves what a provider needs: its root, which is created if it does not exist, and the
    /// directories that it mounts.
    pub fn around(config: &Config) -> Result<Wall, WallError> {
        use std::os::unix::fs::DirBuilderExt;
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&config.root);
        made.map_err(|error| WallError::Path { path: config.root.clone(), error })?;
        Ok(Wall::within(config).read_write(&config.root))
    }

    /// Makes a wall that leaves what one sandbox of a configuration needs.
    pub(crate) fn within(config: &Config) -> Wall {
        config.mounts.iter().fold(Wall::new(), |wall, mount| match mount.access {
            HostAccess::ReadWrite => wall.read_write(&mount.host),
            HostAccess::ReadOnly | HostAccess::Overlay => wall.read_only(&mount.host),
        })
    }

    /// Keeps a directory or a file for reading and writing.
    pub fn read_write(mut self, path: impl AsRef<Path>) -> Wall {
        self.read_write.push(path.as_ref().to_owned());
        self
    }

    /// Keeps a directory or a file for reading.
    pub fn read_only(mut self, path: impl AsRef<Path>) -> Wall {
        self.read_only.push(path.as_ref().to_owned());
        self
    }

    /// Keeps a TCP port to listen on. A host that listens already needs none.
    pub fn bind(mut self, port: u16) -> Wall {
        self.bind.push(port);
        self
    }

    /// Keeps a TCP port to connect to, on any machine, and UDP to any port, which DNS needs. For embedders that call a
    /// model from the same process: a sandbox never needs it.
    pub fn connect(mut self, port: u16) -> Wall {
        self.connect.push(port);
        self
    }

    /// Keeps the right to start programs from the directories that may be read. They run behind the same wall.
    pub fn exec(mut self) -> Wall {
        self.exec = true;
        self
    }

    /// Makes `raise` fail if the machine's kernel lacks a part, instead of raising the rest.
    pub fn strict(mut self) -> Wall {
        self.strict = true;
        self
    }

    /// Takes all other rights away from this process, for as long as it lives.
    ///
    /// # Errors
    /// With [`WallError::Host`] a part of it may be up.
    pub fn raise(&self) -> Result<Report, WallError> {
        match threads()? {
            1 => self.raise_here(),
            many => Err(WallError::Threads(many)),
        }
    }

    /// Raises the wall for this thread.
    fn raise_here(&self) -> Result<Report, WallError> {
        // Checked first, because it reads a file, and so that a strict wall fails before any part is up.
        let filters = calls::check();
        if self.strict {
            filters.clone().map_err(WallError::Missing)?;
        }
        let (landlock, landlock_abi) = files::raise(self)?;
        let seccomp = match filters {
            Ok(()) => calls::raise(self).map(|()| Coverage::Whole).map_err(WallError::Host)?,
            Err(why) => Coverage::Nothing(why),
        };
        Ok(Report { landlock, landlock_abi, seccomp })
    }
}

/// Returns the coverage of a wall on this machine. A wall is raised for that in a thread that then ends.
pub fn support() -> Result<Report, WallError> {
    let trial = std::thread::Builder::new().spawn(|| Wall::new().raise_here());
    let trial = trial.map_err(|error| WallError::Host(error.to_string()))?;
    trial.join().unwrap_or_else(|_| Err(WallError::Host("the trial failed".to_owned())))
}

impl Report {
    /// The report of a process that raised no wall.
    pub(crate) fn none() -> Report {
        let coverage = Coverage::Nothing("not asked for".to_owned());
        Report { landlock: coverage.clone(), landlock_abi: 0, seccomp: coverage }
    }

    /// Returns true if all parts of the wall hold.
    pub fn is_whole(&self) -> bool {
        self.landlock == Coverage::Whole && self.seccomp == Coverage::Whole
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "files and ports: {}; system calls: {}", self.landlock, self.seccomp)
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Coverage::Whole => f.write_str("walled"),
            Coverage::But(what) => write!(f, "walled, but not {what}"),
            Coverage::Nothing(why) => write!(f, "no wall ({why})"),
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "counts the host's own threads")]
fn threads() -> Result<usize, WallError> {
    let tasks = std::fs::read_dir("/proc/self/task");
    Ok(tasks.map_err(|error| WallError::Host(format!("cannot count threads: {error}")))?.count())
}
