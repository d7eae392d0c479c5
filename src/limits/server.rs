//! Limits of the servers (`isopod serve`, `isopod mcp`), of their worker processes, and of the provider below them.
//!
//! A limit of a sandbox is a field of [`Limits`](super::Limits), which a caller sets. The numbers here bound the
//! server's own memory, descriptors and waits; a caller sets only those that are named as a default. A size that
//! belongs to one data structure stays beside that structure.

/// Limits of `isopod serve`.
#[cfg(feature = "http")]
pub(crate) mod http {
    use std::time::Duration;

    /// Requests in progress at the same time, by default. Each may hold a runtime slot, of which there are some
    /// hundreds.
    pub(crate) const DEFAULT_REQUESTS: usize = 256;
    /// Bytes of a JSON body, by default: a file of 8 MiB as base64, or escaped, with room to spare.
    pub(crate) const DEFAULT_BODY_BYTES: u64 = 16 << 20;
    /// Time that requests in progress have when the server stops, by default: less than the 30 s after which service
    /// managers usually kill.
    pub(crate) const DEFAULT_GRACE: Duration = Duration::from_secs(10);
    /// Time after which an unused lease ends, by default. It is short, so that soon after its last request a sandbox
    /// can be evicted from memory, or leased by another process.
    pub(crate) const DEFAULT_LEASE_TIMEOUT: Duration = Duration::from_secs(30);
    /// Time that a request has beyond the longest command, for the transfer of its bodies.
    pub(crate) const REQUEST_MARGIN: Duration = Duration::from_secs(30);
    /// Time that a request waits for a sandbox that changes its state, such as one that is being released. A release
    /// takes milliseconds.
    pub(crate) const LEASE_WAIT: Duration = Duration::from_millis(500);
    /// Bytes of an API key, at least. Sixteen random visible characters are about 100 bits, too many to guess.
    pub(crate) const KEY_BYTES: usize = 16;
    /// Bytes of a request id that a client may choose. A UUID has 36.
    pub(crate) const REQUEST_ID_BYTES: usize = 64;

    /// Connections at the same time; the next one waits to be accepted. Each is an open file of the server, and the
    /// usual limit of open files is of that order.
    pub(crate) const CONNECTIONS: usize = 1024;
    /// Time for the head of a request, and so the longest that a connection may be idle.
    pub(crate) const HEAD_TIME: Duration = Duration::from_secs(60);
    /// Bytes of the head of a request, and of one read.
    pub(crate) const HEAD_BYTES: usize = 64 << 10;
    /// Time after which a write fails when the client takes not a single byte.
    pub(crate) const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
    /// Time after which a read of a body fails when no byte comes.
    pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(30);
    /// Pause after a connection could not be accepted, because the process is out of descriptors, say.
    pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
    /// Bytes of all bodies in memory together.
    pub(crate) const BODIES_BYTES: usize = 1 << 30;
    /// The unit in which that budget is taken, in bytes: the first piece of a body takes one unit.
    pub(crate) const BODY_PAGE_BYTES: usize = 64 << 10;

    /// Bytes of output that a caller may ask for. The output is in memory twice, as bytes and as JSON.
    pub(crate) const OUTPUT_BYTES: u64 = 16 << 20;
    /// Events of a stream that wait for the connection, each of up to 64 KiB. The connection has a buffer of its own.
    pub(crate) const PENDING_EVENTS: usize = 4;
    /// Time between two comments on a silent stream. Proxies usually give up after 30 to 60 s of silence.
    pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(15);
    /// Lines of a page of a file, by default, as most agent frameworks have it.
    pub(crate) const PAGE_LINES: u64 = 2000;
    /// Lines that a search of the AIO interface returns: by default, and at most.
    pub(crate) const AIO_GREP_LINES: (usize, usize) = (100, 10_000);
    /// Bytes of a piece of a snapshot that is sent or received.
    pub(crate) const SNAPSHOT_PIECE_BYTES: usize = 64 << 10;
    /// Pieces of a snapshot that wait for the other side.
    pub(crate) const SNAPSHOT_PIECES: usize = 4;

    /// Live sessions of a sandbox: each is one of the sandbox's 64 processes.
    pub(crate) const SESSIONS_OF_SANDBOX: usize = 16;
    /// Live sessions of the server: each has a slot of the runtime's pool, of which there are some hundreds.
    pub(crate) const SESSIONS: usize = 128;
    /// Time after which an unused session ends.
    pub(crate) const SESSION_IDLE_TIMEOUT: Duration = Duration::from_secs(600);
    /// Time between two searches for unused sessions: short beside that timeout.
    pub(crate) const SESSION_SWEEP_PERIOD: Duration = Duration::from_secs(5);
    /// Bytes of the name of a session, as of a request id.
    pub(crate) const SESSION_NAME_BYTES: usize = 64;
}

/// Limits of `isopod mcp`.
#[cfg(feature = "mcp")]
pub(crate) mod mcp {
    use std::time::Duration;

    /// Sessions over HTTP at the same time, by default: one user's agents.
    pub(crate) const DEFAULT_SESSIONS: usize = 16;
    /// Time after which a session without a message ends, by default.
    pub(crate) const DEFAULT_IDLE_TIMEOUT: Duration = Duration::from_secs(600);

