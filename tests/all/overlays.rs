//! `isopod run --overlay`: shows the changes of a command to a directory before they are made.

use std::fs;

use crate::support::{cli, directory};

const CHANGE: &str = "rm gone; echo new > made; echo two >> edit; chmod 755 edit; mkdir d";

fn tree() -> tempfile::TempDir {
    directory(&[("gone", "g\n"), ("edit", "one\n")])
}

#[test]
fn without_more_the_changes_are_discarded_and_it_says_so() {
    let host = tree();
    let answer = cli(&["run", "--overlay", host.path().to_str().unwrap(), "--", CHANGE]);
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(0), ""));
    let expected = "isopod: 4 changes in /workspace were discarded; --diff shows them, --commit writes them\n";
    assert_eq!(answer.stderr, expected);
    assert_eq!(fs::read_to_string(host.path().join("edit")).unwrap(), "one\n");
    assert!(host.path().join("gone").exists() && !host.path().join("made").exists());
}

#[test]
fn a_diff_is_a_list_and_a_patch_that_can_be_applied() {
    let host = tree();
    let at = host.path().to_str().unwrap();
    let answer = cli(&["run", "--overlay", at, "--diff", "--", &format!("{CHANGE}; rmdir d; echo said")]);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""));
    let patch = answer.stdout.strip_prefix("said\nM edit (mode 644 to 755)\nD gone\nA made\n").unwrap();
    assert!(patch.starts_with("diff --git a/edit b/edit\nold mode 100644\nnew mode 100755\n"), "{patch}");
    assert_eq!(fs::read_to_string(host.path().join("edit")).unwrap(), "one\n");
    // The patch, applied to a copy, makes the same changes as the command.
    let copy = tree();
    fs::write(copy.path().join("patch"), &answer.stdout).unwrap();
    let applied = std::process::Command::new("git").args(["apply", "patch"]).current_dir(copy.path()).status();
    if applied.is_ok_and(|status| status.success()) {
        assert_eq!(fs::read_to_string(copy.path().join("edit")).unwrap(), "one\ntwo\n");
        assert!(!copy.path().join("gone").exists() && copy.path().join("made").exists());
    }
}

#[test]
fn a_commit_writes_the_changes_of_a_command_that_succeeded() {
    let host = tree();
    let at = host.path().to_str().unwrap();
    let failed = cli(&["run", "--overlay", at, "--commit", "--", &format!("{CHANGE}; exit 3")]);
    assert_eq!(failed.code, Some(3));
    assert_eq!(failed.stderr, "isopod: the command failed: 4 changes in /workspace were not written\n");
    assert!(host.path().join("gone").exists());

    let answer = cli(&["run", "--overlay", at, "--commit", "--", CHANGE]);
    assert_eq!((answer.code, answer.stdout.as_str(), answer.stderr.as_str()), (Some(0), "", ""));
    assert_eq!(fs::read_to_string(host.path().join("edit")).unwrap(), "one\ntwo\n");
    assert!(!host.path().join("gone").exists() && host.path().join("d").is_dir());
    let names: Vec<_> = fs::read_dir(host.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 3, "{names:?}");
}

#[test]
fn json_has_the_changes() {
    let host = tree();
    let at = format!("{}:/tree", host.path().display());
    let answer = cli(&["run", "--json", "--overlay", &at, "--diff", "--", "cd /tree; rm gone; chmod 600 edit"]);
    let report: serde_json::Value = serde_json::from_str(&answer.stdout).unwrap();
    let overlay = &report["overlays"][0];
    assert_eq!((&overlay["path"], &overlay["committed"]), (&"/tree".into(), &false.into()));
    assert_eq!(overlay["changes"][0]["mode"], serde_json::json!(["0644", "0600"]));
    assert_eq!(overlay["changes"][1]["change"], "deleted");
    assert!(overlay["patch"].as_str().unwrap().contains("deleted file mode"));
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let host = tree();
    let at = host.path().to_str().unwrap();
    let read_only = format!("{at}:ro");
    let wrong = [
        vec!["run", "--diff", "--", "true"],
        vec!["run", "--commit", "--", "true"],
        vec!["run", "--overlay", at, "--diff", "--commit", "--", "true"],
        vec!["run", "--overlay", &read_only, "--", "true"],
        vec!["run", "--overlay", "/no/such/directory", "--", "true"],
        vec!["run", "--overlay", at, "--allow", "no-such-rule", "--", "true"],
    ];
    for arguments in wrong {
        let answer = cli(&arguments);
        assert_eq!(answer.code, Some(2), "{arguments:?}");
        assert!(!answer.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn what_is_protected_can_be_allowed() {
    let host = tree();
    let at = host.path().to_str().unwrap();
    let command = "echo x > .envrc; mkdir .idea";
    let refused = cli(&["run", "--dir", at, "--", command]);
    assert_eq!(refused.code, Some(1));
    let one = cli(&["run", "--dir", at, "--allow", ".envrc", "--", command]);
    assert_eq!(one.code, Some(1));
    assert!(host.path().join(".envrc").exists() && !host.path().join(".idea").exists());
    assert_eq!(cli(&["run", "--dir", at, "--allow", "all", "--", command]).code, Some(0));
    assert!(host.path().join(".idea").exists());
}
