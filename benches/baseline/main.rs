//! The promises of the runtime as ratios: Isopod and its alternatives, measured in turns in one run.
//!
//! `cargo bench` runs everything; `cargo bench -- --quick` takes seconds; `-- --json` prints one object; a word selects
//! the measurements whose name contains it. A peer that is not installed is named and left out.

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

use std::time::{Duration, Instant};

use common::host;
use common::measure::{Contender, Plan, compare};
use common::report::{Goal, Report};
use isopod::{Command, Limits, Sandbox};

/// Measures something and reports it.
type Measurement = fn(&Plan, &mut Report);

fn main() {
    let (plan, mut report, chosen) = common::asked();
    let measurements: [(&str, Measurement); 7] = [
        // First, because memory that another measurement freed would hide the memory of a sandbox.
        ("idle-memory", idle_memory),
        ("echo", echo),
        ("spawn", spawn),
        ("loop-spawn", loop_spawn),
        ("pipe", pipe),
        ("cold-start", cold_start),
        ("at-once", at_once),
    ];
    for (name, measure) in measurements {
        if chosen.is(name) {
            measure(&plan, &mut report);
        }
    }
    report.finish();
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap()
}

fn sandbox() -> Sandbox {
    let mut limits = Limits::default();
    limits.wall = Duration::from_secs(300);
    Sandbox::builder().limits(limits).build().unwrap()
}

/// Executes a command and checks its answer, so that a wrong answer never counts as a fast one.
fn answer(runtime: &tokio::runtime::Runtime, sandbox: &Sandbox, command: Command, expected: &str) {
    let output = runtime.block_on(sandbox.execute(command)).unwrap();
    assert_eq!(String::from_utf8_lossy(&output.output), expected);
    assert_eq!(output.exit_code, 0);
}

fn echo(plan: &Plan, report: &mut Report) {
    let (runtime, sandbox) = (runtime(), sandbox());
    let session = sandbox.session().unwrap();
    let contenders = [
        Contender::new("isopod, in a live session", || {
            let output = runtime.block_on(session.execute("echo hi")).unwrap();
            assert_eq!((output.output.as_slice(), output.exit_code), (b"hi\n".as_slice(), 0));
        }),
        Contender::new("isopod, warm execute", || answer(&runtime, &sandbox, "echo hi".into(), "hi\n")),
        Contender::new("isopod, new sandbox and execute", || {
            answer(&runtime, &Sandbox::builder().build().unwrap(), "echo hi".into(), "hi\n");
        }),
        Contender::new("native sh -c, fork and exec", || host::run(&["sh", "-c", "echo hi"], "hi\n")),
    ];
    let times = compare(plan, 2000, contenders);
    report.add("echo hi", &times, Some(Goal::Faster { by: 40.0, than: 3 }));
}

fn spawn(plan: &Plan, report: &mut Report) {
    let (runtime, sandbox) = (runtime(), sandbox());
    let contenders = [
        Contender::new("isopod, execute true", || answer(&runtime, &sandbox, Command::program(["true"]), "")),
        Contender::new("native true, fork and exec", || host::run(&["true"], "")),
    ];
    report.add("one small program", &compare(plan, 2000, contenders), Some(Goal::Faster { by: 5.0, than: 1 }));
}

fn loop_spawn(plan: &Plan, report: &mut Report) {
    let (runtime, sandbox) = (runtime(), sandbox());
    let line = "i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i+1)); done; echo $i";
    let contenders = [
        Contender::new("isopod", || answer(&runtime, &sandbox, line.into(), "100\n")),
        Contender::new("native sh", || host::run(&["sh", "-c", line], "100\n")),
    ];
    report.add("a shell that spawns /bin/true 100 times", &compare(plan, 60, contenders), None);
}

fn pipe(plan: &Plan, report: &mut Report) {
    let (runtime, sandbox) = (runtime(), sandbox());
    let line = "head -c 104857600 /dev/zero | cat | wc -c";
    let contenders = [
        Contender::new("isopod", || answer(&runtime, &sandbox, line.into(), "104857600\n")),
        Contender::new("native sh", || host::run(&["sh", "-c", line], "104857600\n")),
    ];
    report.add("100 MiB through two pipes", &compare(plan, 20, contenders), None);
}

fn cold_start(plan: &Plan, report: &mut Report) {
    let isopod = env!("CARGO_BIN_EXE_isopod");
    let mut contenders = vec![Contender::new("isopod run", move || {
        host::run(&[isopod, "run", "--", "echo hi"], "hi\n");
    })];
    let bwrap = ["bwrap", "--ro-bind", "/", "/", "--unshare-all", "sh", "-c", "echo hi"];
    let goal = if host::works(&bwrap) {
        contenders.push(Contender::new("bwrap sh -c", move || host::run(&bwrap, "hi\n")));
        Some(Goal::Faster { by: 1.0, than: 1 })
    } else {
        report.left_out("bwrap", "it is not installed or may not make namespaces");
        None
    };
    for native in [["busybox", "sh", "-c", "echo hi"].as_slice(), &["sh", "-c", "echo hi"]] {
        if host::works(native) {
            contenders.push(Contender::new(&native.join(" "), move || host::run(native, "hi\n")));
        } else {
            report.left_out(native[0], "it is not installed");
        }
    }
    report.add("one-off command, cold", &compare(plan, 300, contenders), goal);
}

fn at_once(plan: &Plan, report: &mut Report) {
    let (runtime, count) = (runtime(), 1000);
    let sandboxes: Vec<Sandbox> = (0..count).map(|_| sandbox()).collect();
    let all = || {
        runtime.block_on(async {
            let tasks: Vec<_> = sandboxes
                .iter()
                .map(|sandbox| {
                    let sandbox = sandbox.clone();
                    tokio::spawn(async move { sandbox.execute("echo hi").await.unwrap().stdout })
                })
                .collect();
            for task in tasks {
                assert_eq!(task.await.unwrap(), b"hi\n");
            }
        });
    };
    let natively = || (0..count).for_each(|_| host::run(&["sh", "-c", "echo hi"], "hi\n"));
    let contenders =
        [Contender::new("isopod, 1,000 sandboxes", all), Contender::new("native sh, 1,000 in a row", natively)];
    report.add("1,000 executions of echo at once", &compare(plan, 10, contenders), None);
}

fn idle_memory(_plan: &Plan, report: &mut Report) {
    // One sandbox before the measurement, so that shared memory is not counted.
    let runtime = runtime();
    answer(&runtime, &sandbox(), "echo hi".into(), "hi\n");
    let (before, begin) = (host::resident_bytes(), Instant::now());
    let sandboxes: Vec<Sandbox> = (0..1000).map(|_| Sandbox::builder().build().unwrap()).collect();
    let each = host::resident_bytes().saturating_sub(before) / sandboxes.len() as u64;
    report.memory("1,000 idle sandboxes", each, begin.elapsed() / 1000, 16 << 10);
}
