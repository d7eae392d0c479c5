//! The cost of a process for each sandbox: starting one and executing in it, against a sandbox in this process and
//! against a process of the host for each command.
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

#[path = "../common/mod.rs"]
mod common;

use common::host;
use common::measure::{Contender, compare};
use common::report::Goal;
use isopod::Sandbox;
use isopod::backend::{Backend, Isopod, ReadRequest, SandboxBackend, WriteRequest};
use isopod::provider::Config;
use isopod::worker::{Walls, Worker};

fn main() {
    let (plan, mut report, _) = common::asked();
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let config = Config::new("/none");
    let start = |walls| Worker::start_behind(walls, env!("CARGO_BIN_EXE_isopod"), ["worker"], &config);
    let here = || Isopod::new("here", Sandbox::builder().build().unwrap()).unwrap();
    let echo = |backend: &dyn SandboxBackend| {
        assert_eq!(tokio.block_on(backend.execute("echo hi".into())).unwrap().stdout, b"hi\n");
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
