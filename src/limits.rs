//! Every limit, with its default and the source of its number.
//!
//! A number is a limit, and stands here, if it bounds how much a guest, a client or a caller can make the host hold, do
//! or wait for. A number stays beside its use if it only shapes one data structure or algorithm (a chunk, a read-ahead,
//! a tick), or if it belongs to a format or a framework that its file imitates.
//!
//! - [`Limits`] are the limits of a sandbox, which its owner may set.
//! - The constants of this module hold for every sandbox.
//! - [`backend`] has those of backends, which serve files and commands to agent frameworks.

pub(crate) mod server;

use std::fmt;
use std::time::Duration;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// The limits of a sandbox. `Limits::default()` suits an agent's commands; `Limits::hardened()` is about a quarter of
/// it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Limits {
    /// Wall clock of a command without a timeout.
    pub wall: Duration,
    /// The longest timeout of a command.
    pub wall_max: Duration,
    /// Instructions of a command, over all its processes. `None` is no budget, and faster code.
    pub fuel: Option<u64>,
    /// Memory of a process, in bytes.
    pub process_memory: u64,
    /// Memory of all processes of the sandbox together, in bytes.
    pub sandbox_memory: u64,
    /// Live processes of the sandbox.
    pub processes: u32,
    /// Open files of a process.
    pub open_files: u32,
    /// Bytes of output that a command returns. The rest is dropped, and the result says so.
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
    /// The resolution of the clocks that processes see, and of the times of files: a fine clock lets a guest observe
    /// the host's other work. Zero is the resolution of the host.
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
    /// About a quarter of the defaults, for code that was not reviewed.
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

