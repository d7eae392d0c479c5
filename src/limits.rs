//! Every limit of a sandbox, with its default. No other file holds a limit as a literal.

use std::fmt;
use std::time::Duration;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// What a sandbox may use. `Limits::default()` suits an agent's commands; `Limits::hardened()` is about a quarter.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Limits {
    /// Wall clock of a command that asks for no time of its own.
    pub wall: Duration,
    /// The most wall clock a command may ask for.
    pub wall_max: Duration,
    /// Instructions of a command, over all its processes; `None` is no budget, and faster code.
    pub fuel: Option<u64>,
    /// Memory of a process, in bytes.
    pub process_memory: u64,
    /// Memory of all processes of the sandbox together, in bytes.
    pub sandbox_memory: u64,
    /// Live processes of the sandbox.
    pub processes: u32,
    /// Open files of a process.
    pub open_files: u32,
    /// Bytes of output that a command returns; what is over is dropped and the answer says so.
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
    /// The step of the clocks that processes see, and of the times of files: a fine clock tells what else the host does. Zero
    /// is as fine as the host's own.
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
    /// About a quarter of the defaults, for code that nobody has looked at.
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

/// A limit that a command ran into: what it is and how much was allowed. Its text is the refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error, serde::Serialize, serde::Deserialize)]
#[error("limit exceeded: {kind} ({})", Amount(*kind, *value))]
pub struct Exceeded {
    /// Which limit.
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

/// A limit's value in the unit a person would use.
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

/// Bytes of a path, as Linux has it.
pub const PATH_BYTES: usize = 4096;
/// Bytes of a name, as Linux has it.
pub const NAME_BYTES: usize = 255;
/// Components of a path; deeper trees cost more to walk than anyone needs.
pub const PATH_DEPTH: usize = 256;
/// Symbolic links followed in one resolution, as Linux has it.
pub const SYMLINKS: usize = 40;
/// Bytes that a pipe holds, as Linux has it.
pub const PIPE_BYTES: usize = 64 << 10;
/// Bytes that one read or write moves at most: a guest cannot make the host allocate more at once.
pub const TRANSFER_BYTES: usize = 64 << 10;
/// Threads of a runtime that the file operations of backends hold: for each core, and at least. They wait for disks more than
/// they compute; what is over waits without a thread. tokio alone would start one for each, up to 512.
pub const FILE_THREADS: (usize, usize) = (4, 32);
/// How many of these are for searches, which take seconds: half, so that reads and writes never wait for them.
pub const SEARCH_SHARE: usize = 2;
/// Descriptor numbers, so that a table stays small.
pub const DESCRIPTORS: u32 = 1 << 16;
/// Bytes of a file that is compared line by line; larger ones are said to differ.
pub const DIFF_BYTES: u64 = 1 << 20;
/// Milliseconds after which a comparison of two files settles for a difference that is longer than need be.
pub const DIFF_MILLIS: u64 = 200;
/// How many times the disk limit the files of a saved snapshot may add up to: holes are saved as zeros, and cost no disk
/// again when they are loaded, but the time to read them.
pub const ARCHIVE_EXPANSION: u64 = 4;
/// Bytes that an entry of a saved snapshot takes besides its content, at most: four blocks and two paths.
pub const ARCHIVE_ENTRY_BYTES: u64 = 12 << 10;
/// `#!` lines followed in one spawn, as Linux has it.
pub const INTERPRETERS: usize = 4;
/// Bytes of a file that the kernel reads to find out how to run it, as Linux has it.
pub const EXEC_HEADER_BYTES: usize = 256;
/// Bytes that a parent hands to a child beside its arguments.
pub const PAYLOAD_BYTES: usize = 8 << 20;
/// Children that ended and that nobody waited for, of one process: past this it cannot start more.
pub const ZOMBIES: usize = 4096;
