//! The hostile program (`guest/hostile`): all its cases, and all calls of the kernel with values of every kind.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use isopod::Output;

use crate::Attack;
use crate::arena::{Arena, count, neighbour, text};

/// The expected end of a case.
enum End {
    /// Each request is refused, and the program says so.
    Refused,
    /// The component model or the kernel ends the process with this code and this reason.
    Ended(u8, &'static str),
    /// The program prints how far it came.
    Answers,
    /// The command exceeds its timeout.
    TimesOut,
    /// The case belongs to the attack with this number.
    Attack(u32),
}

use End::{Answers, Attack as Elsewhere, Ended, Refused, TimesOut};

/// Every case and its end. A missing case is an error: see `every_case_is_run`.
const CASES: [(&str, &str, End); 24] = [
    ("bad-descriptors", "", Refused),
    ("bad-handle", "", Ended(137, "unknown handle index")),
    ("calls", "", Answers),
    ("close-flood", "", Elsewhere(30)),
    ("descriptor-flood", "", Elsewhere(30)),
    ("exhaust-stack", "", Elsewhere(32)),
    ("fill-memory", "", Elsewhere(10)),
    ("grow-memory", "", Elsewhere(16)),
    ("handle-after-drop", "", Ended(137, "unknown handle index")),
    ("handle-flood", "", Elsewhere(22)),
    ("hold-memory", "", Elsewhere(17)),
    ("huge-lists", "", Refused),
    ("leftovers", "", Elsewhere(97)),
    ("long-string", "", Elsewhere(20)),
    ("many-pollables", "1000", Answers),
    ("numbers", "", Refused),
    ("pipe-to-self", "", TimesOut),
    ("random-bytes", "", Elsewhere(21)),
    ("reenter", "", Ended(134, "cannot")),
    ("spin", "", Elsewhere(2)),
    ("storm", "1 10", Answers),
    ("trap", "", Elsewhere(32)),
    ("wasi-numbers", "", Refused),
    ("wild", "files.stat 1 1", Answers),
];

pub const ATTACKS: &[Attack] = &[
    ("a_program_that_means_harm_does_none", |a| {
        for (case, arguments, end) in &CASES {
            let command = format!("hostile {case} {arguments}");
            match end {
                Refused => a.prints(command.as_str(), "refused\n"),
                TimesOut => a.times_out(command.as_str()),
                Ended(code, why) => {
                    let output = a.says(&format!("{command}; exit $?"), why);
                    assert_eq!(output.exit_code, *code, "{case}: {}", text(&output));
                    assert!(!text(&output).contains("not refused"), "{case}");
                }
                Answers => drop(a.run(command.as_str())),
                Elsewhere(_) => {}
            }
        }
        // The list alone is larger than a call may pass.
        let output = a.run("hostile many-pollables 10000000");
        assert!(output.exit_code > 128, "{}", text(&output));
    }),
    ("wild_values_for_every_call_end_the_process_at_worst", wild),
    ("a_storm_of_random_calls_leaves_the_host_as_it_was", storm),
];

pub const CHECKS: &[(&str, fn())] = &[
    ("every_case_of_the_hostile_program_is_run", every_case_is_run),
    ("every_call_of_the_kernel_is_made_by_the_hostile_program", every_call_is_made),
];

/// Makes each call a few hundred times with arbitrary numbers, each time in a process that may crash.
fn wild(a: &mut Arena) {
    a.limit(|limits| limits.output = 1 << 20);
    let rounds = count(30, 1_000);
    for name in calls() {
        // A call that waits for ever is a valid result, so each has a timeout.
        let each = format!(
            "for seed in {{1..{rounds}}}; do timeout 0.2 hostile wild {name} $seed 20 > /dev/null 2>&1; echo $?; done"
        );
        let output = a.run(each.as_str());
        let codes: BTreeSet<&str> = std::str::from_utf8(&output.stdout).unwrap().lines().collect();
        let known = ["0", "124", "134", "139", "137", "141"];
        let is_known = |code: &&str| known.contains(code) || name == "process.exit" || name == "process.kill";
        assert!(codes.iter().all(is_known), "{name}: {codes:?}");
        assert!(text(&output).lines().count() >= rounds, "{name}: {}", text(&output));
    }
}

/// Makes calls with values that get past the bindings. The arena checks that their effects stay within the limits.
fn storm(a: &mut Arena) {
    let (seeds, calls) = (count(6, 200), 20_000u64);
    let begin = Instant::now();
    let mut sum = 0u64;
    let mut made: BTreeSet<String> = BTreeSet::new();
    for seed in 0..seeds {
        let output: Output = a.run_for(format!("hostile storm {seed} {calls}").as_str(), Duration::from_secs(60));
        assert!(!output.timed_out, "seed {seed}");
        for line in text(&output).lines() {
            let Some((name, number)) = line.split_once(' ') else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            sum += number;
            if number > 0 {
                made.insert(name.to_owned());
            }
        }
    }
    let per_second = sum as f64 / begin.elapsed().as_secs_f64();
    println!("storm: {sum} calls, {per_second:.0} a second");
    // The storm never calls `exit`, which would end it.
    made.insert("process.exit".to_owned());
    assert_eq!(made.into_iter().collect::<Vec<_>>(), kernel_calls());
}

/// Returns the calls that the program knows.
fn calls() -> Vec<String> {
    lines_of("hostile calls")
}

fn lines_of(command: &str) -> Vec<String> {
    let output = neighbour().execute_blocking(command).unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn every_case_is_run() {
    let listed: Vec<&str> = CASES.iter().map(|(name, ..)| *name).collect();
    assert_eq!(lines_of("hostile"), listed, "a case of guest/hostile has no test, or a test no case");
    let sources = crate::ledger::sources();
    for (name, _, end) in &CASES {
        if let Elsewhere(number) = end {
            let used = sources.iter().any(|(_, text)| {
                text.contains(&format!("hostile {name}")) && text.contains(&format!("attack_{number:02}_"))
            });
            assert!(used, "attack {number} does not run `hostile {name}`");
        }
    }
}

fn every_call_is_made() {
    let mut made = calls();
    made.sort();
    assert_eq!(made, kernel_calls(), "wit/kernel.wit and guest/hostile have different calls");
}

/// Returns the functions of `wit/kernel.wit`, each with its interface.
fn kernel_calls() -> Vec<String> {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/wit/kernel.wit")).unwrap();
    let (mut interface, mut calls) = ("", Vec::new());
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("interface ").and_then(|rest| rest.strip_suffix(" {")) {
            interface = name;
        } else if let Some((name, _)) = line.trim().split_once(": func(") {
            calls.push(format!("{interface}.{name}"));
        }
    }
    calls.sort();
    assert!(calls.len() > 20);
    calls
}