/// A limit that a command hit, with its value. Its text is the message of the refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error, serde::Serialize, serde::Deserialize)]
#[error("limit exceeded: {kind} ({})", Amount(*kind, *value))]
pub struct Exceeded {
    /// The kind of limit.
    pub kind: Limit,
    /// The value, in the unit of its kind: milliseconds, instructions, bytes or a count.
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

/// The value of a limit in a readable unit.
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

// Paths and files.

/// Bytes of a path: Linux's PATH_MAX.
pub const PATH_BYTES: usize = 4096;
/// Bytes of a name: Linux's NAME_MAX.
pub const NAME_BYTES: usize = 255;
/// Components of a path. Real trees are far less deep, and each component costs a look-up.
pub const PATH_DEPTH: usize = 256;
/// Symbolic links followed in one resolution, as on Linux.
pub const SYMLINKS: usize = 40;
/// Bytes that one read or write moves at most: a guest cannot make the host allocate more at once. The size of a pipe.
pub const TRANSFER_BYTES: usize = 64 << 10;
/// Descriptor numbers, so that a table stays small.
pub const DESCRIPTORS: u32 = 1 << 16;
/// Entries of a directory in one answer, so that a directory of a million names costs neither side a million at once.
pub const LIST_ENTRIES: usize = 4096;
/// Bytes of a file that is compared line by line. Larger files are reported as different.
pub const DIFF_BYTES: u64 = 1 << 20;
/// Milliseconds after which a comparison of two files settles for a longer difference than necessary.
pub const DIFF_MILLIS: u64 = 200;
/// The size of all files in a saved snapshot, as a multiple of the disk limit. Holes are saved as zeros: they cost no
/// disk when they are loaded, but the time to read them.
pub const ARCHIVE_EXPANSION: u64 = 4;
/// Bytes of an entry of a saved snapshot besides its content: four blocks and two paths.
pub const ARCHIVE_ENTRY_BYTES: u64 = 12 << 10;

// Processes.

/// Bytes that a pipe holds, as on Linux.
pub const PIPE_BYTES: usize = 64 << 10;
/// Bytes that writers which asked a pipe for room at the same time may put in together: room for sixteen of them.
pub const PIPE_OVERFILL_BYTES: usize = 16 * PIPE_BYTES;
/// Numbers of processes: a number is reused only after this many, as with Linux's largest `pid_max`.
pub const PIDS: u32 = 1 << 22;
/// `#!` lines followed in one spawn, as on Linux.
pub const INTERPRETERS: usize = 4;
/// Bytes of a file that the kernel reads to find its program: Linux's BINPRM_BUF_SIZE.
pub const EXEC_HEADER_BYTES: usize = 256;
/// Bytes that a parent gives to a child besides arguments and environment: the state of a subshell, with room to spare.
pub const PAYLOAD_BYTES: usize = 8 << 20;
/// Ended children of one process that were not waited for: beyond this it cannot start more.
pub const ZOMBIES: usize = 4096;
/// Generations of processes whose children are first polled by their parent. Each one is a poll within a poll and takes
/// some of the thread's stack.
pub const NESTED_POLLS: u32 = 4;
/// Lines about failed processes that a command returns: the first few show the cause, and a guest could go on for ever.
pub const JOB_FAULTS: usize = 8;
/// The time that a live shell has to give up an order whose deadline has passed, before it is killed with all its
/// state.
pub const ORDER_GRACE: Duration = Duration::from_secs(1);
/// The time that a live shell has to come back after its caller dropped a call. Longer means that the shell is stuck.
pub const SHELL_RECOVERY_TIME: Duration = Duration::from_secs(1);

// WebAssembly instances.

/// Processes of a pooling runtime that have a slot at the same time. 1,000 slots are 4 TiB of address space and 3 MiB
/// of memory.
pub const POOL_SLOTS: u32 = 1000;
/// The part of the slots, as a divisor, that only the first process of a command may take: a sandbox with many children
/// cannot keep the commands of other sandboxes waiting.
pub const POOL_RESERVE_SHARE: usize = 4;
/// The part of its stack that a guest may use, and the whole stack: host calls run on the rest. Stacks are not charged
/// to a sandbox, so they are small.
pub const STACK: (usize, usize) = (512 << 10, 2 << 20);
/// The same for interpreters. Python notices that it recurses too deeply after 1 MiB of its own stack, which takes up
/// to 30 MiB of this one. Only pages that were touched take memory, and it is freed when the process ends.
pub const DEEP_STACK: (usize, usize) = (40 << 20, 42 << 20);
/// Bytes that the arguments of one call of a guest may make the host allocate: room for the largest payload.
pub const CALL_BYTES: usize = 16 << 20;
/// Handles of a component.
pub const COMPONENT_HANDLES: usize = 4096;
/// Resources (descriptors, streams, pollables) of a guest, many times the default of open files.
pub const GUEST_HANDLES: usize = 4096;
/// Bytes of the random source in one call.
pub const RANDOM_BYTES: u64 = 64 << 10;
/// Elements of a guest's tables, which are mostly function pointers.
pub const TABLE_ELEMENTS: usize = 1 << 20;
/// Core instances, memories and tables of one store: our components have a few of each.
pub const CORE_ITEMS: usize = 32;
/// Core instances of a component in the pool: a program with Rust's standard library has three or four.
pub const CORE_INSTANCES: u32 = 8;
/// Memories of a component in the pool.
pub const CORE_MEMORIES: u32 = 1;
/// Tables of a component in the pool.
pub const CORE_TABLES: u32 = 4;
/// Bytes of wasmtime's record of an instance. A component with thousands of functions needs more than the default.
pub const INSTANCE_BYTES: usize = 4 << 20;

// Threads of the host.

/// Threads that the file operations of backends hold in one runtime: per core, and at least. They wait for disks more
/// than they compute; further operations wait without a thread. tokio alone would start a thread for each, up to 512.
pub const FILE_THREADS: (usize, usize) = (4, 32);
/// The part of these threads, as a divisor, for searches, which take seconds: half, so that reads and writes never wait
/// for a search.
pub const SEARCH_SHARE: usize = 2;

/// The limits of backends.
pub mod backend {
    use std::time::Duration;

    // Commands.

    /// Bytes of output that a command returns, if the backend has no limit of its own.
    pub const OUTPUT_BYTES: u64 = 100_000;
    /// Wall clock of a command on the host without a timeout.
    pub const COMMAND_TIME: Duration = Duration::from_secs(120);
    /// The longest timeout of a command on the host.
    pub const COMMAND_TIME_MAX: Duration = Duration::from_secs(3600);
    /// Time for the last output of a command on the host after its end. Its process group was killed, so only a process
    /// that left the group can hold the pipe open.
    pub const LAST_OUTPUT_TIME: Duration = Duration::from_millis(200);
    /// Bytes of output that go to a file before the rest is dropped.
    pub const CAPTURE_BYTES: u64 = 10 << 20;
    /// Bytes of the head and tail of output that went to a file, at least: enough for a preview.
    pub const PREVIEW_BYTES: u64 = 8 << 10;
    /// Bytes of output that are written to that file at once.
    pub const CAPTURE_PIECE: usize = 256 << 10;
    /// Bytes of a line in which a secret is looked for while output streams.
    pub const REDACT_LINE_BYTES: usize = 64 << 10;

