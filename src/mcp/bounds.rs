//! Every bound of the MCP server, with its reason. What a sandbox itself may use is in [`limits`](crate::limits).

use std::time::Duration;

/// Bytes of a message of a client: an upload of 6 MiB as base64, and what is around it. Larger files go in pieces.
pub(super) const MESSAGE_BYTES: usize = 9 << 20;
/// Bytes of an answer of a worker: the largest is an image, as base64 and as text. One that says more is not ours.
pub(super) const ANSWER_BYTES: usize = 64 << 20;
/// Answers that wait for a client to read them; then calls wait.
pub(super) const PENDING_FRAMES: usize = 64;
/// Calls of one client at a time.
pub(super) const CALLS: usize = 64;
/// Snapshots of one client. Each may hold what a sandbox may hold.
pub(super) const SNAPSHOTS: usize = 16;
/// Bytes of a snapshot's name.
pub(super) const NAME_BYTES: usize = 100;
/// Time that calls have to end after their client closed its input: whoever pipes a few calls into the server wants to
/// have their answers, and what takes longer ends within a second.
pub(super) const LAST_CALLS: Duration = Duration::from_millis(500);
/// Time between two progress notifications of a call.
pub(super) const PROGRESS_TIME: Duration = Duration::from_millis(500);
/// Characters of a line that goes with a progress notification.
pub(super) const PROGRESS_CHARS: usize = 200;

/// Bytes of text that a tool answers with, such as a page of a file: what fits into a model's context.
pub(super) const TEXT_BYTES: u64 = 100_000;
/// Lines of a page of a file, unless a client says how many.
pub(super) const PAGE_LINES: u64 = 2_000;
/// Names in a listing or found by a search, unless a client says how many.
pub(super) const NAMES: usize = 1_000;
/// Lines that a search finds, unless a client says how many.
pub(super) const MATCHES: usize = 100;
/// Characters of a line that a search found.
pub(super) const LINE_CHARS: usize = 1_000;
/// Bytes of a file that is downloaded or shown as an image: base64 makes 8 MiB of them.
pub(super) const DOWNLOAD_BYTES: u64 = 6 << 20;

/// Connections at a time, over HTTP: a session has one for each call that runs, and one to listen.
pub(super) const CONNECTIONS: usize = 128;
/// Time that a client has to send the head of a request, and again for its body.
pub(super) const REQUEST_TIME: Duration = Duration::from_secs(30);
/// Time between two signs of life on a connection that waits for an answer.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(15);
