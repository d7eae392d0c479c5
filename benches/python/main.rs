//! Python's promises as ratios: the same programs on Isopod and on the machine's python3, measured in turns in one run.
//!
//! `cargo bench --bench python` runs everything; `-- --quick` takes seconds; `-- --json` prints one object; a word
//! chooses the programs whose name holds it. The machine's Python starts with -S: without its site directories, as
//! Isopod's does.

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
mod programs;

use std::time::Duration;

use common::host;
use common::measure::{Contender, Plan, compare};
use common::report::{Goal, Report};
use isopod::{Command, Limits, Sandbox};
use programs::{PROGRAMS, Program};

/// A process that starts with a memory that was made before.
const STARTING: f64 = 3.0;
/// Computing may cost three times what it costs a native Python.
const COMPUTING: f64 = 1.0 / 3.0;

fn main() {
    let (plan, mut report, chosen) = common::asked();
    let native = host::python();
    if native.is_none() {
        report.left_out("python3", "it is not installed");
    }
    for program in PROGRAMS {
        if chosen.is(program.name) {
            measure(&program, native.as_deref(), &plan, &mut report);
        }
    }
    report.finish();
}

fn measure(program: &Program, native: Option<&str>, plan: &Plan, report: &mut Report) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let mut limits = Limits::default();
    limits.wall = Duration::from_secs(300);
    let sandbox = Sandbox::builder().limits(limits).build().unwrap();
    let mut contenders = vec![Contender::new("isopod", || {
        // A wrong answer is not a fast one.
        let command = Command::program(["python3", "-c", program.text]);
        let output = runtime.block_on(sandbox.execute(command)).unwrap();
        assert_eq!(String::from_utf8_lossy(&output.output), program.answer);
        assert_eq!(output.exit_code, 0);
    })];
    if let Some(native) = native {
        let argv = [native, "-S", "-c", program.text];
        contenders.push(Contender::new("python3", move || host::run(&argv, program.answer)));
    }
    let by = if program.computes { COMPUTING } else { STARTING };
    report.add(program.name, &compare(plan, 20, contenders), native.map(|_| Goal::Faster { by, than: 1 }));
}
