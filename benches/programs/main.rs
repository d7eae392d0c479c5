//! The programs against GNU's on the same files, measured in turns in one run, and the cost of starting each.
//!
//! `cargo bench --bench programs` uses 50 MB; `-- --quick` a tenth of that; `-- --json` prints one object; a word
//! selects the measurements whose name contains it. A program that the host does not have is named and left out.

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

use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use common::host;
use common::measure::{Contender, Plan, compare};
use common::report::{Goal, Report};
use isopod::{Command, Limits, Runtime, Sandbox};

/// The command lines, for a directory with the file `text` and the tree `tree`. The first word is the program.
const LINES: [&str; 19] = [
    "sort text",
    "sort -n -k2 text",
    "uniq -c text",
    "cut -d' ' -f2,3 text",
    "tr a-z A-Z < text",
    "wc text",
    // GNU's stops at the first match if its output is /dev/null.
    "grep -c needle text | cat",
    "grep -E '[0-9]+ (foo|bar)' text | cat",
    "grep -ri NEEDLE tree",
    "sed 's/needle/thread/g' text",
    "sed -n '/bar/p' text",
    "awk '{ s += $2 } END { print s }' text",
    "awk -F' ' '{ n[$3]++ } END { for (k in n) if (n[k] > 1e9) print k }' text",
    "sha256sum text",
    "gzip -c text | wc -c > /dev/null; gzip -t packed.gz",
    "tar -cf - tree | wc -c > /dev/null",
    "find tree -name '*7.txt'",
    "find tree -type f -size +1k",
    "cat text | head -c 40000000 | tail -n 5",
];

fn main() {
    let (plan, mut report, chosen) = common::asked();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let directory = prepare(if plan.quick { 5 << 20 } else { 50 << 20 });
    for line in LINES.into_iter().filter(|line| chosen.is(line)) {
        speed(&plan, &mut report, &runtime, directory.path(), line);
    }
    if chosen.is("start") {
        start(&plan, &mut report, &runtime);
    }
    report.finish();
}

/// Creates a text of this size in lines of four words, and a tree of 2,000 files.
fn prepare(bytes: usize) -> tempfile::TempDir {
    let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let mut text = String::with_capacity(bytes + 64);
    // A fixed sequence, so that each run measures the same.
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    while text.len() < bytes {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let word = ["foo", "bar", "needle", "hay", "straw"][(state >> 33) as usize % 5];
        writeln!(text, "line{} {} {word}{} the quick brown fox", state >> 50, state >> 40, (state >> 20) % 100)
            .unwrap();
    }
    std::fs::write(directory.path().join("text"), &text).unwrap();
    for number in 0..2000 {
        let place = directory.path().join(format!("tree/d{}/e{}", number % 10, number % 40));
        std::fs::create_dir_all(&place).unwrap();
        let line = if number % 50 == 0 { "a needle in it\n" } else { "nothing of interest here\n" };
        std::fs::write(place.join(format!("{number}.txt")), line.repeat(number % 100)).unwrap();
    }
    native(directory.path(), "gzip -c text > packed.gz");
    directory
}

fn sandbox(directory: &Path) -> Sandbox {
    let mut limits = Limits::default();
    (limits.wall, limits.disk) = (Duration::from_secs(300), 4 << 30);
    (limits.process_memory, limits.sandbox_memory, limits.file) = (1 << 30, 2 << 30, 1 << 30);
    Sandbox::builder().limits(limits).mount_read_only(directory, "/workspace").env("LC_ALL", "C").build().unwrap()
}

fn native(directory: &Path, line: &str) -> Vec<u8> {
    let mut command = std::process::Command::new("sh");
    command.args(["-c", line]).current_dir(directory).env("LC_ALL", "C").stdin(Stdio::null());
    command.output().unwrap().stdout
}

fn speed(plan: &Plan, report: &mut Report, runtime: &tokio::runtime::Runtime, directory: &Path, line: &str) {
    let program = line.split(' ').next().unwrap_or_default();
    if !host::works(&["sh", "-c", &format!("command -v {program}")]) {
        return report.left_out(line, "the host has no such program");
    }
    let sandbox = sandbox(directory);
    let inside = |line: &str| {
        let output = runtime.block_on(sandbox.execute(line)).unwrap();
        assert!(
            output.exit_code <= 1 && output.limits.is_empty(),
            "{line}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        output.stdout
    };
    // A wrong answer never counts as a fast one. The order of a tree is arbitrary, and an archive has owners and times.
    if !line.contains("/dev/null") {
        let sum = format!("{line} | sort | cksum");
        assert_eq!(inside(&sum), native(directory, &sum), "{line}");
    }
    let quiet = format!("{{ {line}; }} > /dev/null");
    let contenders = [
        Contender::new("isopod", || drop(inside(&quiet))),
        Contender::new("native", || drop(native(directory, &quiet))),
    ];
    report.add(line, &compare(plan, 10, contenders), Some(Goal::Within { times: 2.0, of: 1 }));
}

/// Measures the time in which each program prints its version.
fn start(plan: &Plan, report: &mut Report, runtime: &tokio::runtime::Runtime) {
    let sandbox = Sandbox::builder().build().unwrap();
    let programs = Runtime::shared().unwrap().programs();
    let contenders = programs.iter().map(|program| {
        Contender::new(program.name, || {
            let command = Command::program([program.name, "--version"]);
            runtime.block_on(sandbox.execute(command)).unwrap();
        })
    });
    let mut times = compare(plan, 40, contenders);
    times.sort_by_key(|times| std::cmp::Reverse(times.median));
    let slow = times.iter().filter(|times| times.median > Duration::from_micros(150)).count();
    let median = times[times.len() / 2].median;
    report.add("the programs that start slowest", &times[..10.min(times.len())], None);
    report.promise(slow == 0, &format!("each of {} starts in 150 µs: {slow} do not; median {median:?}", times.len()));
}
