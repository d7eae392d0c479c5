//! The place of numbers that bound something.

use syn::visit::{self, Visit};

use crate::tree::sources;

/// Numbers outside `src/limits` that are not limits: each belongs to one data structure, format, protocol or system call,
/// and no caller or guest could want another value. A new constant belongs into `src/limits`, or into this list.
const OTHERS: &[(&str, &[&str])] = &[
    // Exit codes and signals.
    ("src/backend/host_command.rs", &["TIMED_OUT"]),
    ("src/http/routes/aio.rs", &["SILENT"]),
    ("src/provider/lease.rs", &["KILLED"]),
    ("src/sandbox/output.rs", &["TIMED_OUT"]),
    ("src/worker/mod.rs", &["DIED"]),
    // Words of a protocol, a format or a system call.
    ("src/http/auth.rs", &["TOKEN_BYTES"]),
    ("src/mcp/session_workers.rs", &["INTERNAL_ERROR"]),
    ("src/provider/id.rs", &["DIGITS"]),
    ("src/sandbox/execution.rs", &["STDERR", "STDOUT"]),
    ("src/vfs/archive/frames.rs", &["FRAME", "TRAILER"]),
    ("src/vfs/archive/tar.rs", &["BLOCK", "NANOS", "RECORDS"]),
    ("src/wall/calls.rs", &["SOCKET_TYPE", "X32"]),
    ("src/worker/pass.rs", &["MOST"]),
    ("src/worker/spawner.rs", &["BY_ITSELF", "BY_SIGNAL", "UNKNOWN"]),
    // What POSIX or Linux shows: modes, owners, sizes.
    ("src/kernel/pipe.rs", &["ATOMIC_BYTES", "PAGE_BYTES", "SMALL_BYTES"]),
    ("src/kernel/spawn.rs", &["UMASK"]),
    ("src/runtime/filesystem.rs", &["DIRECTORY_MODE", "ENTRIES_AHEAD", "FILE_MODE", "NANOS"]),
    ("src/vfs/mem_fs/inode.rs", &["DIRECTORY_SIZE"]),
    ("src/vfs/mod.rs", &["GROUP", "USER"]),
    // The answers of other programs, which the profiles imitate.
    ("src/backend/profile/artisan.rs", &["EXEC_TIME_MAX", "RESULTS"]),
    ("src/backend/profile/deepagents/mod.rs", &["BINARY_BYTES", "PREVIEW_BYTES", "PREVIEW_LINES"]),
    ("src/backend/profile/deerflow.rs", &["GLOB_RESULTS", "GREP_RESULTS", "LIST_DEPTH"]),
    // Parameters of one data structure or of one loop, chosen by measurement.
    ("src/backend/store/tables.rs", &["ROOT"]),
    ("src/backend/vfs_files/walk.rs", &["PIECE"]),
    ("src/kernel/job.rs", &["FAR"]),
    ("src/provider/sandbox_dir.rs", &["SECOND"]),
    ("src/runtime/guest.rs", &["ELEMENT_BYTES"]),
    ("src/runtime/processor.rs", &["KEEP_RESIDENT"]),
    ("src/runtime/ticker.rs", &["IDLE_TICKS", "TICK"]),
    ("src/vfs/host_dir/file.rs", &["NANOS"]),
    ("src/vfs/host_dir/ledger.rs", &["COUNTABLE"]),
    ("src/vfs/host_dir/lease.rs", &["TRIES"]),
    ("src/vfs/mem_fs/chunk.rs", &["FREE_CHUNKS"]),
    ("src/vfs/mem_fs/content.rs", &["BLOCK", "CHUNK"]),
    ("src/vfs/mem_fs/names.rs", &["MIX"]),
    ("src/vfs/mem_fs/radix.rs", &["BITS", "WIDTH"]),
    ("src/vfs/mem_fs/shared_map.rs", &["FULL", "SPARSE"]),
    ("src/vfs/programs.rs", &["ROOT"]),
];

#[test]
fn a_limit_is_defined_in_limits() {
    let mut found = Vec::new();
    for source in sources(&["src"]) {
        let is_host = !["src/cli/", "src/limits"].iter().any(|prefix| source.name.starts_with(prefix));
        if is_host && !source.name.contains("/tests") {
            let mut numbers = Numbers(Vec::new());
            numbers.visit_file(&source.syntax());
            numbers.0.sort();
            numbers.0.dedup();
            found.extend((!numbers.0.is_empty()).then_some((source.name, numbers.0)));
        }
    }
    let mut expected: Vec<(String, Vec<String>)> = OTHERS
        .iter()
        .map(|(file, names)| ((*file).to_owned(), names.iter().map(|name| (*name).to_owned()).collect()))
        .collect();
    expected.sort();
    let strangers: Vec<_> = found.iter().filter(|entry| !expected.contains(entry)).collect();
    assert!(strangers.is_empty(), "these belong into src/limits, or into the list of this test: {strangers:#?}");
    assert_eq!(found, expected, "the list of this test names constants that are gone");
}

/// The names of the constants of a file that are numbers or times.
struct Numbers(Vec<String>);

impl<'ast> Visit<'ast> for Numbers {
    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        let syn::Type::Path(of) = &*item.ty else { return };
        let name = of.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        let numbers = ["u8", "u16", "u32", "u64", "usize", "i32", "i64", "f64", "Duration"];
        if numbers.contains(&name.as_str()) {
            self.0.push(item.ident.to_string());
        }
        visit::visit_item_const(self, item);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.ident != "tests" {
            visit::visit_item_mod(self, item);
        }
    }
}
