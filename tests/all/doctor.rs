//! `isopod doctor`: its findings and its exit code.

use std::process::Command as HostCommand;

use serde_json::Value;

use crate::support::{CliAnswer, cli, cli_answer};

/// Returns the state of a finding.
fn state(answer: &CliAnswer, name: &str) -> String {
    let report: Value = serde_json::from_str(&answer.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["name"] == name).unwrap_or_else(|| panic!("no {name}"));
    assert!(!finding["text"].as_str().unwrap().contains('\n'));
    finding["state"].as_str().unwrap().to_owned()
}

/// Runs the doctor in a shell of the host after this script.
fn after(script: &str) -> CliAnswer {
    let mut command = HostCommand::new("sh");
    let line = format!("{script}; exec \"$0\" doctor --json --root /tmp/none/such");
    command.args(["-c", &line, env!("CARGO_BIN_EXE_isopod")]);
    cli_answer(command)
}

#[test]
fn a_machine_that_runs_these_tests_has_no_problem() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path().to_str().unwrap();
    let answer = cli(&["doctor", "--json", "--root", root]);
    assert_eq!(answer.code, Some(0), "{}", answer.stdout);
    for name in ["kernel", "programs", "a command", "a worker", "data"] {
        assert_eq!(state(&answer, name), "ok");
    }
    for name in
        ["openat2", "pagemap scan", "memory maps", "address space", "open files", "cores", "landlock", "seccomp"]
    {
        assert_ne!(state(&answer, name), "problem");
    }
    assert_eq!(state(&answer, "python"), if cfg!(feature = "python") { "ok" } else { "note" });
    let text = cli(&["doctor", "--root", root]);
    assert_eq!(text.stdout.lines().count(), answer.stdout.matches("\"name\"").count());
    assert!(text.stdout.contains(&format!("ok       data             {root} is there\n")), "{}", text.stdout);
}

#[test]
fn what_is_missing_is_said_with_what_it_means() {
    let few = after("ulimit -n 24");
    assert_eq!((few.code, state(&few, "open files").as_str()), (Some(1), "problem"));
    let some = after("ulimit -n 100");
    assert_eq!((some.code, state(&some, "open files").as_str()), (Some(0), "note"));
    let narrow = after("ulimit -v 100000000");
    assert_eq!((narrow.code, state(&narrow, "address space").as_str()), (Some(0), "note"), "{}", narrow.stdout);
    let none = after("ulimit -v 4000000");
    assert_eq!((none.code, state(&none, "a command").as_str()), (Some(1), "problem"), "{}", none.stdout);
    let nowhere = cli(&["doctor", "--root", "/etc/passwd/below"]);
    assert_eq!(nowhere.code, Some(1));
    let text = "problem  data             /etc/passwd/below: Not a directory (os error 20): sandboxes that last have no place\n";
    assert!(nowhere.stdout.contains(text), "{}", nowhere.stdout);
}
