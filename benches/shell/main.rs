//! The promises of the shell as ratios: the same scripts on Isopod, bash and dash, measured in turns in one run.
//!
//! `cargo bench --bench shell` runs everything; `-- --quick` takes seconds; `-- --json` prints one object; a word
//! selects the scripts whose name contains it. A shell that is not installed is named and left out.

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
mod scripts;

use std::time::Duration;

use common::host;
use common::measure::{Contender, Plan, compare};
use common::report::{Goal, Report};
use isopod::{Limits, Sandbox};
use scripts::{SCRIPTS, Script, Speaks};

/// Computing may take twice as long as in bash, because it runs in a WebAssembly engine.
const COMPUTING: f64 = 0.5;
/// Starting processes is at least five times faster, because the kernel runs them in one address space.
const SPAWNING: f64 = 5.0;

fn main() {
    let (plan, mut report, chosen) = common::asked();
    let natives: Vec<&str> = ["bash", "dash"]
        .into_iter()
        .filter(|shell| {
            let there = host::works(&[shell, "-c", ":"]);
            if !there {
                report.left_out(shell, "it is not installed");
            }
            there
        })
        .collect();
    for script in SCRIPTS {
        if chosen.is(script.name) {
            measure(&script, &natives, &plan, &mut report);
        }
    }
    report.finish();
}

fn measure(script: &Script, natives: &[&str], plan: &Plan, report: &mut Report) {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let mut limits = Limits::default();
    limits.wall = Duration::from_secs(300);
    let sandbox = Sandbox::builder().limits(limits).build().unwrap();
    let mut contenders = vec![Contender::new("isopod", || {
        // A wrong answer never counts as a fast one.
        let output = runtime.block_on(sandbox.execute(script.text)).unwrap();
        assert_eq!(String::from_utf8_lossy(&output.output), script.answer);
        assert_eq!(output.exit_code, 0);
    })];
    for shell in natives.iter().copied() {
        if script.speaks == Speaks::Bash && shell == "dash" {
            continue;
        }
        contenders.push(Contender::new(shell, move || host::run(&[shell, "-c", script.text], script.answer)));
    }
    let by = if script.spawns { SPAWNING } else { COMPUTING };
    let goal = natives.first().filter(|shell| **shell == "bash").map(|_| Goal::Faster { by, than: 1 });
    report.add(script.name, &compare(plan, 20, contenders), goal);
}
