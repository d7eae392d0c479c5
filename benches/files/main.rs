//! File operations inside a sandbox against the same program on the host, measured alternately in one run, and the cost
//! of a snapshot.
//!
//! `cargo bench --features bench --bench files` runs everything; `-- --quick` takes seconds; `-- --json` prints one
//! object; a word selects the measurements whose name contains it.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    missing_docs,
    unreachable_pub,
    reason = "a benchmark"
)]

#[path = "../common/mod.rs"]
mod common;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use common::host;
use common::measure::{Contender, Plan, compare};
use common::report::{Goal, Report};
use isopod::{Command, Limits, Sandbox};

/// Directory of the native builds of the guest programs.
const NATIVE: &str = match isopod_images::NATIVE {
    Some(directory) => directory,
    None => panic!("build with --features bench"),
};

/// The measured calls: name, name in `filebench`, and repetitions in one run.
const CALLS: [(&str, &str, u32); 6] = [
    ("stat", "stat", 5000),
    ("stat three names deep", "stat-deep", 5000),
    ("open and read 4 KiB", "read", 2000),
    ("readdir of 1,000 names", "list", 20),
    ("write 1 MiB in 4 KiB pieces", "write", 5),
    ("create and unlink", "create", 500),
];

fn main() {
    let (plan, mut report, chosen) = common::asked();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    for (name, call, count) in CALLS {
        if chosen.is(name) {
            calls(&plan, &mut report, &runtime, name, call, count);
        }
    }
    for (name, program, argv) in [
        ("find over 2,000 files", "find", vec!["find", ".", "-name", "*7.txt"]),
        ("grep -r over 2,000 files", "text", vec!["grep", "-rn", "needle", "."]),
    ] {
        if chosen.is(name) {
            trees(&plan, &mut report, &runtime, name, program, &argv);
        }
    }
    if chosen.is("fork") {
        fork(&plan, &mut report);
    }
    report.finish();
}

fn sandbox() -> isopod::SandboxBuilder {
    let mut limits = Limits::default();
    (limits.wall, limits.disk, limits.inodes) = (Duration::from_secs(300), 4 << 30, 1_000_000);
    limits.output = 10 << 20;
    Sandbox::builder().limits(limits)
}

/// Creates a directory, in memory if possible: the overhead of the sandbox is measured, not the disk of the host.
fn directory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn calls(plan: &Plan, report: &mut Report, runtime: &tokio::runtime::Runtime, name: &str, call: &str, count: u32) {
    let count = if plan.quick { (count / 5).max(2) } else { count };
    let (host, natively) = (directory(), directory());
    let native = natively.path();
    let memory = sandbox().build().unwrap();
    let mounted = sandbox().mount(host.path(), "/workspace").build().unwrap();
    let inside = &|sandbox: &Sandbox, call: &str, count: u32| {
        let command = Command::program(["filebench".to_owned(), call.to_owned(), count.to_string()]);
        let output = runtime.block_on(sandbox.execute(command)).unwrap();
        assert_eq!(output.exit_code, 0, "{}", String::from_utf8_lossy(&output.stderr));
        nanos(&output.stdout) / count
    };
    let outside = &|call: &str, count: u32| {
        let arguments = [call.to_owned(), count.to_string()];
        nanos(&run_native("bench", "filebench", &arguments, native)) / count
    };
    inside(&memory, "prepare", 1);
    inside(&mounted, "prepare", 1);
    outside("prepare", 1);
    let contenders = |who: &str, sandbox, confined: Option<fn(&Path, u32) -> Duration>| {
        let mut contenders = vec![
            Contender::timed(&format!("isopod, {who}"), move || inside(sandbox, call, count)),
            Contender::timed("native", move || outside(call, count)),
        ];
        if let Some(confined) = confined {
            contenders.push(Contender::timed("the host's calls alone, confined", move || confined(native, count)));
        }
        contenders
    };
    let measured = compare(plan, 40, contenders("memory", &memory, None));
    report.add(&format!("{name}, memory"), &measured, Some(Goal::Within { times: 1.0, of: 1 }));
    let who = "a directory of the host";
    // A confined `stat` of a deep name is three host calls, which alone take 2.3 times as long as a native `stat`.
    let times = if call == "stat-deep" { 3.0 } else { 2.0 };
    let measured = compare(plan, 40, contenders(who, &mounted, confined(call)));
    report.add(&format!("{name}, {who}"), &measured, Some(Goal::Within { times, of: 1 }));
}