    /// Bytes of a client's message: an upload of 6 MiB as base64, and the JSON around it. Larger files are
    /// uploaded in pieces.
    pub(crate) const MESSAGE_BYTES: usize = 9 << 20;
    /// Bytes of a worker's answer. The largest is an image, as base64 and as text; a longer one is a protocol
    /// violation.
    pub(crate) const ANSWER_BYTES: usize = 64 << 20;
    /// Bytes of one read from standard input.
    pub(crate) const READ_BYTES: usize = 64 << 10;
    /// Answers that wait for a client to read them. Calls wait when there are more.
    pub(crate) const PENDING_FRAMES: usize = 64;
    /// Calls of one client at a time.
    pub(crate) const CALLS: usize = 64;
    /// Snapshots of one client. Each may hold as much as a sandbox may.
    pub(crate) const SNAPSHOTS: usize = 16;
    /// Bytes of a snapshot's name.
    pub(crate) const SNAPSHOT_NAME_BYTES: usize = 100;
    /// Time that calls have to finish after their client closed its input. A user who pipes a few calls into the server
    /// wants their answers; a longer call is ended, so that the server itself ends within a second.
    pub(crate) const LAST_CALLS_TIME: Duration = Duration::from_millis(500);
    /// Time that a worker has to finish after the client closed its input: half a second for calls, half a second for
    /// writing, and the rest for a busy machine.
    pub(crate) const WORKER_CLOSE_TIME: Duration = Duration::from_secs(3);
    /// Time between two progress notifications of a call.
    pub(crate) const PROGRESS_PERIOD: Duration = Duration::from_millis(500);
    /// Characters of the line in a progress notification.
    pub(crate) const PROGRESS_CHARS: usize = 200;

    /// Bytes of text in a tool's answer, such as a page of a file: as much as suits a model's context.
    pub(crate) const TEXT_BYTES: u64 = 100_000;
    /// Lines of a page of a file, by default.
    pub(crate) const PAGE_LINES: u64 = 2_000;
    /// Names in a listing or found by a search, by default.
    pub(crate) const NAMES: usize = 1_000;
    /// Lines found by a search, by default.
    pub(crate) const MATCHES: usize = 100;
    /// Names or lines that a client may ask a search for. The tools' schemas say the same number.
    pub(crate) const SEARCH_RESULTS: usize = 10_000;
    /// Characters of a line found by a search.
    pub(crate) const LINE_CHARS: usize = 1_000;
    /// Bytes of a file that is downloaded or shown as an image: 8 MiB as base64.
    pub(crate) const DOWNLOAD_BYTES: u64 = 6 << 20;

    /// Connections at a time over HTTP. A session has one for each call that runs and one to listen.
    pub(crate) const CONNECTIONS: usize = 128;
    /// Time for the head of a request, and again for its body.
    pub(crate) const REQUEST_TIME: Duration = Duration::from_secs(30);
    /// Time between two keep-alive comments on a connection that waits for an answer.
    pub(crate) const KEEP_ALIVE: Duration = Duration::from_secs(15);
    /// Pause after a connection could not be accepted, because the process is out of descriptors, say.
    pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
}

/// Limits of worker processes.
#[cfg(any(feature = "http", feature = "mcp"))]
pub(crate) mod workers {
    use std::time::Duration;

    /// Time between two searches for dead and idle workers: short beside every idle timeout.
    pub(crate) const SWEEP_PERIOD: Duration = Duration::from_secs(1);
    /// Time that a worker has to report its usage. A worker that takes longer is busy, and counts as leased.
    #[cfg(feature = "http")]
    pub(crate) const USAGE_TIME: Duration = Duration::from_secs(1);
    /// Bytes of such a report, and of the refusal of a lease.
    #[cfg(feature = "http")]
    pub(crate) const USAGE_BYTES: usize = 1024;
}

/// Limits of the provider.
pub(crate) mod provider {
    use std::time::Duration;

    /// Sandboxes in the memory of a process, by default. Each takes three descriptors, and a process may often
    /// open only about a thousand.
    pub(crate) const DEFAULT_COUNT: usize = 128;
    /// Time that a warm sandbox stays in memory, by default.
    pub(crate) const DEFAULT_IDLE_TIMEOUT: Duration = Duration::from_secs(600);
    /// The shortest and the longest period between two sweeps. A sweep lists the root directory.
    pub(crate) const SWEEP_PERIOD: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));
    /// Time that a release waits until nothing works with the sandbox. A guest stops within a tick of the clock. Only a
    /// file operation on a disk that hangs, or a future that its owner does not poll, takes longer: then the sandbox is
    /// not kept warm, and its lock is freed when they end.
    pub(crate) const RELEASE_TIMEOUT: Duration = Duration::from_secs(2);
    /// The first and the longest pause before another attempt to lease a sandbox that another process holds. Each pause
    /// is twice the one before. Another process often holds it for a millisecond only, to create or inspect it.
    pub(crate) const LEASE_RETRY_PAUSE: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(16));
    /// Attempts to lease a sandbox that is replaced between two system calls each time.
    pub(crate) const LEASE_ATTEMPTS: usize = 16;
    /// Time of a copy of a sandbox's files: enough for a gigabyte on a slow disk.
    pub(crate) const COPY_TIME: Duration = Duration::from_secs(600);
    /// Sandboxes on a page of a listing.
    pub(crate) const LISTING_PAGE: usize = 100;
    /// Bytes of the name of a thread or a user: longer than any in use, and the record stays small.
    pub(crate) const NAME_BYTES: usize = 1024;
    /// Bytes of a sandbox's metadata, for the same reason.
    pub(crate) const METADATA_BYTES: usize = 64 << 10;
    /// Bytes of a record on disk. A provider writes fewer, however JSON escapes names and metadata.
    pub(crate) const RECORD_BYTES: u64 = 1 << 20;
    /// Bytes of a configuration file.
    pub(crate) const CONFIG_BYTES: u64 = 1 << 20;
}
