//! What a process for each sandbox costs: starting one and executing in it, against a sandbox in this process and against
//! a process of the host for each command.
//!
//! `cargo bench --bench worker` runs everything; `-- --quick` takes seconds; `-- --json` prints one object.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    missing_docs,
    unreachable_pub,
    reason = "a benchmark"
)]
#![allow(dead_code, reason = "measure and report are shared with another benchmark, which uses more of them")]

#[path = "../baseline/host.rs"]
mod host;
#[path = "../baseline/measure.rs"]
mod measure;
#[path = "../baseline/report.rs"]
mod report;

use isopod::Sandbox;
use isopod::backend::{Backend, Isopod, ReadRequest, SandboxBackend, WriteRequest};
use isopod::provider::Config;
use isopod::worker::{Walls, Worker};
use measure::{Contender, Plan, compare};
use report::{Goal, Report};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| words.iter().any(|word| word == flag);
    let (plan, mut report) = (Plan { quick: has("--quick") }, Report::new(has("--json")));
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let config = Config::new("/none");
    let start = |walls| Worker::start_behind(walls, env!("CARGO_BIN_EXE_isopod"), ["worker"], &config);
    let here = || Isopod::new("here", Sandbox::builder().build().unwrap()).unwrap();
    let echo = |backend: &dyn SandboxBackend| {
        assert_eq!(tokio.block_on(backend.execute("echo hi".into())).unwrap().stdout(), b"hi\n");
    };
    let native = |command: &str| assert!(host::works(&["sh", "-c", command]));

    let times = compare(
        &plan,
        60,
        [
            Contender::new("a worker behind a wall", || {
                echo(&tokio.block_on(start(Walls::BestEffort)).unwrap());
            }),
            Contender::new("a worker without", || {
                echo(&tokio.block_on(start(Walls::None)).unwrap());
            }),
            Contender::new("a sandbox in this process", || echo(&here())),
            Contender::new("fork and exec of sh -c", || native("echo hi")),
        ],
    );
    report.add("start and first echo", &times, None);

    let (worker, sandbox) = (tokio.block_on(start(Walls::BestEffort)).unwrap(), here());
    let times = compare(
        &plan,
        1000,
        [
            Contender::new("a worker", || echo(&worker)),
            Contender::new("a sandbox in this process", || echo(&sandbox)),
            Contender::new("fork and exec of sh -c", || native("echo hi")),
        ],
    );
    report.add("echo", &times, Some(Goal::Faster { by: 1.0, than: 2 }));

    let content = "0123456789abcdef".repeat(64);
    let files = |backend: &dyn Backend| {
        tokio.block_on(async {
            backend.write(WriteRequest::new("file", content.clone())).await.unwrap();
            backend.read(ReadRequest::bytes("file")).await.unwrap();
        });
    };
    let contenders = [
        Contender::new("a worker", || files(&worker)),
        Contender::new("a sandbox in this process", || files(&sandbox)),
    ];
    report.add("write and read 1 KiB", &compare(&plan, 1000, contenders), None);
    report.finish();
}