/// Returns the time of the bare host calls that a confined call needs: the lower bound for any sandbox with a directory
/// of the host.
fn confined(call: &str) -> Option<fn(&Path, u32) -> Duration> {
    use rustix::fs::{Mode, OFlags, ResolveFlags, fstat, openat2};
    fn time(directory: &Path, count: u32, flags: OFlags, mut then: impl FnMut(&rustix::fd::OwnedFd)) -> Duration {
        let root = rustix::fs::open(directory, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
        let begin = std::time::Instant::now();
        for _ in 0..count {
            let handle = openat2(&root, "a/b/file", flags | OFlags::CLOEXEC, Mode::empty(), resolve).unwrap();
            fstat(&handle).unwrap();
            then(&handle);
        }
        begin.elapsed() / count
    }
    match call {
        "stat-deep" => Some(|at, count| time(at, count, OFlags::PATH | OFlags::NOFOLLOW, |_| ())),
        "read" => Some(|at, count| {
            let mut piece = [0; 4096];
            time(at, count, OFlags::RDONLY | OFlags::NONBLOCK, |handle| {
                assert_eq!(rustix::io::pread(handle, &mut piece, 0).unwrap(), piece.len());
            })
        }),
        _ => None,
    }
}

fn trees(
    plan: &Plan,
    report: &mut Report,
    runtime: &tokio::runtime::Runtime,
    name: &str,
    program: &str,
    argv: &[&str],
) {
    if !Path::new(NATIVE).join(format!("isopod-{program}")).exists() {
        report.left_out(name, "the program is not there yet");
        return;
    }
    let host = directory();
    for number in 0..2000 {
        let directory = host.path().join(format!("d{}/e{}", number % 10, number % 40));
        std::fs::create_dir_all(&directory).unwrap();
        let line = if number % 50 == 0 { "a needle in it\n" } else { "nothing of interest here\n" };
        std::fs::write(directory.join(format!("{number}.txt")), line.repeat(40)).unwrap();
    }
    let sandbox = sandbox().mount_read_only(host.path(), "/workspace").build().unwrap();
    let arguments: Vec<String> = argv[1..].iter().map(|&word| word.to_owned()).collect();
    let expected = sorted(&run_native(program, argv[0], &arguments, host.path()));
    assert!(!expected.is_empty());
    let contenders = [
        Contender::new("isopod, a directory of the host", || {
            let output = runtime.block_on(sandbox.execute(Command::program(argv.iter().copied()))).unwrap();
            assert_eq!(sorted(&output.stdout), expected);
        }),
        Contender::new("the same program, native", || {
            assert_eq!(sorted(&run_native(program, argv[0], &arguments, host.path())), expected);
        }),
    ];
    report.add(name, &compare(plan, 40, contenders), Some(Goal::Within { times: 2.0, of: 1 }));
}

/// A sandbox with 100,000 files and 1 GB in memory.
fn fork(plan: &Plan, report: &mut Report) {
    let original = sandbox().build().unwrap();
    let (files, content) = (original.fs(), vec![7; 10_000]);
    for directory in 0..100 {
        files.create_dir(&directory.to_string()).unwrap();
        for file in 0..1000 {
            files.write(&format!("{directory}/{file}"), &content).unwrap();
        }
    }
    let snapshot = original.snapshot();
    let before = host::resident_bytes();
    let kept: Vec<Sandbox> = (0..100).map(|_| snapshot.fork().unwrap()).collect();
    let grown = host::resident_bytes().saturating_sub(before) / kept.len() as u64;
    drop(kept);
    let contenders = [
        Contender::new("snapshot", || drop(original.snapshot())),
        Contender::new("snapshot and fork", || drop(original.snapshot().fork().unwrap())),
    ];
    let times = compare(plan, 1000, contenders);
    report.add("a fork of 100,000 files and 1 GB", &times, None);
    report.memory("a fork of 100,000 files and 1 GB, memory", grown, times[1].median, 64 << 10);
    report.promise(times[1].median < Duration::from_millis(1), "under 1 ms");
}

/// Runs a guest program on this machine under the name of a program.
fn run_native(component: &str, program: &str, arguments: &[String], directory: &Path) -> Vec<u8> {
    use std::os::unix::process::CommandExt;
    let binary = PathBuf::from(NATIVE).join(format!("isopod-{component}"));
    let output = std::process::Command::new(binary)
        .arg0(program)
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

fn nanos(text: &[u8]) -> Duration {
    Duration::from_nanos(String::from_utf8_lossy(text).trim().parse().unwrap())
}

fn sorted(text: &[u8]) -> Vec<String> {
    let mut lines: Vec<String> = String::from_utf8_lossy(text).lines().map(str::to_owned).collect();
    lines.sort();
    lines
}
