//! Every bound of the backends, with its reason. What a sandbox itself may use is in [`limits`](crate::limits).

use std::time::Duration;

/// Bytes of output that a command answers with, where the backend has no limit of its own.
pub const OUTPUT_BYTES: u64 = 100_000;
/// Wall clock of a command on the host that asks for none.
pub const COMMAND_TIME: Duration = Duration::from_secs(120);
/// The most wall clock that a command on the host may ask for.
pub const COMMAND_TIME_MAX: Duration = Duration::from_secs(3600);
/// Bytes of a page of text: what fits into an agent's context with room to spare.
pub const PAGE_BYTES: u64 = 500 << 10;
/// Bytes from the start of a file that tell text from bytes.
pub const SNIFF_BYTES: usize = 8192;
/// Bytes of a file whose lines are counted although the page does not reach its end.
pub const COUNT_BYTES: u64 = 1 << 20;
/// Bytes of a file on a backend that has no limit of its own: what is edited or downloaded is in memory.
pub const FILE_BYTES: u64 = 100 << 20;
/// Names in a listing.
pub const LIST_ENTRIES: usize = 100_000;
/// Names that a search looks at.
pub const WALK_ENTRIES: usize = 2_000_000;
/// Files that a search by name answers with.
pub const GLOB_MATCHES: usize = 10_000;
/// Alternatives that the braces of a pattern may stand for.
pub const ALTERNATIVES: usize = 1_000;
/// Bytes of a pattern.
pub const PATTERN_BYTES: usize = 4 << 10;
/// Lines that a search answers with.
pub const GREP_MATCHES: usize = 100_000;
/// Bytes of the lines that a search answers with.
pub const GREP_BYTES: usize = 32 << 20;
/// Bytes of a line that is searched. A file with a longer one is named as unreadable.
pub const LINE_BYTES: usize = 8 << 20;
/// Lines of context on either side.
pub const CONTEXT_LINES: usize = 100;
/// Bytes that a compiled regular expression may take.
pub const REGEX_BYTES: usize = 4 << 20;
/// Wall clock of a search.
pub const SEARCH_TIME: Duration = Duration::from_secs(5);
/// Wall clock of any other file operation.
pub const FILE_TIME: Duration = Duration::from_secs(60);
/// Bytes of output that go to a file before the rest is dropped.
pub const CAPTURE_BYTES: u64 = 10 << 20;
/// Bytes of head and tail of output that went to a file, at least: enough for a preview.
pub const PREVIEW_BYTES: u64 = 8 << 10;
/// Bytes of output that are written to that file at once.
pub const CAPTURE_PIECE: usize = 256 << 10;
/// Bytes of a file that one shell command carries: an argument of Linux holds 128 KiB, and base64 takes a third.
pub const SCRIPT_BYTES: usize = 64 << 10;
/// Bytes of a file that one shell command brings back.
pub const FETCH_BYTES: u64 = 512 << 10;
/// Bytes of output that a search by shell commands brings back.
pub const LISTING_BYTES: u64 = 16 << 20;
/// Bytes of a line in which a secret is looked for while output streams.
pub const REDACT_LINE_BYTES: usize = 64 << 10;
/// Bytes of a command whose plan is made: what people write, and files that are written by here-documents.
pub const PLAN_BYTES: usize = 1 << 20;
/// Commands in a plan: nobody reads more before they decide.
pub const PLAN_STEPS: usize = 1_000;
/// Levels of commands, substitutions and scripts in each other that a plan looks into. A level takes the parser at most
/// 20 KiB of stack without optimisation, and a thread that polls has 2 MiB.
pub const PLAN_DEPTH: u32 = 40;
/// Characters of a word of a plan that is not a constant.
pub const PLAN_WORD: usize = 200;
