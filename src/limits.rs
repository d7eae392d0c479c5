//! Every limit of a sandbox, with its default. No other file holds a limit as a literal.

use std::fmt;
use std::time::Duration;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// The resource limits of a sandbox. `Limits::default()` suits the commands of an agent; `Limits::hardened()` is about
/// a quarter.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Limits {
    /// Wall clock of a command that sets no timeout.
    pub wall: Duration,
    /// Maximum timeout of a command.
    pub wall_max: Duration,
    /// Instructions of a command, over all its processes. `None` means no budget, and faster code.
    pub fuel: Option<u64>,
    /// Memory of a process, in bytes.
    pub process_memory: u64,
    /// Memory of all processes of the sandbox together, in bytes.
    pub sandbox_memory: u64,
    /// Live processes of the sandbox.
    pub processes: u32,
    /// Open files of a process.
    pub open_files: u32,
    /// Bytes of output that a command returns. The rest is dropped, and the result reports it.
    pub output: u64,
    /// Bytes of a command line.
    pub command: u64,
    /// Bytes of arguments and environment of a process.
    pub arguments: u64,
    /// Bytes in all files of the sandbox, in memory and in directories of the host.
    pub disk: u64,
    /// Bytes of one file.
    pub file: u64,
    /// Files and directories of the sandbox, in memory and in directories of the host.
    pub inodes: u64,
    /// Resolution of the clocks that processes see, and of the times of files. A fine clock reveals the load of the
    /// host. Zero is the resolution of the host.
    pub clock_step: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            wall: Duration::from_secs(30),
            wall_max: Duration::from_secs(300),
            fuel: None,
            process_memory: 256 * MIB,
            sandbox_memory: 512 * MIB,
            processes: 64,
            open_files: 256,
            output: 100 * KIB,
            command: MIB,
            arguments: 2 * MIB,
            disk: GIB,
            file: 100 * MIB,
            inodes: 100_000,
            clock_step: Duration::ZERO,
        }
    }
}

impl Limits {
    /// Returns about a quarter of the defaults, for code that was not reviewed.
    pub fn hardened() -> Limits {
        Limits {
            wall: Duration::from_secs(8),
            wall_max: Duration::from_secs(60),
            fuel: None,
            process_memory: 64 * MIB,
            sandbox_memory: 128 * MIB,
            processes: 16,
            open_files: 64,
            output: 25 * KIB,
            command: 256 * KIB,
            arguments: 512 * KIB,
            disk: 256 * MIB,
            file: 25 * MIB,
            inodes: 25_000,
            clock_step: Duration::from_millis(1),
        }
    }
}

/// A limit that a command exceeded: its kind and its value. The text is the message to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error, serde::Serialize, serde::Deserialize)]
#[error("limit exceeded: {kind} ({})", Amount(*kind, *value))]
pub struct Exceeded {
    /// The kind of the limit.
    pub kind: Limit,
    /// Its value, in the unit of its kind: milliseconds, instructions, bytes or a count.
    pub value: u64,
}

/// The kinds of limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Limit {
    /// Milliseconds of a command.
    WallClock,
    /// Instructions of a command.
    Fuel,
    /// Bytes of a process.
    ProcessMemory,
    /// Bytes of all processes.
    SandboxMemory,
    /// Live processes.
    Processes,
    /// Open files of a process.
    OpenFiles,
    /// Bytes of output.
    Output,
    /// Bytes of a command line.
    Command,
    /// Bytes of arguments and environment.
    Arguments,
    /// Bytes on disk.
    Disk,
    /// Bytes of a file.
    File,
    /// Files and directories.
    Inodes,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::WallClock => "wall clock",
            Limit::Fuel => "fuel",
            Limit::ProcessMemory => "memory of a process",
            Limit::SandboxMemory => "memory of the sandbox",
            Limit::Processes => "processes",
            Limit::OpenFiles => "open files",
            Limit::Output => "output",
            Limit::Command => "command length",
            Limit::Arguments => "arguments and environment",
            Limit::Disk => "disk",
            Limit::File => "file size",
            Limit::Inodes => "files",
        })
    }
}

/// The value of a limit in a human-readable unit.
struct Amount(Limit, u64);

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Amount(kind, value) = *self;
        match kind {
            Limit::WallClock if value.is_multiple_of(1000) => write!(f, "{} s", value / 1000),
            Limit::WallClock => write!(f, "{value} ms"),
            Limit::Fuel => write!(f, "{value} instructions"),
            Limit::Processes | Limit::OpenFiles | Limit::Inodes => write!(f, "{value}"),
            _ => match value {
                v if v >= GIB && v.is_multiple_of(GIB) => write!(f, "{} GiB", v / GIB),
                v if v >= MIB && v.is_multiple_of(MIB) => write!(f, "{} MiB", v / MIB),
                v if v >= KIB && v.is_multiple_of(KIB) => write!(f, "{} KiB", v / KIB),
                v => write!(f, "{v} bytes"),
            },
        }
    }
}

/// Maximum bytes of a path, as on Linux.
pub const PATH_BYTES: usize = 4096;
/// Maximum bytes of a name, as on Linux.
pub const NAME_BYTES: usize = 255;
/// Maximum components of a path. Deeper trees cost more to walk than any use needs.
pub const PATH_DEPTH: usize = 256;
/// Maximum symbolic links followed in one resolution, as on Linux.
pub const SYMLINKS: usize = 40;
/// Bytes that a pipe holds, as on Linux.
pub const PIPE_BYTES: usize = 64 << 10;
/// Maximum bytes of one read or write: a guest cannot make the host allocate more at once.
pub const TRANSFER_BYTES: usize = 64 << 10;
/// Threads of a runtime for file operations of backends: for each core, and the minimum. They wait for disks more than
/// they compute. Further operations wait without a thread; tokio alone would start a thread for each, up to 512.
pub const FILE_THREADS: (usize, usize) = (4, 32);
/// Divisor for the share of these threads that searches may use. Searches take seconds; with half of the threads, reads
/// and writes never wait for them.
pub const SEARCH_SHARE: usize = 2;
/// Maximum descriptor number plus one, so that a table stays small.
pub const DESCRIPTORS: u32 = 1 << 16;
/// Maximum bytes of a file that is compared line by line. Larger files are reported as different.
pub const DIFF_BYTES: u64 = 1 << 20;
/// Milliseconds after which a comparison of two files returns a difference that may be longer than necessary.
pub const DIFF_MILLIS: u64 = 200;
/// Maximum size of the files of a saved snapshot, as a multiple of the disk limit. Holes are saved as zeros; loading
/// them costs no disk, but time.
pub const ARCHIVE_EXPANSION: u64 = 4;
/// Maximum bytes of an entry of a saved snapshot besides its content: four blocks and two paths.
pub const ARCHIVE_ENTRY_BYTES: u64 = 12 << 10;
/// Maximum `#!` lines followed in one spawn, as on Linux.
pub const INTERPRETERS: usize = 4;
/// Bytes of a file that the kernel reads to determine how to run it, as on Linux.
pub const EXEC_HEADER_BYTES: usize = 256;
/// Maximum bytes that a parent passes to a child besides its arguments.
pub const PAYLOAD_BYTES: usize = 8 << 20;
/// Maximum ended children of one process that it has not waited for. Beyond that it cannot start more.
pub const ZOMBIES: usize = 4096;
