//! The attacks of THREATS.md, one after another: `cargo test attack_`, or `cargo test --test attacks` for these alone.
//!
//! Each row of a table is a name, which states the expected result, and a function. After each one the arena checks
//! invariants of the whole process (see `arena`), so the attacks run one after another, in a harness of their own. The
//! harness also writes a table of the outcomes (`ISOPOD_REPORT=FILE`). `ISOPOD_LONG=1` runs in full the attacks that
//! are shortened otherwise.
//!
//! Attacks on paths run a second time in a process for which the kernel refuses `openat2`.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, missing_docs, unreachable_pub, reason = "tests")]
#![allow(clippy::disallowed_methods, reason = "tests look at the host from outside")]

mod algorithms;
mod arena;
mod disk;
mod host;
mod hostile;
mod information;
mod ledger;
mod memory;
mod output;
mod paths;
mod processes;
mod races;
mod report;
mod special;
mod time;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use arena::Arena;
use libtest_mimic::{Arguments, Failed, Trial};
use report::Row;

/// A name and the function that makes the attack.
pub type Attack = (&'static str, fn(&mut Arena));

/// All attacks, by chapter.
const CHAPTERS: [&[Attack]; 11] = [
    time::ATTACKS,
    memory::ATTACKS,
    processes::ATTACKS,
    disk::ATTACKS,
    paths::ATTACKS,
    races::ATTACKS,
    special::ATTACKS,
    output::ATTACKS,
    information::ATTACKS,
    algorithms::ATTACKS,
    hostile::ATTACKS,
];

/// Numbers of the attacks on paths, which also run without `openat2`.
const CONFINEMENT: std::ops::RangeInclusive<u32> = 50..=83;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    let rows = Arc::new(Mutex::new(Vec::new()));
    let is_child = host::is_without_openat2();
    let is_meant =
        |name: &str| !is_child || report::parse(name).is_some_and(|(number, _)| CONFINEMENT.contains(&number));
    let attacks = CHAPTERS.iter().copied().flatten().filter(|(name, _)| is_meant(name));
    let mut trials: Vec<Trial> = attacks.map(|(name, attack)| trial(name, *attack, rows.clone())).collect();
    if !is_child {
        trials.push(Trial::test("attacks_50_to_83_are_contained_where_openat2_is_refused", host::without_openat2));
        for (name, check) in ledger::CHECKS.iter().chain(hostile::CHECKS) {
            trials.push(Trial::test(*name, || {
                check();
                Ok(())
            }));
        }
    }
    if !arguments.list {
        arena::warm_up();
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    let rows = rows.lock().unwrap();
    if !rows.is_empty() {
        print!("{}", report::summary(&rows));
        if !is_child {
            match report::write(&rows) {
                Ok(place) => println!("the table is in {}", place.display()),
                Err(error) => println!("no table: {error}"),
            }
        }
    }
    conclusion.exit_code()
}

fn trial(name: &'static str, attack: fn(&mut Arena), rows: Arc<Mutex<Vec<Row>>>) -> Trial {
    Trial::test(name, move || {
        let begin = Instant::now();
        let mut arena = Arena::new();
        let attacked = catch_unwind(AssertUnwindSafe(|| attack(&mut arena)));
        let overshoots = std::mem::take(&mut arena.overshoots);
        let checked = attacked.and_then(|()| catch_unwind(AssertUnwindSafe(|| arena.check())));
        let (is_contained, memory) = (checked.is_ok(), checked.as_ref().map_or(0, |peak| peak.0));
        rows.lock().unwrap().push(Row { name, is_contained, took: begin.elapsed(), overshoots, memory });
        // The panic has already written the reason to standard error.
        checked.map(drop).map_err(|_| Failed::from("not contained"))
    })
}