    // Files.

    /// Bytes of a page of text: fits into an agent's context with room to spare.
    pub const PAGE_BYTES: u64 = 500 << 10;
    /// Bytes at the start of a file that tell text from binary data.
    pub const SNIFF_BYTES: usize = 8192;
    /// Bytes of a file whose lines are counted although the page does not reach its end.
    pub const COUNT_BYTES: u64 = 1 << 20;
    /// Bytes of a file on a backend without a limit of its own: edited and downloaded files are in memory.
    pub const FILE_BYTES: u64 = 100 << 20;
    /// Names in a listing.
    pub const LIST_ENTRIES: usize = 100_000;
    /// Wall clock of a file operation that is not a search.
    pub const FILE_TIME: Duration = Duration::from_secs(60);
    /// Bytes of a file that one shell command carries: an argument on Linux holds 128 KiB, and base64 takes a third.
    pub const SCRIPT_BYTES: usize = 64 << 10;
    /// Bytes of a file that one shell command returns.
    pub const FETCH_BYTES: u64 = 512 << 10;

    /// Links that one shell command resolves: their names fit into a command line.
    pub const LINKS_PER_COMMAND: usize = 200;

    // Searches.

    /// Wall clock of a search.
    pub const SEARCH_TIME: Duration = Duration::from_secs(5);
    /// Names that a search visits.
    pub const WALK_ENTRIES: usize = 2_000_000;
    /// Files that a search by name returns.
    pub const GLOB_MATCHES: usize = 10_000;
    /// Lines that a search by content returns.
    pub const GREP_MATCHES: usize = 100_000;
    /// Bytes of the lines that a search by content returns.
    pub const GREP_BYTES: usize = 32 << 20;
    /// Bytes of a line that is searched. A file with a longer line is reported as unreadable.
    pub const LINE_BYTES: usize = 8 << 20;
    /// Lines of context before and after a match.
    pub const CONTEXT_LINES: usize = 100;
    /// Bytes of a pattern.
    pub const PATTERN_BYTES: usize = 4 << 10;
    /// Alternatives that the braces of a pattern may expand to.
    pub const ALTERNATIVES: usize = 1_000;
    /// Bytes of a compiled regular expression.
    pub const REGEX_BYTES: usize = 4 << 20;
    /// Bytes of output that a search by shell commands returns.
    pub const LISTING_BYTES: u64 = 16 << 20;

    // Plans of commands.

    /// Bytes of a command that a plan is made of: hand-written commands, and files written by here-documents.
    pub const PLAN_BYTES: usize = 1 << 20;
    /// Commands in a plan: a reader does not look at more before deciding.
    pub const PLAN_STEPS: usize = 1_000;
    /// Levels of nested commands, substitutions and scripts in a plan. A level takes the parser at most 20 KiB of stack
    /// without optimisation, and a thread that polls has 2 MiB.
    pub const PLAN_DEPTH: u32 = 40;
    /// Characters of a word in a plan that is not a constant.
    pub const PLAN_WORD: usize = 200;
}

/// The limits of a worker process and of the frames that it exchanges with its host.
pub mod worker {
    use std::time::Duration;

    /// Bytes of a frame beside the largest file: a command, its arguments, names, matches of a search.
    pub const FRAME_SLACK_BYTES: u64 = 48 << 20;
    /// Bytes of the first frame: a configuration with its mounts.
    pub const HELLO_BYTES: u64 = 4 << 20;
    /// Pieces of one command's output on their way, each of at most 64 KiB: two megabytes hide a switch of threads.
    pub const OUTPUT_WINDOW: usize = 32;
    /// The time for a worker to be ready: it loads a shell and opens directories.
    pub const START_TIME: Duration = Duration::from_secs(30);
    /// The time for a worker to end after its socket is closed: a core may have to be dumped.
    pub const EXIT_TIME: Duration = Duration::from_secs(1);
}
