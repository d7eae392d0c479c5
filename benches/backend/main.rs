//! File operations of the backends over one tree of 2,000 files, measured in turns in one run: Isopod on its files in
//! memory and on a directory of the host, the local shell's commands, and operations by shell commands alone.
//!
//! `cargo bench --bench backend` runs everything; `-- --quick` takes seconds; `-- --json` prints one object; a word
//! selects the measurements whose name contains it. A peer that is not installed is named and left out.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    missing_docs,
    unreachable_pub,
    reason = "a benchmark"
)]

#[path = "../common/mod.rs"]
mod common;

use std::sync::Arc;

use common::host;
use common::measure::{Contender, compare};
use common::report::{Goal, Report};
use isopod::Command;
use isopod::backend::{
    Backend, Bubblewrap, Docker, EditRequest, ExecFiles, GlobRequest, GrepRequest, Isopod, LocalShell, ReadRequest,
    SandboxBackend, Upload, WriteRequest,
};
use isopod::{Limits, Sandbox};
use tokio::runtime::Runtime;

/// The number of files in the tree, and of their directories.
const FILES: usize = 2000;
const DIRECTORIES: usize = 100;

/// A backend with the tree below `root`.
struct Peer {
    name: &'static str,
    backend: Arc<dyn Backend>,
    root: String,
    /// True if each operation starts processes: one command then makes the tree.
    is_slow: bool,
}

/// An operation, which gets the number of the run.
type Operation = fn(&Runtime, &Peer, usize);

