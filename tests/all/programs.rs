//! Every program answers `--help` and `--version`, and `docs/programs.md` says the same.
//!
//! `ISOPOD_BLESS=1 cargo test --test all programs` rewrites the page; `docs/left-out.toml` lists the features that
//! programs leave out.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use isopod::{Command, Runtime, Sandbox};

use crate::support::sandbox;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/programs.md");
const LEFT_OUT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/left-out.toml");

/// Programs that take `--help` for an ordinary operand, as GNU's do.
const SILENT: [&str; 1] = ["test"];

/// Components for tests and benchmarks only.
const NOT_FOR_USERS: [&str; 2] = ["bench", "hostile"];

/// Returns the output of a program for an option that must succeed.
fn answer(sandbox: &Sandbox, program: &str, option: &str) -> String {
    let argv = if program == "[" { vec!["[", option] } else { vec![program, option] };
    let output = sandbox.execute_blocking(Command::program(argv)).unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let allowed = if program == "false" { 1 } else { 0 };
    assert_eq!(output.exit_code, allowed, "{program} {option}: {stderr}");
    assert!(!output.stdout.is_empty(), "{program} {option} prints nothing");
    String::from_utf8(output.stdout).unwrap()
}

fn programs() -> Vec<(&'static str, &'static str)> {
    let programs = Runtime::shared().unwrap().programs();
    let listed = programs.iter().map(|program| (program.name, program.component));
    listed.filter(|(name, component)| !SILENT.contains(name) && !NOT_FOR_USERS.contains(component)).collect()
}

#[test]
fn every_program_answers_version() {
    let sandbox = sandbox();
    for (program, _) in programs() {
        answer(&sandbox, program, "--version");
    }
}

// The page describes a build with all features.
#[cfg(all(feature = "node", feature = "python"))]
#[test]
fn every_program_answers_help_and_the_page_has_it() {
    let left_out: BTreeMap<String, String> = toml::from_str(&std::fs::read_to_string(LEFT_OUT).unwrap()).unwrap();
    let sandbox = sandbox();
    let mut page = String::from(
        "# Programs\n\nWhat there is to run in a sandbox, with what each program says to `--help`. An option that is not \
         there is an error, never\nignored. This page is generated: see `tests/all/programs.rs`.\n",
    );
    let programs = programs();
    for name in left_out.keys() {
        assert!(programs.iter().any(|(program, _)| program == name), "{name} leaves something out, but is not there");
    }
    for (program, component) in programs {
        let help = answer(&sandbox, program, "--help");
        let tree = if ["node", "python"].contains(&component) { "interpreters" } else { "guest" };
        write!(page, "\n## {program}\n\nIn `{tree}/{component}`.").unwrap();
        if let Some(text) = left_out.get(program) {
            write!(page, " Left out: {text}").unwrap();
        }
        write!(page, "\n\n```text\n{}\n```\n", help.trim_end()).unwrap();
    }
    if std::env::var_os("ISOPOD_BLESS").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }
    let written = std::fs::read_to_string(PAGE).unwrap_or_default();
    assert!(written == page, "docs/programs.md is out of date: ISOPOD_BLESS=1 cargo test --test all programs");
}