fn main() {
    let (plan, mut report, chosen) = common::asked();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (memory, shared, local) =
        (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut peers = peers(&runtime, shared.path(), local.path(), memory.path(), &mut report);
    peers.iter_mut().for_each(|peer| plant(&runtime, peer));
    let operations: [(&str, Operation); 7] = [
        ("read a file of 40 lines", read),
        ("write a file of 1 KiB", write),
        ("edit a file", edit),
        ("ls of 20 names", ls),
        ("glob **/*.rs over 2,000 files", glob),
        ("grep of a literal over 2,000 files", grep),
        ("grep of a regular expression over 2,000 files", grep_regex),
    ];
    for (name, operation) in operations {
        if !chosen.is(name) {
            continue;
        }
        let (mut run, runtime) = (0, &runtime);
        let contenders = peers.iter().map(|peer| {
            Contender::new(peer.name, move || {
                run += 1;
                operation(runtime, peer, run);
            })
        });
        let mut contenders: Vec<Contender<'_>> = contenders.collect();
        for (title, argv) in natives(name, local.path()) {
            if host::works(&argv.iter().map(String::as_str).collect::<Vec<_>>()) {
                contenders.push(Contender::new(&title, move || {
                    assert!(host::works(&argv.iter().map(String::as_str).collect::<Vec<_>>()));
                }));
            } else {
                report.left_out(&title, "it is not installed");
            }
        }
        let times = compare(&plan, 60, contenders);
        // A search reads the whole tree on every backend. The other operations save the start of a process.
        let by = if name.contains("2,000") { 1.0 } else { 10.0 };
        let slow = times.iter().position(|times| times.name.starts_with("exec files"));
        let goal = slow.map(|than| Goal::Faster { by, than });
        report.add(name, &times, goal);
    }
    report.finish();
}

fn peers(
    runtime: &Runtime,
    shared: &std::path::Path,
    local: &std::path::Path,
    wrapped: &std::path::Path,
    report: &mut Report,
) -> Vec<Peer> {
    let peer =
        |name, backend: Arc<dyn Backend>, root: &str, is_slow| Peer { name, backend, root: root.to_owned(), is_slow };
    let isopod = |sandbox: Sandbox| Arc::new(Isopod::new("bench", sandbox).unwrap());
    let mut limits = Limits::default();
    limits.inodes = 200_000;
    let shell = LocalShell::unconfined(local).unwrap();
    let local = local.to_str().unwrap();
    let mut peers = vec![
        peer(
            "isopod, files in memory",
            isopod(Sandbox::builder().limits(limits).build().unwrap()),
            "/workspace",
            false,
        ),
        peer(
            "isopod, a directory of the host",
            isopod(Sandbox::builder().mount(shared, "/workspace").build().unwrap()),
            "/workspace",
            false,
        ),
        peer("exec files over the local shell", Arc::new(ExecFiles::new(Arc::new(shell))), local, true),
    ];
    let within = Isopod::new("bench", Sandbox::builder().build().unwrap()).unwrap();
    let probe = within.execute(Command::shell("command -v find && command -v grep"));
    if runtime.block_on(probe).unwrap().exit_code == 0 {
        peers.push(peer("exec files over isopod", Arc::new(ExecFiles::new(Arc::new(within))), "/workspace", true));
    } else {
        report.left_out("exec files over isopod", "the sandbox has no find or no grep");
    }
    if host::works(&["bwrap", "--ro-bind", "/", "/", "--unshare-all", "true"]) {
        peers.push(peer(
            "exec files over bubblewrap",
            Arc::new(Bubblewrap::new(wrapped).backend()),
            "/workspace",
            true,
        ));
    } else {
        report.left_out("bubblewrap", "it is not installed or may not make namespaces");
    }
    match std::env::args().find_map(|word| word.strip_prefix("--container=").map(str::to_owned)) {
        Some(container) => {
            peers.push(peer("docker exec", Arc::new(Docker::new("docker", container).backend()), "/tmp/bench", true));
        }
        None => report.left_out("docker exec", "no --container=NAME of a running one was given"),
    }
    peers
}

/// Equivalent commands of the host over the tree of the local shell.
fn natives(work: &str, root: &std::path::Path) -> Vec<(String, Vec<String>)> {
    let lines: &[&str] = match work.split(' ').next() {
        Some("read") => &["cat d00/f0.rs"],
        Some("ls") => &["ls -la d05"],
        Some("glob") => &["find . -name '*.rs'", "rg --files -g '*.rs'"],
        Some("grep") if work.contains("literal") => &["grep -rnF function_777_ .", "rg -nF function_777_ ."],
        Some("grep") => &["grep -rnE 'function_[0-9]*99_3[0-4]' .", "rg -n 'function_[0-9]*99_3[0-4]' ."],
        _ => &[],
    };
    let native = |line: &&str| {
        let program = line.split(' ').next().unwrap_or_default();
        let argv = ["sh".to_owned(), "-c".to_owned(), format!("cd '{}' && exec {line}", root.display())];
        (format!("native {program}, fork and exec"), argv.to_vec())
    };
    lines.iter().map(native).collect()
}

/// Makes the tree, with one command for a slow peer, where one write per file would take long.
fn plant(runtime: &Runtime, peer: &mut Peer) {
    let content = |n: usize| -> String {
        (0..40).map(|line| format!("fn function_{n}_{line}() {{ call(\"some text of line {line}\"); }}\n")).collect()
    };
    let name = |n: usize| {
        format!("{}/d{:02}/f{n}.{}", peer.root, n % DIRECTORIES, if n.is_multiple_of(4) { "rs" } else { "txt" })
    };
    runtime.block_on(async {
        if peer.is_slow {
            let line = format!(
                "i=0; while [ $i -lt {FILES} ]; do d={root}/d$(printf %02d $((i % {DIRECTORIES}))); mkdir -p $d; e=txt; \
                 [ $((i % 4)) -eq 0 ] && e=rs; j=0; while [ $j -lt 40 ]; do \
                 echo \"fn function_${{i}}_$j() {{ call(\\\"some text of line $j\\\"); }}\"; j=$((j+1)); done > $d/f$i.$e; \
                 i=$((i+1)); done",
                root = peer.root
            );
            let request = Command::shell(line).timeout(std::time::Duration::from_secs(280));
            let executed = peer.backend.sandbox().unwrap().execute(request).await.unwrap();
            assert_eq!(executed.exit_code, 0, "{}", String::from_utf8_lossy(&executed.output));
        } else {
            let files = (0..FILES).map(|n| Upload::new(name(n), content(n))).collect();
            peer.backend.upload(files).await.into_iter().for_each(|answer| assert!(answer.is_ok()));
        }
    });
}

fn read(runtime: &Runtime, peer: &Peer, _run: usize) {
    let content = runtime.block_on(peer.backend.read(ReadRequest::lines(format!("{}/d00/f0.rs", peer.root), 0, 2000)));
    assert!(format!("{content:?}").contains("function_0_39"), "{content:?}");
}

fn write(runtime: &Runtime, peer: &Peer, _run: usize) {
    let request = WriteRequest::new(format!("{}/written", peer.root), "0123456789abcdef".repeat(64));
    assert_eq!(runtime.block_on(peer.backend.write(request)).unwrap().bytes, 1024);
}

fn edit(runtime: &Runtime, peer: &Peer, run: usize) {
    let path = format!("{}/d04/f4.rs", peer.root);
    let (old, new) = (format!("line 7{}\"", "'".repeat((run - 1) % 50)), format!("line 7{}\"", "'".repeat(run % 50)));
    let edited = runtime.block_on(peer.backend.edit(EditRequest::new(path, old, new)));
    assert_eq!(edited.unwrap().occurrences, 1);
}

fn ls(runtime: &Runtime, peer: &Peer, _run: usize) {
    assert_eq!(runtime.block_on(peer.backend.ls(&format!("{}/d05", peer.root))).unwrap().entries.len(), 20);
}

fn glob(runtime: &Runtime, peer: &Peer, _run: usize) {
    let globbed = runtime.block_on(peer.backend.glob(GlobRequest::new("**/*.rs", &*peer.root))).unwrap();
    assert_eq!(globbed.matches.len(), FILES / 4);
}

fn grep(runtime: &Runtime, peer: &Peer, _run: usize) {
    let grepped = runtime.block_on(peer.backend.grep(GrepRequest::literal("function_777_", &*peer.root))).unwrap();
    assert_eq!(grepped.matches.len(), 40);
}

fn grep_regex(runtime: &Runtime, peer: &Peer, _run: usize) {
    let request = GrepRequest::regex("function_[0-9]*99_3[0-4]", &*peer.root);
    assert_eq!(runtime.block_on(peer.backend.grep(request)).unwrap().matches.len(), 20 * 5);
}
